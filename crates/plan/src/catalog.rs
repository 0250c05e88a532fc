//! The catalog: configs, plans, workloads, scales and the versions that are supported, all of it data.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use model::{Compile, Dbms, Helper, PRODUCT_FILE, Quarantine, Recipe, Version, catalog_files};

use crate::config::ConfigFile;
use crate::course;
use crate::document::{self, Node, Value};
use crate::fields::Fields;
use crate::insert;
use crate::recipe;
use crate::resolve::Configs;
use crate::sql::{WorkloadFile, WorkloadListing};
use crate::variables::VariableRules;
use crate::{Place, PlanError, Result};

#[derive(Clone, Debug, Default)]
pub struct Catalog {
    pub(crate) configs: Configs,
    plans: BTreeMap<String, String>,
    /// What `quick` measures: plans without a name, rounds and systems.
    quick: BTreeMap<String, String>,
    workloads: BTreeMap<String, WorkloadFile>,
    scales: BTreeMap<String, Node>,
    noise: Option<Quarantine>,
    supported: BTreeMap<Dbms, Version>,
    recipes: Vec<Recipe>,
    compiles: BTreeMap<Dbms, Compile>,
    helpers: Vec<Helper>,
    variables: BTreeMap<Dbms, VariableRules>,
}

impl Catalog {
    pub fn embedded() -> Result<Self> {
        Self::with(&[])
    }

    /// The catalog that backslide brings along, with further files: pairs of a path within the
    /// catalog (`dbms/mariadb/configs/mine.toml`) and the text. A path that is there already is replaced.
    pub fn with(extra: &[(String, String)]) -> Result<Self> {
        let mut catalog = Self::default();
        for (path, text) in catalog_files() {
            catalog.add(path, text)?;
        }
        for (path, text) in extra {
            if let ["dbms", name, PRODUCT_FILE] = path.split('/').collect::<Vec<_>>().as_slice() {
                Dbms::learn(name, text).map_err(PlanError::Product)?;
            }
            catalog.add(path, text)?;
        }
        catalog.configs.check()?;
        Ok(catalog)
    }

    fn add(&mut self, path: &str, text: &str) -> Result<()> {
        if path == "README.md" {
            return Ok(());
        }
        let stray = || PlanError::StrayFile { path: path.to_owned() };
        let stem = path.strip_suffix(".toml").ok_or_else(stray)?;
        let origin = format!("catalog/{path}");
        let dbms = |name| Dbms::from_name(name).ok_or_else(stray);
        match stem.split('/').collect::<Vec<_>>().as_slice() {
            // Those that backslide brings along are known.
            ["dbms", _, "product"] | ["layers"] => {}
            ["scales"] => self.scales = scales(text, &origin)?,
            ["noise"] => self.noise = Some(course::noise(text, &origin)?),
            ["plans", name] => {
                self.plans.insert((*name).to_owned(), text.to_owned());
            }
            ["quick", name] => {
                self.quick.insert((*name).to_owned(), text.to_owned());
            }
            ["workloads", name] => {
                let file = WorkloadFile::parse(text, &origin)?;
                self.workloads.insert((*name).to_owned(), file);
            }
            ["helpers"] => self.helpers = recipe::helpers(text, &origin)?,
            ["dbms", product, "builds"] => self.add_builds(dbms(product)?, text, &origin)?,
            ["dbms", product, "variables"] => {
                self.variables.insert(dbms(product)?, VariableRules::parse(text, &origin)?);
            }
            ["dbms", product, "configs", "modifiers", word] if Configs::is_word(word) => {
                let file = ConfigFile::parse_modifier(dbms(product)?, word, text, &origin)?;
                self.configs.add_modifier(file);
            }
            ["dbms", product, "configs", name] => {
                let file = ConfigFile::parse(dbms(product)?, name, text, &origin)?;
                self.configs.add(file);
            }
            _ => return Err(stray()),
        }
        Ok(())
    }

    fn add_builds(&mut self, dbms: Dbms, text: &str, origin: &str) -> Result<()> {
        let builds = recipe::builds(dbms, text, origin)?;
        self.supported.insert(dbms, builds.since);
        self.recipes.retain(|recipe| recipe.dbms != dbms);
        self.recipes.extend(builds.recipes);
        self.compiles.extend(builds.compile.map(|compile| (dbms, compile)));
        // Within a family the order is that of the versions already.
        self.recipes.sort_by_key(|recipe| recipe.dbms);
        Ok(())
    }

    /// The config with this name for this Dbms: `z12a`, or `z12a_gtid_sync` for one with modifiers.
    pub fn config(&self, dbms: Dbms, name: &str) -> Result<ConfigFile> {
        self.configs.find(dbms, name, &Place::argument("catalog"))
    }

    pub fn config_names(&self, dbms: Dbms) -> Vec<&str> {
        self.configs.names(dbms)
    }

    /// The words that may follow the name of a config for this Dbms, each after a `_`, sorted.
    pub fn modifier_names(&self, dbms: Dbms) -> Vec<&str> {
        self.configs.modifier_names(dbms)
    }

    /// The text of the plan with this name, to be given to [`read`](crate::read).
    pub fn plan(&self, name: &str) -> Result<&str> {
        self.plans
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| PlanError::unknown(&"catalog", "plan", name, self.plan_names()))
    }

    pub fn plan_names(&self) -> Vec<&str> {
        self.plans.keys().map(String::as_str).collect()
    }

    /// The plans of a workload without name, rounds, systems; the longest first. See [`plan_text`](crate::plan_text).
    pub fn quick(&self, workload: &str) -> Vec<&str> {
        let text = |size| Some(self.quick.get(&format!("{workload}-{size}"))?.as_str());
        ["large", "medium", "small"].into_iter().filter_map(text).collect()
    }

    /// A workload file of the catalog as people look at it, with all its tests.
    pub fn workload(&self, name: &str) -> Result<WorkloadListing> {
        self.workload_file(name, "catalog")?.listing(name)
    }

    pub fn workload_names(&self) -> Vec<&str> {
        self.workloads.keys().map(String::as_str).collect()
    }

    pub(crate) fn workload_file(&self, name: &str, place: &str) -> Result<&WorkloadFile> {
        self.workloads
            .get(name)
            .ok_or_else(|| PlanError::unknown(&place, "workload", name, self.workload_names()))
    }

    pub(crate) fn scale(&self, name: &str) -> Option<&Node> {
        self.scales.get(name)
    }

    pub const fn noise(&self) -> Option<Quarantine> {
        self.noise
    }

    /// Available builds by family, the oldest version first.
    pub fn recipes(&self) -> &[Recipe] {
        &self.recipes
    }

    pub fn compile(&self, dbms: Dbms) -> Option<&Compile> {
        self.compiles.get(&dbms)
    }

    pub fn recipe(&self, name: &str) -> Result<&Recipe> {
        let names = self.recipes.iter().map(|recipe| recipe.name.as_str());
        let found = self.recipes.iter().find(|recipe| recipe.name == name);
        found.ok_or_else(|| PlanError::unknown(&"catalog", "build", name, names))
    }

    pub fn helpers(&self) -> &[Helper] {
        &self.helpers
    }

    /// What is known of the variables of a Dbms, or of the one that it is like.
    pub fn variables(&self, dbms: Dbms) -> &VariableRules {
        static NONE: LazyLock<VariableRules> = LazyLock::new(VariableRules::default);
        dbms.lineage().find_map(|dbms| self.variables.get(&dbms)).unwrap_or(&NONE)
    }

    pub fn oldest_supported(&self, dbms: Dbms) -> Option<&Version> {
        dbms.lineage().find_map(|dbms| self.supported.get(&dbms))
    }
}

/// `scales.toml`: one table a scale, none missing.
fn scales(text: &str, origin: &str) -> Result<BTreeMap<String, Node>> {
    let root = document::parse(text, origin)?;
    let fields = Fields::new(&root, "scales", &insert::SCALES)?;
    for name in insert::SCALES {
        insert::apply_scale(fields.need(name)?.node, &mut model::InsertSpec::usual())?;
    }
    match root.value {
        Value::Table(entries) => Ok(entries.into_iter().map(|e| (e.key, e.node)).collect()),
        _ => Ok(BTreeMap::new()),
    }
}

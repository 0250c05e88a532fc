//! The catalog: configs, plans, workloads, scales and the versions that are supported, all of it data.

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};
use model::{Dbms, Helper, Quarantine, Recipe, Version};

use crate::PlanError;
use crate::config::ConfigFile;
use crate::course;
use crate::document::{self, Node, Value};
use crate::error::Choices;
use crate::fields::Fields;
use crate::insert;
use crate::recipe;
use crate::resolve::Configs;
use crate::sql::{self, WorkloadFile, WorkloadListing};
use crate::variables::VariableRules;

static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../catalog");

/// All that the catalog holds, parsed and checked.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    configs: Configs,
    plans: BTreeMap<String, String>,
    workloads: BTreeMap<String, WorkloadFile>,
    scales: BTreeMap<String, Node>,
    noise: Option<Quarantine>,
    supported: BTreeMap<Dbms, Version>,
    recipes: Vec<Recipe>,
    helpers: Vec<Helper>,
    variables: BTreeMap<Dbms, VariableRules>,
}

impl Catalog {
    /// The catalog that backslide brings along.
    pub fn embedded() -> Result<Self, PlanError> {
        Self::with(&[])
    }

    /// The catalog that backslide brings along, with further files: pairs of a path within the
    /// catalog (`configs/mariadb/mine.toml`) and the text. A path that is there already is replaced.
    pub fn with(extra: &[(String, String)]) -> Result<Self, PlanError> {
        let mut catalog = Self::default();
        for (path, text) in embedded_files(&EMBEDDED) {
            catalog.add(&path, text)?;
        }
        for (path, text) in extra {
            catalog.add(path, text)?;
        }
        catalog.configs.check()?;
        Ok(catalog)
    }

    fn add(&mut self, path: &str, text: &str) -> Result<(), PlanError> {
        if path == "README.md" {
            return Ok(());
        }
        let stray = || PlanError::StrayFile {
            path: path.to_owned(),
        };
        let stem = path.strip_suffix(".toml").ok_or_else(stray)?;
        let origin = format!("catalog/{path}");
        let dbms = |name| Dbms::from_name(name).ok_or_else(stray);
        match stem.split('/').collect::<Vec<_>>().as_slice() {
            ["scales"] => self.scales = scales(text, &origin)?,
            ["noise"] => self.noise = Some(course::noise(text, &origin)?),
            ["plans", name] => {
                self.plans.insert((*name).to_owned(), text.to_owned());
            }
            ["workloads", name] => {
                let file = WorkloadFile::parse(text, &origin)?;
                self.workloads.insert((*name).to_owned(), file);
            }
            ["builds", "helpers"] => self.helpers = recipe::helpers(text, &origin)?,
            ["builds", family] => self.add_builds(dbms(family)?, text, &origin)?,
            ["variables", family] => {
                self.variables
                    .insert(dbms(family)?, VariableRules::parse(text, &origin)?);
            }
            ["configs", family, "modifiers", word] if Configs::is_word(word) => {
                let file = ConfigFile::parse_modifier(dbms(family)?, word, text, &origin)?;
                self.configs.add_modifier(file);
            }
            ["configs", family, name] => {
                let file = ConfigFile::parse(dbms(family)?, name, text, &origin)?;
                self.configs.add(file);
            }
            _ => return Err(stray()),
        }
        Ok(())
    }

    fn add_builds(&mut self, dbms: Dbms, text: &str, origin: &str) -> Result<(), PlanError> {
        let builds = recipe::builds(dbms, text, origin)?;
        self.supported.insert(dbms, builds.since);
        self.recipes.retain(|recipe| recipe.dbms != dbms);
        self.recipes.extend(builds.recipes);
        // Within a family the order is that of the versions already.
        self.recipes.sort_by_key(|recipe| recipe.dbms);
        Ok(())
    }

    /// The config with this name for this Dbms: `z12a`, or `z12a_gtid_sync` for one with modifiers.
    pub fn config(&self, dbms: Dbms, name: &str) -> Result<ConfigFile, PlanError> {
        self.config_for(dbms, name, "catalog")
    }

    /// The same, for a plan that names it at `place`.
    pub(crate) fn config_for(
        &self,
        dbms: Dbms,
        name: &str,
        place: &str,
    ) -> Result<ConfigFile, PlanError> {
        self.configs.find(dbms, name, place)
    }

    /// The names of the configs for this Dbms, sorted.
    pub fn config_names(&self, dbms: Dbms) -> Vec<&str> {
        self.configs.names(dbms)
    }

    /// The words that may follow the name of a config for this Dbms, each after a `_`, sorted.
    pub fn modifier_names(&self, dbms: Dbms) -> Vec<&str> {
        self.configs.modifier_names(dbms)
    }

    /// The versions that have `option`, where the catalog knows the option and `version` is none of them.
    pub(crate) fn range_without(
        &self,
        dbms: Dbms,
        option: &str,
        version: &Version,
    ) -> Option<String> {
        self.configs.range_without(dbms, option, version)
    }

    /// The text of the plan with this name, to be given to [`read`](crate::read).
    pub fn plan(&self, name: &str) -> Result<&str, PlanError> {
        self.plans
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| PlanError::UnknownName {
                place: "catalog".to_owned(),
                what: "plan".to_owned(),
                name: name.to_owned(),
                choices: Choices::new(name, self.plan_names()),
            })
    }

    /// The names of the plans, sorted.
    pub fn plan_names(&self) -> Vec<&str> {
        self.plans.keys().map(String::as_str).collect()
    }

    /// The workload files, by which `kind = "sql"` and `kind = "micro"` say what runs: one of them as
    /// people look at it, with all its tests.
    pub fn workload(&self, name: &str) -> Result<WorkloadListing, PlanError> {
        sql::listing(name, self.workload_file(name, "catalog")?)
    }

    /// The names of the workload files, sorted.
    pub fn workload_names(&self) -> Vec<&str> {
        self.workloads.keys().map(String::as_str).collect()
    }

    /// The workload file that a plan names at `place`.
    pub(crate) fn workload_file(
        &self,
        name: &str,
        place: &str,
    ) -> Result<&WorkloadFile, PlanError> {
        self.workloads
            .get(name)
            .ok_or_else(|| PlanError::UnknownName {
                place: place.to_owned(),
                what: "workload".to_owned(),
                name: name.to_owned(),
                choices: Choices::new(name, self.workload_names()),
            })
    }

    /// The sizes of a scale of the Insert Benchmark.
    pub(crate) fn scale(&self, name: &str) -> Option<&Node> {
        self.scales.get(name)
    }

    /// The noise that trials may meet where a plan does not say.
    pub const fn noise(&self) -> Option<Quarantine> {
        self.noise
    }

    /// The builds that can be had, by family, the oldest version first.
    pub fn recipes(&self) -> &[Recipe] {
        &self.recipes
    }

    /// The build with this name.
    pub fn recipe(&self, name: &str) -> Result<&Recipe, PlanError> {
        self.recipes
            .iter()
            .find(|recipe| recipe.name == name)
            .ok_or_else(|| PlanError::UnknownName {
                place: "catalog".to_owned(),
                what: "build".to_owned(),
                name: name.to_owned(),
                choices: Choices::new(name, self.recipes.iter().map(|r| r.name.as_str())),
            })
    }

    /// What builds may need beside themselves.
    pub fn helpers(&self) -> &[Helper] {
        &self.helpers
    }

    /// What is known of the variables of a Dbms. MariaDB's file is MySQL's.
    pub fn variables(&self, dbms: Dbms) -> &VariableRules {
        static NONE: VariableRules = VariableRules::NONE;
        let family = match dbms {
            Dbms::Mariadb => Dbms::Mysql,
            Dbms::Mysql | Dbms::Postgres | Dbms::Sqlite | Dbms::Other => dbms,
        };
        self.variables.get(&family).unwrap_or(&NONE)
    }

    /// The oldest version of a Dbms that backslide runs.
    pub fn oldest_supported(&self, dbms: Dbms) -> Option<&Version> {
        self.supported.get(&dbms)
    }
}

fn embedded_files(dir: &'static Dir<'static>) -> Vec<(String, &'static str)> {
    let inner = dir.dirs().flat_map(embedded_files);
    let files = dir.files().filter_map(|file| {
        let path = file.path().to_str()?.to_owned();
        Some((path, file.contents_utf8()?))
    });
    files.chain(inner).collect()
}

/// `scales.toml`: one table a scale, none missing.
fn scales(text: &str, origin: &str) -> Result<BTreeMap<String, Node>, PlanError> {
    let root = document::parse(text, origin)?;
    let fields = Fields::new(&root, "scales", &insert::scale_names())?;
    for name in insert::scale_names() {
        insert::check_scale(fields.need(name)?.node)?;
    }
    match root.value {
        Value::Table(entries) => Ok(entries.into_iter().map(|e| (e.key, e.node)).collect()),
        _ => Ok(BTreeMap::new()),
    }
}

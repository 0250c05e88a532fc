//! The catalog: configs, plans, scales and the versions that are supported, all of it data.

use std::collections::BTreeMap;

use include_dir::{Dir, include_dir};
use model::{Dbms, Version};

use crate::PlanError;
use crate::config::{self, ConfigFile};
use crate::document::{self, Node, Value};
use crate::error::Choices;
use crate::fields::Fields;
use crate::insert;

static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../catalog");

/// All that the catalog holds, parsed and checked.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    configs: BTreeMap<(Dbms, String), ConfigFile>,
    plans: BTreeMap<String, String>,
    scales: BTreeMap<String, Node>,
    supported: BTreeMap<Dbms, Version>,
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
            ["plans", name] => {
                self.plans.insert((*name).to_owned(), text.to_owned());
            }
            ["builds", family] => {
                self.supported
                    .insert(dbms(family)?, supported(text, &origin)?);
            }
            ["configs", family, name] => {
                let config = ConfigFile::parse(dbms(family)?, name, text, &origin)?;
                self.configs
                    .insert((dbms(family)?, (*name).to_owned()), config);
            }
            _ => return Err(stray()),
        }
        Ok(())
    }

    /// The config with this name for this Dbms.
    pub fn config(&self, dbms: Dbms, name: &str) -> Result<&ConfigFile, PlanError> {
        self.config_for(dbms, name, "catalog")
    }

    /// The same, for a plan that names it at `place`.
    pub(crate) fn config_for(
        &self,
        dbms: Dbms,
        name: &str,
        place: &str,
    ) -> Result<&ConfigFile, PlanError> {
        self.configs
            .get(&(dbms, name.to_owned()))
            .ok_or_else(|| PlanError::UnknownName {
                place: place.to_owned(),
                what: format!("{dbms} config"),
                name: name.to_owned(),
                choices: Choices::new(name, self.config_names(dbms)),
            })
    }

    /// The names of the configs for this Dbms, sorted.
    pub fn config_names(&self, dbms: Dbms) -> Vec<&str> {
        let of_dbms = self.configs.values().filter(|config| config.dbms == dbms);
        of_dbms.map(|config| config.name.as_str()).collect()
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

    /// The sizes of a scale of the Insert Benchmark.
    pub(crate) fn scale(&self, name: &str) -> Option<&Node> {
        self.scales.get(name)
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

/// `builds/<dbms>.toml`: from which version on the Dbms is supported.
fn supported(text: &str, origin: &str) -> Result<Version, PlanError> {
    let root = document::parse(text, origin)?;
    let fields = Fields::new(&root, "builds", &["supported"])?;
    let item = fields.need("supported")?;
    let fields = Fields::new(item.node, "supported", &["since"])?;
    let since = fields.need("since")?;
    let version = config::version(&fields, "since")?;
    version.ok_or_else(|| since.wrong("a version"))
}

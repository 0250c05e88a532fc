//! Products as data: what differs between DBMSs that one protocol serves. Each is a file of the catalog,
//! `dbms/<name>/product.toml`, compiled in; `catalog/README.md` explains the keys.

use std::collections::BTreeMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use include_dir::{Dir, include_dir};
use serde::Deserialize;

use crate::{
    Bytes, Condition, Config, Connection, Dialect, Engine, Isolation, Nanos, Version, VersionError,
};

static CATALOG: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../catalog");

pub const PRODUCT_FILE: &str = "product.toml";

/// A product: MySQL, MariaDB, one that follows another (`like`) and differs from it in a few keys.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Product {
    /// As plans, catalogs and build ids write it.
    #[serde(skip)]
    pub name: String,
    /// As it was read, for products that are like this one.
    #[serde(skip)]
    keys: toml::Table,
    /// How many products stand before it in a chain of `like`: of two that know a line, the deeper one has it.
    #[serde(skip)]
    pub depth: u32,
    pub like: Option<String>,
    pub title: String,
    pub order: u32,
    pub dialect: Dialect,
    pub embedded: bool,
    /// Names of pragmas: what a database without a server tells of itself.
    pub pragmas: Vec<String>,
    /// `false`: only imported systems have it.
    #[serde(default = "yes")]
    pub runs: bool,
    /// The catalog has so many minor versions that lists show the newest of each series only.
    pub many_minors: bool,
    pub engines: Vec<Engine>,
    pub aliases: Vec<String>,
    pub published: Vec<Published>,
    /// How many digits each part of a version has in such a name, but for the last.
    pub digits: Vec<usize>,
    /// The same of versions that begin with 9.
    pub digits_of_9: Vec<usize>,
    pub program: Program,
    pub server: ServerFacts,
    pub options: Options,
    pub limits: Limits,
    pub connection: ConnectionFacts,
    pub sql: Sql,
    pub features: Features,
    pub memory: Memory,
    pub costs: Costs,
    pub logs: Logs,
    pub in_turns: InTurns,
    pub engine: BTreeMap<Engine, EngineFacts>,
    #[serde(rename = "capture")]
    pub captures: Vec<CaptureRule>,
    #[serde(rename = "condition")]
    pub conditions: Vec<ConditionRule>,
    /// The first that has a function has it; then those of [`common_layers`].
    #[serde(rename = "layer")]
    pub layers: Vec<LayerRule>,
}

const fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Published {
    pub letters: String,
    /// The engine of such systems, unless it is the product's first.
    pub engine: Option<Engine>,
    /// Configs of these letters and a digit mean the first engine all the same.
    pub default_engine_configs: Option<String>,
    /// Digits of the version follow.
    #[serde(default = "yes")]
    pub versioned: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Program {
    pub names: Vec<String>,
    pub version_arguments: Vec<String>,
    pub banner: Banner,
    pub greeting: Banner,
    /// Functions that only threads and processes have which work for a client.
    pub serving: Vec<String>,
    /// Functions that do nothing but wait: how many instructions they take depends on time.
    pub spinning: Vec<String>,
    /// A statement whose open session keeps the server's threads from changes that depend on time; empty for none.
    pub while_counted: String,
    pub under_valgrind: Vec<String>,
    pub tree: Tree,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Banner {
    pub contains: Vec<String>,
    pub without: Vec<String>,
}

impl Banner {
    pub fn fits(&self, line: &str) -> bool {
        let has = |text: &String| line.contains(text.as_str());
        self.contains.iter().all(has) && !self.without.iter().any(has)
    }
}

/// Where an installation keeps what a server needs: candidates relative to its base, the best first.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tree {
    /// Messages and character sets; the one that holds [`Tree::share_marker`].
    pub share: Vec<String>,
    /// A file by which the right `share` directory is known.
    pub share_marker: String,
    /// SQL of the system tables, in `share`, in the order in which it runs; those that exist.
    pub scripts: Vec<String>,
    pub plugins: Vec<String>,
    /// Shared libraries that a self-contained archive brings along.
    pub libraries: Vec<String>,
    /// Programs beside the server that initialisation needs.
    pub tools: Vec<String>,
    /// A data directory that the build brings along, ready to be copied.
    pub seeds: Vec<String>,
    /// What a directory must hold to be one.
    pub seed_marker: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerFacts {
    pub section: String,
    /// User with all rights and no password after initialisation.
    pub superuser: String,
    /// User who logs in over TCP, with a password.
    pub tcp_user: String,
    /// Database that exists after initialisation and that a first session can use.
    pub first_database: String,
    /// Redo, undo, binlog, WAL: paths relative to the data directory, `*` for any text within a name.
    pub log_files: Vec<String>,
    /// Makes its system tables itself; earlier versions are fed SQL in bootstrap mode.
    pub initialises_itself: Since,
    pub validates_config: Since,
    /// Keeps accounts in `mysql.global_priv`.
    pub global_accounts: Since,
    pub scram: Since,
    pub isolation: Vec<IsolationOption>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IsolationOption {
    pub since: Since,
    pub name: String,
    pub value: String,
}

/// Its settings: how they are written, and which of them are not a config's to give. Names in snake case.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    pub dashes: bool,
    pub memory: String,
    /// Suffixes of KiB, MiB, GiB and TiB.
    pub sizes: Vec<String>,
    pub reserved: Vec<String>,
    pub reserved_on_tcp: Vec<String>,
    /// What a plan's `tls = true` sets.
    pub tls: Vec<String>,
    pub outside: Vec<String>,
    pub huge_pages: HugePages,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HugePages {
    /// What the configuration file gets: a name, and a value where it takes one.
    pub line: Vec<String>,
    /// Settings that a config cannot give as well.
    pub names: Vec<String>,
    pub buffer: String,
    pub default_mib: u64,
    /// Bytes that a number without a unit counts in.
    pub unit: u64,
    /// What its other buffers there take, about and at most.
    pub others_mib: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Sessions that a server takes where no setting says.
    pub max_connections: Option<u32>,
    /// How many of them it keeps for its administrator.
    pub reserved_connections: u32,
    /// Files that a session of ours has open.
    pub files_of_session: u64,
    /// Files that the server keeps for itself before it counts sessions.
    pub files_of_server: Option<u64>,
    pub max_parameters: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: None,
            reserved_connections: 0,
            files_of_session: 1,
            files_of_server: None,
            // The protocols of MySQL and PostgreSQL count them in 16 bits.
            max_parameters: 65_535,
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConnectionFacts {
    pub describes: bool,
    pub compresses: bool,
    pub tls_over_socket: bool,
    pub profiles: BTreeMap<String, Connection>,
}

/// Statements; `{database}` and `{table}` stand for ours.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sql {
    pub first_database: String,
    pub max_connections: String,
    pub database_exists: String,
    /// Counts what is in the database, other than the table.
    pub database_content: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Features {
    pub partitions: Since,
    /// Foreign keys that are added to tables that exist.
    pub foreign_keys: Since,
    /// The engines that have them; empty for all.
    pub foreign_key_engines: Vec<Engine>,
    pub foreign_keys_on_partitions: Since,
    pub procedures: bool,
    /// Its isolation levels; empty for all.
    pub isolations: Vec<Isolation>,
    /// Rows of a table without a primary key get no numbers.
    pub numbers_rows_by_key_only: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Memory {
    pub server_mib: u64,
    pub session_mib: u64,
    pub caches: Vec<Cache>,
    /// The option of a cache of each session, in pages or, negative, in KiB.
    pub page_cache: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    pub option: String,
    pub default_mib: u64,
    pub engine: Option<Engine>,
}

/// What it is assumed to need: sizes in bytes, rates in rows per second.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Costs {
    /// An instance without data and logs.
    pub empty_mib: u64,
    /// A loaded row of the Insert Benchmark with its three indexes.
    pub row: u64,
    /// How far data, indexes and undo grow under inserts and deletes.
    pub growth_percent: u64,
    pub i0_rate: u64,
    /// Table rows indexed per second in `l.x`.
    pub lx_rate: u64,
    /// `i1_rate` and `i2_rate` with as many deletes.
    pub i1_rate: u64,
    pub i2_rate: u64,
    /// What a row takes besides its columns, and a page does not use for rows.
    pub row_overhead: u64,
    /// The same of an entry of a secondary index that was built after the load.
    pub entry_overhead: u64,
    /// How far tables and indexes grow when tests write.
    pub written_percent: u64,
    /// Rows that are loaded, in MiB per second.
    pub load_mib: u64,
    /// A loaded warehouse with its indexes, in per cent of its columns.
    pub warehouse_percent: u64,
    /// Transactions of the TPC-C-like mix per second of a client that does not wait.
    pub transactions: u64,
    /// More clients than this do not run more transactions in a second.
    pub at_once: u32,
    /// To make an instance, start and stop it.
    pub around_ms: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Logs {
    /// In the server's log: it takes another value than a setting asked for. The line names the option before it.
    pub adjusted: Option<String>,
    pub files: Option<LogFiles>,
    pub capacity: Option<String>,
    pub binlog: Option<Binlog>,
    pub wal: Option<Wal>,
    pub fixed_mib: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogFiles {
    pub option: String,
    pub default_mib: u64,
    pub count: u64,
    /// From this version on there is one file.
    pub one_since: Since,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binlog {
    /// Written unless a setting says otherwise.
    pub since: Since,
    pub on: String,
    pub off: Vec<String>,
}

/// A write-ahead log with a limit that it may pass.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wal {
    pub option: String,
    pub default_mib: u64,
    pub times: u64,
    pub slack_mib: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineFacts {
    /// Tables and indexes: paths relative to the data directory; a directory means all that is in it.
    pub data: Vec<String>,
    /// Further ones before [`EngineFacts::also_before`].
    pub also: Vec<String>,
    pub also_before: Since,
    pub capture: Option<CaptureRule>,
    pub plugin: Option<String>,
    pub options: Vec<Vec<String>>,
    pub built_in: Option<BuiltIn>,
    pub missing: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BuiltIn {
    pub since: Since,
    /// One of these is in the version line, in small letters.
    pub banner: Vec<String>,
    pub options: Vec<Vec<String>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureRule {
    pub name: String,
    #[serde(default = "always")]
    pub since: Since,
    pub sql: String,
}

const fn always() -> Since {
    Since::Always
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerRule {
    pub name: String,
    /// Their names; `*` stands for any text.
    pub functions: Vec<String>,
}

/// The layers of the kernel and of libraries, which every product has.
pub fn common_layers() -> &'static [LayerRule] {
    #[derive(Default, Deserialize)]
    struct Layers {
        layer: Vec<LayerRule>,
    }
    static COMMON: LazyLock<Layers> = LazyLock::new(|| {
        let text = CATALOG.get_file("layers.toml").and_then(|file| file.contents_utf8());
        text.and_then(|text| toml::from_str(text).ok()).unwrap_or_default()
    });
    &COMMON.layer
}

/// How variables decide a condition of a fair comparison.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConditionRule {
    pub of: Condition,
    /// With these engines only; empty for all.
    #[serde(default)]
    pub engines: Vec<Engine>,
    #[serde(default)]
    pub not_engines: Vec<Engine>,
    /// Comparable with systems of the same dialect only.
    #[serde(default)]
    pub within: bool,
    #[serde(default)]
    pub settings: Vec<String>,
    #[serde(default)]
    pub needs: Vec<String>,
    /// Of each the first case that holds; joined by commas.
    #[serde(default)]
    pub parts: Vec<Vec<Case>>,
    /// What stands before the parts, if any holds.
    pub first: Option<String>,
    /// What stands for no part.
    pub nothing: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Values that variables must have: one of the list; `on` and `off` in all their spellings, `*` for any text.
    #[serde(default)]
    pub when: BTreeMap<String, Vec<String>>,
    /// Values that they must not have; a variable that is not known has none.
    #[serde(default)]
    pub unless: BTreeMap<String, Vec<String>>,
    pub engine: Option<Engine>,
    /// What then holds; `{name}` stands for the value of a variable, `{name|text}` for text where it is not known.
    pub is: String,
}

/// What a server does differently in turns, because it measures itself in real time.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InTurns {
    pub since: Since,
    pub before: Since,
    /// Not with one of these settings.
    pub unless: Vec<String>,
    /// The rest of a sentence that begins with the systems.
    pub what: String,
}

impl InTurns {
    pub fn holds(&self, version: &Version, config: &Config) -> bool {
        let is_set = |name: &String| config.value(name).is_some();
        self.since.holds(version) && !self.before.holds(version) && !self.unless.iter().any(is_set)
    }
}

/// From which version on something holds: `"always"`, `"never"`, `"8.0.11"`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Since {
    Always,
    From(Version),
    #[default]
    Never,
}

impl Since {
    /// Parts that the version does not have count as zero, and pre-releases as their release.
    pub fn holds(&self, version: &Version) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::From(since) => {
                let mut have = version.parts().to_vec();
                have.resize(have.len().max(since.parts().len()), 0);
                have.as_slice() >= since.parts()
            }
        }
    }
}

impl TryFrom<String> for Since {
    type Error = VersionError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Ok(match text.as_str() {
            "always" => Self::Always,
            "never" => Self::Never,
            version => Self::From(version.parse()?),
        })
    }
}

impl Costs {
    pub const fn load_rate(&self) -> u64 {
        self.load_mib << 20
    }

    pub const fn around(&self) -> Nanos {
        Nanos::from_millis(self.around_ms)
    }
}

impl Product {
    /// Its place in tables; one that is like another stands behind it.
    pub(crate) fn place(&self) -> (u32, u32, &str) {
        (self.order, self.depth, &self.name)
    }

    /// A size in the spelling of its settings, in whole mebibytes.
    pub fn memory_setting(&self, size: Bytes) -> String {
        let mib = (size.0 >> 20).max(1);
        let text = self.options.memory.replace("{mib}", &mib.to_string());
        text.replace("{kib}", &(mib << 10).to_string())
    }

    /// What is worth keeping of a system's state before and after each step: names and statements.
    pub fn captures(
        &self,
        version: &Version,
        engine: Engine,
    ) -> impl Iterator<Item = (&str, &str)> {
        let of_engine = self.engine.get(&engine).and_then(|facts| facts.capture.as_ref());
        let had = self.captures.iter().chain(of_engine).filter(|rule| rule.since.holds(version));
        had.map(|rule| (rule.name.as_str(), rule.sql.as_str()))
    }

    pub fn is_same_option(&self, a: &str, b: &str) -> bool {
        let plain = |name: &str| {
            let name = name.to_ascii_lowercase();
            if self.options.dashes { name.replace('-', "_") } else { name }
        };
        plain(a) == plain(b)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("dbms/{name}/{PRODUCT_FILE}: {cause}")]
pub struct ProductError {
    name: String,
    cause: String,
}

/// The files of the catalog: paths within it and texts.
pub fn catalog_files() -> Vec<(&'static str, &'static str)> {
    files_below(&CATALOG)
}

fn files_below(dir: &'static Dir<'static>) -> Vec<(&'static str, &'static str)> {
    let files = dir.files().filter_map(|file| Some((file.path().to_str()?, file.contents_utf8()?)));
    files.chain(dir.dirs().flat_map(files_below)).collect()
}

fn product_files() -> Vec<(&'static str, &'static str)> {
    let name = |path: &'static str| match *path.split('/').collect::<Vec<_>>() {
        ["dbms", name, PRODUCT_FILE] => Some(name),
        _ => None,
    };
    catalog_files().into_iter().filter_map(|(path, text)| Some((name(path)?, text))).collect()
}

/// Every product that is known, in the order of tables. The list only grows: what was handed out stays.
static KNOWN: LazyLock<RwLock<Vec<&'static Product>>> = LazyLock::new(|| RwLock::new(embedded()));

/// Rounds, because a product can only be read after the one that it is like. A damaged one is left out.
fn embedded() -> Vec<&'static Product> {
    let mut known = Vec::new();
    let mut waiting = product_files();
    loop {
        let before = waiting.len();
        waiting.retain(|(name, text)| add(&mut known, name, text).is_err());
        if waiting.len() == before {
            return known;
        }
    }
}

fn add(
    known: &mut Vec<&'static Product>,
    name: &str,
    text: &str,
) -> Result<&'static Product, ProductError> {
    let failed = |cause: String| ProductError { name: name.to_owned(), cause };
    let own: toml::Table = toml::from_str(text).map_err(|error| failed(error.to_string()))?;
    let (depth, keys) = match own.get("like").and_then(toml::Value::as_str) {
        None => (0, own),
        Some(base) => {
            let found = known.iter().find(|product| product.name == base);
            let found = found.ok_or_else(|| failed(format!("`like`: no product `{base}`")))?;
            (found.depth + 1, over(found.keys.clone(), own))
        }
    };
    let product = Product::deserialize(keys.clone()).map_err(|error| failed(error.to_string()))?;
    let name = name.to_owned();
    let product: &'static Product = Box::leak(Box::new(Product { name, keys, depth, ..product }));
    known.retain(|other| other.name != product.name);
    known.push(product);
    known.sort_by_key(|product| product.place());
    Ok(product)
}

/// Tables key by key; all else is replaced.
fn over(mut base: toml::Table, own: toml::Table) -> toml::Table {
    for (key, value) in own {
        let merged = match (base.remove(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(value)) => {
                toml::Value::Table(over(below, value))
            }
            (_, value) => value,
        };
        base.insert(key, merged);
    }
    base
}

pub(crate) fn all() -> Vec<&'static Product> {
    KNOWN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The product of this name. Asked for each fact of a product and each comparison of two, so nothing is copied.
pub(crate) fn find(name: &str) -> Option<&'static Product> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.iter().copied().find(|product| product.name == name)
}

/// Makes a product known to this process; one of the same name is replaced.
pub(crate) fn learn(name: &str, text: &str) -> Result<&'static Product, ProductError> {
    add(&mut KNOWN.write().unwrap_or_else(PoisonError::into_inner), name, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_of_the_catalog_is_a_product() {
        let mut folders: Vec<_> = product_files().into_iter().map(|(name, _)| name).collect();
        let mut names: Vec<_> = embedded().iter().map(|product| product.name.as_str()).collect();
        let old = ["mysql", "mariadb", "postgres", "sqlite", "other"];
        let mut in_order = names.iter();
        assert!(old.iter().all(|name| in_order.any(|other| other == name)), "{names:?}");
        folders.sort_unstable();
        names.sort_unstable();
        assert_eq!(folders, names);
    }

    #[test]
    fn a_product_has_what_it_says_and_else_what_the_other_has() {
        let text = "like = 'mariadb'\ntitle = 'Fork'\n[limits]\nmax_connections = 7\n";
        let mut known = embedded();
        let fork = add(&mut known, "fork", text).unwrap();
        assert_eq!(
            (fork.limits.max_connections, fork.limits.files_of_server),
            (Some(7), Some(810))
        );
        assert_eq!(fork.program.names, ["mariadbd", "mysqld"]);
        let place = |name: &str| known.iter().position(|product| product.name == name);
        assert_eq!(place("fork"), place("mariadb").map(|place| place + 1));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_file() {
        let error = |text: &str| add(&mut embedded(), "x", text).unwrap_err().to_string();
        insta::assert_snapshot!(error("like = 'oracle'"), @"dbms/x/product.toml: `like`: no product `oracle`");
        assert!(error("titel = 'x'").contains("unknown field `titel`"));
        assert!(error("[server]\nscram = 'soon'").contains("soon"));
    }

    #[test]
    fn versions_of_different_length_compare() {
        let holds = |since: &str, version: &str| {
            Since::try_from(since.to_owned()).unwrap().holds(&version.parse().unwrap())
        };
        assert!(holds("8.0.11", "8.0.11") && holds("17", "19rc1") && holds("8.0.0", "8"));
        assert!(!holds("8.0.11", "8.0.4") && !holds("14", "9.6.24"));
        assert!(holds("always", "1") && !holds("never", "99"));
    }
}

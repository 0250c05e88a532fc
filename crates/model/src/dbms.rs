//! A DBMS: a product by its name; the families of products and their storage engines.

use std::cmp::Ordering;
use std::fmt;
use std::sync::LazyLock;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::product::{self, Product, ProductError};
use crate::words;

/// A product by its name: what differs between products is data, [`Product`]. Stored as its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Dbms(&'static str);

/// Products that code or tests mean by name; spelled as the variants that they once were in stored plans.
#[expect(
    non_upper_case_globals,
    reason = "they are read, and matched, as variants of a closed set"
)]
impl Dbms {
    pub const Mysql: Self = Self("mysql");
    pub const Mariadb: Self = Self("mariadb");
    pub const Postgres: Self = Self("postgres");
    pub const Sqlite: Self = Self("sqlite");
    /// A product that backslide does not run; only imported systems have it, and their names say what it is.
    pub const Other: Self = Self("other");
}

impl Dbms {
    /// The products that backslide runs, in the order in which tables list them.
    pub fn all() -> Vec<Self> {
        product::all().into_iter().filter(|product| product.runs).map(|p| Self(&p.name)).collect()
    }

    /// Makes a product known to this process: the text of its `product.toml`.
    pub fn learn(name: &str, text: &str) -> Result<Self, ProductError> {
        product::learn(name, text).map(|product| Self(&product.name))
    }

    pub const fn name(self) -> &'static str {
        self.0
    }

    /// The product with this name, among those that backslide runs.
    pub fn from_name(name: &str) -> Option<Self> {
        product::find(name).filter(|product| product.runs).map(|product| Self(&product.name))
    }

    /// The product that other tools call by this name.
    pub fn from_alias(name: &str) -> Option<Self> {
        let is_it = |dbms: &Self| dbms.product().aliases.iter().any(|alias| alias == name);
        Self::from_name(name).or_else(|| Self::all().into_iter().find(is_it))
    }

    pub fn product(self) -> &'static Product {
        static NOTHING: LazyLock<Product> = LazyLock::new(Product::default);
        product::find(self.0).unwrap_or(&NOTHING)
    }

    /// It and the products that it is like, the nearest first: where to look for a file of the catalog.
    pub fn lineage(self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self), |dbms| {
            let base = dbms.product().like.as_deref()?;
            Self::from_name(base)
        })
    }

    /// Protocol, SQL and behaviour of its servers. Nothing is ever sent to [`Dbms::Other`].
    pub fn dialect(self) -> Dialect {
        self.product().dialect
    }

    pub fn default_engine(self) -> Engine {
        self.product().engines.first().copied().unwrap_or(Engine::Other)
    }

    /// Has it several engines, so that a system's name must say which?
    pub fn has_engines(self) -> bool {
        self.product().engines.len() > 1
    }

    /// Is the engine part of the client's own process (then there is no server to watch)?
    pub fn is_embedded(self) -> bool {
        self.product().embedded
    }
}

impl PartialOrd for Dbms {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Dbms {
    fn cmp(&self, other: &Self) -> Ordering {
        self.product().place().cmp(&other.product().place())
    }
}

impl fmt::Debug for Dbms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

shown!(Dbms, |dbms| dbms.name());

impl<'de> Deserialize<'de> for Dbms {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        product::find(&name).map(|product| Self(&product.name)).ok_or_else(|| {
            D::Error::custom(format!(
                "unknown DBMS `{name}`: this version of backslide has no `catalog/dbms/{name}`"
            ))
        })
    }
}

/// What workloads know of a Dbms: the shape of its SQL, never its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// `AUTO_INCREMENT`, `FORCE INDEX`, `DELETE … ORDER BY … LIMIT`, `?`.
    Mysql,
    /// `bigserial`, no hints, `$1`.
    Postgres,
    /// `INTEGER PRIMARY KEY`, `INDEXED BY`, `?`.
    #[default]
    Sqlite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    Innodb,
    Myrocks,
    Tokudb,
    /// PostgreSQL's heap tables.
    Heap,
    /// SQLite's B-trees.
    Btree,
    /// That of a product that backslide does not run, or one that backslide does not know.
    Other,
}

impl Engine {
    /// The engines that a plan can name.
    pub const ALL: [Self; 5] = [Self::Innodb, Self::Myrocks, Self::Tokudb, Self::Heap, Self::Btree];

    pub fn name(self) -> &'static str {
        words::<Self>()[self as usize]
    }

    pub fn fits(self, dbms: Dbms) -> bool {
        self != Self::Other && dbms.product().engines.contains(&self)
    }

    /// The word after `ENGINE =` in MySQL's DDL, where the engine needs one.
    pub const fn ddl_name(self) -> Option<&'static str> {
        match self {
            Self::Innodb => Some("InnoDB"),
            Self::Myrocks => Some("ROCKSDB"),
            Self::Tokudb => Some("TokuDB"),
            Self::Heap | Self::Btree | Self::Other => None,
        }
    }
}

shown!(Engine, |engine| engine.name());

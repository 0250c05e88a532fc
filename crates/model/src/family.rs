//! The families of products and their storage engines: closed sets.

use std::fmt;

use serde::{Deserialize, Serialize};

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

    /// The name as it is written in plans and system names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Innodb => "innodb",
            Self::Myrocks => "myrocks",
            Self::Tokudb => "tokudb",
            Self::Heap => "heap",
            Self::Btree => "btree",
            Self::Other => "other",
        }
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

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

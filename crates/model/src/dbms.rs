//! Product families, their SQL dialects and storage engines.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A product family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dbms {
    /// Oracle's MySQL and what is built from it (Percona Server, FB MySQL).
    Mysql,
    /// MariaDB Server.
    Mariadb,
    /// PostgreSQL.
    Postgres,
    /// SQLite, embedded in the process of the client.
    Sqlite,
    /// A product that backslide does not run; only imported systems have it, and their names say what it is.
    Other,
}

impl Dbms {
    /// The families that backslide runs, in the order in which tables list them.
    pub const ALL: [Self; 4] = [Self::Mysql, Self::Mariadb, Self::Postgres, Self::Sqlite];

    /// The name as it is written in plans, catalogs and build ids.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Mariadb => "mariadb",
            Self::Postgres => "postgres",
            Self::Sqlite => "sqlite",
            Self::Other => "other",
        }
    }

    /// The family with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dbms| dbms.name() == name)
    }

    /// The SQL it speaks. Nothing is ever sent to [`Dbms::Other`].
    pub const fn dialect(self) -> Dialect {
        match self {
            Self::Mysql | Self::Mariadb => Dialect::Mysql,
            Self::Postgres => Dialect::Postgres,
            Self::Sqlite | Self::Other => Dialect::Sqlite,
        }
    }

    /// The engine of a system that names none.
    pub const fn default_engine(self) -> Engine {
        match self {
            Self::Mysql | Self::Mariadb => Engine::Innodb,
            Self::Postgres => Engine::Heap,
            Self::Sqlite => Engine::Btree,
            Self::Other => Engine::Other,
        }
    }

    /// Has it several engines, so that a system's name must say which?
    pub const fn has_engines(self) -> bool {
        matches!(self, Self::Mysql | Self::Mariadb)
    }

    /// Is the engine part of the client's own process (then there is no server to watch)?
    pub const fn is_embedded(self) -> bool {
        matches!(self, Self::Sqlite)
    }
}

impl fmt::Display for Dbms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What workloads know of a Dbms: the shape of its SQL, never its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// `AUTO_INCREMENT`, `FORCE INDEX`, `DELETE … ORDER BY … LIMIT`, `?`.
    Mysql,
    /// `bigserial`, no hints, `$1`.
    Postgres,
    /// `INTEGER PRIMARY KEY`, `INDEXED BY`, `?`.
    Sqlite,
}

/// A storage engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// InnoDB (and XtraDB).
    Innodb,
    /// MyRocks.
    Myrocks,
    /// TokuDB.
    Tokudb,
    /// PostgreSQL's heap tables.
    Heap,
    /// SQLite's B-trees.
    Btree,
    /// That of [`Dbms::Other`], or one that backslide does not know.
    Other,
}

impl Engine {
    /// The engines that a plan can name.
    pub const ALL: [Self; 5] = [
        Self::Innodb,
        Self::Myrocks,
        Self::Tokudb,
        Self::Heap,
        Self::Btree,
    ];

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

    /// Can this engine be part of a system of `dbms`?
    pub const fn fits(self, dbms: Dbms) -> bool {
        match self {
            Self::Innodb | Self::Myrocks | Self::Tokudb => dbms.has_engines(),
            Self::Heap => matches!(dbms, Dbms::Postgres),
            Self::Btree => matches!(dbms, Dbms::Sqlite),
            Self::Other => false,
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

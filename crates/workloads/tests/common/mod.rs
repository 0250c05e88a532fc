//! A database without a server, for the tests of workloads.
#![allow(dead_code, reason = "each test program uses some of it")]

use std::sync::Arc;
use std::time::Duration;

use drivers::{Connector, Endpoint};
use load::Target;
use model::{Connection, Dialect, Engine};
use tempfile::TempDir;

/// An SQLite file that is gone with its test.
pub(crate) struct Database {
    _directory: TempDir,
    pub(crate) connector: Arc<dyn Connector>,
}

impl Database {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let pragmas = [("journal_mode", "wal"), ("synchronous", "off")];
        let connector = drivers::connector(&Endpoint::Sqlite {
            path: directory.path().join("test.sqlite"),
            pragmas: pragmas.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            timeout: Duration::from_mins(1),
        });
        Self { _directory: directory, connector: Arc::from(connector) }
    }

    pub(crate) fn target(&self) -> Target {
        target(Arc::clone(&self.connector), Dialect::Sqlite)
    }

    /// The integer that a query returns.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        let mut number = None;
        let mut session = self.connector.connect().unwrap();
        session.query(sql, &mut |row| number = row.value(0).as_int()).unwrap();
        number.unwrap()
    }
}

/// A server of ours behind this connector.
pub(crate) fn target(connector: Arc<dyn Connector>, dialect: Dialect) -> Target {
    Target {
        dialect,
        engine: Engine::Btree,
        version: drivers::sqlite_version().parse().unwrap(),
        ours: true,
        connection: Connection::default(),
        patient: Arc::clone(&connector),
        connector,
    }
}

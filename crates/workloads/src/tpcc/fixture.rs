//! A database without a server, for tests.

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
            path: directory.path().join("tpcc.sqlite"),
            pragmas: pragmas.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            timeout: Duration::from_mins(1),
        });
        Self { _directory: directory, connector: Arc::from(connector) }
    }

    pub(crate) fn target(&self) -> Target {
        target(&self.connector)
    }

    pub(crate) fn execute(&self, sql: &str) {
        self.connector.connect().unwrap().execute(sql).unwrap();
    }
}

/// A server of ours behind this connector.
pub(crate) fn target(connector: &Arc<dyn Connector>) -> Target {
    Target {
        dialect: Dialect::Sqlite,
        engine: Engine::Btree,
        version: drivers::sqlite_version().parse().unwrap(),
        ours: true,
        connection: Connection::default(),
        patient: Arc::clone(connector),
        connector: Arc::clone(connector),
    }
}

/// A target whose description matters, not its rows.
pub(crate) fn sqlite() -> Target {
    Database::new().target()
}

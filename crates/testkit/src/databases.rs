//! Where a test runs a workload: SQLite files, and servers that it starts.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use drivers::{Address, Connector, Endpoint, Login, ServerEndpoint};
use load::Target;
use model::{Build, Config, Connection, Dbms, Dialect, Engine, Setting, System};
use servers::{Instance, InstanceSpec, StopFlag, discover};
use tempfile::TempDir;

const TIMEOUT: Duration = Duration::from_mins(1);
/// A server takes no longer to start or to stop.
const LIMIT: Duration = Duration::from_mins(2);

/// An SQLite file that is gone with its test.
pub struct Database {
    _directory: TempDir,
    pub connector: Arc<dyn Connector>,
}

impl Default for Database {
    fn default() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { connector: sqlite(directory.path().join("test.sqlite")), _directory: directory }
    }
}

impl Database {
    pub fn target(&self) -> Target {
        target(Arc::clone(&self.connector), Dialect::Sqlite)
    }

    pub fn execute(&self, sql: &str) {
        self.connector.connect().unwrap().execute(sql).unwrap();
    }

    /// The integer that a query returns.
    pub fn number(&self, sql: &str) -> i64 {
        number(&self.target(), sql)
    }
}

/// A Dbms that gives each test a database of its own.
pub struct Backend {
    kind: Kind,
    databases: Cell<u32>,
    directory: TempDir,
}

enum Kind {
    Sqlite,
    Server { instance: Box<RefCell<Instance>>, build: Box<Build> },
}

impl Backend {
    pub fn sqlite() -> Self {
        Self {
            kind: Kind::Sqlite,
            databases: Cell::new(0),
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// A server of this family; `None`, and a word about it, where this machine has none.
    pub fn server(dbms: Dbms) -> Option<Self> {
        let Some(build) = discover().into_iter().find(|build| build.dbms == dbms) else {
            crate::skipped("no server");
            return None;
        };
        let directory = tempfile::tempdir().unwrap();
        let spec = InstanceSpec {
            system: System { config: config(dbms), ..System::new("a", build.clone()) },
            directory: directory.path().join("instance"),
        };
        let mut instance = Instance::create(spec, StopFlag::default()).unwrap();
        start(&mut instance, dbms.dialect());
        Some(Self {
            kind: Kind::Server {
                instance: Box::new(RefCell::new(instance)),
                build: Box::new(build),
            },
            databases: Cell::new(0),
            directory,
        })
    }

    /// Has it sessions that wait for each other's rows, and procedures?
    pub fn is_server(&self) -> bool {
        matches!(self.kind, Kind::Server { .. })
    }

    /// Stops the server and starts it again on the same data.
    pub fn restart(&self) {
        let Kind::Server { instance, build } = &self.kind else {
            unreachable!("it has no server");
        };
        let mut instance = instance.borrow_mut();
        instance.stop(LIMIT).unwrap();
        start(&mut instance, build.dbms.dialect());
    }

    /// An empty database.
    pub fn database(&self) -> Target {
        let number = self.databases.get() + 1;
        self.databases.set(number);
        let name = format!("test{number}");
        match &self.kind {
            Kind::Sqlite => {
                let path = self.directory.path().join(name);
                target(sqlite(path), Dialect::Sqlite)
            }
            Kind::Server { instance, build } => {
                let dialect = build.dbms.dialect();
                let instance = instance.borrow();
                let admin = connector(&instance, dialect, instance.first_database());
                let mut admin = admin.connect().unwrap();
                admin.execute(&format!("CREATE DATABASE {name}")).unwrap();
                let connector = connector(&instance, dialect, &name);
                Target {
                    engine: build.dbms.default_engine(),
                    version: build.version.clone(),
                    ..target(connector, dialect)
                }
            }
        }
    }
}

fn start(instance: &mut Instance, dialect: Dialect) {
    let login = connector(instance, dialect, instance.first_database());
    let mut ready = || Ok(login.connect().map(drop)?);
    instance.start(&mut ready, LIMIT).unwrap();
}

/// A connector to this SQLite file, with `synchronous = off`.
pub fn sqlite(path: PathBuf) -> Arc<dyn Connector> {
    let pragmas = [("journal_mode", "wal"), ("synchronous", "off")];
    Arc::from(drivers::connector(&Endpoint::Sqlite {
        library: None,
        path,
        pragmas: pragmas.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        timeout: TIMEOUT,
    }))
}

fn connector(instance: &Instance, dialect: Dialect, database: &str) -> Arc<dyn Connector> {
    let login = Login {
        user: instance.superuser().to_owned(),
        password: String::new(),
        database: database.to_owned(),
    };
    let address = Address::Socket(instance.endpoint_socket());
    let server = ServerEndpoint::plain(address, login, TIMEOUT);
    Arc::from(drivers::connector(&match dialect {
        Dialect::Mysql => Endpoint::Mysql(server),
        Dialect::Postgres => Endpoint::Postgres(server),
        Dialect::Sqlite => unreachable!("it has no server"),
    }))
}

/// What this connector reaches, with the version of SQLite and its engine.
pub fn target(connector: Arc<dyn Connector>, dialect: Dialect) -> Target {
    Target {
        dialect,
        engine: Engine::Btree,
        version: drivers::sqlite_version().parse().unwrap(),
        ours: true,
        connection: Connection::default(),
        patient: Arc::clone(&connector),
        load_hosts: None,
        connector,
    }
}

/// Small, and commits that are not synced.
fn config(dbms: Dbms) -> Config {
    let settings: &[(&str, &str)] = match dbms {
        Dbms::Mysql | Dbms::Mariadb => &[
            ("innodb_buffer_pool_size", "128M"),
            ("innodb_flush_log_at_trx_commit", "0"),
            ("innodb_lock_wait_timeout", "5"),
        ],
        Dbms::Postgres => &[
            ("shared_buffers", "64MB"),
            ("synchronous_commit", "off"),
            ("fsync", "off"),
            ("max_connections", "120"),
        ],
        _ => &[],
    };
    let setting = |(name, value): &(&str, &str)| Setting {
        name: (*name).to_owned(),
        value: Some((*value).to_owned()),
    };
    Config {
        name: "test".to_owned(),
        settings: settings.iter().map(setting).collect(),
        ..Config::default()
    }
}

/// The same database behind another connector.
pub fn behind(target: &Target, connector: Arc<dyn Connector>) -> Target {
    Target { connector, ..target.clone() }
}

/// The integer that a query returns.
pub fn number(target: &Target, sql: &str) -> i64 {
    let mut number = None;
    let mut session = target.connector.connect().unwrap();
    session.query(sql, &mut |row| number = row.value(0).as_int()).unwrap();
    number.unwrap()
}

//! How another process reaches a server of ours: a client that is measured is a process of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use drivers::{Address, Connector, Endpoint, Login, ServerEndpoint, Session};
use load::Target;
use model::{Connection, Dialect, Engine, Version};

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_mins(30);

/// How a client reaches the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The SQL that the server speaks.
    pub dialect: Dialect,
    /// The socket: its file for MySQL, its directory for PostgreSQL.
    pub socket: String,
    /// The port, which names PostgreSQL's socket; empty for MySQL.
    pub port: String,
    /// As whom.
    pub user: String,
    /// Into which database.
    pub database: String,
}

impl Place {
    /// Where the session's server is, as it says itself.
    pub fn of(dialect: Dialect, session: &mut dyn Session) -> Result<Self> {
        let mut ask = |sql: &str| -> Result<String> {
            let mut answer = None;
            session.query(sql, &mut |row| answer = row.value(0).to_text())?;
            answer.with_context(|| format!("no answer to {sql}"))
        };
        Ok(match dialect {
            Dialect::Mysql => Self {
                dialect,
                socket: ask("SELECT @@socket")?,
                port: String::new(),
                user: ask("SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)")?,
                database: ask("SELECT DATABASE()")?,
            },
            Dialect::Postgres => Self {
                dialect,
                // Quoted, where it holds more than letters.
                socket: ask("SHOW unix_socket_directories")?.trim_matches('"').to_owned(),
                port: ask("SHOW port")?,
                user: ask("SELECT current_user")?,
                database: ask("SELECT current_database()")?,
            },
            Dialect::Sqlite => bail!("SQLite has no server"),
        })
    }

    /// As arguments of a process.
    pub fn arguments(&self) -> [String; 5] {
        let dialect = match self.dialect {
            Dialect::Mysql => "mysql",
            Dialect::Postgres => "postgres",
            Dialect::Sqlite => "sqlite",
        };
        [
            dialect.to_owned(),
            self.socket.clone(),
            self.port.clone(),
            self.user.clone(),
            self.database.clone(),
        ]
    }

    /// The place that these arguments tell.
    pub fn from_arguments(arguments: &[String]) -> Result<Self> {
        let [dialect, socket, port, user, database] = arguments else {
            bail!("five arguments tell a place, not {}", arguments.len());
        };
        let dialect = match dialect.as_str() {
            "mysql" => Dialect::Mysql,
            "postgres" => Dialect::Postgres,
            other => bail!("no such dialect: {other}"),
        };
        Ok(Self {
            dialect,
            socket: socket.clone(),
            port: port.clone(),
            user: user.clone(),
            database: database.clone(),
        })
    }

    /// The file of the socket.
    pub fn socket_file(&self) -> PathBuf {
        match self.dialect {
            Dialect::Postgres => {
                PathBuf::from(&self.socket).join(format!(".s.PGSQL.{}", self.port))
            }
            Dialect::Mysql | Dialect::Sqlite => PathBuf::from(&self.socket),
        }
    }

    /// As backslide's workloads take it.
    pub fn target(&self) -> Result<Target> {
        let login = Login {
            user: self.user.clone(),
            password: String::new(),
            database: self.database.clone(),
        };
        let server = ServerEndpoint::plain(Address::Socket(self.socket_file()), login, PATIENCE);
        let (endpoint, engine) = match self.dialect {
            Dialect::Postgres => (Endpoint::Postgres(server), Engine::Heap),
            Dialect::Mysql | Dialect::Sqlite => (Endpoint::Mysql(server), Engine::Innodb),
        };
        let connector: Arc<dyn Connector> = Arc::from(drivers::connector(&endpoint));
        let version: Version = "0".parse()?;
        Ok(Target {
            dialect: self.dialect,
            engine,
            version,
            ours: true,
            connection: Connection::default(),
            connector: Arc::clone(&connector),
            patient: connector,
            load_hosts: None,
        })
    }
}

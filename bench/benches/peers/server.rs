//! A server of ours with the table in it, and how each client reaches it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bench::{Scratch, expand};
use drivers::{Address, Connector, Endpoint, Login, ServerEndpoint, Session};
use lab::{Provider, Providers, Site};
use load::{Observer, Stop, Target};
use model::{Connection, Dialect, Edge, Engine, Interval, SqlSpec, Version, WorkloadSpec};

use crate::spec::{Work, spec};

/// Rows of the table that queries are asked of.
pub(crate) const ROWS: u64 = 1_000_000;

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_mins(30);

/// Where a server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// On the CPU that clients are bound to.
    OneCpu,
    /// On all CPUs.
    AllCpus,
}

/// A server.
pub(crate) struct Server {
    pub(crate) name: String,
    /// The CPU that clients are bound to.
    pub(crate) cpu: usize,
    pub(crate) place: Place,
    site: Box<dyn Site>,
    // Removed after the site has ended.
    _scratch: Scratch,
}

/// How a client reaches the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) dialect: Dialect,
    /// The socket: its file for MySQL, its directory for PostgreSQL.
    pub(crate) socket: String,
    pub(crate) port: String,
    pub(crate) user: String,
    pub(crate) database: String,
}

impl Server {
    /// Starts `name` with this much of the workload done: `rows` loaded. Clients are bound to the last CPU
    /// that may be used.
    pub(crate) fn start(name: &str, on: On, rows: u64, settings: &str) -> Result<Self> {
        let cpu = *probes::allowed().last().context("no CPU may be used")?;
        let scratch = Scratch::new()?;
        let cpus = match on {
            On::OneCpu => format!("cpus = {{ server = \"{cpu}\" }}"),
            On::AllCpus => String::new(),
        };
        let plan = format!(
            r#"
            name = "peers"
            rounds = 1
            workload = {{ kind = "insert", scale = "tiny" }}
            [[system]]
            build = "{name}"
            config = "quick"
            {cpus}
            set = {{ {settings} }}
            "#
        );
        let plan = expand(&plan, &scratch.lab.host()?)?;
        let system = plan.systems.first().context("no system")?;
        let workload = WorkloadSpec::Sql(spec(rows.max(1), 1, Work::Point, 1, 1));
        let directory = scratch.directory().join("instance");
        let site = Providers::default().open(system, &workload, &directory)?;
        let mut session = site.target().connector.connect()?;
        let place = Place::of(site.target().dialect, &mut *session)?;
        if rows > 0 {
            load(&site.target(), &spec(rows, 1, Work::Point, 1, 1))?;
        }
        Ok(Self {
            name: name.to_owned(),
            cpu,
            place,
            site,
            _scratch: scratch,
        })
    }

    /// What runs on it.
    pub(crate) fn target(&self) -> Target {
        self.site.target()
    }

    /// Ends it and removes it.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.site.stop()?;
        self.site.remove()?;
        Ok(())
    }
}

/// Loads the table and builds its index; how long that took.
pub(crate) fn load(target: &Target, spec: &SqlSpec) -> Result<f64> {
    let mut workload = load::workload(&WorkloadSpec::Sql(spec.clone()), 42);
    let mut seconds = 0.0;
    for step in 0..2 {
        let result = workload.run(step, target, &Stop::default(), &mut Unobserved)?;
        if let Some(wrong) = result.checks.iter().find(|check| !check.holds) {
            bail!("{}: {} is not {}", wrong.what, wrong.actual, wrong.expected);
        }
        seconds += result.window.length.as_secs_f64();
    }
    Ok(seconds)
}

/// Sees nothing.
pub(crate) struct Unobserved;

impl Observer for Unobserved {
    fn edge(&mut self, _: Edge) {}

    fn interval(&mut self, _: Interval) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }
}

impl Place {
    /// Where the session's server is, as it says itself.
    fn of(dialect: Dialect, session: &mut dyn Session) -> Result<Self> {
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
                socket: ask("SHOW unix_socket_directories")?
                    .trim_matches('"')
                    .to_owned(),
                port: ask("SHOW port")?,
                user: ask("SELECT current_user")?,
                database: ask("SELECT current_database()")?,
            },
            Dialect::Sqlite => bail!("SQLite has no server"),
        })
    }

    /// As arguments of a process.
    pub(crate) fn arguments(&self) -> [String; 5] {
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
    pub(crate) fn from_arguments(arguments: &[String]) -> Result<Self> {
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
    pub(crate) fn socket_file(&self) -> PathBuf {
        match self.dialect {
            Dialect::Postgres => {
                PathBuf::from(&self.socket).join(format!(".s.PGSQL.{}", self.port))
            }
            Dialect::Mysql | Dialect::Sqlite => PathBuf::from(&self.socket),
        }
    }

    /// As backslide's workloads take it.
    pub(crate) fn target(&self) -> Result<Target> {
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
        })
    }
}

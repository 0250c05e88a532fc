//! A server of ours: initialised, started and stopped by us, on a Unix socket.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use drivers::{Address, Connector, Endpoint, Login, Session};
use load::Target;
use model::{Capture, Dialect, Nanos, Sizes, System};
use servers::{Instance, InstanceSpec, ServerError};

use crate::listing;
use crate::site::{PATIENCE, Site, SiteError};

/// The database of the workload in servers of ours.
const DATABASE: &str = "ib";
/// How long a server may take until it answers. Recovery is no part of it: its data is new.
const START_LIMIT: Duration = Duration::from_mins(2);
/// How long a server may take to stop: it writes its dirty pages.
const STOP_LIMIT: Duration = Duration::from_mins(10);
/// One attempt to log in while it starts.
const LOGIN_LIMIT: Duration = Duration::from_secs(5);
/// Log lines kept of a failed trial.
const LOG_LINES: usize = 40;

/// A running server of ours.
pub(crate) struct Own {
    instance: Instance,
    system: System,
    connector: Arc<dyn Connector>,
    patient: Arc<dyn Connector>,
    admin: Box<dyn Session>,
    started_in: Nanos,
}

impl Own {
    pub(crate) fn open(
        system: &System,
        directory: &Path,
        timeout: Duration,
    ) -> Result<Self, SiteError> {
        let spec = InstanceSpec {
            build: system.build.clone(),
            engine: system.engine,
            config: system.config.clone(),
            directory: directory.to_owned(),
            server_cpus: system.cpus.server.clone(),
        };
        let mut instance = Instance::create(spec).map_err(|error| failed(&error))?;
        let dialect = system.build.dbms.dialect();
        let socket = instance.endpoint_socket();
        let user = instance.superuser();
        let reach = |database: &str, timeout| {
            drivers::connector(&endpoint(dialect, &socket, user, database, timeout))
        };
        let first = reach(instance.first_database(), LOGIN_LIMIT);
        let started_in = instance
            .start(
                &mut || first.connect().map(drop).map_err(|error| error.to_string()),
                START_LIMIT,
            )
            .map_err(|error| failed(&error))?;
        let created = reach(instance.first_database(), timeout)
            .connect()
            .and_then(|mut s| s.execute(&format!("CREATE DATABASE {DATABASE}")))
            .and_then(|_| reach(DATABASE, timeout).connect());
        let admin = created.map_err(|error| SiteError {
            reason: format!("cannot create database {DATABASE}: {error}"),
            log_tail: instance.log_tail(LOG_LINES),
        })?;
        let (usual, patient) = (
            reach(DATABASE, timeout),
            reach(DATABASE, timeout * PATIENCE),
        );
        Ok(Self {
            connector: Arc::from(usual),
            patient: Arc::from(patient),
            system: system.clone(),
            instance,
            admin,
            started_in,
        })
    }
}

fn endpoint(
    dialect: Dialect,
    socket: &Path,
    user: &str,
    database: &str,
    timeout: Duration,
) -> Endpoint {
    let address = Address::Socket(PathBuf::from(socket));
    let login = Login {
        user: user.to_owned(),
        password: String::new(),
        database: database.to_owned(),
    };
    match dialect {
        Dialect::Mysql => Endpoint::Mysql {
            address,
            login,
            timeout,
        },
        Dialect::Postgres => Endpoint::Postgres {
            address,
            login,
            timeout,
        },
        Dialect::Sqlite => Endpoint::Sqlite {
            path: socket.to_owned(),
            pragmas: Vec::new(),
            timeout,
        },
    }
}

fn failed(error: &ServerError) -> SiteError {
    SiteError {
        reason: error.to_string(),
        log_tail: error.log_tail().to_vec(),
    }
}

impl Site for Own {
    fn target(&self) -> Target {
        Target {
            dialect: self.system.build.dbms.dialect(),
            engine: self.system.engine,
            connector: Arc::clone(&self.connector),
            patient: Arc::clone(&self.patient),
        }
    }

    fn provenance(&self) -> Vec<(String, String)> {
        let info = self.admin.info();
        let tls = info.tls.clone().unwrap_or_else(|| "off".to_owned());
        [
            ("server version", info.server_version.clone()),
            ("program", self.system.build.version_line.clone()),
            ("authentication", info.authentication.clone()),
            ("TLS", tls),
            ("started in", self.started_in.to_string()),
            ("config file", self.instance.config_text().to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    fn pid(&self) -> Option<u32> {
        self.instance.pid()
    }

    fn captures(&mut self) -> (Vec<Capture>, Vec<String>) {
        let queries = self.instance.captures();
        let queries = queries.iter().map(|query| (query.name, query.sql));
        listing::take_all(&mut *self.admin, queries)
    }

    fn sizes(&self) -> Option<Sizes> {
        let files = self.instance.files();
        let owned = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let root = self.instance.layout().data();
        probes::measure(&root, &owned(files.data), &owned(files.log)).ok()
    }

    fn log_tail(&self) -> Vec<String> {
        self.instance.log_tail(LOG_LINES)
    }

    fn close(self: Box<Self>) -> Result<(), SiteError> {
        let Self {
            mut instance,
            admin,
            ..
        } = *self;
        drop(admin);
        let stopped = instance.stop(STOP_LIMIT).map_err(|error| failed(&error));
        let removed = instance.remove().map_err(|error| failed(&error));
        stopped.and(removed)
    }
}

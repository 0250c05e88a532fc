//! A server of ours: initialised, started and stopped by us, on a Unix socket.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use drivers::{Address, Connector, Endpoint, Login, SessionInfo};
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
    /// As agreed at the first login.
    info: SessionInfo,
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
        let mut instance = Instance::create(spec).map_err(|error| {
            if is_half_made(&error) {
                // The error tells why and carries the log; a leftover only takes up the disk.
                let _leftover = std::fs::remove_dir_all(directory);
            }
            failed(&error)
        })?;
        match start(&mut instance, system, timeout) {
            Ok((info, started_in)) => Ok(Self {
                connector: Arc::from(connector(&instance, system, DATABASE, timeout)),
                patient: Arc::from(connector(&instance, system, DATABASE, timeout * PATIENCE)),
                system: system.clone(),
                instance,
                info,
                started_in,
            }),
            Err(error) => {
                let _leftover = instance.remove();
                Err(error)
            }
        }
    }
}

/// Did the error come when the directory had been made, so that it is ours to remove?
fn is_half_made(error: &ServerError) -> bool {
    matches!(
        error,
        ServerError::InitFailed { .. } | ServerError::InitTimeout { .. }
    )
}

/// Starts the server and creates the database; what was agreed at login, and how long the start took.
fn start(
    instance: &mut Instance,
    system: &System,
    timeout: Duration,
) -> Result<(SessionInfo, Nanos), SiteError> {
    let database = instance.first_database();
    let login = connector(instance, system, database, LOGIN_LIMIT);
    let started_in = instance
        .start(
            &mut || login.connect().map(drop).map_err(|error| error.to_string()),
            START_LIMIT,
        )
        .map_err(|error| failed(&error))?;
    let created = connector(instance, system, database, timeout)
        .connect()
        .and_then(|mut s| s.execute(&format!("CREATE DATABASE {DATABASE}")))
        .and_then(|_| connector(instance, system, DATABASE, timeout).connect());
    let admin = created.map_err(|error| SiteError {
        reason: format!("cannot create database {DATABASE}: {error}"),
        log_tail: instance.log_tail(LOG_LINES),
    })?;
    Ok((admin.info().clone(), started_in))
}

/// Opens sessions of the superuser in `database`.
fn connector(
    instance: &Instance,
    system: &System,
    database: &str,
    timeout: Duration,
) -> Box<dyn Connector> {
    drivers::connector(&endpoint(
        system.build.dbms.dialect(),
        &instance.endpoint_socket(),
        instance.superuser(),
        database,
        timeout,
    ))
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
            version: self.system.build.version.clone(),
            ours: true,
            connector: Arc::clone(&self.connector),
            patient: Arc::clone(&self.patient),
        }
    }

    fn provenance(&self) -> Vec<(String, String)> {
        let info = &self.info;
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
        listing::take_all(&*self.connector, queries)
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
        let Self { mut instance, .. } = *self;
        let stopped = instance.stop(STOP_LIMIT).map_err(|error| failed(&error));
        let removed = instance.remove().map_err(|error| failed(&error));
        stopped.and(removed)
    }
}

//! A running server that is not ours: we use a database of our own in it and leave all else alone.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use drivers::{Address, Connector, Endpoint, Session};
use load::Target;
use model::{Build, BuildSource, Capture, Dbms, Sizes, System};

use crate::address::{ForeignAddress, Secrets};
use crate::listing;
use crate::site::{PATIENCE, Site, SiteError};

/// The database that we create, use and drop. The name is ours: no user has data in it.
const DATABASE: &str = "backslide_ib";
/// One attempt to log in.
const LOGIN_LIMIT: Duration = Duration::from_secs(10);

/// A server that is not ours.
pub(crate) struct Foreign {
    system: System,
    connector: Arc<dyn Connector>,
    patient: Arc<dyn Connector>,
    /// In the server's own first database: drops ours at the end.
    outer: Box<dyn Session>,
    pid: Option<u32>,
}

impl Foreign {
    pub(crate) fn open(
        system: &System,
        address: &str,
        secrets: &Secrets,
        timeout: Duration,
    ) -> Result<Self, SiteError> {
        let address = ForeignAddress::parse(address).map_err(SiteError::new)?;
        let dbms = system.build.dbms;
        let reach = |database: &str, timeout| -> Result<Box<dyn Connector>, SiteError> {
            let endpoint = address.endpoint(dbms.dialect(), database, secrets, timeout);
            Ok(drivers::connector(&endpoint.map_err(SiteError::new)?))
        };
        let failed = |error: drivers::SessionError| SiteError::new(error.to_string());
        let mut outer = reach(first_database(dbms), timeout)?
            .connect()
            .map_err(failed)?;
        outer
            .execute(&format!("DROP DATABASE IF EXISTS {DATABASE}"))
            .map_err(failed)?;
        outer
            .execute(&format!("CREATE DATABASE {DATABASE}"))
            .map_err(failed)?;
        let pid = address
            .address(dbms.dialect())
            .ok()
            .and_then(|a| local_process(&a));
        Ok(Self {
            system: system.clone(),
            connector: Arc::from(reach(DATABASE, timeout)?),
            patient: Arc::from(reach(DATABASE, timeout * PATIENCE)?),
            outer,
            pid,
        })
    }
}

/// The build of a running server, as it says on connect.
pub(crate) fn ask(
    dbms: Dbms,
    address: &ForeignAddress,
    secrets: &Secrets,
) -> Result<Build, String> {
    let endpoint: Endpoint =
        address.endpoint(dbms.dialect(), first_database(dbms), secrets, LOGIN_LIMIT)?;
    let session = drivers::connector(&endpoint)
        .connect()
        .map_err(|error| error.to_string())?;
    let line = session.info().server_version.clone();
    // `5.5.5-10.11.18-MariaDB-…`: old replicas expect a 5.5 in front.
    let text = line.strip_prefix("5.5.5-").unwrap_or(&line);
    let number = text.split([' ', '-', '~', '+']).next().unwrap_or(text);
    let version = number
        .parse()
        .map_err(|error: model::VersionError| error.to_string())?;
    let says_mariadb = line.contains("MariaDB");
    if dbms.has_engines() && says_mariadb != (dbms == Dbms::Mariadb) {
        return Err(format!("{address} is `{line}`, which is not {dbms}"));
    }
    Ok(Build {
        dbms,
        version,
        source: BuildSource::Connect(address.to_string()),
        version_line: line,
    })
}

const fn first_database(dbms: Dbms) -> &'static str {
    match dbms {
        Dbms::Postgres => "postgres",
        Dbms::Mysql | Dbms::Mariadb | Dbms::Sqlite => "",
    }
}

/// The process that listens on a Unix socket of this machine, so that it can be watched too.
fn local_process(address: &Address) -> Option<u32> {
    let Address::Socket(path) = address else {
        return None;
    };
    let stream = UnixStream::connect(path).ok()?;
    let peer = rustix::net::sockopt::socket_peercred(&stream).ok()?;
    u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
}

impl Site for Foreign {
    fn target(&self) -> Target {
        Target {
            dialect: self.system.build.dbms.dialect(),
            engine: self.system.engine,
            connector: Arc::clone(&self.connector),
            patient: Arc::clone(&self.patient),
        }
    }

    fn provenance(&self) -> Vec<(String, String)> {
        let info = self.outer.info();
        let tls = info.tls.clone().unwrap_or_else(|| "off".to_owned());
        let process = self
            .pid
            .map_or("remote, its process is not watched".to_owned(), |pid| {
                format!("on this host, process {pid}")
            });
        [
            ("server version", info.server_version.clone()),
            ("authentication", info.authentication.clone()),
            ("TLS", tls),
            ("server", process),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    fn pid(&self) -> Option<u32> {
        self.pid
    }

    fn captures(&mut self) -> (Vec<Capture>, Vec<String>) {
        let Some(product) = servers::product(self.system.build.dbms) else {
            return (Vec::new(), Vec::new());
        };
        let queries = product.captures(&self.system.build.version, self.system.engine);
        let queries = queries.iter().map(|query| (query.name, query.sql));
        match self.connector.connect() {
            Ok(mut session) => listing::take_all(&mut *session, queries),
            Err(error) => (Vec::new(), vec![format!("nothing captured: {error}")]),
        }
    }

    fn sizes(&self) -> Option<Sizes> {
        None
    }

    fn log_tail(&self) -> Vec<String> {
        Vec::new()
    }

    fn close(mut self: Box<Self>) -> Result<(), SiteError> {
        match self
            .outer
            .execute(&format!("DROP DATABASE IF EXISTS {DATABASE}"))
        {
            Ok(_) => Ok(()),
            Err(error) => Err(SiteError::new(format!(
                "cannot drop database {DATABASE}: {error}"
            ))),
        }
    }
}

//! A running server that is not ours: we use a database of our own in it and leave all else alone.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use drivers::{Address, Connector, Session, SessionError, SessionInfo};
use load::Target;
use model::{Build, BuildSource, Capture, Connection, Dbms, Sizes, System};

use crate::address::{ForeignAddress, Secrets};
use crate::capacity::{self, Capacity};
use crate::listing;
use crate::reach;
use crate::site::{NOT_OURS, PATIENCE, Site, SiteError, Watched};

/// The database that we create, use and drop. The name is ours: no user has data in it.
const DATABASE: &str = "backslide_ib";
/// One attempt to log in.
const LOGIN_LIMIT: Duration = Duration::from_secs(10);

/// A server that is not ours.
pub(crate) struct Foreign {
    system: System,
    connector: Arc<dyn Connector>,
    patient: Arc<dyn Connector>,
    /// Opens sessions in the server's own first database, from where ours is dropped.
    outer: Box<dyn Connector>,
    /// As agreed with the sessions of the workload.
    info: SessionInfo,
    address: Address,
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
            let connector = connector(system, &address, database, secrets, timeout);
            connector.map_err(SiteError::new)
        };
        let failed = |error: SessionError| SiteError::new(error.to_string());
        let outer = reach(first_database(dbms), timeout)?;
        let inner = reach(DATABASE, timeout)?;
        let mut session = outer.connect().map_err(failed)?;
        if number(&mut *session, &exists(dbms)).map_err(failed)? > 0 {
            check_ours(&*inner, &address)?;
            session
                .execute(&format!("DROP DATABASE {DATABASE}"))
                .map_err(failed)?;
        }
        let info = session
            .execute(&format!("CREATE DATABASE {DATABASE}"))
            .and_then(|_| inner.connect())
            .and_then(|mut inside| {
                inside.execute(&format!("CREATE TABLE {MARKER} (owner VARCHAR(300))"))?;
                inside.execute(&format!("INSERT INTO {MARKER} VALUES ('{}')", owner()))?;
                Ok(inside.info().clone())
            })
            .map_err(failed)?;
        let place = address.address(dbms.dialect()).map_err(SiteError::new)?;
        Ok(Self {
            system: system.clone(),
            connector: Arc::from(inner),
            patient: Arc::from(reach(DATABASE, timeout * PATIENCE)?),
            outer,
            info,
            pid: local_process(&place),
            address: place,
        })
    }
}

/// Opens sessions in `database` as the system's `connection` says.
fn connector(
    system: &System,
    address: &ForeignAddress,
    database: &str,
    secrets: &Secrets,
    timeout: Duration,
) -> Result<Box<dyn Connector>, String> {
    let dialect = system.build.dbms.dialect();
    let endpoint = address.endpoint(dialect, database, secrets, timeout, system.connection)?;
    Ok(drivers::connector(&endpoint))
}

/// How many sessions the server takes, as it says over a session of the kind that the plan asks for. The
/// error says why there is none.
pub(crate) fn capacity(
    system: &System,
    address: &ForeignAddress,
    secrets: &Secrets,
) -> Result<Capacity, String> {
    let dbms = system.build.dbms;
    let connector = connector(system, address, first_database(dbms), secrets, LOGIN_LIMIT)?;
    let sql = match dbms {
        Dbms::Postgres => "SELECT setting FROM pg_settings WHERE name = 'max_connections'",
        Dbms::Mysql | Dbms::Mariadb | Dbms::Sqlite | Dbms::Other => "SELECT @@max_connections",
    };
    let most = connector
        .connect()
        .and_then(|mut session| number(&mut *session, sql))
        .map_err(|error| error.to_string())?;
    Ok(Capacity {
        max_connections: u32::try_from(most).unwrap_or(u32::MAX),
        reserved: capacity::reserved(dbms),
    })
}

/// A table in our database that says that it is ours, and whose.
const MARKER: &str = "backslide_marker";

/// This process, as the marker names it.
fn owner() -> String {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy().replace('\'', "");
    format!("{host}:{}", std::process::id())
}

/// Counts databases with our database's name.
fn exists(dbms: Dbms) -> String {
    let (listing, column) = match dbms {
        Dbms::Postgres => ("pg_database", "datname"),
        Dbms::Mysql | Dbms::Mariadb | Dbms::Sqlite | Dbms::Other => {
            ("information_schema.schemata", "schema_name")
        }
    };
    format!("SELECT COUNT(*) FROM {listing} WHERE {column} = '{DATABASE}'")
}

/// A database that is there already must carry our marker, and its owner must be gone: nothing that
/// somebody else made is dropped.
fn check_ours(inner: &dyn Connector, address: &ForeignAddress) -> Result<(), SiteError> {
    let mut marked = None;
    let asked = inner.connect().and_then(|mut session| {
        session.query(&format!("SELECT owner FROM {MARKER}"), &mut |row| {
            marked = row.value(0).to_text();
        })
    });
    let Some(marked) = marked.filter(|_| asked.is_ok()) else {
        return Err(SiteError::new(format!(
            "database {DATABASE} exists at {address} and was not made by backslide; drop it yourself \
             if nobody needs it"
        )));
    };
    let ours = owner();
    let (host, _) = ours.rsplit_once(':').unwrap_or_default();
    let alive = marked
        .strip_prefix(host)
        .and_then(|rest| rest.strip_prefix(':'))
        .is_some_and(|pid| Path::new("/proc").join(pid).exists());
    if alive && marked != ours {
        return Err(SiteError::new(format!(
            "database {DATABASE} at {address} is in use by another run ({marked}); wait for it"
        )));
    }
    Ok(())
}

fn number(session: &mut dyn Session, sql: &str) -> Result<i64, SessionError> {
    let mut number = 0;
    session.query(sql, &mut |row| {
        number = row.value(0).as_int().unwrap_or(0);
    })?;
    Ok(number)
}

/// Does the server run on this host, so that the host's counters are its own?
fn is_local(address: &Address) -> bool {
    match address {
        Address::Socket(_) => true,
        Address::Tcp { host, .. } => {
            host == "localhost"
                || host
                    .parse::<std::net::IpAddr>()
                    .is_ok_and(|ip| ip.is_loopback())
        }
    }
}

/// The build of a running server, as it says on connect.
pub(crate) fn ask(
    dbms: Dbms,
    address: &ForeignAddress,
    secrets: &Secrets,
) -> Result<Build, String> {
    let open = |tls: bool| -> Result<Result<_, SessionError>, String> {
        let connection = Connection {
            tls,
            ..Connection::default()
        };
        let first = first_database(dbms);
        let endpoint = address.endpoint(dbms.dialect(), first, secrets, LOGIN_LIMIT, connection)?;
        Ok(drivers::connector(&endpoint).connect())
    };
    let session = match open(false)? {
        // It may take encrypted logins only. If not, what it said first is what is wrong.
        Err(refused @ SessionError::Login { .. }) => open(true)?.map_err(|_| refused),
        other => other,
    };
    let session = session.map_err(|error| error.to_string())?;
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
        name: None,
        facts: model::BuildFacts::default(),
    })
}

const fn first_database(dbms: Dbms) -> &'static str {
    match dbms {
        Dbms::Postgres => "postgres",
        Dbms::Mysql | Dbms::Mariadb | Dbms::Sqlite | Dbms::Other => "",
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
            version: self.system.build.version.clone(),
            ours: false,
            connection: self.system.connection,
            connector: Arc::clone(&self.connector),
            patient: Arc::clone(&self.patient),
        }
    }

    fn provenance(&self) -> Vec<(String, String)> {
        let info = &self.info;
        let tls = info.tls.clone().unwrap_or_else(|| "off".to_owned());
        let process = match (self.pid, is_local(&self.address)) {
            (Some(pid), _) => format!("on this host, process {pid}"),
            (None, true) => "on this host, its process is not known".to_owned(),
            (None, false) => "remote: neither it nor its host is watched".to_owned(),
        };
        [
            ("server version", info.server_version.clone()),
            ("authentication", info.authentication.clone()),
            ("TLS", tls),
            ("server", process),
        ]
        .into_iter()
        .chain(reach::provenance(self.system.connection, &self.address))
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
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
        listing::take_all(&*self.connector, queries)
    }

    fn sizes(&self) -> Option<Sizes> {
        None
    }

    fn log_tail(&self) -> Vec<String> {
        Vec::new()
    }

    fn watched(&self) -> Watched {
        if is_local(&self.address) {
            Watched::Host
        } else {
            Watched::Nothing
        }
    }

    fn stop(&mut self) -> Result<(), SiteError> {
        // It is not ours to stop.
        Ok(())
    }

    fn move_data(&mut self, _to: &Path) -> Result<(), SiteError> {
        Err(SiteError::new(NOT_OURS))
    }

    fn remove(self: Box<Self>) -> Result<(), SiteError> {
        // A new session: the server may have closed one that was idle for the whole trial.
        let dropped = self.outer.connect().and_then(|mut session| {
            session.execute(&format!("DROP DATABASE IF EXISTS {DATABASE}"))
        });
        match dropped {
            Ok(_) => Ok(()),
            Err(error) => Err(SiteError::new(format!(
                "cannot drop database {DATABASE}: {error}"
            ))),
        }
    }
}

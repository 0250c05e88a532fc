//! A running server that is not ours: we use a database of our own in it and leave all else alone.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use drivers::{Address, Connector, Session, SessionError, SessionInfo};
use load::{LoadHosts, Stop, Target};
use model::{Build, BuildSource, Capture, Connection, Dbms, Fact, Provenance, System};
use probes::Probe;

use crate::agents::{Agents, ServerHost, ServerHostProbe};
use crate::capacity::Capacity;
use crate::error::SystemError;
use crate::marker::{Claim, Owner, Standing, TABLE};
use crate::reach;
use crate::reach::{ForeignAddress, Secrets};
use crate::serving::local_process;
use crate::site::{NOT_OURS, PATIENCE, Result, Site, SiteError, Watched, target};
use crate::variables::{captures_of, take_all};

/// The database that we create, use and drop. The name is ours: no user has data in it.
const DATABASE: &str = "backslide_ib";
pub(crate) const LOGIN_LIMIT: Duration = Duration::from_secs(10);

pub(crate) struct Sessions {
    /// Those of the workload, in our database.
    workload: Arc<dyn Connector>,
    /// The same, with more time for each statement.
    patient: Arc<dyn Connector>,
    /// In the server's own first database, from where ours is dropped.
    pub(crate) first: Box<dyn Connector>,
}

impl Sessions {
    pub(crate) fn target(&self, system: &System) -> Target {
        Target { ours: false, ..target(system, &self.workload, &self.patient) }
    }

    pub(crate) fn read_owner(&self) -> Result<Option<Owner>, SessionError> {
        Owner::read(&mut *self.workload.connect()?)
    }
}

pub(crate) fn sessions(
    system: &System,
    address: &ForeignAddress,
    secrets: &Secrets,
    timeout: Duration,
) -> Result<Sessions, SystemError> {
    let dbms = system.build.dbms;
    let reach = |database: &str, timeout| {
        address.connector(dbms.dialect(), database, secrets, timeout, system.connection)
    };
    Ok(Sessions {
        workload: Arc::from(reach(DATABASE, timeout)?),
        patient: Arc::from(reach(DATABASE, timeout * PATIENCE)?),
        first: reach(&dbms.product().sql.first_database, timeout)?,
    })
}

pub(crate) struct Foreign {
    system: System,
    sessions: Sessions,
    agents: Option<Arc<Agents>>,
    server_host: Option<Arc<ServerHost>>,
    /// As agreed with the sessions of the workload.
    info: SessionInfo,
    address: Address,
    pid: Option<u32>,
    claim: Claim,
}

impl Foreign {
    pub(crate) fn open(
        system: &System,
        address: &str,
        secrets: &Secrets,
        timeout: Duration,
        stop: &Stop,
    ) -> Result<Self> {
        let address = ForeignAddress::parse(address)?;
        let dbms = system.build.dbms;
        let sessions = sessions(system, &address, secrets, timeout)?;
        let agents = agents(system, &address, secrets, timeout, stop)?;
        let server_host = server_host(system, &address, stop)?;
        let mut session = sessions.first.connect()?;
        let mut remake: &[&str] = &["CREATE"];
        if number(&mut *session, &ours(&dbms.product().sql.database_exists))? > 0 {
            // PostgreSQL drops no database in which a session is.
            let mut inside = sessions.workload.connect()?;
            let is_left = is_left(&mut *inside, dbms, &address)?;
            remake = if is_left { &["DROP", "CREATE"] } else { &[] };
        }
        for verb in remake {
            session.execute(&format!("{verb} DATABASE {DATABASE}"))?;
        }
        let claim = Claim::new();
        let info = {
            let mut inside = sessions.workload.connect()?;
            claim.owner().write(&mut *inside)?;
            inside.info().clone()
        };
        let place = address.address(dbms.dialect())?;
        let foreign = Self {
            system: system.clone(),
            sessions,
            agents: agents.map(Arc::new),
            server_host: server_host.map(Arc::new),
            info,
            pid: local_process(&place),
            address: place,
            claim,
        };
        if let Some(agents) = &foreign.agents
            && let Err(error) = agents.recognize(foreign.claim.owner())
        {
            Box::new(foreign).remove()?;
            return Err(error.into());
        }
        Ok(foreign)
    }
}

/// The agents of the system's load hosts, where it has any: started, and the server within their reach.
pub(crate) fn agents(
    system: &System,
    address: &ForeignAddress,
    secrets: &Secrets,
    timeout: Duration,
    stop: &Stop,
) -> Result<Option<Agents>, SystemError> {
    if system.load_hosts.is_empty() {
        return Ok(None);
    }
    Ok(Some(Agents::start(system, address, secrets, timeout, stop)?))
}

/// The agent of the server's host, where the plan names that: started.
pub(crate) fn server_host(
    system: &System,
    address: &ForeignAddress,
    stop: &Stop,
) -> Result<Option<ServerHost>, SystemError> {
    let host = system.server_host.as_ref();
    let started = host.map(|host| ServerHost::start(host, address, system.build.dbms, stop));
    Ok(started.transpose()?)
}

/// How many sessions the server takes, as it says over a session of the kind that the plan asks for.
pub(crate) fn capacity(
    system: &System,
    address: &ForeignAddress,
    secrets: &Secrets,
) -> Result<Capacity, SystemError> {
    let dbms = system.build.dbms;
    let first = &dbms.product().sql.first_database;
    let most = address
        .connector(dbms.dialect(), first, secrets, LOGIN_LIMIT, system.connection)?
        .connect()
        .and_then(|mut session| number(&mut *session, &dbms.product().sql.max_connections))?;
    Ok(Capacity {
        max_connections: u32::try_from(most).unwrap_or(u32::MAX),
        reserved: dbms.product().limits.reserved_connections,
    })
}

fn ours(sql: &str) -> String {
    sql.replace("{database}", DATABASE).replace("{table}", TABLE)
}

/// A database that is there must be empty, as a run leaves it that could not mark it, or else left by an ended run.
/// Is it the latter, to be dropped? Nothing that somebody else made is.
fn is_left(session: &mut dyn Session, dbms: Dbms, address: &ForeignAddress) -> Result<bool> {
    let refuse = |reason: String| Err(SiteError::new(reason));
    match Owner::read(session) {
        Ok(Some(owner)) => match owner.standing() {
            Standing::Gone => Ok(true),
            Standing::Ours => refuse(format!(
                "database {DATABASE} at {address} is in use by another system of this run: both addresses \
                 lead to one server; leave `interleave` out, or give each system a server"
            )),
            Standing::Running => refuse(format!(
                "database {DATABASE} at {address} is in use by another run ({}); wait for it",
                owner.describe()
            )),
            Standing::Elsewhere => refuse(format!(
                "database {DATABASE} at {address} belongs to a run on another host ({}), and this host cannot \
                 see whether it still runs: wait for it or, if it has ended, drop the \
                 database yourself (DROP DATABASE {DATABASE})",
                owner.describe()
            )),
        },
        unmarked @ (Ok(None) | Err(SessionError::Server { .. })) => {
            let others = number(session, &ours(&dbms.product().sql.database_content));
            match others? {
                0 => Ok(unmarked.is_ok()),
                _ => refuse(format!(
                    "database {DATABASE} exists at {address} and was not made by backslide; drop it \
                     yourself if nobody needs it"
                )),
            }
        }
        Err(error) => refuse(format!("cannot use database {DATABASE} at {address}: {error}")),
    }
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
            host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
        }
    }
}

/// The build of a running server, as it says on connect.
pub(crate) fn ask(
    dbms: Dbms,
    address: &ForeignAddress,
    secrets: &Secrets,
) -> Result<Build, SystemError> {
    let open = |tls: bool| -> Result<Result<_, SessionError>, SystemError> {
        let connection = Connection { tls, ..Connection::default() };
        let first = &dbms.product().sql.first_database;
        let dialect = dbms.dialect();
        Ok(address.connector(dialect, first, secrets, LOGIN_LIMIT, connection)?.connect())
    };
    let session = match open(false)? {
        // It may take encrypted logins only. If not, what it said first is what is wrong.
        Err(refused @ SessionError::Login { .. }) => open(true)?.map_err(|_| refused),
        other => other,
    }?;
    let line = session.info().server_version.clone();
    // `5.5.5-10.11.18-MariaDB-…`: old replicas expect a 5.5 in front.
    let text = line.strip_prefix("5.5.5-").unwrap_or(&line);
    let number = text.split([' ', '-', '~', '+']).next().unwrap_or(text);
    let version = number.parse()?;
    if !dbms.product().program.greeting.fits(&line) {
        return Err(SystemError::OtherProduct { address: address.to_string(), line, dbms });
    }
    let source = BuildSource::Connect(address.to_string());
    Ok(Build { version_line: line, ..Build::new(dbms, version, source) })
}

impl Site for Foreign {
    fn target(&self) -> Target {
        let load_hosts = self.agents.clone().map(|agents| agents as Arc<dyn LoadHosts>);
        Target { load_hosts, ..self.sessions.target(&self.system) }
    }

    fn provenance(&self) -> Provenance {
        let info = &self.info;
        let tls = info.tls.clone().unwrap_or_else(|| "off".to_owned());
        let process = match (self.pid, is_local(&self.address)) {
            (Some(pid), _) => format!("on this host, process {pid}"),
            (None, true) => "on this host, process unknown".to_owned(),
            (None, false) if self.server_host.is_some() => "remote".to_owned(),
            (None, false) => {
                "remote: backslide monitors neither the server nor its host".to_owned()
            }
        };
        let facts = [
            (Fact::ServerVersion, info.server_version.clone()),
            (Fact::Authentication, info.authentication.clone()),
            (Fact::Tls, tls),
            ("server".into(), process),
        ]
        .into_iter()
        .chain(self.agents.as_ref().map(|agents| ("load hosts".into(), agents.described())))
        .chain(self.server_host.as_ref().map(|host| ("server host".into(), host.described())))
        .chain(reach::provenance(self.system.connection, &self.address));
        Provenance(facts.collect())
    }

    fn pid(&self) -> Option<u32> {
        self.pid
    }

    fn probes(&self) -> Vec<Box<dyn Probe>> {
        let host = self.server_host.iter();
        host.map(|host| Box::new(ServerHostProbe(Arc::clone(host))) as Box<dyn Probe>).collect()
    }

    fn knows_foreign(&self) -> bool {
        self.agents.is_none() && self.server_host.is_none()
    }

    fn captures(&mut self) -> (Vec<Capture>, Vec<String>) {
        take_all(&*self.sessions.workload, captures_of(&self.system))
    }

    fn watched(&self) -> Watched {
        if is_local(&self.address) { Watched::Host } else { Watched::Nothing }
    }

    fn move_data(&mut self, _to: &Path) -> Result<()> {
        Err(SiteError::new(NOT_OURS))
    }

    fn check(&self) -> Result<()> {
        // A new session: the server may have closed one that was idle for the whole step.
        let told = match self.sessions.read_owner() {
            Ok(Some(owner)) if owner == *self.claim.owner() => return Ok(()),
            Ok(Some(owner)) => format!("it belongs to {}", owner.describe()),
            Ok(None) => "its marker is empty".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(SiteError::new(format!(
            "database {DATABASE} is no longer the one this run created: {told}"
        )))
    }

    fn remove(mut self: Box<Self>) -> Result<()> {
        // PostgreSQL drops no database in which sessions are, such as those of clients that are still at work.
        self.agents = None;
        let failed = |error: SessionError| {
            SiteError::new(format!("cannot drop database {DATABASE}: {error}"))
        };
        let mut session = self.sessions.first.connect().map_err(failed)?;
        let exists = &self.system.build.dbms.product().sql.database_exists;
        if number(&mut *session, &ours(exists)).map_err(failed)? == 0 {
            return Ok(());
        }
        // It may be another run's by now.
        self.check()?;
        let dropped = session.execute(&format!("DROP DATABASE IF EXISTS {DATABASE}"));
        dropped.map(drop).map_err(failed)
    }
}

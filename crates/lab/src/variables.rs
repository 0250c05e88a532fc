//! What a system says of itself right after its start, without a run.

use std::time::Duration;

use drivers::{Connector, Session, SessionError};
use model::{Capture, Dbms, Provenance, System};

use crate::directory::{ASKED, Claim};
use crate::kept;
use crate::site::{Provider, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub captures: Vec<Capture>,
    /// Version, authentication, TLS, the config as it was written.
    pub provenance: Provenance,
    pub missing: Vec<String>,
}

/// Makes `system` ready, asks it, and removes it. Of what fails, the log and cores are kept; the error says where.
pub fn read_variables(
    provider: &dyn Provider,
    system: &System,
    timeout: Duration,
    claim: &Claim,
    tag: &str,
) -> Result<Told> {
    let (name, directory) = claim.instance(ASKED, &format!("-{tag}"));
    let opened = provider.open(system, timeout, &directory, None);
    let mut site = opened.map_err(|error| kept::settle(error, &claim.logs, &name))?;
    let (captures, missing) = site.captures();
    let told = Told { captures, provenance: site.provenance(), missing };
    kept::end_after(site, &claim.logs, &name, Ok(told))
}

/// Longest listing that is kept, in rows: statistics of a server with very many tables stay bounded.
const MAX_ROWS: usize = 20_000;

fn take(session: &mut dyn Session, name: &str, sql: &str) -> Result<Capture, SessionError> {
    let mut rows = Vec::new();
    session.query(sql, &mut |row| {
        if rows.len() < MAX_ROWS {
            rows.push((0..row.len()).map(|i| row.value(i).to_text()).collect());
        }
    })?;
    let capture = Capture { name: name.to_owned(), columns: Vec::new(), rows };
    Ok(capture.without_secrets())
}

/// The listing `variables` of a product without a server: the value of each of its pragmas.
pub(crate) fn take_pragmas(connector: &dyn Connector, dbms: Dbms) -> Result<Capture, SessionError> {
    let mut session = connector.connect()?;
    let rows = dbms.product().pragmas.iter().map(|name| {
        let taken = take(&mut *session, name, &format!("PRAGMA {name}"))?;
        let value = taken.rows.into_iter().flatten().next().flatten();
        Ok(vec![Some(name.clone()), value])
    });
    let rows = rows.collect::<Result<_, SessionError>>()?;
    Ok(Capture { name: "variables".to_owned(), columns: Vec::new(), rows })
}

/// The listings of a system, by name, and the statements that take them.
pub(crate) fn captures_of(system: &System) -> impl Iterator<Item = (&'static str, &'static str)> {
    let build = &system.build;
    build.dbms.product().captures(&build.version, system.engine)
}

/// The listings of a server, and what could not be read. A session kept over a long step may have been closed.
pub(crate) fn take_all<'a>(
    connector: &dyn Connector,
    queries: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> (Vec<Capture>, Vec<String>) {
    let mut captures = Vec::new();
    let mut failures = Vec::new();
    let mut session = match connector.connect() {
        Ok(session) => session,
        Err(error) => return (captures, vec![format!("nothing captured: {error}")]),
    };
    for (name, sql) in queries {
        match take(&mut *session, name, sql) {
            Ok(capture) => captures.push(capture),
            Err(error) => failures.push(format!("{name} not captured: {error}")),
        }
    }
    (captures, failures)
}

//! Listings taken from a server over a session.

use drivers::{Connector, Session, SessionError};
use model::Capture;

/// Longest listing that is kept, in rows: statistics of a server with very many tables stay bounded.
const MAX_ROWS: usize = 20_000;

/// Runs `sql` and keeps its result as text, without secrets.
pub(crate) fn take(
    session: &mut dyn Session,
    name: &str,
    sql: &str,
) -> Result<Capture, SessionError> {
    let mut rows = Vec::new();
    session.query(sql, &mut |row| {
        if rows.len() < MAX_ROWS {
            rows.push((0..row.len()).map(|i| row.value(i).to_text()).collect());
        }
    })?;
    let capture = Capture { name: name.to_owned(), columns: Vec::new(), rows };
    Ok(capture.without_secrets())
}

/// The listings of a server, and reading errors. The session is a new one: one that was kept
/// over a long step may have been closed by the server.
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

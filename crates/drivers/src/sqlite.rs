//! SQLite, embedded: no server and no wire, the same [`Session`] seam, over the version that is built in or
//! over a library of this machine.

mod connection;
mod fault;
mod library;
mod pragma;

use std::path::Path;
use std::time::Duration;

use connection::{Connection, Failure, Statement};

use crate::pipeline::find;
use crate::{Done, Param, ParamType, Result, Row, Session, SessionError, SessionInfo, StatementId};

/// Version of the SQLite library that is built in: `3.50.4`.
pub fn sqlite_version() -> &'static str {
    library::BUILT_IN.version()
}

/// The version of the library at `path`, and that with the commit that it was made from. The library stays loaded.
/// Fails with [`SessionError::Library`] when it is none that sessions can use.
pub fn sqlite_library(path: &Path) -> Result<(&'static str, String)> {
    let functions = library::load(path)?;
    Ok((functions.version(), functions.line()))
}

/// SQLite counts the wait in whole milliseconds of an `i32`, and takes zero as "do not wait".
fn busy_timeout(asked: Duration) -> Duration {
    let longest = Duration::from_millis(i32::MAX as u64);
    let shortest = Duration::from_millis(1);
    if asked.is_zero() { asked } else { asked.clamp(shortest, longest) }
}

/// SQLite opens a file without looking into it; this look finds out now that it is no database.
/// It comes after the pragmas because some of them only work before the first read.
fn read_header(connection: &Connection, path: &Path) -> Result {
    const LOOK: &str = "SELECT count(*) FROM sqlite_master";
    let looked = connection.value(LOOK).map(drop);
    looked.map_err(|failure| fault::at_connect(path, LOOK, &failure))
}

#[derive(Debug)]
pub struct SqliteSession {
    /// The prepared statements, by [`StatementId`]; before the connection, which is closed after them.
    statements: Vec<Prepared>,
    connection: Connection,
    info: SessionInfo,
}

// SAFETY: nothing else has its pointers, and SQLite lets threads use a connection one after the other.
#[expect(unsafe_code, reason = "pointers are not `Send` by themselves")]
unsafe impl Send for SqliteSession {}

#[derive(Debug)]
struct Prepared {
    statement: Statement,
    sql: String,
    params: usize,
}

impl SqliteSession {
    /// Opens the file `path`, which is created when missing (its directory is not), and sets the pragmas in
    /// this order; `timeout` is the longest wait for a lock. `library` is the SQLite to use instead of the
    /// one that is built in. Fails with [`SessionError::Connect`] when the file cannot be opened or is no
    /// database, with [`SessionError::Server`] when a pragma is not obeyed, and like [`sqlite_library`].
    pub fn open(
        library: Option<&Path>,
        path: &Path,
        pragmas: &[(String, String)],
        timeout: Duration,
    ) -> Result<Self> {
        let functions = library.map_or(Ok(&library::BUILT_IN), library::load)?;
        let connection = Connection::open(functions, path, busy_timeout(timeout))
            .map_err(|failure| fault::at_connect(path, "open", &failure))?;
        for (name, value) in pragmas {
            pragma::set(&connection, path, name, value)?;
        }
        read_header(&connection, path)?;
        let info = SessionInfo {
            server_version: functions.version().to_owned(),
            authentication: "none".to_owned(),
            ..SessionInfo::default()
        };
        Ok(Self { connection, statements: Vec::new(), info })
    }
}

impl Session for SqliteSession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done> {
        let statement = self.connection.prepare(sql, false);
        let run = statement.and_then(|mut statement| self.connection.run(&mut statement, each));
        run.map_err(|failure| fault::of_statement(sql, &failure))
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId> {
        let statement = self
            .connection
            .prepare(sql, true)
            .map_err(|failure| fault::of_statement(sql, &failure))?;
        let params = statement.parameters();
        if params != types.len() {
            return Err(parameter_count(sql, params, types.len()));
        }
        let id = StatementId(self.statements.len() as u32);
        self.statements.push(Prepared { statement, sql: sql.to_owned(), params });
        Ok(id)
    }

    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done> {
        let prepared = find(&mut self.statements, statement, "SQLITE_MISUSE")?;
        if params.len() != prepared.params {
            let (wanted, given) = (prepared.params, params.len());
            return Err(parameter_count(&prepared.sql, wanted, given));
        }
        let run = if prepared.statement.bind(params) {
            self.connection.run(&mut prepared.statement, each)
        } else {
            Err(self.connection.failure())
        };
        run.map_err(|failure| fault::of_statement(&prepared.sql, &failure))
    }

    fn info(&self) -> &SessionInfo {
        &self.info
    }
}

fn parameter_count(sql: &str, wanted: usize, given: usize) -> SessionError {
    SessionError::parameter_count("SQLITE_RANGE", wanted, given).about(sql)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_for_a_lock_fits_into_what_sqlite_can_hold() {
        assert_eq!(busy_timeout(Duration::ZERO), Duration::ZERO);
        assert_eq!(busy_timeout(Duration::from_micros(3)), Duration::from_millis(1));
        assert_eq!(busy_timeout(Duration::from_secs(5)), Duration::from_secs(5));
        assert_eq!(busy_timeout(Duration::MAX), Duration::from_millis(2_147_483_647));
    }

    #[test]
    fn the_version_has_three_numbers() {
        let numbers: Vec<u32> =
            sqlite_version().split('.').map(|part| part.parse().unwrap()).collect();
        assert_eq!(numbers.len(), 3);
        assert_eq!(numbers[0], 3);
    }
}

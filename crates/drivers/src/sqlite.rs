//! SQLite, embedded: no server and no wire, the same [`Session`] seam.

mod fault;
mod pragma;

use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Statement};

use crate::pipeline::find;
use crate::{
    Done, Param, ParamType, Result, Row, Session, SessionError, SessionInfo, StatementId, Value,
};

/// Prepared statements that one connection keeps open. A workload has a few dozen; a statement that
/// falls out of the cache is prepared again, which costs time but changes no answer.
const KEPT_STATEMENTS: usize = 1024;

/// Version of the SQLite library that is built in: `3.50.4`.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
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
    const LOOK: &str = "SELECT count(*) FROM sqlite_schema";
    connection
        .query_row(LOOK, [], |_| Ok(()))
        .map_err(|error| fault::at_connect(path, LOOK, &error))
}

#[derive(Debug)]
pub struct SqliteSession {
    connection: Connection,
    /// Text of the prepared statements, by [`StatementId`]. A `Statement` borrows its connection and
    /// so cannot be kept beside it; the connection's own cache keeps it under this text. The look-up
    /// costs one hash and one small allocation per operation.
    statements: Vec<Prepared>,
    info: SessionInfo,
}

#[derive(Debug)]
struct Prepared {
    sql: String,
    params: usize,
}

impl SqliteSession {
    /// Opens the file `path`, which is created when missing (its directory is not), and sets the pragmas in
    /// this order; `timeout` is the longest wait for a lock. Fails with [`SessionError::Connect`] when the
    /// file cannot be opened or is no database, with [`SessionError::Server`] when a pragma is not obeyed.
    pub fn open(path: &Path, pragmas: &[(String, String)], timeout: Duration) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)
            .map_err(|error| fault::at_connect(path, "open", &error))?;
        connection
            .busy_timeout(busy_timeout(timeout))
            .map_err(|error| fault::at_connect(path, "busy_timeout", &error))?;
        for (name, value) in pragmas {
            pragma::set(&connection, path, name, value)?;
        }
        read_header(&connection, path)?;
        connection.set_prepared_statement_cache_capacity(KEPT_STATEMENTS);
        let info = SessionInfo {
            server_version: sqlite_version().to_owned(),
            authentication: "none".to_owned(),
            ..SessionInfo::default()
        };
        Ok(Self { connection, statements: Vec::new(), info })
    }
}

impl Session for SqliteSession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done> {
        let mut run = || {
            let mut statement = self.connection.prepare(sql)?;
            step(&self.connection, &mut statement, each)
        };
        run().map_err(|error| fault::of_statement(sql, &error))
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId> {
        let wanted = self
            .connection
            .prepare_cached(sql)
            .map_err(|error| fault::of_statement(sql, &error))?
            .parameter_count();
        if wanted != types.len() {
            return Err(parameter_count(sql, wanted, types.len()));
        }
        let id = StatementId(self.statements.len() as u32);
        self.statements.push(Prepared { sql: sql.to_owned(), params: wanted });
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
        let mut run = || {
            let mut statement = self.connection.prepare_cached(&prepared.sql)?;
            bind(&mut statement, params)?;
            step(&self.connection, &mut statement, each)
        };
        run().map_err(|error| fault::of_statement(&prepared.sql, &error))
    }

    fn info(&self) -> &SessionInfo {
        &self.info
    }
}

fn parameter_count(sql: &str, wanted: usize, given: usize) -> SessionError {
    SessionError::parameter_count("SQLITE_RANGE", wanted, given).about(sql)
}

/// Binds all parameters; their number was checked.
fn bind(statement: &mut Statement<'_>, params: &[Param<'_>]) -> rusqlite::Result<()> {
    for (position, param) in (1_usize..).zip(params) {
        match *param {
            Param::Int(value) => statement.raw_bind_parameter(position, value)?,
            Param::Text(text) => statement.raw_bind_parameter(position, text)?,
        }
    }
    Ok(())
}

fn step(
    connection: &Connection,
    statement: &mut Statement<'_>,
    each: &mut dyn FnMut(&dyn Row),
) -> rusqlite::Result<Done> {
    let before = connection.total_changes();
    let mut done = Done::default();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        done.rows += 1;
        each(&SqliteRow { row });
    }
    // `changes` keeps the number of an earlier statement until the next INSERT, UPDATE or DELETE, so
    // it counts only when this statement changed something at all.
    if connection.total_changes() != before {
        done.affected = connection.changes();
    }
    Ok(done)
}

struct SqliteRow<'a> {
    row: &'a rusqlite::Row<'a>,
}

impl Row for SqliteRow<'_> {
    fn len(&self) -> usize {
        // Asked anew: a change of the table's structure can widen the rows of a prepared `SELECT *`.
        self.row.as_ref().column_count()
    }

    fn value(&self, column: usize) -> Value<'_> {
        match self.row.get_ref(column) {
            Ok(ValueRef::Integer(value)) => Value::Int(value),
            Ok(ValueRef::Real(value)) => Value::Real(value),
            Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => Value::Bytes(bytes),
            Ok(ValueRef::Null) | Err(_) => Value::Null,
        }
    }
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

//! A connection and its statements, over the functions of any SQLite.
//!
//! What the pointers need is kept here: a statement is finalised once, a connection is closed once, and
//! `sqlite3_close` refuses to close one that still has statements.

#![expect(unsafe_code, reason = "SQLite's functions are C")]

use std::ffi::{CStr, CString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::time::Duration;

use rusqlite::ffi::{self, sqlite3, sqlite3_stmt};

use super::library::Functions;
use crate::{Done, Param, Row, Value};

/// Why SQLite did not do something.
#[derive(Debug)]
pub(super) struct Failure {
    /// The extended result code.
    pub(super) code: c_int,
    pub(super) message: String,
}

impl Failure {
    /// The caller's fault, which SQLite was not asked about.
    pub(super) fn misuse(message: impl Into<String>) -> Self {
        Self { code: ffi::SQLITE_MISUSE, message: message.into() }
    }
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) functions: &'static Functions,
    db: *mut sqlite3,
}

impl Connection {
    /// Opens the file `path`, which is created when missing, to wait for locks as long as `timeout`.
    pub(super) fn open(
        functions: &'static Functions,
        path: &Path,
        timeout: Duration,
    ) -> Result<Self, Failure> {
        let file = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| Failure::misuse("a path has no NUL"))?;
        let flags = ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE | ffi::SQLITE_OPEN_NOMUTEX;
        let mut db = ptr::null_mut();
        // SAFETY: the path ends with NUL; what is written to `db`, also by a failure, is closed by `drop`.
        let code =
            unsafe { (functions.sqlite3_open_v2)(file.as_ptr(), &raw mut db, flags, ptr::null()) };
        let connection = Self { functions, db };
        if db.is_null() {
            return Err(Failure { code, message: "no memory for a connection".to_owned() });
        }
        if code != ffi::SQLITE_OK {
            return Err(connection.failure());
        }
        let milliseconds = c_int::try_from(timeout.as_millis()).unwrap_or(c_int::MAX);
        // SAFETY: the connection is open.
        unsafe {
            (functions.sqlite3_extended_result_codes)(db, 1);
            (functions.sqlite3_busy_timeout)(db, milliseconds);
        }
        Ok(connection)
    }

    /// The one statement in `sql`; `is_kept` says that it will run often.
    pub(super) fn prepare(&self, sql: &str, is_kept: bool) -> Result<Statement, Failure> {
        let (statement, rest) = self.compile(sql, is_kept)?;
        if statement.0.is_null() {
            return Err(Failure::misuse("there is no statement in it"));
        }
        if !rest.trim_start().is_empty() && !self.compile(rest, false)?.0.0.is_null() {
            return Err(Failure::misuse("there are several statements in it"));
        }
        Ok(statement)
    }

    /// The first statement in `sql`, which is null where that is empty, and what follows it.
    fn compile<'a>(&self, sql: &'a str, is_kept: bool) -> Result<(Statement, &'a str), Failure> {
        let length = c_int::try_from(sql.len()).map_err(|_| Failure {
            code: ffi::SQLITE_TOOBIG,
            message: "it is too long".to_owned(),
        })?;
        let (text, mut statement, mut rest) = (sql.as_ptr().cast(), ptr::null_mut(), ptr::null());
        let flags = if is_kept { ffi::SQLITE_PREPARE_PERSISTENT } else { 0 };
        let Functions { sqlite3_prepare_v2: v2, sqlite3_prepare_v3: v3, .. } = self.functions;
        let (to, end): (_, *mut *const c_char) = (&raw mut statement, &raw mut rest);
        // SAFETY: the connection is open, and the text has this length.
        let code = unsafe {
            match v3 {
                Some(v3) => v3(self.db, text, length, flags, to, end),
                None => v2(self.db, text, length, to, end),
            }
        };
        if code != ffi::SQLITE_OK {
            return Err(self.located(self.failure()));
        }
        let done = (rest as usize).saturating_sub(sql.as_ptr() as usize);
        Ok((Statement(statement, self.functions), sql.get(done..).unwrap_or_default()))
    }

    /// Adds where in its text an error of syntax is.
    fn located(&self, mut failure: Failure) -> Failure {
        // SAFETY: the connection is open.
        let offset = self.functions.sqlite3_error_offset.map(|offset| unsafe { offset(self.db) });
        if let Some(offset @ 0..) = offset.filter(|_| failure.code & 0xff == ffi::SQLITE_ERROR) {
            failure.message = format!("{} at offset {offset}", failure.message);
        }
        failure
    }

    /// Runs a statement and shows each row. It can run again then, whether it failed or not.
    #[inline]
    pub(super) fn run(
        &self,
        statement: &mut Statement,
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, Failure> {
        let functions = self.functions;
        // SAFETY: the connection is open.
        let before = unsafe { (functions.sqlite3_total_changes)(self.db) };
        let mut done = Done { columns: statement.len() as u32, ..Done::default() };
        // SAFETY: the statement lives, and only its own thread uses it.
        let code = loop {
            match unsafe { (functions.sqlite3_step)(statement.0) } {
                ffi::SQLITE_ROW => {
                    done.rows += 1;
                    each(statement);
                }
                code => break code,
            }
        };
        let ended = if code == ffi::SQLITE_DONE { Ok(()) } else { Err(self.failure()) };
        // SAFETY: the statement lives; what it returns is how the last run ended, which is known.
        unsafe { (functions.sqlite3_reset)(statement.0) };
        ended?;
        // `changes` keeps the number of an earlier statement until the next INSERT, UPDATE or DELETE, so
        // it counts only when this statement changed something at all.
        // SAFETY: the connection is open.
        unsafe {
            if (functions.sqlite3_total_changes)(self.db) != before {
                done.affected = (functions.sqlite3_changes)(self.db) as u64;
            }
        }
        Ok(done)
    }

    /// The first value that `sql` returns, as text; `None` for no row and for NULL.
    pub(super) fn value(&self, sql: &str) -> Result<Option<String>, Failure> {
        let mut value = None;
        let mut keep = |row: &dyn Row| {
            value = value.take().or_else(|| row.value(0).to_text());
        };
        self.run(&mut self.prepare(sql, false)?, &mut keep)?;
        Ok(value)
    }

    #[cold]
    pub(super) fn failure(&self) -> Failure {
        // SAFETY: the connection is open; the text is copied before the next call.
        unsafe {
            let message = CStr::from_ptr((self.functions.sqlite3_errmsg)(self.db));
            Failure {
                code: (self.functions.sqlite3_extended_errcode)(self.db),
                message: message.to_string_lossy().into_owned(),
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more. SQLite ignores null, and keeps one that still has statements.
        unsafe { (self.functions.sqlite3_close)(self.db) };
    }
}

/// A prepared statement, at a row while that is shown.
#[derive(Debug)]
pub(super) struct Statement(*mut sqlite3_stmt, &'static Functions);

impl Statement {
    pub(super) fn parameters(&self) -> usize {
        // SAFETY: the statement lives.
        unsafe { (self.1.sqlite3_bind_parameter_count)(self.0) as usize }
    }

    /// Gives all parameters their values; their number was checked. Only memory can be missing.
    #[inline]
    pub(super) fn bind(&mut self, params: &[Param<'_>]) -> bool {
        let Self(statement, functions) = *self;
        (1..).zip(params).all(|(position, param)| {
            // SAFETY: the statement lives and does not run; SQLite copies the text.
            let code = unsafe {
                match *param {
                    Param::Int(value) => (functions.sqlite3_bind_int64)(statement, position, value),
                    Param::Text(text) => bind_text(functions, statement, position, text.as_bytes()),
                    Param::Bytes(text) => bind_text(functions, statement, position, text),
                }
            };
            code == ffi::SQLITE_OK
        })
    }

    /// Text or a blob of the row that is shown.
    fn bytes<T>(
        &self,
        of: unsafe extern "C" fn(*mut sqlite3_stmt, c_int) -> *const T,
        column: c_int,
    ) -> Value<'_> {
        // SAFETY: the bytes stay until the next step, which `Connection::run` takes after the row was shown.
        // Their number is asked after them, as SQLite wants it; an empty blob is null.
        unsafe {
            let bytes: *const T = of(self.0, column);
            let length = (self.1.sqlite3_column_bytes)(self.0, column) as usize;
            if bytes.is_null() {
                return Value::Bytes(&[]);
            }
            Value::Bytes(std::slice::from_raw_parts(bytes.cast(), length))
        }
    }
}

/// # Safety
///
/// The statement lives and does not run.
unsafe fn bind_text(
    functions: &Functions,
    statement: *mut sqlite3_stmt,
    position: c_int,
    text: &[u8],
) -> c_int {
    let Ok(length) = c_int::try_from(text.len()) else { return ffi::SQLITE_TOOBIG };
    let bytes = text.as_ptr().cast();
    // SAFETY: see above; SQLite copies the text.
    unsafe {
        (functions.sqlite3_bind_text)(statement, position, bytes, length, ffi::SQLITE_TRANSIENT())
    }
}

impl Row for Statement {
    fn len(&self) -> usize {
        // Asked anew: a change of the table's structure can widen the rows of a prepared `SELECT *`.
        // SAFETY: the statement lives.
        unsafe { (self.1.sqlite3_column_count)(self.0) as usize }
    }

    fn value(&self, column: usize) -> Value<'_> {
        if column >= self.len() {
            return Value::Null;
        }
        let column = column as c_int;
        // SAFETY: the statement is at a row that has this column.
        unsafe {
            match (self.1.sqlite3_column_type)(self.0, column) {
                ffi::SQLITE_INTEGER => Value::Int((self.1.sqlite3_column_int64)(self.0, column)),
                ffi::SQLITE_FLOAT => Value::Real((self.1.sqlite3_column_double)(self.0, column)),
                ffi::SQLITE_TEXT => self.bytes(self.1.sqlite3_column_text, column),
                ffi::SQLITE_BLOB => self.bytes(self.1.sqlite3_column_blob, column),
                _ => Value::Null,
            }
        }
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more; SQLite ignores null.
        unsafe { (self.1.sqlite3_finalize)(self.0) };
    }
}

//! SQLite's errors in the words of [`SessionError`].

use std::path::Path;

use rusqlite::{Error, ffi};

use model::said;

use crate::SessionError;

/// An error of `statement`; the session goes on.
pub(super) fn of_statement(statement: &str, error: &Error) -> SessionError {
    server(code_of(error), said(message_of(error).as_bytes()), statement)
}

/// An error while the session is set up: one of the file, or one of a statement of the set-up.
pub(super) fn at_connect(path: &Path, statement: &str, error: &Error) -> SessionError {
    match primary_code(error) {
        Some(
            ffi::SQLITE_CANTOPEN
            | ffi::SQLITE_NOTADB
            | ffi::SQLITE_PERM
            | ffi::SQLITE_AUTH
            | ffi::SQLITE_CORRUPT
            | ffi::SQLITE_IOERR
            | ffi::SQLITE_READONLY,
        ) => SessionError::Connect {
            address: path.display().to_string(),
            cause: format!("{} ({})", message_of(error), code_of(error)),
        },
        _ => of_statement(statement, error),
    }
}

pub(super) fn server(code: &str, message: String, statement: &str) -> SessionError {
    SessionError::server(code, message).about(statement)
}

/// SQLite's name for the error's primary result code.
fn code_of(error: &Error) -> &'static str {
    // Errors without a code are the binding's own: a statement too many, a NUL in the text.
    primary_code(error).map_or("SQLITE_MISUSE", code_name)
}

/// The library's text; the extended code is added where it says more than the primary one. An error of
/// syntax tells the place only: the binding would repeat the whole statement.
fn message_of(error: &Error) -> String {
    if let Error::SqlInputError { msg, offset, .. } = error {
        return format!("{msg} at offset {offset}");
    }
    let extended = error.sqlite_extended_error_code().unwrap_or_default();
    if extended > 0xff { format!("{error} (extended code {extended})") } else { error.to_string() }
}

/// Extended result codes carry the primary one in their low byte: <https://sqlite.org/rescode.html>.
fn primary_code(error: &Error) -> Option<i32> {
    let extended = match error {
        Error::SqlInputError { error, .. } => error.extended_code,
        _ => error.sqlite_extended_error_code()?,
    };
    Some(extended & 0xff)
}

fn code_name(primary: i32) -> &'static str {
    match primary {
        ffi::SQLITE_INTERNAL => "SQLITE_INTERNAL",
        ffi::SQLITE_PERM => "SQLITE_PERM",
        ffi::SQLITE_ABORT => "SQLITE_ABORT",
        ffi::SQLITE_BUSY => "SQLITE_BUSY",
        ffi::SQLITE_LOCKED => "SQLITE_LOCKED",
        ffi::SQLITE_NOMEM => "SQLITE_NOMEM",
        ffi::SQLITE_READONLY => "SQLITE_READONLY",
        ffi::SQLITE_INTERRUPT => "SQLITE_INTERRUPT",
        ffi::SQLITE_IOERR => "SQLITE_IOERR",
        ffi::SQLITE_CORRUPT => "SQLITE_CORRUPT",
        ffi::SQLITE_NOTFOUND => "SQLITE_NOTFOUND",
        ffi::SQLITE_FULL => "SQLITE_FULL",
        ffi::SQLITE_CANTOPEN => "SQLITE_CANTOPEN",
        ffi::SQLITE_PROTOCOL => "SQLITE_PROTOCOL",
        ffi::SQLITE_SCHEMA => "SQLITE_SCHEMA",
        ffi::SQLITE_TOOBIG => "SQLITE_TOOBIG",
        ffi::SQLITE_CONSTRAINT => "SQLITE_CONSTRAINT",
        ffi::SQLITE_MISMATCH => "SQLITE_MISMATCH",
        ffi::SQLITE_MISUSE => "SQLITE_MISUSE",
        ffi::SQLITE_AUTH => "SQLITE_AUTH",
        ffi::SQLITE_RANGE => "SQLITE_RANGE",
        ffi::SQLITE_NOTADB => "SQLITE_NOTADB",
        _ => "SQLITE_ERROR",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extended_code_is_named_by_its_primary_one() {
        // 2067 is SQLITE_CONSTRAINT_UNIQUE, 517 SQLITE_BUSY_SNAPSHOT.
        for (extended, name) in
            [(2067, "SQLITE_CONSTRAINT"), (517, "SQLITE_BUSY"), (13, "SQLITE_FULL")]
        {
            let error = Error::SqliteFailure(ffi::Error::new(extended), Some("said".to_owned()));
            assert_eq!(of_statement("COMMIT", &error).code(), name);
        }
    }

    #[test]
    fn only_an_extended_code_is_added_to_the_message() {
        let unique = Error::SqliteFailure(ffi::Error::new(2067), Some("said".to_owned()));
        assert_eq!(message_of(&unique), "said (extended code 2067)");
        let full = Error::SqliteFailure(ffi::Error::new(13), Some("said".to_owned()));
        assert_eq!(message_of(&full), "said");
    }

    #[test]
    fn an_error_of_syntax_does_not_repeat_the_statement() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let sql = format!("SELEKT {}", "1, ".repeat(1000));
        let error = connection.prepare(&sql).unwrap_err();
        assert_eq!(message_of(&error), "near \"SELEKT\": syntax error at offset 0");
        let said = of_statement(&sql, &error).to_string();
        assert!(said.len() < 250, "{said}");
    }

    #[test]
    fn a_busy_file_is_retryable_and_a_missing_one_is_not_a_statement_error() {
        let busy = Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None);
        let path = Path::new("lab.sqlite");
        assert!(at_connect(path, "PRAGMA x", &busy).is_retryable());
        let missing = Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CANTOPEN), None);
        assert!(matches!(
            at_connect(path, "open", &missing),
            SessionError::Connect { address, .. } if address == "lab.sqlite"
        ));
    }
}

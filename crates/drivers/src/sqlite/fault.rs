//! SQLite's errors in the words of [`SessionError`].

use std::path::Path;

use rusqlite::ffi;

use model::said;

use super::Failure;
use crate::SessionError;

/// An error of `statement`; the session goes on.
#[cold]
pub(super) fn of_statement(statement: &str, failure: &Failure) -> SessionError {
    let message = said(message_of(failure).as_bytes());
    SessionError::server(code_name(failure), message).about(statement)
}

/// An error while the session is set up: one of the file, or one of a statement of the set-up.
pub(super) fn at_connect(path: &Path, statement: &str, failure: &Failure) -> SessionError {
    match primary_code(failure) {
        ffi::SQLITE_CANTOPEN
        | ffi::SQLITE_NOTADB
        | ffi::SQLITE_PERM
        | ffi::SQLITE_AUTH
        | ffi::SQLITE_CORRUPT
        | ffi::SQLITE_IOERR
        | ffi::SQLITE_READONLY => SessionError::Connect {
            address: path.display().to_string(),
            cause: format!("{} ({})", message_of(failure), code_name(failure)),
        },
        _ => of_statement(statement, failure),
    }
}

/// The library's text; the extended code is added where it says more than the primary one.
fn message_of(Failure { code, message }: &Failure) -> String {
    if *code > 0xff { format!("{message} (extended code {code})") } else { message.clone() }
}

/// Extended result codes carry the primary one in their low byte: <https://sqlite.org/rescode.html>.
const fn primary_code(failure: &Failure) -> i32 {
    failure.code & 0xff
}

/// SQLite's name for the primary result code.
fn code_name(failure: &Failure) -> &'static str {
    /// The one of these constants that the code equals.
    macro_rules! name {
        ($($name:ident)+) => {
            match primary_code(failure) {
                $(ffi::$name => stringify!($name),)+
                _ => "SQLITE_ERROR",
            }
        };
    }
    name! {
        SQLITE_INTERNAL SQLITE_PERM SQLITE_ABORT SQLITE_BUSY SQLITE_LOCKED SQLITE_NOMEM SQLITE_READONLY
        SQLITE_INTERRUPT SQLITE_IOERR SQLITE_CORRUPT SQLITE_NOTFOUND SQLITE_FULL SQLITE_CANTOPEN
        SQLITE_PROTOCOL SQLITE_SCHEMA SQLITE_TOOBIG SQLITE_CONSTRAINT SQLITE_MISMATCH SQLITE_MISUSE
        SQLITE_AUTH SQLITE_RANGE SQLITE_NOTADB
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32) -> Failure {
        Failure { code, message: "said".to_owned() }
    }

    #[test]
    fn an_extended_code_is_named_by_its_primary_one() {
        // 2067 is SQLITE_CONSTRAINT_UNIQUE, 517 SQLITE_BUSY_SNAPSHOT.
        for (extended, name) in
            [(2067, "SQLITE_CONSTRAINT"), (517, "SQLITE_BUSY"), (13, "SQLITE_FULL")]
        {
            assert_eq!(of_statement("COMMIT", &failure(extended)).code(), name);
        }
    }

    #[test]
    fn only_an_extended_code_is_added_to_the_message() {
        assert_eq!(message_of(&failure(2067)), "said (extended code 2067)");
        assert_eq!(message_of(&failure(13)), "said");
    }

    #[test]
    fn a_busy_file_is_retryable_and_a_missing_one_is_not_a_statement_error() {
        let path = Path::new("lab.sqlite");
        assert!(at_connect(path, "PRAGMA x", &failure(ffi::SQLITE_BUSY)).is_retryable());
        assert!(matches!(
            at_connect(path, "open", &failure(ffi::SQLITE_CANTOPEN)),
            SessionError::Connect { address, .. } if address == "lab.sqlite"
        ));
    }
}

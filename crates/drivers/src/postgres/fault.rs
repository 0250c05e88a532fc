//! A server's `ErrorResponse` in the words of [`SessionError`].

use model::said;

use crate::cursor::Cursor;
use crate::{Result, SessionError};

/// SQLSTATE of what this client finds out before the server does: `protocol_violation`,
/// `datatype_mismatch`, `program_limit_exceeded`, `invalid_sql_statement_name`.
pub(super) const WRONG_COUNT: &str = "08P01";
pub(super) const WRONG_TYPE: &str = "42804";
pub(super) const TOO_LONG: &str = "54000";
pub(super) const UNKNOWN_STATEMENT: &str = "26000";

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fault {
    /// SQLSTATE.
    pub(super) code: String,
    /// Message, with detail and hint appended.
    pub(super) message: String,
    /// The server ends the session after it (FATAL or PANIC).
    pub(super) ends_session: bool,
}

impl Fault {
    /// Reads an `ErrorResponse`: fields of one byte and a string each, ended by a zero byte.
    /// Field types: <https://www.postgresql.org/docs/current/protocol-error-fields.html>.
    pub(super) fn read(body: &[u8]) -> Result<Self> {
        let mut fault = Self::default();
        let (mut detail, mut hint) = (None, None);
        let mut parts = Cursor::new(body);
        loop {
            let field = parts.u8().ok_or_else(unended)?;
            if field == 0 {
                break;
            }
            let text = said(parts.string().ok_or_else(unended)?);
            match field {
                // Servers since 9.6 send the severity untranslated in V.
                b'V' => fault.ends_session = matches!(text.as_str(), "FATAL" | "PANIC"),
                b'C' => fault.code = text,
                b'M' => fault.message = text,
                b'D' => detail = Some(text),
                b'H' => hint = Some(text),
                _ => {}
            }
        }
        for (name, text) in [("detail", detail), ("hint", hint)] {
            if let Some(text) = text {
                fault.message = format!("{} ({name}: {text})", fault.message);
            }
        }
        Ok(fault)
    }

    /// As an error of a statement, which the caller adds.
    pub(super) fn into_error(self) -> SessionError {
        if self.ends_session {
            return SessionError::lost(format!("the server ended the session: {}", self.text()));
        }
        SessionError::server(&self.code, self.message)
    }

    pub(super) fn text(&self) -> String {
        format!("{}: {}", self.code, self.message)
    }
}

/// A message that the protocol does not allow at this point.
pub(super) fn unexpected(kind: u8, during: &str) -> SessionError {
    SessionError::protocol(format!("unexpected message {} in answer to {during}", printable(kind)))
}

/// A message whose content is not what its kind promises.
pub(super) fn malformed(message: &str, what: &str) -> SessionError {
    SessionError::protocol(format!("malformed {message}: {what}"))
}

pub(super) fn printable(kind: u8) -> String {
    format!("'{}'", kind.escape_ascii())
}

fn unended() -> SessionError {
    malformed("ErrorResponse", "a field without end")
}

/// `COPY … TO STDOUT` (`feature_not_supported`).
pub(super) fn copy_out() -> SessionError {
    SessionError::server("0A000", "COPY TO STDOUT is not supported in a session; use a query")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detail_and_hint_follow_the_message() {
        let body = b"SERROR\0VERROR\0C23505\0Mduplicate key\0DKey (id)=(1) already exists.\0HTry another.\0Fnbtinsert.c\0\0";
        let fault = Fault::read(body).unwrap();
        assert_eq!(
            fault.into_error().about("INSERT").to_string(),
            "error 23505: duplicate key (detail: Key (id)=(1) already exists.) (hint: Try another.) (in `INSERT`)"
        );
    }

    #[test]
    fn a_fatal_error_is_the_end_of_the_session() {
        let body = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0";
        let error = Fault::read(body).unwrap().into_error();
        assert_eq!(
            error.to_string(),
            "connection lost: the server ended the session: 57P01: terminating connection"
        );
    }

    #[test]
    fn fields_without_end_are_a_protocol_error() {
        for body in [&b""[..], b"M", b"Mno end", b"Mtext\0"] {
            assert_eq!(Fault::read(body).unwrap_err().code(), "protocol", "{body:?}");
        }
    }
}

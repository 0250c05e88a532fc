//! A server's `ErrorResponse` in the words of [`SessionError`].

use model::said;

use super::wire::{Parts, malformed};
use crate::{ParamType, SessionError, StatementId};

/// What an `ErrorResponse` says.
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
    pub(super) fn read(body: &[u8]) -> Result<Self, SessionError> {
        let mut fault = Self::default();
        let (mut detail, mut hint) = (None, None);
        let mut parts = Parts::of(body);
        loop {
            let field = parts.byte().ok_or_else(unended)?;
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
            return SessionError::Lost {
                cause: format!("the server ended the session: {}", self.text()),
            };
        }
        server(&self.code, self.message)
    }

    /// Code and message.
    pub(super) fn text(&self) -> String {
        format!("{}: {}", self.code, self.message)
    }
}

fn unended() -> SessionError {
    malformed("ErrorResponse", "a field without end")
}

/// An error of our own making that the server would give, with the code that it would use.
fn server(code: &str, message: String) -> SessionError {
    SessionError::Server {
        code: code.to_owned(),
        message,
        statement: String::new(),
    }
}

/// A statement has other placeholders than it was given parameters or types (`protocol_violation`).
pub(super) fn parameter_count(wanted: usize, given: usize) -> SessionError {
    let message = format!("the statement has {wanted} parameters, {given} were given");
    server("08P01", message)
}

/// A parameter is not of the type that was declared (`datatype_mismatch`).
pub(super) fn parameter_type(position: usize, declared: ParamType) -> SessionError {
    let message = format!("parameter {position} was declared as {declared:?} and given as another");
    server("42804", message)
}

/// A request that no message can hold (`program_limit_exceeded`); nothing of it was sent.
pub(super) fn too_long(length: usize, limit: usize) -> SessionError {
    let message = format!(
        "a request of {length} bytes, more than the {limit} that are sent; make it shorter"
    );
    server("54000", message)
}

/// An id that this session did not hand out (`invalid_sql_statement_name`).
pub(super) fn unknown_statement(id: StatementId) -> SessionError {
    let message = format!("no statement {} was prepared in this session", id.0);
    server("26000", message)
}

/// `COPY … TO STDOUT` (`feature_not_supported`).
pub(super) fn copy_out() -> SessionError {
    let message = "COPY TO STDOUT is not supported in a session; use a query".to_owned();
    server("0A000", message)
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
            assert_eq!(
                Fault::read(body).unwrap_err().code(),
                "protocol",
                "{body:?}"
            );
        }
    }
}

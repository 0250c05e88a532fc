//! Loading rows by `COPY … FROM STDIN` in text format.
//! Flow: <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY>.

use super::answer::{self, Columns, read_error};
use super::encode;
use super::fault::unexpected;
use super::wire::{Wire, kind};
use crate::pipeline::Counted;
use crate::{Result, SessionError};

const ROWS_AT: usize = 5;

/// The statement that begins it, for messages too.
pub(super) fn statement(table: &str, columns: &[&str]) -> String {
    if columns.is_empty() {
        return format!("COPY {table} FROM STDIN");
    }
    format!("COPY {table} ({}) FROM STDIN", columns.join(", "))
}

/// Sends the rows that `next` appends and tells how many the server has added. `buffer` is reused.
pub(super) fn run(
    wire: &mut Wire,
    buffer: &mut Vec<u8>,
    sql: &str,
    next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
) -> Result<u64> {
    buffer.clear();
    encode::message(buffer, b'Q', |body| encode::string(body, sql));
    wire.send(buffer)?;
    begin(wire)?;
    if let Err(error) = send_rows(wire, buffer, next) {
        if matches!(error, SessionError::Server { .. }) {
            answer::skip(wire, false)?;
        }
        return Err(error);
    }
    buffer.clear();
    encode::message(buffer, b'c', |_| ());
    wire.send(buffer)?;
    let mut described = Vec::new();
    let columns = Columns::Described(&mut described);
    Ok(answer::read(wire, columns, Counted)?.affected)
}

fn begin(wire: &mut Wire) -> Result {
    match wire.next_answer()? {
        kind::COPY_IN => Ok(()),
        kind::ERROR => {
            let error = read_error(wire)?;
            answer::skip(wire, false)?;
            Err(error)
        }
        other => Err(unexpected(other, "COPY FROM STDIN")),
    }
}

/// Sends all rows. An error of the server ends it at once; the server is then no longer waiting for
/// rows. An error of our own is sent to the server, which then answers with an error, too.
fn send_rows(
    wire: &mut Wire,
    buffer: &mut Vec<u8>,
    next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
) -> Result {
    let mut are_more = true;
    while are_more {
        buffer.clear();
        encode::message(buffer, b'd', |rows| are_more = next(rows));
        if buffer.len() > ROWS_AT {
            if let Err(error) = wire.send(buffer) {
                return Err(refuse_rows(wire, error));
            }
            while wire.has_arrived()? {
                check(wire)?;
            }
        }
    }
    Ok(())
}

fn check(wire: &mut Wire) -> Result {
    match wire.next()? {
        kind::ERROR => Err(read_error(wire)?),
        kind::NOTICE | kind::NOTIFICATION | kind::PARAMETER_STATUS => Ok(()),
        other => Err(unexpected(other, "the rows of a COPY")),
    }
}

/// Ends a COPY whose rows cannot be sent (`CopyFail`), so that the session stays usable.
fn refuse_rows(wire: &mut Wire, error: SessionError) -> SessionError {
    if !matches!(error, SessionError::Server { .. }) {
        return error;
    }
    wire.send(&encode::copy_fail("the client has too long rows")).err().unwrap_or(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_names_all_columns_are_meant() {
        assert_eq!(statement("t", &["a", "b"]), "COPY t (a, b) FROM STDIN");
        assert_eq!(statement("t", &[]), "COPY t FROM STDIN");
    }
}

//! The answer to a query: its rows, how it ended, and the server being ready again.

use super::encode;
use super::fault::{self, Fault};
use super::row::{Cell, DataRow, Format, column_count, locate};
use super::wire::{Wire, kind, malformed, unexpected};
use crate::{Done, Row, SessionError};

/// Where the columns of an answer are known from.
pub(super) enum Columns<'a> {
    /// Simple query: the answer describes them, and all come as text.
    Described(&'a mut Vec<Format>),
    /// Prepared statement: agreed when it was prepared.
    Prepared(&'a [Format]),
}

impl Columns<'_> {
    fn formats(&self) -> &[Format] {
        match self {
            Self::Described(formats) => formats,
            Self::Prepared(formats) => formats,
        }
    }

    fn describe(&mut self, body: &[u8]) -> Result<(), SessionError> {
        let Self::Described(formats) = self else {
            return Err(unexpected(kind::ROW_DESCRIPTION, "a prepared statement"));
        };
        let count = column_count(body).ok_or_else(|| malformed("RowDescription", "no count"))?;
        formats.clear();
        formats.resize(count, Format::Text);
        Ok(())
    }

    /// Refuses `COPY … FROM STDIN`, for which the server now waits. It skips a Sync that was sent
    /// with the query, so the extended protocol needs another one.
    fn copy_refusal(&self) -> Vec<u8> {
        let mut request = Vec::new();
        encode::message(&mut request, b'f', |body| {
            encode::string(
                body,
                "COPY FROM STDIN is not supported in a session; use INSERT",
            );
        });
        if matches!(self, Self::Prepared(_)) {
            encode::sync(&mut request);
        }
        request
    }
}

/// Reads the whole answer to a query that was sent, and shows each row.
pub(super) fn read(
    wire: &mut Wire,
    mut columns: Columns<'_>,
    cells: &mut Vec<Cell>,
    each: &mut dyn FnMut(&dyn Row),
) -> Result<Done, SessionError> {
    let mut done = Done::default();
    let mut ended = false;
    let mut failure = None;
    loop {
        match wire.next_answer()? {
            kind::DATA_ROW => {
                show(wire.body(), columns.formats(), cells, each)?;
                done.rows += 1;
            }
            kind::COMMAND_COMPLETE => {
                done.affected += affected(wire.body(), done.rows)?;
                ended = true;
            }
            kind::EMPTY_QUERY => ended = true,
            kind::ROW_DESCRIPTION => columns.describe(wire.body())?,
            kind::ERROR => failure = Some(read_error(wire)?),
            kind::COPY_IN => {
                let refusal = columns.copy_refusal();
                wire.send(&refusal)?;
            }
            kind::COPY_OUT => failure = Some(fault::copy_out()),
            kind::BIND_COMPLETE | kind::COPY_DATA | kind::COPY_DONE => {}
            kind::READY => break,
            other => return Err(unexpected(other, "a query")),
        }
    }
    match failure {
        Some(error) => Err(error),
        None if ended => Ok(done),
        None => Err(malformed(
            "answer",
            "the server is ready and did not say how it ended",
        )),
    }
}

/// The error that was read last. A fatal one is returned as `Err`: nothing follows it.
pub(super) fn read_error(wire: &mut Wire) -> Result<SessionError, SessionError> {
    let fault = Fault::read(wire.body())?;
    if fault.ends_session {
        wire.abandon();
        return Err(fault.into_error());
    }
    Ok(fault.into_error())
}

fn show(
    body: &[u8],
    formats: &[Format],
    cells: &mut Vec<Cell>,
    each: &mut dyn FnMut(&dyn Row),
) -> Result<(), SessionError> {
    locate(body, formats, cells)
        .ok_or_else(|| malformed("DataRow", "not the columns that were announced"))?;
    each(&DataRow {
        body,
        cells,
        formats,
    });
    Ok(())
}

/// Rows that a `CommandComplete` reports as changed: `INSERT 0 50`, `DELETE 3`, `UPDATE 1`.
/// A `SELECT 50` that showed no rows has put them into a table (`CREATE TABLE AS`).
fn affected(body: &[u8], shown: u64) -> Result<u64, SessionError> {
    let malformed = || malformed("CommandComplete", &body.escape_ascii().to_string());
    let tag = body.strip_suffix(b"\0").ok_or_else(malformed)?;
    let mut words = tag.split(|&byte| byte == b' ');
    match words.next() {
        Some(b"INSERT" | b"UPDATE" | b"DELETE" | b"MERGE" | b"COPY") => {}
        Some(b"SELECT") if shown == 0 => {}
        Some(_) | None => return Ok(0),
    }
    words
        .next_back()
        .and_then(|count| std::str::from_utf8(count).ok()?.parse().ok())
        .ok_or_else(malformed)
}

#[cfg(test)]
mod tests;

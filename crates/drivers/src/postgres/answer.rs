//! The answer to a query: its rows, how it ended, and the server being ready again.

use super::encode;
use super::fault::{self, Fault, malformed, unexpected};
use super::row::{DataRow, Format, column_count};
use super::wire::{Wire, kind};
use crate::pipeline::Visit;
use crate::{Done, Result, SessionError};

pub(super) enum Columns<'a> {
    /// Simple query: the answer describes them, and all come as text.
    Described(&'a mut Vec<Format>),
    /// Prepared statement: agreed when it was prepared.
    Prepared(&'a [Format]),
    /// Prepared statement whose portal is described at each run: both must agree.
    Announced(&'a [Format]),
}

impl Columns<'_> {
    fn formats(&self) -> &[Format] {
        match self {
            Self::Described(formats) => formats,
            Self::Prepared(formats) | Self::Announced(formats) => formats,
        }
    }

    /// Reads a `RowDescription`, or `NoData` in its place.
    #[inline]
    fn describe(&mut self, kind: u8, body: &[u8]) -> Result {
        let count = if kind == kind::NO_DATA {
            0
        } else {
            column_count(body).ok_or_else(|| malformed("RowDescription", "no count"))?
        };
        match self {
            Self::Described(formats) => {
                formats.clear();
                formats.resize(count, Format::Text);
                Ok(())
            }
            Self::Announced(formats) if formats.len() == count => Ok(()),
            Self::Announced(_) => Err(malformed(
                "RowDescription",
                "not the columns with which the statement was prepared",
            )),
            Self::Prepared(_) => Err(unexpected(kind, "a prepared statement")),
        }
    }

    /// The server skips a Sync sent with a `COPY … FROM STDIN`; the extended protocol needs another.
    fn needs_sync(&self) -> bool {
        match self {
            Self::Described(_) => false,
            Self::Prepared(_) | Self::Announced(_) => true,
        }
    }
}

/// Reads the whole answer to a query that was sent, and shows each row to `visit`.
#[inline]
pub(super) fn read(wire: &mut Wire, columns: Columns<'_>, mut visit: impl Visit) -> Result<Done> {
    let mut answer = Answer {
        columns,
        done: Done::default(),
        is_ended: false,
        failure: None,
        has_refused_copy: false,
    };
    loop {
        wire.wait()?;
        match answer.read_arrived(wire, &mut visit)? {
            Next::Wait => {}
            Next::Unusual => answer.read_unusual(wire)?,
            Next::Ready => return answer.end(),
        }
    }
}

struct Answer<'a> {
    columns: Columns<'a>,
    done: Done,
    /// Has the server said how the query ended?
    is_ended: bool,
    failure: Option<SessionError>,
    has_refused_copy: bool,
}

enum Next {
    Wait,
    Unusual,
    Ready,
}

impl Answer<'_> {
    /// Reads the messages that every answer has, as far as they have arrived: nearly always the
    /// whole answer, one message after the other in place.
    #[inline]
    fn read_arrived(&mut self, wire: &mut Wire, visit: &mut impl Visit) -> Result<Next> {
        let mut arrived = wire.arrived();
        let is_announced = matches!(self.columns, Columns::Announced(_));
        let (next, rest) = loop {
            let before = arrived.rest();
            let Some((kind, body)) = arrived.next() else {
                break (Next::Wait, before);
            };
            match kind {
                kind::DATA_ROW => {
                    show(body, self.columns.formats(), visit)?;
                    self.done.rows += 1;
                }
                kind::BIND_COMPLETE => {}
                kind::COMMAND_COMPLETE => {
                    let affected = affected(body, self.done.rows)?;
                    self.done.affected = self.done.affected.saturating_add(affected);
                    self.is_ended = true;
                }
                kind::READY => break (Next::Ready, arrived.rest()),
                kind::ROW_DESCRIPTION | kind::NO_DATA if is_announced => {
                    self.columns.describe(kind, body)?;
                }
                _ => break (Next::Unusual, before),
            }
        };
        wire.keep(rest);
        Ok(next)
    }

    /// Reads a message of any other kind, which has arrived.
    #[cold]
    fn read_unusual(&mut self, wire: &mut Wire) -> Result {
        match wire.next()? {
            kind::EMPTY_QUERY => self.is_ended = true,
            kind::ROW_DESCRIPTION => self.columns.describe(kind::ROW_DESCRIPTION, wire.body())?,
            kind::ERROR => self.failure = Some(read_error(wire)?),
            kind::COPY_IN => {
                refuse_copy(wire, &mut self.has_refused_copy, self.columns.needs_sync())?;
            }
            kind::COPY_OUT => self.failure = Some(fault::copy_out()),
            kind::COPY_DATA
            | kind::COPY_DONE
            | kind::NOTICE
            | kind::NOTIFICATION
            | kind::PARAMETER_STATUS => {}
            other => return Err(unexpected(other, "a query")),
        }
        Ok(())
    }

    fn end(self) -> Result<Done> {
        match self.failure {
            Some(error) => Err(error),
            None if self.is_ended => {
                let columns = self.columns.formats().len() as u32;
                Ok(Done { columns, ..self.done })
            }
            None => Err(malformed("answer", "the server is ready and did not say how it ended")),
        }
    }
}

#[inline]
fn show<V: Visit>(body: &[u8], formats: &[Format], visit: &mut V) -> Result {
    if !V::LOOKS {
        return Ok(());
    }
    let row = DataRow::of(body, formats).ok_or_else(strange_row)?;
    visit.show(&row);
    if row.is_malformed() {
        return Err(strange_row());
    }
    Ok(())
}

#[cold]
fn strange_row() -> SessionError {
    malformed("DataRow", "not the columns that were announced")
}

/// Reads on until the server is ready again, whatever it says. A COPY that begins is refused.
pub(super) fn skip(wire: &mut Wire, is_extended: bool) -> Result {
    let mut has_refused_copy = false;
    loop {
        match wire.next()? {
            kind::READY => return Ok(()),
            kind::ERROR => {
                read_error(wire)?;
            }
            kind::COPY_IN => refuse_copy(wire, &mut has_refused_copy, is_extended)?,
            _ => {}
        }
    }
}

/// The error that was read last. A fatal one is returned as `Err`: nothing follows it.
pub(super) fn read_error(wire: &mut Wire) -> Result<SessionError> {
    let fault = Fault::read(wire.body())?;
    if fault.ends_session {
        wire.stream.abandon();
        return Err(fault.into_error());
    }
    Ok(fault.into_error())
}

/// Refuses a COPY as a query, for whose rows the server waits. An error ends the query: a second is wrong.
#[cold]
fn refuse_copy(wire: &mut Wire, was_refused: &mut bool, needs_sync: bool) -> Result {
    if std::mem::replace(was_refused, true) {
        return Err(unexpected(kind::COPY_IN, "a query that was ended"));
    }
    let mut request = encode::copy_fail("COPY FROM STDIN is not supported as a query; use INSERT");
    if needs_sync {
        encode::sync(&mut request);
    }
    wire.send(&request)
}

/// Rows that a `CommandComplete` reports as changed: `INSERT 0 50`, `DELETE 3`, `UPDATE 1`.
/// A `SELECT 50` that showed no rows has put them into a table (`CREATE TABLE AS`).
#[inline]
fn affected(body: &[u8], shown: u64) -> Result<u64> {
    if shown > 0 && body.starts_with(b"SELECT ") {
        return Ok(0);
    }
    changed(body).ok_or_else(|| malformed("CommandComplete", &body.escape_ascii().to_string()))
}

/// The number at the end of a tag that has one.
fn changed(body: &[u8]) -> Option<u64> {
    let tag = body.strip_suffix(b"\0")?;
    let word = tag.split(|&byte| byte == b' ').next()?;
    if !matches!(word, b"INSERT" | b"UPDATE" | b"DELETE" | b"MERGE" | b"COPY" | b"SELECT") {
        return Some(0);
    }
    let digits = tag.len() - tag.iter().rev().position(|&byte| byte == b' ')?;
    number(tag.get(digits..)?)
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, &digit| {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests;

//! The conversation of one transaction with the server: statements go out, and each answer is checked.

use std::ops::Range;

use drivers::{Done, Param, Row, Session, SessionError, Value};
use model::{Dialect, TpccSpec};

use crate::tpcc::statements::{Ask, PreparedStatements};

#[derive(Debug)]
pub(super) enum Stopped {
    Session(SessionError),
    Wrong(String),
}

impl From<SessionError> for Stopped {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

pub(super) type Result<T = (), E = Stopped> = std::result::Result<T, E>;

pub(super) struct Exchange<'a> {
    pub(super) session: &'a mut dyn Session,
    pub(super) statements: &'a mut PreparedStatements,
    pub(super) spec: &'a TpccSpec,
    pub(super) dialect: Dialect,
    pub(super) has_sent_commit: &'a mut bool,
    /// Rows that were read and written so far.
    pub(super) rows: u64,
}

impl Exchange<'_> {
    /// Begins the transaction by one of the two statements that do.
    pub(super) fn begin(&mut self, begin: Ask) -> Result {
        *self.has_sent_commit = false;
        self.send(begin.place(), &[], &mut |_| ())?;
        Ok(())
    }

    pub(super) fn commit(&mut self) -> Result {
        *self.has_sent_commit = true;
        self.send(Ask::Commit.place(), &[], &mut |_| ())?;
        Ok(())
    }

    pub(super) fn roll_back(&mut self) -> Result<Done, SessionError> {
        self.session.execute("ROLLBACK")
    }

    #[inline]
    pub(super) fn send(
        &mut self,
        place: usize,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        let done = self.statements.send(&mut *self.session, place, params, each)?;
        self.rows += done.rows + done.affected;
        Ok(done)
    }

    /// Asks for one row, which must be there and have what `read` takes from it.
    #[inline]
    pub(super) fn one<T>(
        &mut self,
        ask: Ask,
        params: &[Param<'_>],
        mut read: impl FnMut(&dyn Row) -> Option<T>,
    ) -> Result<T> {
        let mut found = None;
        let done = self.send(ask.place(), params, &mut |row| found = read(row))?;
        match found {
            Some(found) if done.rows == 1 => Ok(found),
            Some(_) | None => Err(self.unlike("one whole row", done.rows, ask.place(), params)),
        }
    }

    /// Asks for any number of rows, each of which must have what `read` takes from it; returns their number.
    #[inline]
    pub(super) fn all(
        &mut self,
        place: usize,
        params: &[Param<'_>],
        mut read: impl FnMut(&dyn Row) -> Option<()>,
    ) -> Result<u64> {
        let mut whole = 0;
        let done = self.send(place, params, &mut |row| {
            whole += u64::from(read(row).is_some());
        })?;
        self.must(whole == done.rows, "whole rows", done.rows, place, params)?;
        Ok(whole)
    }

    #[inline]
    pub(super) fn change(&mut self, ask: Ask, params: &[Param<'_>]) -> Result {
        self.change_all(ask.place(), params, 1)
    }

    #[inline]
    pub(super) fn change_all(&mut self, place: usize, params: &[Param<'_>], rows: usize) -> Result {
        let done = self.send(place, params, &mut |_| ())?;
        if done.affected == rows as u64 {
            return Ok(());
        }
        Err(self.unlike(&format!("{rows} to change"), done.affected, place, params))
    }

    /// Fails unless it `holds` that the rows found by a statement are as expected.
    #[inline]
    pub(super) fn must(
        &self,
        holds: bool,
        expected: &str,
        found: u64,
        place: usize,
        params: &[Param<'_>],
    ) -> Result {
        if holds { Ok(()) } else { Err(self.unlike(expected, found, place, params)) }
    }

    #[cold]
    pub(super) fn unlike(
        &self,
        expected: &str,
        found: u64,
        place: usize,
        params: &[Param<'_>],
    ) -> Stopped {
        let values = params.iter().take(TOLD).map(|param| match param {
            Param::Int(number) => number.to_string(),
            Param::Text(text) => format!("`{text}`"),
            Param::Bytes(text) => format!("`{}`", String::from_utf8_lossy(text)),
        });
        let values = values.collect::<Vec<_>>().join(", ");
        let more = if params.len() > TOLD { ", …" } else { "" };
        let name = self.statements.name(place);
        Stopped::Wrong(format!(
            "{name}: rows expected: {expected}, found: {found} (values {values}{more})"
        ))
    }
}

/// Values of a statement that messages show.
const TOLD: usize = 12;

#[inline]
pub(super) fn int(number: u32) -> Param<'static> {
    Param::Int(i64::from(number))
}

#[inline]
pub(super) fn number(row: &dyn Row, column: usize) -> Option<u32> {
    u32::try_from(row.value(column).as_int()?).ok()
}

#[inline]
pub(super) fn text(row: &dyn Row, column: usize) -> Option<&[u8]> {
    match row.value(column) {
        Value::Bytes(text) => Some(text),
        Value::Null | Value::Int(_) | Value::Real(_) => None,
    }
}

#[inline]
pub(super) fn keep(row: &dyn Row, column: usize, into: &mut String) -> Option<()> {
    into.clear();
    into.push_str(std::str::from_utf8(text(row, column)?).ok()?);
    Some(())
}

/// Reads these columns as a terminal would show them; `None` where one has no value.
#[inline]
pub(super) fn shown(row: &dyn Row, mut columns: Range<usize>) -> Option<()> {
    let is_there = |column: usize| row.value(column) != Value::Null;
    columns.all(is_there).then_some(())
}

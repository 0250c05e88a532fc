//! Statements that are sent and their results, read to the last one.

use super::column::Columns;
use super::packets::{Packets, Take};
use super::reply::{LOCAL_FILE, OK, OkReply, end_has_more_results, is_end, malformed};
use super::rows::{Decoder, RowFormat, Rows};
use super::statement::Statement;
use crate::cursor::Cursor;
use crate::pipeline::Visit;
use crate::{Done, Param, Result, SessionError};

const COM_QUERY: u8 = 0x03;

/// More columns than any server returns; a larger count is a broken reply.
const MOST_COLUMNS: u64 = 1 << 16;

/// A connection that is logged in, with what is kept from result to result.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) packets: Packets,
    decoder: Decoder,
    /// Does a result say whether it describes its columns?
    known_columns: bool,
    /// Of the last text statement.
    columns: Columns,
}

impl Exchange {
    pub(super) fn new(packets: Packets, known_columns: bool) -> Self {
        Self { packets, decoder: Decoder::default(), known_columns, columns: Columns::default() }
    }

    pub(super) fn command(&mut self, code: u8, body: &[u8]) -> Result {
        let payload = self.packets.command();
        payload.push(code);
        payload.extend_from_slice(body);
        self.packets.send()
    }

    pub(super) fn send_query(&mut self, sql: &[u8]) -> Result {
        self.command(COM_QUERY, sql).map_err(|error| error.about(&String::from_utf8_lossy(sql)))
    }

    pub(super) fn query(&mut self, sql: &[u8], visit: impl Visit) -> Result<Done> {
        self.send_query(sql)?;
        let mut columns = std::mem::take(&mut self.columns);
        let answer = self.read(RowFormat::Text, &mut columns, visit);
        self.columns = columns;
        answer.map_err(|error| self.packets.stream.settle(error, &String::from_utf8_lossy(sql)))
    }

    #[inline]
    pub(super) fn execute(
        &mut self,
        statement: &mut Statement,
        params: &[Param<'_>],
        visit: impl Visit,
    ) -> Result<Done> {
        let sent = if let Some(packet) = statement.whole_packet(params) {
            self.packets.send_whole(packet)
        } else {
            statement.put(self.packets.command(), params)?;
            self.packets.send()
        };
        if let Err(error) = sent {
            return Err(error.about(&statement.sql));
        }
        self.answer(statement, visit)
    }

    #[inline]
    pub(super) fn answer(&mut self, statement: &mut Statement, visit: impl Visit) -> Result<Done> {
        match self.read(RowFormat::Binary, &mut statement.columns, visit) {
            Ok(done) => {
                statement.types_known = true;
                Ok(done)
            }
            Err(error) => Err(self.packets.stream.settle(error, &statement.sql)),
        }
    }

    /// Reads the results of the statement that was sent, until the server says that no more follow: a
    /// procedure may return several. `columns` are those of the statement's last result.
    #[inline]
    fn read(
        &mut self,
        format: RowFormat,
        columns: &mut Columns,
        mut visit: impl Visit,
    ) -> Result<Done> {
        let mut done = Done::default();
        loop {
            self.packets.wait()?;
            let described = columns.are_described_again(&mut self.packets);
            let more_results = if described {
                done.columns = columns.encodings.len() as u32;
                self.read_rows(format, columns, &mut done.rows, &mut visit)?
            } else {
                self.read_new(format, columns, &mut done, &mut visit)?
            };
            if !more_results {
                return Ok(done);
            }
        }
    }

    /// Reads a result that is not described as the last one was; returns whether another follows.
    #[inline(never)]
    fn read_new(
        &mut self,
        format: RowFormat,
        columns: &mut Columns,
        done: &mut Done,
        visit: &mut impl Visit,
    ) -> Result<bool> {
        let packet = self.packets.receive_part()?;
        match packet.first() {
            Some(&OK) => {
                let ok = OkReply::parse(packet).ok_or_else(|| malformed("OK packet"))?;
                done.affected = done.affected.saturating_add(ok.affected);
                Ok(ok.more_results)
            }
            Some(&LOCAL_FILE) => {
                let what = "the server asks for a local file, which it was not offered";
                Err(SessionError::protocol(what))
            }
            _ => {
                let announced = Announced::parse(packet, self.known_columns)
                    .ok_or_else(|| malformed("column count"))?;
                if announced.described {
                    columns.read(&mut self.packets, announced.count)?;
                } else {
                    columns.stay(self.packets.shown(), announced.count)?;
                }
                self.packets.receive_end()?;
                done.columns = announced.count as u32;
                self.read_rows(format, columns, &mut done.rows, visit)
            }
        }
    }

    /// Shows the rows of one result; returns whether another result follows.
    fn read_rows(
        &mut self,
        format: RowFormat,
        columns: &Columns,
        count: &mut u64,
        visit: &mut impl Visit,
    ) -> Result<bool> {
        let mut rows = Rows::new(format, &columns.encodings, &mut self.decoder);
        let (mut intact, mut end) = (true, None);
        loop {
            self.packets.take_arrived(|packet| {
                if is_end(packet) {
                    end = Some(end_has_more_results(packet));
                    return Take::Last;
                }
                if !rows.may_begin(packet) {
                    return Take::No;
                }
                *count += 1;
                intact = rows.show(packet, visit);
                if intact { Take::More } else { Take::Last }
            });
            if let Some(more_results) = end {
                return Ok(more_results);
            }
            if !intact {
                return Err(malformed("row"));
            }
            // An error, or a packet that has not arrived whole.
            let packet = self.packets.receive_part()?;
            if is_end(packet) {
                return Ok(end_has_more_results(packet));
            }
            *count += 1;
            if !rows.may_begin(packet) || !rows.show(packet, visit) {
                return Err(malformed("row"));
            }
        }
    }
}

/// The columns of a result, as its first packet announces them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Announced {
    count: usize,
    described: bool,
}

impl Announced {
    /// `says_so`: does the packet say whether definitions follow? Otherwise they do.
    fn parse(packet: &[u8], says_so: bool) -> Option<Self> {
        let mut cursor = Cursor::new(packet);
        let count = cursor.lenenc()?;
        let described = !says_so || cursor.u8()? != 0;
        let is_possible = (1..=MOST_COLUMNS).contains(&count) && cursor.is_empty();
        is_possible.then_some(Self { count: count as usize, described })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_may_say_that_its_columns_are_known() {
        let of = |packet: &[u8], says_so| {
            Announced::parse(packet, says_so).map(|a| (a.count, a.described))
        };
        assert_eq!(of(&[3], false), Some((3, true)));
        assert_eq!(of(&[3, 1], true), Some((3, true)));
        assert_eq!(of(&[3, 0], true), Some((3, false)));
        for (packet, says_so) in
            [(&[3, 0][..], false), (&[3], true), (&[0, 1], true), (&[3, 0, 0], true)]
        {
            assert_eq!(of(packet, says_so), None, "{packet:?} {says_so}");
        }
    }
}

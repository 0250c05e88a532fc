//! The results of a statement, read to the last one.

use super::column::Columns;
use super::cursor::Cursor;
use super::malformed;
use super::packets::{Packets, Take};
use super::reply::{ERROR, LOCAL_FILE, OK, OkReply, end_has_more_results, is_end, server_error};
use super::rows::{Decoder, RowFormat, Rows};
use crate::visit::Visit;
use crate::{Done, SessionError};

/// More columns than any server returns; a larger count is a broken reply.
const MOST_COLUMNS: u64 = 1 << 16;

/// What is kept from result to result.
#[derive(Debug)]
pub(super) struct Results {
    decoder: Decoder,
    /// Does a result say whether it describes its columns?
    known_columns: bool,
}

impl Results {
    /// Of a session in which results say whether they describe their columns, if `known_columns`.
    pub(super) fn new(known_columns: bool) -> Self {
        Self {
            decoder: Decoder::default(),
            known_columns,
        }
    }

    /// Reads the results of the statement that was sent, until the server says that no more follow: a
    /// procedure may return several. `columns` are those of the statement's last result.
    #[inline]
    pub(super) fn read(
        &mut self,
        packets: &mut Packets,
        format: RowFormat,
        columns: &mut Columns,
        mut visit: impl Visit,
    ) -> Result<Done, SessionError> {
        let mut done = Done::default();
        loop {
            packets.wait()?;
            let described = columns.are_described_again(packets);
            let more_results = if described {
                self.read_rows(packets, format, columns, &mut done.rows, &mut visit)?
            } else {
                self.read_new(packets, format, columns, &mut done, &mut visit)?
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
        packets: &mut Packets,
        format: RowFormat,
        columns: &mut Columns,
        done: &mut Done,
        visit: &mut impl Visit,
    ) -> Result<bool, SessionError> {
        let packet = receive_part(packets)?;
        match packet.first() {
            Some(&OK) => {
                let ok = OkReply::parse(packet).ok_or_else(|| malformed("OK packet"))?;
                done.affected = done.affected.saturating_add(ok.affected);
                Ok(ok.more_results)
            }
            Some(&LOCAL_FILE) => Err(unasked_file()),
            _ => {
                let announced = Announced::parse(packet, self.known_columns)
                    .ok_or_else(|| malformed("column count"))?;
                if announced.described {
                    columns.read(packets, announced.count)?;
                } else {
                    columns.stay(packets.shown(), announced.count)?;
                }
                read_end(packets)?;
                self.read_rows(packets, format, columns, &mut done.rows, visit)
            }
        }
    }

    /// Shows the rows of one result; returns whether another result follows.
    fn read_rows(
        &mut self,
        packets: &mut Packets,
        format: RowFormat,
        columns: &Columns,
        count: &mut u64,
        visit: &mut impl Visit,
    ) -> Result<bool, SessionError> {
        let mut rows = Rows::new(format, columns.encodings(), &mut self.decoder);
        let (mut intact, mut end) = (true, None);
        loop {
            packets.take_arrived(|packet| {
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
            let packet = receive_part(packets)?;
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
    /// Do their definitions follow?
    described: bool,
}

impl Announced {
    /// `says_so`: does the packet say whether definitions follow? Else they do.
    fn parse(packet: &[u8], says_so: bool) -> Option<Self> {
        let mut cursor = Cursor::new(packet);
        let count = cursor.lenenc()?;
        let described = !says_so || cursor.u8()? != 0;
        let is_possible = (1..=MOST_COLUMNS).contains(&count) && cursor.is_empty();
        is_possible.then_some(Self {
            count: count as usize,
            described,
        })
    }
}

/// The next packet of an answer, which may end with an error at any point.
#[inline]
pub(super) fn receive_part(packets: &mut Packets) -> Result<&[u8], SessionError> {
    let packet = packets.receive()?;
    if packet.first() == Some(&ERROR) {
        return Err(server_error(packet));
    }
    Ok(packet)
}

/// Reads the packet that ends a list of definitions.
#[inline]
pub(super) fn read_end(packets: &mut Packets) -> Result<(), SessionError> {
    if is_end(receive_part(packets)?) {
        Ok(())
    } else {
        Err(malformed("end of definitions"))
    }
}

#[cold]
fn unasked_file() -> SessionError {
    SessionError::Protocol {
        what: "the server asks for a local file, which it was not offered".to_owned(),
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
        for (packet, says_so) in [
            (&[3, 0][..], false),
            (&[3], true),
            (&[0, 1], true),
            (&[3, 0, 0], true),
        ] {
            assert_eq!(of(packet, says_so), None, "{packet:?} {says_so}");
        }
    }
}

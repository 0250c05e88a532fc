//! How a column's values are encoded in binary rows, and the columns of a result.

use super::packets::Packets;
use super::reply::malformed;
use crate::Result;

/// `UNSIGNED_FLAG` of a column definition.
const UNSIGNED: u16 = 0x0020;

/// Bytes at the end of every column definition: a length byte (12), character set, length, type,
/// flags, decimals, filler. What stands before them are names, which nothing here needs.
const TAIL: usize = 13;

/// Most bytes of definitions that are kept for a statement. Some 300 columns.
const MOST_KEPT: usize = 32 << 10;

/// Encoding of a column in binary rows. `digits` after the second, 0 to 6; 0 shows them only if not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Bytes of a signed integer.
    Signed(usize),
    Unsigned(usize),
    Float,
    Double,
    /// Year, month, day.
    Date,
    DateTime {
        digits: u8,
    },
    /// A span of time.
    Time {
        digits: u8,
    },
    /// Always NULL; no bytes.
    Null,
    /// A length-encoded string: text, decimals, blobs, bits, JSON, and types yet to come.
    Bytes,
}

impl Encoding {
    /// Of the column that a definition packet describes; `None` when the packet is not one.
    pub(super) fn parse(definition: &[u8]) -> Option<Self> {
        // Six names before the tail take at least a byte each.
        if definition.len() < TAIL + 6 {
            return None;
        }
        let &[12, _, _, _, _, _, _, kind, low, high, decimals, _, _] =
            definition.last_chunk::<TAIL>()?
        else {
            return None;
        };
        let unsigned = u16::from_le_bytes([low, high]) & UNSIGNED != 0;
        Some(Self::of(kind, unsigned, decimals))
    }

    fn of(kind: u8, unsigned: bool, decimals: u8) -> Self {
        let integer = |width| {
            if unsigned { Self::Unsigned(width) } else { Self::Signed(width) }
        };
        // 31 stands for "not fixed".
        let digits = if decimals <= 6 { decimals } else { 0 };
        match kind {
            1 => integer(1),
            // SMALLINT, YEAR
            2 | 13 => integer(2),
            // INT, MEDIUMINT
            3 | 9 => integer(4),
            8 => integer(8),
            4 => Self::Float,
            5 => Self::Double,
            6 => Self::Null,
            // DATE and its younger form
            10 | 14 => Self::Date,
            // TIMESTAMP, DATETIME
            7 | 12 => Self::DateTime { digits },
            11 => Self::Time { digits },
            _ => Self::Bytes,
        }
    }

    /// Bytes of a value; `None` where a length comes before them.
    #[inline]
    pub(super) fn width(self) -> Option<usize> {
        match self {
            Self::Signed(width) | Self::Unsigned(width) => Some(width),
            Self::Float => Some(4),
            Self::Double => Some(8),
            Self::Null => Some(0),
            Self::Date | Self::DateTime { .. } | Self::Time { .. } | Self::Bytes => None,
        }
    }
}

/// The columns of the last result of one statement. A server describes them again in every result, or
/// says each time that they are known; as long as it uses the same bytes, they are compared and not read.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) encodings: Vec<Encoding>,
    /// The packets that announced and described them, with headers; empty where nothing can be compared.
    packets: Vec<u8>,
    count: usize,
}

impl Columns {
    /// Is the next result described as the last one was? Then its description is passed over.
    #[inline]
    pub(super) fn are_described_again(&self, packets: &mut Packets) -> bool {
        packets.pass_over(&self.packets, self.count)
    }

    /// Reads the definitions of the `count` columns of a statement that was prepared. Results may be
    /// described otherwise, so that there is nothing to compare with yet.
    pub(super) fn foresee(&mut self, packets: &mut Packets, count: usize) -> Result {
        *self = Self::default();
        for _ in 0..count {
            self.add(packets.receive_part()?)?;
        }
        Ok(())
    }

    /// The server says in `packet`, given with its header, that it does not describe `count` columns again.
    pub(super) fn stay(&mut self, packet: &[u8], count: usize) -> Result {
        if count != self.encodings.len() {
            return Err(malformed("result, whose columns are not those that were described"));
        }
        self.packets.clear();
        self.packets.extend_from_slice(packet);
        self.count = 1;
        Ok(())
    }

    fn add(&mut self, definition: &[u8]) -> Result {
        let encoding = Encoding::parse(definition).ok_or_else(|| malformed("column definition"))?;
        self.encodings.push(encoding);
        Ok(())
    }

    /// Reads the definitions of the `count` columns that the packet shown last has announced.
    pub(super) fn read(&mut self, packets: &mut Packets, count: usize) -> Result {
        self.encodings.clear();
        // There is nothing to compare with until all are read.
        let mut kept = std::mem::take(&mut self.packets);
        kept.clear();
        let mut comparable = true;
        for left in (0..=count).rev() {
            let packet = packets.shown();
            comparable &= !packet.is_empty() && kept.len() + packet.len() <= MOST_KEPT;
            if comparable {
                kept.extend_from_slice(packet);
            }
            if left > 0 {
                self.add(packets.receive_part()?)?;
            }
        }
        if comparable {
            (self.packets, self.count) = (kept, count + 1);
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use super::*;
    use crate::stream::Stream;

    /// A column definition as a server sends it.
    pub(in crate::mysql) fn definition(kind: u8, flags: u16, decimals: u8) -> Vec<u8> {
        let mut packet = b"\x03def\x02db\x01t\x01t\x01c\x01c\x0c\x2d\x00\x0b\x00\x00\x00".to_vec();
        packet.push(kind);
        packet.extend_from_slice(&flags.to_le_bytes());
        packet.extend_from_slice(&[decimals, 0, 0]);
        packet
    }

    #[test]
    fn definitions_tell_the_encoding() {
        let parse = |kind, flags, decimals| Encoding::parse(&definition(kind, flags, decimals));
        assert_eq!(parse(3, 0, 0), Some(Encoding::Signed(4)));
        assert_eq!(parse(8, UNSIGNED, 0), Some(Encoding::Unsigned(8)));
        assert_eq!(parse(13, UNSIGNED, 0), Some(Encoding::Unsigned(2)));
        assert_eq!(parse(12, 0, 3), Some(Encoding::DateTime { digits: 3 }));
        assert_eq!(parse(11, 0, 31), Some(Encoding::Time { digits: 0 }));
        assert_eq!(parse(246, 0, 2), Some(Encoding::Bytes));
        assert_eq!(parse(242, 0, 0), Some(Encoding::Bytes));
    }

    #[test]
    fn other_packets_are_not_definitions() {
        let whole = definition(3, 0, 0);
        assert_eq!(Encoding::parse(&whole[1..19]), None);
        assert_eq!(Encoding::parse(b"\xfe\x00\x00\x02\x00"), None);
        let mut longer = whole.clone();
        longer.push(0);
        assert_eq!(Encoding::parse(&longer), None);
    }

    /// A result's description, up to and with its end, whose first packet has the sequence number 1.
    fn described(definitions: &[Vec<u8>]) -> Vec<u8> {
        let end = vec![0xfe, 0, 0, 2, 0];
        let packets = [&[vec![definitions.len() as u8]], definitions, &[end]].concat();
        let mut bytes = Vec::new();
        for (sequence, packet) in (1_u8..).zip(packets) {
            bytes.extend_from_slice(&[packet.len() as u8, 0, 0, sequence]);
            bytes.extend_from_slice(&packet);
        }
        bytes
    }

    /// Are these the same columns as before? What `columns` makes of them.
    fn read(columns: &mut Columns, definitions: &[Vec<u8>]) -> (bool, Vec<Encoding>) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut packets = Packets::new(Stream::over(ours.into(), true, Duration::from_secs(5)));
        packets.command();
        packets.send().unwrap();
        theirs.write_all(&described(definitions)).unwrap();
        // All of it arrives at once.
        packets.wait().unwrap();
        let again = columns.are_described_again(&mut packets);
        if !again {
            packets.receive().unwrap();
            columns.read(&mut packets, definitions.len()).unwrap();
        }
        (again, columns.encodings.clone())
    }

    #[test]
    fn definitions_that_have_changed_are_read_again() {
        let mut columns = Columns::default();
        let (int, text) = (definition(3, 0, 0), definition(253, 0, 0));
        let (four, bytes) = (Encoding::Signed(4), Encoding::Bytes);
        for (definitions, again, expected) in [
            (vec![int.clone(), text.clone()], false, vec![four, bytes]),
            (vec![int.clone(), text.clone()], true, vec![four, bytes]),
            (vec![int.clone(), int.clone()], false, vec![four, four]),
            (vec![int.clone()], false, vec![four]),
            (vec![text.clone()], false, vec![bytes]),
            (vec![text.clone()], true, vec![bytes]),
            (vec![int, text], false, vec![four, bytes]),
        ] {
            assert_eq!(read(&mut columns, &definitions), (again, expected));
        }
    }

    #[test]
    fn columns_that_are_known_are_not_described() {
        let (int, text) = (definition(3, 0, 0), definition(253, 0, 0));
        let (four, bytes) = (Encoding::Signed(4), Encoding::Bytes);
        let mut columns = Columns::default();
        read(&mut columns, &[int, text.clone()]);
        let announced = [2, 0, 0, 1, 2, 0];
        columns.stay(&announced, 2).unwrap();
        assert_eq!((&columns.encodings[..], columns.count), (&[four, bytes][..], 1));
        assert_eq!(columns.packets, announced);
        let error = columns.stay(&announced, 3).unwrap_err().to_string();
        assert!(error.contains("not those that were described"), "{error}");
        // They are described after all.
        assert_eq!(read(&mut columns, &[text]), (false, vec![bytes]));
    }

    #[test]
    fn no_more_is_kept_than_is_allowed() {
        let mut columns = Columns::default();
        let mut long = definition(3, 0, 0);
        long.splice(0..0, vec![b'n'; 200]);
        let definitions = vec![long; 170];
        for _ in 0..2 {
            let (again, encodings) = read(&mut columns, &definitions);
            assert_eq!((again, encodings.len()), (false, 170));
            assert!(columns.packets.is_empty());
        }
    }
}

//! How a column's values are encoded in binary rows.

/// `UNSIGNED_FLAG` of a column definition.
const UNSIGNED: u16 = 0x0020;

/// Bytes at the end of every column definition: a length byte (12), character set, length, type,
/// flags, decimals, filler. What stands before them are names, which nothing here needs.
const TAIL: usize = 13;

/// Encoding of one column's values in binary rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Signed integer of so many bytes.
    Signed(Width),
    /// Unsigned integer of so many bytes.
    Unsigned(Width),
    /// IEEE single.
    Float,
    /// IEEE double.
    Double,
    /// Year, month, day.
    Date,
    /// Date and time of day, shown with so many digits after the second.
    DateTime {
        /// 0 to 6; 0 shows microseconds only when there are any.
        digits: u8,
    },
    /// A span of time, shown with so many digits after the second.
    Time {
        /// 0 to 6; 0 shows microseconds only when there are any.
        digits: u8,
    },
    /// Always NULL; no bytes.
    Null,
    /// A length-encoded string: text, decimals, blobs, bits, JSON, and types yet to come.
    Bytes,
}

/// Width of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    One,
    Two,
    Four,
    Eight,
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
            if unsigned {
                Self::Unsigned(width)
            } else {
                Self::Signed(width)
            }
        };
        // 31 stands for "not fixed".
        let digits = if decimals <= 6 { decimals } else { 0 };
        match kind {
            1 => integer(Width::One),
            // SMALLINT, YEAR
            2 | 13 => integer(Width::Two),
            // INT, MEDIUMINT
            3 | 9 => integer(Width::Four),
            8 => integer(Width::Eight),
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
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

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
        assert_eq!(parse(3, 0, 0), Some(Encoding::Signed(Width::Four)));
        assert_eq!(
            parse(8, UNSIGNED, 0),
            Some(Encoding::Unsigned(Width::Eight))
        );
        assert_eq!(parse(13, UNSIGNED, 0), Some(Encoding::Unsigned(Width::Two)));
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
}

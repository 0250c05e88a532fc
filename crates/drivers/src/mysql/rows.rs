//! Rows, decoded into one reused table of cells that point into the packet.

use super::column::{Encoding, Width};
use super::cursor::Cursor;
use super::temporal::{put_date, put_date_time, put_number, put_time};
use crate::{Row, Value};

/// First byte of a text row's NULL.
const NULL: u8 = 0xfb;

/// Where a value lies.
#[derive(Clone, Copy, Debug)]
enum Cell {
    Null,
    Int(i64),
    Real(f64),
    /// In the packet.
    Packet {
        start: u32,
        length: u32,
    },
    /// In the text that was made from a binary value.
    Made {
        start: u32,
        length: u32,
    },
}

/// The cells of one row. Kept from row to row, so that its memory is.
#[derive(Debug, Default)]
pub(super) struct Cells {
    cells: Vec<Cell>,
    /// Text of dates, times, and integers beyond `i64`.
    made: Vec<u8>,
}

/// A decoded row.
pub(super) struct DecodedRow<'a> {
    packet: &'a [u8],
    cells: &'a Cells,
}

impl Cells {
    /// Decodes a row of the text protocol: `columns` length-encoded strings. `None` when the packet
    /// is not such a row.
    pub(super) fn decode_text<'a>(
        &'a mut self,
        packet: &'a [u8],
        columns: usize,
    ) -> Option<DecodedRow<'a>> {
        self.cells.resize(columns, Cell::Null);
        let mut cursor = Cursor::new(packet);
        for cell in &mut self.cells {
            *cell = if cursor.rest().first() == Some(&NULL) {
                cursor.u8()?;
                Cell::Null
            } else {
                bytes_cell(packet, &mut cursor)?
            };
        }
        self.finish(packet, cursor)
    }

    /// Decodes a row of the binary protocol: a zero byte, a bitmap of NULLs that begins at its third
    /// bit, then the values that are not NULL. `None` when the packet is not such a row.
    pub(super) fn decode_binary<'a>(
        &'a mut self,
        packet: &'a [u8],
        columns: &[Encoding],
    ) -> Option<DecodedRow<'a>> {
        self.cells.resize(columns.len(), Cell::Null);
        self.made.clear();
        let mut cursor = Cursor::new(packet);
        if cursor.u8()? != 0 {
            return None;
        }
        let nulls = cursor.bytes((columns.len() + 9) / 8)?;
        for (bit, (cell, encoding)) in (2..).zip(self.cells.iter_mut().zip(columns)) {
            let null = nulls.get(bit / 8)? >> (bit % 8) & 1 == 1;
            *cell = if null {
                Cell::Null
            } else {
                binary_cell(packet, &mut cursor, *encoding, &mut self.made)?
            };
        }
        self.finish(packet, cursor)
    }

    fn finish<'a>(&'a self, packet: &'a [u8], cursor: Cursor<'_>) -> Option<DecodedRow<'a>> {
        cursor.is_empty().then_some(DecodedRow {
            packet,
            cells: self,
        })
    }
}

/// A value of the binary protocol; the text of what has none is appended to `made`.
#[inline]
fn binary_cell(
    packet: &[u8],
    cursor: &mut Cursor<'_>,
    encoding: Encoding,
    made: &mut Vec<u8>,
) -> Option<Cell> {
    Some(match encoding {
        Encoding::Signed(width) => Cell::Int(match width {
            Width::One => i64::from(cursor.u8()?.cast_signed()),
            Width::Two => i64::from(cursor.u16()?.cast_signed()),
            Width::Four => i64::from(cursor.u32()?.cast_signed()),
            Width::Eight => cursor.u64()?.cast_signed(),
        }),
        Encoding::Unsigned(width) => match width {
            Width::One => Cell::Int(i64::from(cursor.u8()?)),
            Width::Two => Cell::Int(i64::from(cursor.u16()?)),
            Width::Four => Cell::Int(i64::from(cursor.u32()?)),
            Width::Eight => unsigned_cell(cursor.u64()?, made),
        },
        Encoding::Float => Cell::Real(f64::from(f32::from_bits(cursor.u32()?))),
        Encoding::Double => Cell::Real(f64::from_bits(cursor.u64()?)),
        Encoding::Date => {
            let (bytes, start) = (cursor.lenenc_bytes()?, made.len());
            put_date(made, bytes)?;
            made_since(made, start)
        }
        Encoding::DateTime { digits } => {
            let (bytes, start) = (cursor.lenenc_bytes()?, made.len());
            put_date_time(made, bytes, digits)?;
            made_since(made, start)
        }
        Encoding::Time { digits } => {
            let (bytes, start) = (cursor.lenenc_bytes()?, made.len());
            put_time(made, bytes, digits)?;
            made_since(made, start)
        }
        Encoding::Null => Cell::Null,
        Encoding::Bytes => bytes_cell(packet, cursor)?,
    })
}

/// Integers that `i64` cannot hold are shown as text.
fn unsigned_cell(value: u64, made: &mut Vec<u8>) -> Cell {
    if let Ok(signed) = i64::try_from(value) {
        return Cell::Int(signed);
    }
    let start = made.len();
    put_number(made, value);
    made_since(made, start)
}

fn made_since(made: &[u8], start: usize) -> Cell {
    Cell::Made {
        start: start as u32,
        length: (made.len() - start) as u32,
    }
}

/// A length-encoded string of the packet that `cursor` reads. Messages are far shorter than 4 GiB.
fn bytes_cell(packet: &[u8], cursor: &mut Cursor<'_>) -> Option<Cell> {
    let bytes = cursor.lenenc_bytes()?;
    let end = packet.len() - cursor.rest().len();
    Some(Cell::Packet {
        start: (end - bytes.len()) as u32,
        length: bytes.len() as u32,
    })
}

impl Row for DecodedRow<'_> {
    fn len(&self) -> usize {
        self.cells.cells.len()
    }

    fn value(&self, column: usize) -> Value<'_> {
        match self.cells.cells.get(column) {
            None | Some(Cell::Null) => Value::Null,
            Some(&Cell::Int(int)) => Value::Int(int),
            Some(&Cell::Real(real)) => Value::Real(real),
            Some(&Cell::Packet { start, length }) => slice(self.packet, start, length),
            Some(&Cell::Made { start, length }) => slice(&self.cells.made, start, length),
        }
    }
}

fn slice(bytes: &[u8], start: u32, length: u32) -> Value<'_> {
    let (start, length) = (start as usize, length as usize);
    Value::Bytes(bytes.get(start..start + length).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Encoding; 14] = [
        Encoding::Signed(Width::One),
        Encoding::Signed(Width::Two),
        Encoding::Signed(Width::Four),
        Encoding::Signed(Width::Eight),
        Encoding::Unsigned(Width::One),
        Encoding::Unsigned(Width::Two),
        Encoding::Unsigned(Width::Four),
        Encoding::Unsigned(Width::Eight),
        Encoding::Float,
        Encoding::Double,
        Encoding::Date,
        Encoding::DateTime { digits: 0 },
        Encoding::Time { digits: 0 },
        Encoding::Bytes,
    ];

    fn values(row: &dyn Row) -> Vec<String> {
        (0..row.len())
            .map(|column| match row.value(column) {
                Value::Bytes(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn text_rows() {
        let mut cells = Cells::default();
        let row = cells.decode_text(b"\x0242\xfb\x00\x03abc", 4).unwrap();
        assert_eq!(values(&row), ["42", "Null", "", "abc"]);
        assert_eq!(row.value(0).as_int(), Some(42));
        assert_eq!(row.value(4), Value::Null);
        assert!(cells.decode_text(b"\x0242", 2).is_none());
        assert!(cells.decode_text(b"\x0242\x01", 1).is_none());
    }

    #[test]
    fn binary_rows_of_every_encoding() {
        let mut packet = vec![0, 0, 0];
        packet.extend_from_slice(&[0xff]);
        packet.extend_from_slice(&(-2_i16).to_le_bytes());
        packet.extend_from_slice(&(-3_i32).to_le_bytes());
        packet.extend_from_slice(&i64::MIN.to_le_bytes());
        packet.extend_from_slice(&[0xff]);
        packet.extend_from_slice(&u16::MAX.to_le_bytes());
        packet.extend_from_slice(&u32::MAX.to_le_bytes());
        packet.extend_from_slice(&u64::MAX.to_le_bytes());
        packet.extend_from_slice(&1.5_f32.to_le_bytes());
        packet.extend_from_slice(&(-2.25_f64).to_le_bytes());
        packet.extend_from_slice(&[4, 0xea, 7, 11, 21]);
        packet.extend_from_slice(&[7, 0xea, 7, 11, 21, 10, 0, 1]);
        packet.extend_from_slice(&[0]);
        packet.extend_from_slice(b"\x0512.50");
        let mut cells = Cells::default();
        let row = cells.decode_binary(&packet, &ALL).unwrap();
        assert_eq!(
            values(&row),
            [
                "Int(-1)",
                "Int(-2)",
                "Int(-3)",
                "Int(-9223372036854775808)",
                "Int(255)",
                "Int(65535)",
                "Int(4294967295)",
                "18446744073709551615",
                "Real(1.5)",
                "Real(-2.25)",
                "2026-11-21",
                "2026-11-21 10:00:01",
                "00:00:00",
                "12.50",
            ]
        );
    }

    #[test]
    fn nulls_are_marked_from_the_third_bit_on() {
        let columns = [Encoding::Bytes; 8];
        // Columns 0, 5, 6 and 7 are NULL.
        let packet = b"\x00\x84\x03\x01a\x01b\x01c\x01d";
        let mut cells = Cells::default();
        let row = cells.decode_binary(packet, &columns).unwrap();
        assert_eq!(
            values(&row),
            ["Null", "a", "b", "c", "d", "Null", "Null", "Null"]
        );
    }

    #[test]
    fn rows_that_are_too_short_or_too_long_are_refused() {
        let mut cells = Cells::default();
        let int = [Encoding::Signed(Width::Four)];
        assert!(
            cells
                .decode_binary(b"\x00\x00\x01\x02\x03\x04", &int)
                .is_some()
        );
        assert!(cells.decode_binary(b"\x00\x00\x01\x02\x03", &int).is_none());
        assert!(
            cells
                .decode_binary(b"\x00\x00\x01\x02\x03\x04\x05", &int)
                .is_none()
        );
        assert!(
            cells
                .decode_binary(b"\x01\x00\x01\x02\x03\x04", &int)
                .is_none()
        );
        assert!(cells.decode_binary(b"\x00", &int).is_none());
        assert!(cells.decode_binary(b"", &int).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_row_or_refused(
            packet in proptest::collection::vec(any::<u8>(), 0..80),
            columns in proptest::collection::vec(proptest::sample::select(ALL.to_vec()), 0..12),
        ) {
            let mut cells = Cells::default();
            if let Some(row) = cells.decode_binary(&packet, &columns) {
                prop_assert_eq!(values(&row).len(), columns.len());
            }
            if let Some(row) = cells.decode_text(&packet, columns.len()) {
                prop_assert_eq!(values(&row).len(), columns.len());
            }
        }
    }
}

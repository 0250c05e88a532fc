//! Rows, read in place: a value is looked for when it is asked for.

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;

use super::column::Encoding;
use super::reply::ERROR;
use super::temporal::{put_date, put_date_time, put_number, put_time};
use crate::cursor::Cursor;
use crate::pipeline::Visit;
use crate::{Row, Value};

/// First byte of a text row's NULL.
const NULL: u8 = 0xfb;

#[derive(Clone, Copy, Debug)]
pub(super) enum RowFormat {
    /// Length-encoded strings.
    Text,
    /// A zero byte, a bitmap of NULLs that begins at its third bit, then the values that are not NULL.
    Binary,
}

impl RowFormat {
    /// The fewest bytes of a row with so many columns.
    #[inline]
    fn shortest(self, columns: usize) -> usize {
        match self {
            Self::Text => columns,
            Self::Binary => 1 + nulls(columns),
        }
    }
}

/// Bytes of a bitmap of NULLs, whose first two bits stand for nothing.
#[inline]
fn nulls(columns: usize) -> usize {
    (columns + 2).div_ceil(8)
}

pub(super) struct Rows<'a> {
    format: RowFormat,
    columns: &'a [Encoding],
    shortest: usize,
    values_at: usize,
    decoder: &'a mut Decoder,
}

impl<'a> Rows<'a> {
    #[inline]
    pub(super) fn new(
        format: RowFormat,
        columns: &'a [Encoding],
        decoder: &'a mut Decoder,
    ) -> Self {
        let shortest = format.shortest(columns.len());
        let values_at = match format {
            RowFormat::Text => 0,
            RowFormat::Binary => shortest,
        };
        Self { format, columns, shortest, values_at, decoder }
    }

    /// May this packet, which does not end the rows, be one? All that is checked where nobody wants values.
    #[inline]
    pub(super) fn may_begin(&self, packet: &[u8]) -> bool {
        let begins = match self.format {
            RowFormat::Text => packet.first() != Some(&ERROR),
            RowFormat::Binary => packet.first() == Some(&0),
        };
        begins && packet.len() >= self.shortest
    }

    /// Shows the row in `packet`. Is it one, as far as it was looked at? Malformed values are NULL.
    #[inline]
    pub(super) fn show<V: Visit>(&mut self, packet: &[u8], visit: &mut V) -> bool {
        if !V::LOOKS {
            return true;
        }
        let row = LazyRow {
            packet,
            rows: self,
            next: Cell::new((0, self.values_at)),
            is_malformed: Cell::new(false),
        };
        visit.show(&row);
        let is_malformed = row.is_malformed.get();
        if let Some(texts) = self.decoder.texts.take() {
            self.decoder.spare = RefCell::new(texts);
        }
        !is_malformed
    }
}

/// The memory of the texts of a row, kept from row to row.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// Of the row that is shown, once one of them was asked for.
    texts: OnceCell<Texts>,
    /// Of rows that were shown before, for the next one.
    spare: RefCell<Texts>,
}

/// Texts of binary values that [`Value`] has no number for: dates, times, integers beyond `i64`.
#[derive(Debug, Default)]
struct Texts {
    bytes: Vec<u8>,
    /// By column; `None` for every other value.
    places: Vec<Option<Range<usize>>>,
}

struct LazyRow<'a> {
    packet: &'a [u8],
    rows: &'a Rows<'a>,
    /// The column after the last one asked for, and its start: columns are mostly read in their order.
    next: Cell<(usize, usize)>,
    is_malformed: Cell<bool>,
}

impl<'a> LazyRow<'a> {
    fn cursor_at(&self, place: usize) -> Option<Cursor<'a>> {
        self.packet.get(place..).map(Cursor::new)
    }

    /// The value of a column; `None` when it is malformed.
    #[inline]
    fn read(&self, column: usize, encoding: Encoding) -> Option<Value<'_>> {
        let (next, start) = self.next.get();
        let start = if column == next { start } else { self.seek(column)? };
        let mut cursor = self.cursor_at(start)?;
        let value = self.value_at(&mut cursor, column, encoding)?;
        self.next.set((column + 1, self.packet.len() - cursor.rest().len()));
        // Nothing may be left over behind the last column.
        if column + 1 == self.rows.columns.len() && !cursor.is_empty() {
            return None;
        }
        Some(value)
    }

    /// Where the value of a column begins that is not the next one.
    #[inline(never)]
    fn seek(&self, column: usize) -> Option<usize> {
        let (mut current, mut start) = self.next.get();
        if column < current {
            (current, start) = (0, self.rows.values_at);
        }
        let mut cursor = self.cursor_at(start)?;
        for (passed, encoding) in self.rows.columns.get(current..column)?.iter().enumerate() {
            self.raw(&mut cursor, current + passed, *encoding)?;
        }
        Some(self.packet.len() - cursor.rest().len())
    }

    /// The value at `cursor`, which passes over it. Integers are read by width: reading bytes first costs more.
    #[inline]
    fn value_at(
        &self,
        cursor: &mut Cursor<'a>,
        column: usize,
        encoding: Encoding,
    ) -> Option<Value<'_>> {
        if matches!(self.rows.format, RowFormat::Text) {
            if cursor.next_is(NULL) {
                cursor.u8()?;
                return Some(Value::Null);
            }
            return cursor.lenenc_bytes().map(Value::Bytes);
        }
        if self.is_null(column)? {
            return Some(Value::Null);
        }
        Some(match encoding {
            Encoding::Signed(width) => Value::Int(signed(cursor, width)?),
            Encoding::Unsigned(width) => match i64::try_from(unsigned(cursor, width)?) {
                Ok(int) => Value::Int(int),
                Err(_) => self.text(column)?,
            },
            Encoding::Float => Value::Real(f32::from_bits(cursor.u32()?).into()),
            Encoding::Double => Value::Real(f64::from_bits(cursor.u64()?)),
            Encoding::Null => Value::Null,
            Encoding::Bytes => Value::Bytes(cursor.lenenc_bytes()?),
            Encoding::Date | Encoding::DateTime { .. } | Encoding::Time { .. } => {
                cursor.lenenc_bytes()?;
                self.text(column)?
            }
        })
    }

    /// Does the bitmap of a binary row say so? It comes after the first byte.
    #[inline]
    fn is_null(&self, column: usize) -> Option<bool> {
        let bit = 8 + 2 + column;
        Some(self.packet.get(bit / 8)? >> (bit % 8) & 1 == 1)
    }

    /// The bytes of the value at `cursor`, empty for NULL; `None` where the packet is too short.
    #[inline]
    fn raw(&self, cursor: &mut Cursor<'a>, column: usize, encoding: Encoding) -> Option<&'a [u8]> {
        let width = match self.rows.format {
            RowFormat::Text if cursor.next_is(NULL) => {
                cursor.u8()?;
                return Some(&[]);
            }
            RowFormat::Text => None,
            RowFormat::Binary if self.is_null(column)? => return Some(&[]),
            RowFormat::Binary => encoding.width(),
        };
        match width {
            Some(width) => cursor.bytes(width),
            None => cursor.lenenc_bytes(),
        }
    }

    #[cold]
    #[inline(never)]
    fn text(&self, column: usize) -> Option<Value<'_>> {
        let decoder = &self.rows.decoder;
        let texts = decoder.texts.get_or_init(|| {
            let mut texts = decoder.spare.take();
            self.put_texts(&mut texts);
            texts
        });
        let place = texts.places.get(column)?.clone()?;
        texts.bytes.get(place).map(Value::Bytes)
    }

    /// Makes all texts of the row, as far as it is one.
    fn put_texts(&self, texts: &mut Texts) {
        texts.bytes.clear();
        texts.places.clear();
        let Some(mut cursor) = self.cursor_at(self.rows.values_at) else {
            return;
        };
        for (column, encoding) in self.rows.columns.iter().enumerate() {
            let Some(raw) = self.raw(&mut cursor, column, *encoding) else {
                return;
            };
            let start = texts.bytes.len();
            let made = put_text(&mut texts.bytes, raw, *encoding);
            texts.places.push(made.map(|()| start..texts.bytes.len()));
        }
    }
}

impl Row for LazyRow<'_> {
    fn len(&self) -> usize {
        self.rows.columns.len()
    }

    fn value(&self, column: usize) -> Value<'_> {
        let Some(encoding) = self.rows.columns.get(column) else {
            return Value::Null;
        };
        self.read(column, *encoding).unwrap_or_else(|| {
            self.is_malformed.set(true);
            Value::Null
        })
    }
}

/// Appends the text of a binary value; `None` for a malformed value, and for one that needs no text.
fn put_text(out: &mut Vec<u8>, raw: &[u8], encoding: Encoding) -> Option<()> {
    match encoding {
        Encoding::Date => put_date(out, raw),
        Encoding::DateTime { digits } => put_date_time(out, raw, digits),
        Encoding::Time { digits } => put_time(out, raw, digits),
        Encoding::Unsigned(_) => {
            put_number(out, unsigned(&mut Cursor::new(raw), raw.len())?);
            Some(())
        }
        Encoding::Signed(_)
        | Encoding::Float
        | Encoding::Double
        | Encoding::Null
        | Encoding::Bytes => None,
    }
}

#[inline]
fn unsigned(cursor: &mut Cursor<'_>, width: usize) -> Option<u64> {
    match width {
        1 => cursor.u8().map(u64::from),
        2 => cursor.u16().map(u64::from),
        4 => cursor.u32().map(u64::from),
        _ => cursor.u64(),
    }
}

#[inline]
fn signed(cursor: &mut Cursor<'_>, width: usize) -> Option<i64> {
    match width {
        1 => cursor.u8().map(|int| int.cast_signed().into()),
        2 => cursor.u16().map(|int| int.cast_signed().into()),
        4 => cursor.u32().map(|int| int.cast_signed().into()),
        _ => cursor.u64().map(u64::cast_signed),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pipeline::Each;

    const ALL: [Encoding; 14] = [
        Encoding::Signed(1),
        Encoding::Signed(2),
        Encoding::Signed(4),
        Encoding::Signed(8),
        Encoding::Unsigned(1),
        Encoding::Unsigned(2),
        Encoding::Unsigned(4),
        Encoding::Unsigned(8),
        Encoding::Float,
        Encoding::Double,
        Encoding::Date,
        Encoding::DateTime { digits: 0 },
        Encoding::Time { digits: 0 },
        Encoding::Bytes,
    ];

    fn shown_value(value: Value<'_>) -> String {
        match value {
            Value::Bytes(text) => String::from_utf8_lossy(text).into_owned(),
            other => format!("{other:?}"),
        }
    }

    fn values(row: &dyn Row) -> Vec<String> {
        (0..row.len()).map(|column| shown_value(row.value(column))).collect()
    }

    impl Rows<'_> {
        fn shown_to(&mut self, packet: &[u8], each: &mut dyn FnMut(&dyn Row)) -> bool {
            self.show(packet, &mut Each(each))
        }
    }

    /// The values of a row; `None` when the packet is not one.
    fn shown(
        decoder: &mut Decoder,
        packet: &[u8],
        format: RowFormat,
        columns: &[Encoding],
    ) -> Option<Vec<String>> {
        let (mut first, mut seen) = (Vec::new(), Vec::new());
        let mut rows = Rows::new(format, columns, decoder);
        if !rows.may_begin(packet) {
            return None;
        }
        let intact = rows.shown_to(packet, &mut |row| {
            first = values(row);
            assert_eq!(row.value(columns.len()), Value::Null);
            seen = (0..row.len()).rev().map(|column| shown_value(row.value(column))).collect();
            seen.reverse();
            assert_eq!(seen.len(), columns.len());
        });
        // In their order or against it, they are the same.
        assert!(!intact || first == seen);
        intact.then_some(seen)
    }

    fn binary(packet: &[u8], columns: &[Encoding]) -> Option<Vec<String>> {
        shown(&mut Decoder::default(), packet, RowFormat::Binary, columns)
    }

    fn text(packet: &[u8], columns: usize) -> Option<Vec<String>> {
        let columns = vec![Encoding::Bytes; columns];
        shown(&mut Decoder::default(), packet, RowFormat::Text, &columns)
    }

    #[test]
    fn text_rows() {
        assert_eq!(text(b"\x0242\xfb\x00\x03abc", 4).unwrap(), ["42", "Null", "", "abc"]);
        assert!(text(b"\x0242", 2).is_none());
        assert!(text(b"\x0242\x01", 1).is_none());
    }

    #[test]
    fn a_row_is_read_only_when_a_value_is_asked_for() {
        let mut decoder = Decoder::default();
        let columns = [Encoding::Unsigned(8)];
        // Not such a row, which nobody looks at.
        let mut rows = Rows::new(RowFormat::Binary, &columns, &mut decoder);
        assert!(rows.shown_to(b"\0\0", &mut |row| assert_eq!(row.len(), 1)));
        assert!(!rows.shown_to(b"\0\0", &mut |row| {
            assert_eq!(row.value(0), Value::Null);
        }));
        // Its memory is used again.
        let mut packet = vec![0, 0];
        packet.extend_from_slice(&u64::MAX.to_le_bytes());
        for _ in 0..3 {
            assert!(rows.shown_to(&packet, &mut |row| {
                assert_eq!(row.value(0), Value::Bytes(b"18446744073709551615"));
                assert_eq!(row.value(0), Value::Bytes(b"18446744073709551615"));
            }));
            assert!(rows.decoder.texts.get().is_none());
            assert!(rows.decoder.spare.borrow().bytes.capacity() >= 20);
        }
    }

    #[test]
    fn what_cannot_be_a_row_is_seen_at_once() {
        let may_begin = |format, columns, packet: &[u8]| {
            let columns = vec![Encoding::Bytes; columns];
            Rows::new(format, &columns, &mut Decoder::default()).may_begin(packet)
        };
        let (binary, text) = (RowFormat::Binary, RowFormat::Text);
        assert!(may_begin(binary, 6, b"\0\0"));
        assert!(!may_begin(binary, 7, b"\0\0"));
        assert!(!may_begin(binary, 1, b"\0"));
        assert!(!may_begin(binary, 1, b"\xff\0\0"));
        assert!(may_begin(text, 2, b"\xfb\x01a"));
        assert!(!may_begin(text, 2, b"\xfb"));
        assert!(!may_begin(text, 2, b"\xff\x15\x04"));
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
        assert_eq!(
            binary(&packet, &ALL).unwrap(),
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
        assert_eq!(
            binary(packet, &columns).unwrap(),
            ["Null", "a", "b", "c", "d", "Null", "Null", "Null"]
        );
    }

    #[test]
    fn rows_that_are_too_short_or_too_long_are_refused() {
        let int = [Encoding::Signed(4)];
        assert!(binary(b"\x00\x00\x01\x02\x03\x04", &int).is_some());
        assert!(binary(b"\x00\x00\x01\x02\x03", &int).is_none());
        assert!(binary(b"\x00\x00\x01\x02\x03\x04\x05", &int).is_none());
        assert!(binary(b"\x01\x00\x01\x02\x03\x04", &int).is_none());
        assert!(binary(b"\x00", &int).is_none());
        assert!(binary(b"", &int).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_row_or_refused(
            packet in proptest::collection::vec(any::<u8>(), 0..80),
            columns in proptest::collection::vec(proptest::sample::select(ALL.to_vec()), 0..12),
        ) {
            let mut decoder = Decoder::default();
            for format in [RowFormat::Binary, RowFormat::Text] {
                shown(&mut decoder, &packet, format, &columns);
            }
        }
    }
}

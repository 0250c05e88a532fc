//! Rows, read in place: a row is decoded when its first value is asked for, into one reused table of
//! places that point into the packet.

use std::cell::{OnceCell, RefCell};

use super::column::{Encoding, Width};
use super::cursor::Cursor;
use super::reply::ERROR;
use super::temporal::{put_date, put_date_time, put_number, put_time};
use crate::visit::Visit;
use crate::{Row, Value};

/// First byte of a text row's NULL.
const NULL: u8 = 0xfb;

/// How rows are encoded.
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

/// The rows of one result.
pub(super) struct Rows<'a> {
    format: RowFormat,
    columns: &'a [Encoding],
    shortest: usize,
    decoder: &'a mut Decoder,
}

impl<'a> Rows<'a> {
    #[inline]
    pub(super) fn new(
        format: RowFormat,
        columns: &'a [Encoding],
        decoder: &'a mut Decoder,
    ) -> Self {
        Self {
            format,
            columns,
            shortest: format.shortest(columns.len()),
            decoder,
        }
    }

    /// May this packet, which does not end the rows, be one of them? All that is asked of a row whose
    /// values nobody wants.
    #[inline]
    pub(super) fn may_begin(&self, packet: &[u8]) -> bool {
        let begins = match self.format {
            RowFormat::Text => packet.first() != Some(&ERROR),
            RowFormat::Binary => packet.first() == Some(&0),
        };
        begins && packet.len() >= self.shortest
    }

    /// Shows the row in `packet` to who looks. Is it one, as far as it was looked at? The values of a row
    /// that is not are NULL.
    #[inline]
    pub(super) fn show<V: Visit>(&mut self, packet: &[u8], visit: &mut V) -> bool {
        if !V::LOOKS {
            return true;
        }
        visit.show(&LazyRow { packet, rows: self });
        self.decoder.decoded.get().is_none() || self.decoder.recycle()
    }
}

/// What decoding needs. Kept from row to row, so that its memory is.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// Of the row that is being shown, once it was decoded.
    decoded: OnceCell<Places>,
    /// Of rows that were shown before, for the next one.
    spare: RefCell<Places>,
}

impl Decoder {
    /// Keeps the memory of the row that was shown; was it one?
    fn recycle(&mut self) -> bool {
        let places = self.decoded.take().unwrap_or_default();
        let intact = places.intact;
        self.spare = RefCell::new(places);
        intact
    }
}

/// Where a value lies.
#[derive(Clone, Copy, Debug)]
enum Place {
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

/// The places of one row's values.
#[derive(Debug, Default)]
struct Places {
    values: Vec<Place>,
    /// Text of dates, times, and integers beyond `i64`.
    made: Vec<u8>,
    /// Was the packet such a row?
    intact: bool,
}

impl Places {
    fn decode(&mut self, packet: &[u8], format: RowFormat, columns: &[Encoding]) {
        self.values.resize(columns.len(), Place::Null);
        self.made.clear();
        let rest = match format {
            RowFormat::Text => self.decode_text(packet),
            RowFormat::Binary => self.decode_binary(packet, columns),
        };
        self.intact = rest.is_some_and(<[u8]>::is_empty);
        if !self.intact {
            self.values.clear();
        }
    }

    /// Returns what follows the row; `None` when the packet is not one.
    fn decode_text<'a>(&mut self, packet: &'a [u8]) -> Option<&'a [u8]> {
        let mut cursor = Cursor::new(packet);
        for place in &mut self.values {
            *place = if cursor.next_is(NULL) {
                cursor.u8()?;
                Place::Null
            } else {
                bytes_place(packet, &mut cursor)?
            };
        }
        Some(cursor.rest())
    }

    /// Returns what follows the row; `None` when the packet is not one.
    fn decode_binary<'a>(&mut self, packet: &'a [u8], columns: &[Encoding]) -> Option<&'a [u8]> {
        let mut cursor = Cursor::new(packet);
        if cursor.u8()? != 0 {
            return None;
        }
        let nulls = cursor.bytes(nulls(columns.len()))?;
        for (bit, (place, encoding)) in (2..).zip(self.values.iter_mut().zip(columns)) {
            let null = nulls.get(bit / 8)? >> (bit % 8) & 1 == 1;
            *place = if null {
                Place::Null
            } else {
                binary_place(packet, &mut cursor, *encoding, &mut self.made)?
            };
        }
        Some(cursor.rest())
    }
}

/// A row that is decoded when its first value is asked for.
struct LazyRow<'a> {
    packet: &'a [u8],
    rows: &'a Rows<'a>,
}

/// Columns whose values are looked for one by one; beyond, decoding the whole row costs less.
const NEAR: usize = 4;

impl LazyRow<'_> {
    /// The value of one of the first columns, if it lies in the packet as it is.
    #[inline]
    fn near(&self, column: usize) -> Option<Value<'_>> {
        let (before, encoding) = match self.rows.columns.get(..=column)? {
            [before @ .., last] => (before, *last),
            [] => return None,
        };
        let mut cursor = Cursor::new(self.packet);
        match self.rows.format {
            RowFormat::Text => {
                for _ in before {
                    text_value(&mut cursor)?;
                }
                text_value(&mut cursor)
            }
            RowFormat::Binary => {
                cursor.u8()?;
                let nulls = cursor.bytes(nulls(self.rows.columns.len()))?;
                let is_null = |bit: usize| Some(nulls.get(bit / 8)? >> (bit % 8) & 1 == 1);
                for (bit, encoding) in (2..).zip(before) {
                    if !is_null(bit)? {
                        pass_over(&mut cursor, *encoding)?;
                    }
                }
                if is_null(column + 2)? {
                    return Some(Value::Null);
                }
                plain_value(&mut cursor, encoding)
            }
        }
    }

    /// The places of all values.
    #[cold]
    #[inline(never)]
    fn places(&self) -> &Places {
        let decoder = &self.rows.decoder;
        decoder.decoded.get_or_init(|| {
            let mut places = decoder.spare.take();
            places.decode(self.packet, self.rows.format, self.rows.columns);
            places
        })
    }
}

/// A value of the text protocol.
#[inline]
fn text_value<'a>(cursor: &mut Cursor<'a>) -> Option<Value<'a>> {
    if cursor.next_is(NULL) {
        cursor.u8()?;
        return Some(Value::Null);
    }
    cursor.lenenc_bytes().map(Value::Bytes)
}

/// A value of the binary protocol that lies in the packet as it is; `None` for one that must be made of
/// what lies there, and where the packet is too short.
#[inline]
fn plain_value<'a>(cursor: &mut Cursor<'a>, encoding: Encoding) -> Option<Value<'a>> {
    match encoding {
        Encoding::Signed(width) => signed(cursor, width).map(Value::Int),
        Encoding::Unsigned(width) => i64::try_from(unsigned(cursor, width)?).ok().map(Value::Int),
        Encoding::Float => Some(Value::Real(f64::from(f32::from_bits(cursor.u32()?)))),
        Encoding::Double => Some(Value::Real(f64::from_bits(cursor.u64()?))),
        Encoding::Bytes => cursor.lenenc_bytes().map(Value::Bytes),
        Encoding::Null => Some(Value::Null),
        Encoding::Date | Encoding::DateTime { .. } | Encoding::Time { .. } => None,
    }
}

/// Passes over a value of the binary protocol; `None` where the packet is too short.
#[inline]
fn pass_over(cursor: &mut Cursor<'_>, encoding: Encoding) -> Option<()> {
    match encoding {
        Encoding::Signed(width) | Encoding::Unsigned(width) => cursor.bytes(match width {
            Width::One => 1,
            Width::Two => 2,
            Width::Four => 4,
            Width::Eight => 8,
        }),
        Encoding::Float => cursor.bytes(4),
        Encoding::Double => cursor.bytes(8),
        Encoding::Null => cursor.bytes(0),
        Encoding::Date | Encoding::DateTime { .. } | Encoding::Time { .. } | Encoding::Bytes => {
            cursor.lenenc_bytes()
        }
    }
    .map(|_| ())
}

#[inline]
fn signed(cursor: &mut Cursor<'_>, width: Width) -> Option<i64> {
    Some(match width {
        Width::One => i64::from(cursor.u8()?.cast_signed()),
        Width::Two => i64::from(cursor.u16()?.cast_signed()),
        Width::Four => i64::from(cursor.u32()?.cast_signed()),
        Width::Eight => cursor.u64()?.cast_signed(),
    })
}

#[inline]
fn unsigned(cursor: &mut Cursor<'_>, width: Width) -> Option<u64> {
    Some(match width {
        Width::One => u64::from(cursor.u8()?),
        Width::Two => u64::from(cursor.u16()?),
        Width::Four => u64::from(cursor.u32()?),
        Width::Eight => cursor.u64()?,
    })
}

impl Row for LazyRow<'_> {
    fn len(&self) -> usize {
        self.rows.columns.len()
    }

    fn value(&self, column: usize) -> Value<'_> {
        if column < NEAR
            && let Some(value) = self.near(column)
        {
            return value;
        }
        let places = self.places();
        match places.values.get(column) {
            None | Some(Place::Null) => Value::Null,
            Some(&Place::Int(int)) => Value::Int(int),
            Some(&Place::Real(real)) => Value::Real(real),
            Some(&Place::Packet { start, length }) => slice(self.packet, start, length),
            Some(&Place::Made { start, length }) => slice(&places.made, start, length),
        }
    }
}

fn slice(bytes: &[u8], start: u32, length: u32) -> Value<'_> {
    let (start, length) = (start as usize, length as usize);
    Value::Bytes(bytes.get(start..start + length).unwrap_or_default())
}

/// A value of the binary protocol; the text of what has none is appended to `made`.
#[inline]
fn binary_place(
    packet: &[u8],
    cursor: &mut Cursor<'_>,
    encoding: Encoding,
    made: &mut Vec<u8>,
) -> Option<Place> {
    Some(match encoding {
        Encoding::Signed(width) => Place::Int(signed(cursor, width)?),
        Encoding::Unsigned(width) => unsigned_place(unsigned(cursor, width)?, made),
        Encoding::Float => Place::Real(f64::from(f32::from_bits(cursor.u32()?))),
        Encoding::Double => Place::Real(f64::from_bits(cursor.u64()?)),
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
        Encoding::Null => Place::Null,
        Encoding::Bytes => bytes_place(packet, cursor)?,
    })
}

/// Integers that `i64` cannot hold are shown as text.
fn unsigned_place(value: u64, made: &mut Vec<u8>) -> Place {
    if let Ok(signed) = i64::try_from(value) {
        return Place::Int(signed);
    }
    let start = made.len();
    put_number(made, value);
    made_since(made, start)
}

fn made_since(made: &[u8], start: usize) -> Place {
    Place::Made {
        start: start as u32,
        length: (made.len() - start) as u32,
    }
}

/// A length-encoded string of the packet that `cursor` reads. Messages are far shorter than 4 GiB.
fn bytes_place(packet: &[u8], cursor: &mut Cursor<'_>) -> Option<Place> {
    let bytes = cursor.lenenc_bytes()?;
    let end = packet.len() - cursor.rest().len();
    Some(Place::Packet {
        start: (end - bytes.len()) as u32,
        length: bytes.len() as u32,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::visit::Each;

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
        let intact = Rows::new(format, columns, decoder).shown_to(packet, &mut |row| {
            first = values(row);
            // A column that there is not decodes all.
            assert_eq!(row.value(columns.len()), Value::Null);
            seen = values(row);
            assert_eq!(seen.len(), columns.len());
        });
        // One by one or all at once, they are the same.
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
        assert_eq!(
            text(b"\x0242\xfb\x00\x03abc", 4).unwrap(),
            ["42", "Null", "", "abc"]
        );
        assert!(text(b"\x0242", 2).is_none());
        assert!(text(b"\x0242\x01", 1).is_none());
    }

    #[test]
    fn a_row_is_decoded_only_when_a_value_is_asked_for() {
        let mut decoder = Decoder::default();
        let columns = [Encoding::Unsigned(Width::Eight)];
        // Not such a row, which nobody looks at.
        let mut rows = Rows::new(RowFormat::Binary, &columns, &mut decoder);
        assert!(rows.shown_to(b"\0\0", &mut |row| assert_eq!(row.len(), 1)));
        assert_eq!(rows.decoder.spare.borrow().values.len(), 0);
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
            assert!(rows.decoder.decoded.get().is_none());
            assert!(rows.decoder.spare.borrow().made.capacity() >= 20);
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
        let int = [Encoding::Signed(Width::Four)];
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
                let row = shown(&mut decoder, &packet, format, &columns);
                // What is a row was not refused at first sight.
                if row.is_some() && !columns.is_empty() {
                    let mut again = Decoder::default();
                    prop_assert!(Rows::new(format, &columns, &mut again).may_begin(&packet));
                }
            }
        }
    }
}

//! Columns and rows: what a `RowDescription` announces and a `DataRow` brings.

use std::cell::Cell;

use crate::cursor::Cursor;
use crate::{Row, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// The text form of any type.
    Text,
    /// `boolean` in binary, shown as 0 or 1.
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
}

impl Format {
    /// The format to ask for, by a type's OID (`pg_type.dat`): binary where [`Format::decode`] reads
    /// it, text for all else. Character types are the same bytes in both.
    pub(super) fn of_type(oid: u32) -> Self {
        match oid {
            16 => Self::Bool,
            20 => Self::Int8,
            21 => Self::Int2,
            23 => Self::Int4,
            700 => Self::Float4,
            701 => Self::Float8,
            _ => Self::Text,
        }
    }

    /// The protocol's format code: 0 for text, 1 for binary.
    pub(super) fn code(self) -> u16 {
        u16::from(self != Self::Text)
    }

    /// A value in this format; `None` when it has not the width of its type.
    fn decode(self, bytes: &[u8]) -> Option<Value<'_>> {
        Some(match self {
            Self::Text => Value::Bytes(bytes),
            Self::Bool => Value::Int(i64::from(u8::from_be_bytes(bytes.try_into().ok()?) != 0)),
            Self::Int2 => Value::Int(i16::from_be_bytes(bytes.try_into().ok()?).into()),
            Self::Int4 => Value::Int(i32::from_be_bytes(bytes.try_into().ok()?).into()),
            Self::Int8 => Value::Int(i64::from_be_bytes(bytes.try_into().ok()?)),
            Self::Float4 => Value::Real(f32::from_be_bytes(bytes.try_into().ok()?).into()),
            Self::Float8 => Value::Real(f64::from_be_bytes(bytes.try_into().ok()?)),
        })
    }
}

/// Columns that a `RowDescription` announces; the body is not looked at further.
pub(super) fn column_count(description: &[u8]) -> Option<usize> {
    Cursor::new(description).u16_be().map(usize::from)
}

pub(super) fn column_types(description: &[u8]) -> Option<Vec<u32>> {
    let mut parts = Cursor::new(description);
    let count = parts.u16_be()?;
    let mut types = Vec::new();
    for _ in 0..count {
        parts.string()?;
        // The OID of the table (4) and the number of the column (2).
        parts.bytes(6)?;
        types.push(parts.u32_be()?);
        // The type's size (2) and modifier (4), and the format code (2).
        parts.bytes(8)?;
    }
    parts.rest().is_empty().then_some(types)
}

/// A `DataRow` as it came. A value is decoded only when asked for: most rows are only counted.
#[derive(Debug)]
pub(super) struct DataRow<'a> {
    /// The values, each with its length in front.
    values: &'a [u8],
    formats: &'a [Format],
    /// The column after the last one asked for, and its start: columns are mostly read in their order.
    next: Cell<(usize, usize)>,
    is_malformed: Cell<bool>,
}

impl<'a> DataRow<'a> {
    /// From a message's body; `None` when it has not as many columns as were announced.
    #[inline]
    pub(super) fn of(body: &'a [u8], formats: &'a [Format]) -> Option<Self> {
        let (count, values) = body.split_first_chunk()?;
        if usize::from(u16::from_be_bytes(*count)) != formats.len() {
            return None;
        }
        Some(Self { values, formats, next: Cell::new((0, 0)), is_malformed: Cell::new(false) })
    }

    /// Was there a value, among those that were asked for, that does not fit into the message or is
    /// not of its format? [`Row::value`] cannot tell, and shows NULL.
    #[inline]
    pub(super) fn is_malformed(&self) -> bool {
        self.is_malformed.get()
    }

    /// The value of an existing column; `None` when it is malformed.
    fn read(&self, column: usize, format: Format) -> Option<Value<'a>> {
        let (mut current, mut start) = self.next.get();
        if column < current {
            (current, start) = (0, 0);
        }
        loop {
            let (value, end) = cell(self.values, start)?;
            if current < column {
                (current, start) = (current + 1, end);
                continue;
            }
            self.next.set((column + 1, end));
            // Nothing may be left over behind the last column.
            if column + 1 == self.formats.len() && end != self.values.len() {
                return None;
            }
            return match value {
                Some(bytes) => format.decode(bytes),
                None => Some(Value::Null),
            };
        }
    }
}

/// The value whose length field is at `start`, `None` in it for NULL, and where it ends.
#[inline]
fn cell(values: &[u8], start: usize) -> Option<(Option<&[u8]>, usize)> {
    let (length, rest) = values.get(start..)?.split_first_chunk()?;
    let length = i32::from_be_bytes(*length);
    if length == -1 {
        return Some((None, start + 4));
    }
    let length = usize::try_from(length).ok()?;
    Some((Some(rest.get(..length)?), start + 4 + length))
}

impl Row for DataRow<'_> {
    fn len(&self) -> usize {
        self.formats.len()
    }

    fn value(&self, column: usize) -> Value<'_> {
        let Some(format) = self.formats.get(column) else {
            return Value::Null;
        };
        self.read(column, *format).unwrap_or_else(|| {
            self.is_malformed.set(true);
            Value::Null
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All values of a row and one beyond; `None` when the row is malformed.
    fn values(body: &[u8], formats: &[Format]) -> Option<Vec<String>> {
        let row = DataRow::of(body, formats)?;
        let shown = (0..=row.len()).map(|column| format!("{:?}", row.value(column))).collect();
        (!row.is_malformed()).then_some(shown)
    }

    #[test]
    fn every_format_is_decoded() {
        let mut body = vec![0, 8];
        for value in [
            &b"text"[..],
            &[1],
            &(-2_i16).to_be_bytes(),
            &(-3_i32).to_be_bytes(),
            &i64::MIN.to_be_bytes(),
            &1.5_f32.to_be_bytes(),
            &(-2.25_f64).to_be_bytes(),
        ] {
            super::super::encode::value(&mut body, value);
        }
        body.extend(u32::MAX.to_be_bytes());
        let formats = [
            Format::Text,
            Format::Bool,
            Format::Int2,
            Format::Int4,
            Format::Int8,
            Format::Float4,
            Format::Float8,
            Format::Int8,
        ];
        assert_eq!(
            values(&body, &formats).unwrap(),
            [
                "Bytes([116, 101, 120, 116])",
                "Int(1)",
                "Int(-2)",
                "Int(-3)",
                "Int(-9223372036854775808)",
                "Real(1.5)",
                "Real(-2.25)",
                "Null",
                "Null",
            ]
        );
    }

    #[test]
    fn malformed_rows_are_refused() {
        let int = [Format::Int4];
        let good = [0, 1, 0, 0, 0, 4, 0, 0, 0, 9];
        assert!(values(&good, &int).is_some());
        for (what, body, formats) in [
            ("a wrong width", &good[..], &[Format::Int8][..]),
            ("more columns than announced", &good, &[]),
            ("fewer columns", &good, &[Format::Int4; 2]),
            ("cut short", &good[..9], &int),
            ("without its values", &good[..2], &int),
            ("empty", &[], &int),
            ("of length -2", &[0, 1, 255, 255, 255, 254], &int),
            ("bytes left over", &[0, 1, 0, 0, 0, 4, 0, 0, 0, 9, 0], &int),
        ] {
            assert_eq!(values(body, formats), None, "{what}");
        }
    }

    #[test]
    fn columns_are_found_in_any_order() {
        let mut body = vec![0, 3];
        for text in ["a", "", "ccc"] {
            super::super::encode::value(&mut body, text.as_bytes());
        }
        let formats = [Format::Text; 3];
        let row = DataRow::of(&body, &formats).unwrap();
        for (column, wanted) in [(2, "ccc"), (2, "ccc"), (0, "a"), (2, "ccc"), (1, ""), (0, "a")] {
            assert_eq!(row.value(column), Value::Bytes(wanted.as_bytes()));
        }
        assert!(!row.is_malformed());
    }

    #[test]
    fn a_row_that_nobody_looks_at_is_not_searched() {
        let row = DataRow::of(b"\0\x01\0\0\0\x63", &[Format::Text]).unwrap();
        assert_eq!(row.len(), 1);
        assert!(!row.is_malformed());
        assert_eq!(row.value(1), Value::Null);
        assert!(!row.is_malformed(), "a column that there is not");
        assert_eq!(row.value(0), Value::Null);
        assert!(row.is_malformed());
    }

    #[test]
    fn types_of_a_description() {
        let mut body = vec![0, 2];
        for oid in [23_u32, 1700] {
            body.extend(b"name\0\0\0\0\0\0\0");
            body.extend(oid.to_be_bytes());
            body.extend([0; 8]);
        }
        assert_eq!(column_types(&body), Some(vec![23, 1700]));
        assert_eq!(column_count(&body), Some(2));
        for cut in 0..body.len() {
            assert_eq!(column_types(&body[..cut]), None, "cut at {cut}");
        }
    }
}

//! Columns and rows: what a `RowDescription` announces and a `DataRow` brings.

use super::wire::Parts;
use crate::{Row, Value};

/// How a column's values come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// The text form of any type.
    Text,
    /// `boolean` in binary, shown as 0 or 1.
    Bool,
    /// `smallint` in binary.
    Int2,
    /// `integer` in binary.
    Int4,
    /// `bigint` in binary.
    Int8,
    /// `real` in binary.
    Float4,
    /// `double precision` in binary.
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

    /// Bytes of every value in this format; `None` where they differ.
    fn width(self) -> Option<usize> {
        match self {
            Self::Text => None,
            Self::Bool => Some(1),
            Self::Int2 => Some(2),
            Self::Int4 | Self::Float4 => Some(4),
            Self::Int8 | Self::Float8 => Some(8),
        }
    }

    fn decode(self, bytes: &[u8]) -> Value<'_> {
        self.decode_binary(bytes).unwrap_or(Value::Bytes(bytes))
    }

    /// `None` for text, and for a width that [`locate`] has ruled out.
    fn decode_binary(self, bytes: &[u8]) -> Option<Value<'_>> {
        Some(match self {
            Self::Text => return None,
            Self::Bool => Value::Int(i64::from(*bytes.first()? != 0)),
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
    Parts::of(description).int16().map(usize::from)
}

/// The type of each column of a `RowDescription`.
pub(super) fn column_types(description: &[u8]) -> Option<Vec<u32>> {
    let mut parts = Parts::of(description);
    let count = parts.int16()?;
    let mut types = Vec::new();
    for _ in 0..count {
        parts.string()?;
        // The OID of the table (4) and the number of the column (2).
        parts.bytes(6)?;
        types.push(parts.int32()?);
        // The type's size (2) and modifier (4), and the format code (2).
        parts.bytes(8)?;
    }
    parts.rest().is_empty().then_some(types)
}

/// Where a value lies in its `DataRow`; `None` for NULL.
pub(super) type Cell = Option<(u32, u32)>;

/// Finds the values of a `DataRow`. `None` when it is malformed: not as many columns as announced,
/// a value longer than the message or of a wrong width, bytes left over.
pub(super) fn locate(body: &[u8], formats: &[Format], cells: &mut Vec<Cell>) -> Option<()> {
    cells.clear();
    let mut parts = Parts::of(body);
    if usize::from(parts.int16()?) != formats.len() {
        return None;
    }
    for format in formats {
        let length = parts.int32()? as i32;
        if length == -1 {
            cells.push(None);
            continue;
        }
        let length = usize::try_from(length).ok()?;
        let start = body.len() - parts.rest().len();
        parts.bytes(length)?;
        if format.width().is_some_and(|width| width != length) {
            return None;
        }
        cells.push(Some((start as u32, (start + length) as u32)));
    }
    parts.rest().is_empty().then_some(())
}

/// A `DataRow` whose values were found by [`locate`].
pub(super) struct DataRow<'a> {
    pub(super) body: &'a [u8],
    pub(super) cells: &'a [Cell],
    pub(super) formats: &'a [Format],
}

impl Row for DataRow<'_> {
    fn len(&self) -> usize {
        self.cells.len()
    }

    fn value(&self, column: usize) -> Value<'_> {
        let (Some(Some((start, end))), Some(format)) =
            (self.cells.get(column), self.formats.get(column))
        else {
            return Value::Null;
        };
        match self.body.get(*start as usize..*end as usize) {
            Some(bytes) => format.decode(bytes),
            None => Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values<'a>(
        body: &'a [u8],
        formats: &'a [Format],
        cells: &'a mut Vec<Cell>,
    ) -> Option<Vec<String>> {
        locate(body, formats, cells)?;
        let row = DataRow {
            body,
            cells,
            formats,
        };
        Some(
            (0..=row.len())
                .map(|column| format!("{:?}", row.value(column)))
                .collect(),
        )
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
            values(&body, &formats, &mut Vec::new()).unwrap(),
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
        let mut cells = Vec::new();
        assert!(locate(&good, &int, &mut cells).is_some());
        assert!(
            locate(&good, &[], &mut cells).is_none(),
            "more columns than announced"
        );
        assert!(
            locate(&good, &[Format::Int8], &mut cells).is_none(),
            "wrong width"
        );
        assert!(locate(&good[..9], &int, &mut cells).is_none(), "cut short");
        assert!(
            locate(&[0, 1, 255, 255, 255, 254], &int, &mut cells).is_none(),
            "length -2"
        );
        let mut longer = good.to_vec();
        longer.push(0);
        assert!(
            locate(&longer, &int, &mut cells).is_none(),
            "bytes left over"
        );
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

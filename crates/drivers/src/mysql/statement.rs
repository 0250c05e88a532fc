//! A prepared statement: its execute packet, encoded once, and the parameters that follow it.

use super::column::Columns;
use super::packets::{FULL, HEADER, seal};
use crate::cursor::{Cursor, put_lenenc};
use crate::error::excerpt;
use crate::{Param, ParamType, Result, SessionError};

const COM_STMT_EXECUTE: u8 = 0x17;
const TYPE_LONGLONG: u8 = 0x08;
const TYPE_VAR_STRING: u8 = 0xfd;
const TYPE_STRING: u8 = 0xfe;

/// The code of parameters that do not fit their statement (`ER_WRONG_ARGUMENTS`).
pub(super) const WRONG_ARGUMENTS: &str = "1210";

const INTEGER: usize = 8;

#[derive(Debug)]
pub(super) struct Statement {
    pub(super) sql: String,
    types: Vec<ParamType>,
    /// What goes before the values in the first execution, which tells the server their types, and
    /// in later ones, for which the server remembers them.
    first: Vec<u8>,
    later: Vec<u8>,
    /// The packet of a later execution, to write values into, when all parameters are integers.
    integers: Vec<u8>,
    /// Has the server executed it once without an error? Before that it may not know the types.
    pub(super) types_known: bool,
    pub(super) columns: Columns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prepared {
    pub(super) id: u32,
    pub(super) columns: u16,
    pub(super) params: u16,
}

impl Prepared {
    pub(super) fn parse(packet: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(packet);
        if cursor.u8()? != 0 {
            return None;
        }
        Some(Self { id: cursor.u32()?, columns: cursor.u16()?, params: cursor.u16()? })
    }
}

impl Statement {
    /// `columns`: of its results, as far as the server has told.
    pub(super) fn new(id: u32, sql: &str, types: &[ParamType], columns: Columns) -> Self {
        let mut later = vec![COM_STMT_EXECUTE];
        later.extend_from_slice(&id.to_le_bytes());
        // No cursor; one iteration.
        later.push(0);
        later.extend_from_slice(&1_u32.to_le_bytes());
        let mut first = later.clone();
        if !types.is_empty() {
            // No parameter is NULL.
            let nulls = types.len().div_ceil(8);
            later.resize(later.len() + nulls, 0);
            first.resize(first.len() + nulls, 0);
            later.push(0);
            first.push(1);
            for kind in types {
                first.extend_from_slice(&[wire_type(*kind), 0]);
            }
        }
        let mut integers = Vec::new();
        if types.iter().all(|kind| *kind == ParamType::Int) {
            integers.resize(HEADER, 0);
            integers.extend_from_slice(&later);
            integers.resize(integers.len() + types.len() * INTEGER, 0);
            seal(&mut integers, 0);
        }
        if integers.len() >= HEADER + FULL {
            integers = Vec::new();
        }
        Self {
            sql: excerpt(sql),
            types: types.to_vec(),
            first,
            later,
            integers,
            types_known: false,
            columns,
        }
    }

    /// The whole packet of an execution, where that is a matter of writing integers into the last one.
    #[inline]
    pub(super) fn whole_packet(&mut self, params: &[Param<'_>]) -> Option<&[u8]> {
        if !self.types_known || params.len() != self.types.len() {
            return None;
        }
        let values = self.integers.get_mut(HEADER + self.later.len()..)?;
        for (place, param) in values.chunks_exact_mut(INTEGER).zip(params) {
            let Param::Int(value) = param else {
                return None;
            };
            place.copy_from_slice(&value.to_le_bytes());
        }
        Some(&self.integers)
    }

    #[inline]
    pub(super) fn put(&self, out: &mut Vec<u8>, params: &[Param<'_>]) -> Result {
        if params.len() != self.types.len() {
            let (wanted, given) = (self.types.len(), params.len());
            let error = SessionError::parameter_count(WRONG_ARGUMENTS, wanted, given);
            return Err(error.about(&self.sql));
        }
        out.extend_from_slice(if self.types_known { &self.later } else { &self.first });
        for (index, (param, kind)) in params.iter().zip(&self.types).enumerate() {
            match (param, kind) {
                (Param::Int(value), ParamType::Int) => {
                    out.extend_from_slice(&value.to_le_bytes());
                }
                (Param::Text(text), ParamType::Text | ParamType::DateTime | ParamType::Decimal) => {
                    put_lenenc(out, text.len());
                    out.extend_from_slice(text.as_bytes());
                }
                (Param::Bytes(bytes), ParamType::Text) => {
                    put_lenenc(out, bytes.len());
                    out.extend_from_slice(bytes);
                }
                (Param::Int(_), ParamType::Text | ParamType::DateTime | ParamType::Decimal)
                | (Param::Text(_), ParamType::Int)
                | (Param::Bytes(_), ParamType::Int | ParamType::DateTime | ParamType::Decimal) => {
                    let error = SessionError::parameter_type(WRONG_ARGUMENTS, index + 1, *kind);
                    return Err(error.about(&self.sql));
                }
            }
        }
        Ok(())
    }
}

fn wire_type(kind: ParamType) -> u8 {
    match kind {
        ParamType::Int => TYPE_LONGLONG,
        ParamType::Text => TYPE_VAR_STRING,
        // The server converts the text, as it does in a text statement.
        ParamType::DateTime | ParamType::Decimal => TYPE_STRING,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(id: u32, sql: &str, types: &[ParamType]) -> Statement {
        Statement::new(id, sql, types, Columns::default())
    }

    fn encoded(statement: &Statement, params: &[Param<'_>]) -> Vec<u8> {
        let mut out = Vec::new();
        statement.put(&mut out, params).unwrap();
        out
    }

    #[test]
    fn the_first_execution_carries_the_types() {
        let types = [ParamType::Int, ParamType::Text, ParamType::DateTime];
        let mut statement = prepared(7, "select ?, ?, ?", &types);
        let params = [Param::Int(-2), Param::Text("ab"), Param::Text("2026")];
        let head = b"\x17\x07\0\0\0\0\x01\0\0\0\0";
        let values = b"\xfe\xff\xff\xff\xff\xff\xff\xff\x02ab\x042026";
        assert_eq!(
            encoded(&statement, &params),
            [head, b"\x01\x08\0\xfd\0\xfe\0".as_slice(), values].concat()
        );
        statement.types_known = true;
        assert_eq!(encoded(&statement, &params), [head, b"\0".as_slice(), values].concat());
    }

    #[test]
    fn integers_are_written_into_the_packet_that_is_there() {
        let mut statement = prepared(7, "select ?, ?", &[ParamType::Int; 2]);
        let params = |one, two| [Param::Int(one), Param::Int(two)];
        assert_eq!(statement.whole_packet(&params(1, 2)), None);
        statement.types_known = true;
        for (one, two) in [(1, 2), (-3, i64::MAX)] {
            let mut expected = vec![0; HEADER];
            expected.extend(encoded(&statement, &params(one, two)));
            seal(&mut expected, 0);
            assert_eq!(statement.whole_packet(&params(one, two)), Some(expected.as_slice()));
        }
        assert_eq!(statement.whole_packet(&[Param::Int(1)]), None);
        let text = [Param::Int(1), Param::Text("2")];
        assert_eq!(statement.whole_packet(&text), None);
        let mut statement = prepared(7, "select ?", &[ParamType::Text]);
        statement.types_known = true;
        assert_eq!(statement.whole_packet(&[Param::Text("a")]), None);
        let mut statement = prepared(1, "select 1", &[]);
        statement.types_known = true;
        assert_eq!(
            statement.whole_packet(&[]),
            Some(b"\x0a\0\0\0\x17\x01\0\0\0\0\x01\0\0\0".as_slice())
        );
    }

    #[test]
    fn without_parameters_there_is_no_bitmap() {
        let statement = prepared(1, "select 1", &[]);
        assert_eq!(encoded(&statement, &[]), b"\x17\x01\0\0\0\0\x01\0\0\0");
    }

    #[test]
    fn nine_parameters_need_two_bytes_of_bitmap() {
        let statement = prepared(1, "", &[ParamType::Int; 9]);
        let out = encoded(&statement, &[Param::Int(0); 9]);
        assert_eq!(out.len(), 10 + 2 + 1 + 9 * 2 + 9 * 8);
    }

    #[test]
    fn a_decimal_is_sent_as_text_for_the_server_to_convert() {
        let statement = prepared(1, "select ?", &[ParamType::Decimal]);
        let out = encoded(&statement, &[Param::Text("-12.50")]);
        assert!(out.ends_with(b"\0\x01\xfe\0\x06-12.50"));
        let error = statement.put(&mut Vec::new(), &[Param::Int(1)]).unwrap_err();
        assert!(error.to_string().contains("parameter 1 was declared as Decimal"), "{error}");
    }

    #[test]
    fn parameters_of_another_number_or_type_are_refused() {
        let statement = prepared(1, "select ?", &[ParamType::Int]);
        let error =
            |params: &[Param<'_>]| statement.put(&mut Vec::new(), params).unwrap_err().to_string();
        assert!(error(&[]).contains("has 1 parameters, 0 were given"));
        assert!(error(&[Param::Text("1")]).contains("parameter 1 was declared as Int"));
    }

    #[test]
    fn the_reply_to_a_prepare_is_read() {
        let packet = b"\0\x05\0\0\0\x02\0\x03\0\0\0\0";
        assert_eq!(Prepared::parse(packet), Some(Prepared { id: 5, columns: 2, params: 3 }));
        assert_eq!(Prepared::parse(&packet[..8]), None);
    }
}

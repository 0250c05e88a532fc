//! Prepared statements: parsed and described once, then run from a pre-encoded request.

use super::answer::{Columns, read_error};
use super::encode;
use super::fault::{WRONG_COUNT, WRONG_TYPE, malformed, unexpected};
use super::row::{Format, column_types};
use super::wire::{Wire, kind};
use crate::cursor::Cursor;
use crate::error::excerpt;
use crate::{Param, ParamType, Result, SessionError};

/// A statement that the server has parsed, and the request that runs it.
///
/// A run is Bind, Execute and Sync in one write, with a Describe of the portal before the Execute where
/// that is asked for. All of it but the parameters is encoded when the
/// statement is prepared. Where all parameters are integers, nothing of it ever moves, and a run
/// only writes their bytes into it.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) sql: String,
    /// How the columns of its rows come; empty for a statement without rows.
    formats: Vec<Format>,
    types: Vec<ParamType>,
    /// The last run: the Bind message up to its parameters, each with its length in front, then `tail`.
    pub(super) request: Vec<u8>,
    params_at: usize,
    tail: Vec<u8>,
    /// Bytes of `tail` that still belong to the Bind message: the formats of the columns.
    bind_rest: usize,
    /// Are all parameters integers, and so of one length?
    is_fixed: bool,
    describe: bool,
}

/// An integer parameter: its length field and its bytes.
const INT_SLOT: usize = 4 + 8;

impl Prepared {
    /// Parses `sql` on the server under the name `name` and learns what it returns.
    pub(super) fn new(
        wire: &mut Wire,
        name: &str,
        sql: &str,
        types: &[ParamType],
        describe: bool,
    ) -> Result<Self> {
        let count = u16::try_from(types.len()).map_err(|_| {
            SessionError::parameter_count(WRONG_COUNT, u16::MAX.into(), types.len())
        })?;
        wire.send(&parse_request(name, sql, types, count))?;
        let formats = read_description(wire, types.len())?;
        Ok(Self::described(name, sql, types, formats, describe))
    }

    fn described(
        name: &str,
        sql: &str,
        types: &[ParamType],
        formats: Vec<Format>,
        describe: bool,
    ) -> Self {
        let head = bind_head(name, types);
        let (tail, bind_rest) = bind_tail(&formats, describe);
        let mut prepared = Self {
            sql: excerpt(sql),
            formats,
            types: types.to_vec(),
            params_at: head.len(),
            request: head,
            tail,
            bind_rest,
            is_fixed: types.iter().all(|declared| *declared == ParamType::Int),
            describe,
        };
        if prepared.is_fixed {
            for _ in types {
                encode::value(&mut prepared.request, &[0; 8]);
            }
            prepared.finish();
        }
        prepared
    }

    #[inline]
    pub(super) fn encode(&mut self, params: &[Param<'_>]) -> Result {
        if params.len() != self.types.len() {
            return Err(SessionError::parameter_count(WRONG_COUNT, self.types.len(), params.len()));
        }
        if self.is_fixed { self.patch(params) } else { self.rebuild(params) }
    }

    #[inline]
    pub(super) fn columns(&self) -> Columns<'_> {
        if self.describe {
            Columns::Announced(&self.formats)
        } else {
            Columns::Prepared(&self.formats)
        }
    }

    #[inline]
    fn patch(&mut self, params: &[Param<'_>]) -> Result {
        let slots = self.request.get_mut(self.params_at..).unwrap_or_default();
        let slots = slots.chunks_exact_mut(INT_SLOT);
        for (index, (slot, param)) in slots.zip(params).enumerate() {
            let (Param::Int(number), Some(bytes)) = (param, slot.last_chunk_mut()) else {
                return Err(SessionError::parameter_type(WRONG_TYPE, index + 1, ParamType::Int));
            };
            *bytes = number.to_be_bytes();
        }
        Ok(())
    }

    fn rebuild(&mut self, params: &[Param<'_>]) -> Result {
        let request = &mut self.request;
        request.truncate(self.params_at);
        for (index, (param, declared)) in params.iter().zip(&self.types).enumerate() {
            match (*param, *declared) {
                (Param::Int(number), ParamType::Int) => {
                    encode::value(request, &number.to_be_bytes());
                }
                (Param::Text(text), ParamType::Text | ParamType::DateTime | ParamType::Decimal) => {
                    encode::value(request, text.as_bytes());
                }
                (Param::Bytes(bytes), ParamType::Text) => encode::value(request, bytes),
                (Param::Int(_), ParamType::Text | ParamType::DateTime | ParamType::Decimal)
                | (Param::Text(_), ParamType::Int)
                | (Param::Bytes(_), ParamType::Int | ParamType::DateTime | ParamType::Decimal) => {
                    return Err(SessionError::parameter_type(WRONG_TYPE, index + 1, *declared));
                }
            }
        }
        self.finish();
        Ok(())
    }

    /// Adds what follows the parameters, and the length that the Bind message has with them.
    fn finish(&mut self) {
        let bind_end = self.request.len() + self.bind_rest;
        self.request.extend_from_slice(&self.tail);
        if let Some(bind) = self.request.get_mut(..bind_end) {
            encode::patch_length(bind, 1);
        }
    }
}

/// The type's OID in `pg_type.dat` (`int8`, `timestamp`, `numeric`), and the format code of its values: numbers
/// go as binary, the rest as the text that it is.
///
/// The type of a text is left to the server (0), which takes that of the column: a declared `varchar`
/// would turn the comparison with a `char(n)` column into one of `text`, which no index on it serves.
fn wire_type(declared: ParamType) -> (u32, u16) {
    match declared {
        ParamType::Int => (20, 1),
        ParamType::Text => (0, 0),
        ParamType::DateTime => (1114, 0),
        ParamType::Decimal => (1700, 0),
    }
}

fn parse_request(name: &str, sql: &str, types: &[ParamType], count: u16) -> Vec<u8> {
    let mut request = Vec::new();
    encode::message(&mut request, b'P', |body| {
        encode::string(body, name);
        encode::string(body, sql);
        encode::int16(body, count);
        for declared in types {
            encode::int32(body, wire_type(*declared).0);
        }
    });
    encode::message(&mut request, b'D', |body| {
        body.push(b'S');
        encode::string(body, name);
    });
    encode::sync(&mut request);
    request
}

/// The Bind message up to its parameters, its length still to be patched.
fn bind_head(name: &str, types: &[ParamType]) -> Vec<u8> {
    let mut head = Vec::new();
    encode::message(&mut head, b'B', |body| {
        // The unnamed portal.
        encode::string(body, "");
        encode::string(body, name);
        format_codes(body, types.iter().map(|declared| wire_type(*declared).1));
        encode::int16(body, types.len() as u16);
    });
    head
}

/// The end of Bind, then Describe where asked for, Execute of all rows, Sync; and the length of the first.
fn bind_tail(formats: &[Format], describe: bool) -> (Vec<u8>, usize) {
    let mut tail = Vec::new();
    format_codes(&mut tail, formats.iter().map(|format| format.code()));
    let bind_rest = tail.len();
    if describe {
        encode::message(&mut tail, b'D', |body| {
            body.push(b'P');
            encode::string(body, "");
        });
    }
    encode::message(&mut tail, b'E', |body| {
        encode::string(body, "");
        encode::int32(body, 0);
    });
    encode::sync(&mut tail);
    (tail, bind_rest)
}

/// Appends format codes: one for all where they are the same, which is less to read; otherwise each.
fn format_codes(body: &mut Vec<u8>, codes: impl ExactSizeIterator<Item = u16> + Clone) {
    let first = codes.clone().next();
    let count = if codes.clone().all(|code| Some(code) == first) {
        usize::from(first.is_some())
    } else {
        codes.len()
    };
    encode::int16(body, count as u16);
    for code in codes.take(count) {
        encode::int16(body, code);
    }
}

/// Reads the answer to Parse and Describe up to the server being ready again.
fn read_description(wire: &mut Wire, given: usize) -> Result<Vec<Format>> {
    let mut formats = None;
    let mut failure = None;
    loop {
        match wire.next_answer()? {
            kind::PARSE_COMPLETE => {}
            kind::PARAMETER_DESCRIPTION => {
                let wanted = Cursor::new(wire.body())
                    .u16_be()
                    .ok_or_else(|| malformed("ParameterDescription", "no count"))?;
                if usize::from(wanted) != given {
                    failure =
                        Some(SessionError::parameter_count(WRONG_COUNT, wanted.into(), given));
                }
            }
            kind::ROW_DESCRIPTION => {
                let types = column_types(wire.body())
                    .ok_or_else(|| malformed("RowDescription", "cut short"))?;
                formats = Some(types.into_iter().map(Format::of_type).collect());
            }
            kind::NO_DATA => formats = Some(Vec::new()),
            kind::ERROR => failure = Some(read_error(wire)?),
            kind::READY => break,
            other => return Err(unexpected(other, "the preparation of a statement")),
        }
    }
    match failure {
        Some(error) => Err(error),
        None => formats.ok_or_else(|| malformed("answer", "a statement without description")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(types: &[ParamType], formats: Vec<Format>) -> Prepared {
        Prepared::described("s1", "", types, formats, false)
    }

    /// As libpq sends it, except that it sends numbers as digits.
    #[test]
    fn a_run_may_describe_its_portal() {
        let (types, formats) = ([ParamType::Text], vec![Format::Text]);
        let mut statement = Prepared::described("s1", "", &types, formats, true);
        statement.encode(&[Param::Text("7")]).unwrap();
        let mut wanted = b"B\0\0\0\x17\0s1\0\0\x01\0\0\0\x01\0\0\0\x017\0\x01\0\0".to_vec();
        wanted.extend(b"D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
        assert_eq!(usize::from(wanted[4]), 23);
        assert_eq!(statement.request, wanted);
    }

    #[test]
    fn a_run_is_bind_execute_and_sync() {
        let mut statement =
            prepared(&[ParamType::Int, ParamType::DateTime], vec![Format::Int4, Format::Text]);
        let mut wanted = b"B\0\0\0\x39\0s1\0\0\x02\0\x01\0\0\0\x02".to_vec();
        wanted.extend(b"\0\0\0\x08\0\0\0\0\0\0\x01\x02\0\0\0\x132026-11-21 10:00:00");
        wanted.extend(b"\0\x02\0\x01\0\0");
        assert_eq!(usize::from(wanted[4]), wanted.len() - 1);
        wanted.extend(b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
        for _ in 0..2 {
            statement.encode(&[Param::Int(258), Param::Text("2026-11-21 10:00:00")]).unwrap();
            assert_eq!(statement.request, wanted);
        }
    }

    #[test]
    fn integers_are_written_into_the_request_that_is_there() {
        let mut statement = prepared(&[ParamType::Int, ParamType::Int], vec![Format::Text]);
        let before = statement.request.as_ptr();
        for numbers in [[1, -2], [i64::MIN, i64::MAX]] {
            let params = numbers.map(Param::Int);
            statement.encode(&params).unwrap();
            let mut wanted = b"B\0\0\0\x2a\0s1\0\0\x01\0\x01\0\x02".to_vec();
            for number in numbers {
                wanted.extend(b"\0\0\0\x08");
                wanted.extend(number.to_be_bytes());
            }
            wanted.extend(b"\0\x01\0\0");
            assert_eq!(usize::from(wanted[4]), wanted.len() - 1);
            wanted.extend(b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
            assert_eq!(statement.request, wanted);
        }
        assert_eq!(statement.request.as_ptr(), before);
    }

    #[test]
    fn a_statement_without_parameters_is_ready_to_be_sent() {
        let mut statement = prepared(&[], Vec::new());
        statement.encode(&[]).unwrap();
        let wanted = b"B\0\0\0\x0e\0s1\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
        assert_eq!(statement.request, wanted);
    }

    #[test]
    fn the_buffer_of_a_run_is_reused() {
        let mut statement = prepared(&[ParamType::Text], Vec::new());
        let text = "a text that makes the buffer grow".repeat(10);
        statement.encode(&[Param::Text(&text)]).unwrap();
        let before = statement.request.as_ptr();
        for text in ["first", "a second that is longer"] {
            statement.encode(&[Param::Text(text)]).unwrap();
            let length = usize::from(statement.request[4]);
            assert_eq!(length, b"....".len() + b"\0s1\0..01..".len() + 4 + text.len() + 2);
        }
        assert_eq!(statement.request.as_ptr(), before);
    }

    #[test]
    fn wrong_parameters_are_refused_before_anything_is_sent() {
        for types in [[ParamType::Int, ParamType::Int], [ParamType::Text, ParamType::Int]] {
            let mut statement = prepared(&types, Vec::new());
            let missing = statement.encode(&[]).unwrap_err();
            assert_eq!(missing.code(), "08P01");
            let first = match types[0] {
                ParamType::Int => Param::Int(1),
                ParamType::Text | ParamType::DateTime | ParamType::Decimal => Param::Text("1"),
            };
            let text = statement.encode(&[first, Param::Text("1")]).unwrap_err();
            assert_eq!(text.code(), "42804");
            assert!(text.to_string().contains("parameter 2 was declared as Int"), "{text}");
            // It can be run with the right ones afterwards.
            statement.encode(&[first, Param::Int(1)]).unwrap();
        }
    }
}

//! Prepared statements: parsed and described once, then run from a pre-encoded request.

use super::answer::read_error;
use super::encode;
use super::fault;
use super::row::{Format, column_types};
use super::wire::{Parts, Wire, kind, malformed, unexpected};
use crate::{Param, ParamType, SessionError};

/// A statement that the server has parsed, and the request that runs it.
///
/// A run is Bind, Execute and Sync in one write. All of it but the parameters is encoded when the
/// statement is prepared: `head`, then each parameter with its length, then `tail`.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) sql: String,
    /// How the columns of its rows come; empty for a statement without rows.
    pub(super) formats: Vec<Format>,
    types: Vec<ParamType>,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Prepared {
    /// Parses `sql` on the server under the name `name` and learns what it returns.
    pub(super) fn new(
        wire: &mut Wire,
        name: &str,
        sql: &str,
        types: &[ParamType],
    ) -> Result<Self, SessionError> {
        let count = u16::try_from(types.len())
            .map_err(|_| fault::parameter_count(u16::MAX.into(), types.len()))?;
        wire.send(&parse_request(name, sql, types, count))?;
        let formats = read_description(wire, types.len())?;
        Ok(Self {
            head: bind_head(name, types, count),
            tail: bind_tail(&formats),
            sql: sql.to_owned(),
            formats,
            types: types.to_vec(),
        })
    }

    /// Writes the request that runs the statement with `params` into `request`, replacing what it
    /// held.
    pub(super) fn encode(
        &self,
        params: &[Param<'_>],
        request: &mut Vec<u8>,
    ) -> Result<(), SessionError> {
        if params.len() != self.types.len() {
            return Err(fault::parameter_count(self.types.len(), params.len()));
        }
        request.clear();
        request.extend_from_slice(&self.head);
        for (position, (param, declared)) in (1_usize..).zip(params.iter().zip(&self.types)) {
            match (*param, *declared) {
                (Param::Int(number), ParamType::Int) => {
                    encode::value(request, &number.to_be_bytes());
                }
                (Param::Text(text), ParamType::Text | ParamType::DateTime) => {
                    encode::value(request, text.as_bytes());
                }
                (Param::Int(_), ParamType::Text | ParamType::DateTime)
                | (Param::Text(_), ParamType::Int) => {
                    return Err(fault::parameter_type(position, *declared));
                }
            }
        }
        // The Bind message ends with the result formats at the front of the tail.
        let bind_end = request.len() + 2 + 2 * self.formats.len();
        request.extend_from_slice(&self.tail);
        if let Some(bind) = request.get_mut(..bind_end) {
            encode::patch_length(bind, 1);
        }
        Ok(())
    }
}

/// The type's OID in `pg_type.dat`: `int8`, `varchar`, `timestamp`.
fn oid(declared: ParamType) -> u32 {
    match declared {
        ParamType::Int => 20,
        ParamType::Text => 1043,
        ParamType::DateTime => 1114,
    }
}

/// Numbers go as binary, the rest as the text that it is.
fn format_code(declared: ParamType) -> u16 {
    match declared {
        ParamType::Int => 1,
        ParamType::Text | ParamType::DateTime => 0,
    }
}

/// Parse, Describe and Sync.
fn parse_request(name: &str, sql: &str, types: &[ParamType], count: u16) -> Vec<u8> {
    let mut request = Vec::new();
    encode::message(&mut request, b'P', |body| {
        encode::string(body, name);
        encode::string(body, sql);
        encode::int16(body, count);
        for declared in types {
            encode::int32(body, oid(*declared));
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
fn bind_head(name: &str, types: &[ParamType], count: u16) -> Vec<u8> {
    let mut head = Vec::new();
    encode::message(&mut head, b'B', |body| {
        // The unnamed portal.
        encode::string(body, "");
        encode::string(body, name);
        encode::int16(body, count);
        for declared in types {
            encode::int16(body, format_code(*declared));
        }
        encode::int16(body, count);
    });
    head
}

/// The end of the Bind message, then Execute of all rows, then Sync.
fn bind_tail(formats: &[Format]) -> Vec<u8> {
    let mut tail = Vec::new();
    encode::int16(&mut tail, formats.len() as u16);
    for format in formats {
        encode::int16(&mut tail, format.code());
    }
    encode::message(&mut tail, b'E', |body| {
        encode::string(body, "");
        encode::int32(body, 0);
    });
    encode::sync(&mut tail);
    tail
}

/// Reads the answer to Parse and Describe up to the server being ready again.
fn read_description(wire: &mut Wire, given: usize) -> Result<Vec<Format>, SessionError> {
    let mut formats = None;
    let mut failure = None;
    loop {
        match wire.next_answer()? {
            kind::PARSE_COMPLETE => {}
            kind::PARAMETER_DESCRIPTION => {
                let wanted = Parts::of(wire.body())
                    .int16()
                    .ok_or_else(|| malformed("ParameterDescription", "no count"))?;
                if usize::from(wanted) != given {
                    failure = Some(fault::parameter_count(wanted.into(), given));
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
        Prepared {
            sql: String::new(),
            head: bind_head("s1", types, types.len() as u16),
            tail: bind_tail(&formats),
            formats,
            types: types.to_vec(),
        }
    }

    #[test]
    fn a_run_is_bind_execute_and_sync() {
        let statement = prepared(
            &[ParamType::Int, ParamType::DateTime],
            vec![Format::Int4, Format::Text],
        );
        let mut request = b"an earlier request".to_vec();
        statement
            .encode(
                &[Param::Int(258), Param::Text("2026-11-21 10:00:00")],
                &mut request,
            )
            .unwrap();
        let mut wanted = b"B\0\0\0\x39\0s1\0\0\x02\0\x01\0\0\0\x02".to_vec();
        wanted.extend(b"\0\0\0\x08\0\0\0\0\0\0\x01\x02\0\0\0\x132026-11-21 10:00:00");
        wanted.extend(b"\0\x02\0\x01\0\0");
        assert_eq!(usize::from(wanted[4]), wanted.len() - 1);
        wanted.extend(b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
        assert_eq!(request, wanted);
    }

    #[test]
    fn the_buffer_of_a_run_is_reused() {
        let statement = prepared(&[ParamType::Text], Vec::new());
        let mut request = Vec::with_capacity(1024);
        let before = request.as_ptr();
        for text in ["first", "a second that is longer"] {
            statement
                .encode(&[Param::Text(text)], &mut request)
                .unwrap();
        }
        assert_eq!(request.as_ptr(), before);
        assert!(request.starts_with(b"B\0\0\0\x2b\0s1\0"), "{request:?}");
    }

    #[test]
    fn wrong_parameters_are_refused_before_anything_is_sent() {
        let statement = prepared(&[ParamType::Int], Vec::new());
        let mut request = Vec::new();
        let missing = statement.encode(&[], &mut request).unwrap_err();
        assert_eq!(missing.code(), "08P01");
        let text = statement
            .encode(&[Param::Text("1")], &mut request)
            .unwrap_err();
        assert_eq!(text.code(), "42804");
    }
}

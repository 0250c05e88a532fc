//! Packages of Debian: an `ar` archive with a tar in it.

use std::io::{self, BufRead, Read};

use crate::error::{ObtainError, Result};

pub(super) const MAGIC: &[u8] = b"!<arch>\n";

/// The header of a member: its name in 16 bytes, four numbers, its size in 10 digits, a mark.
const HEADER: usize = 60;

/// Members before the data: the format's version, what the package manager reads.
const MEMBERS: usize = 8;

/// The tar with the files of the package; `None` where there is none.
pub(super) fn data<R: BufRead>(mut input: R) -> Result<Option<impl Read>> {
    skip(&mut input, MAGIC.len() as u64).map_err(ObtainError::damaged)?;
    for _ in 0..MEMBERS {
        let mut header = [0; HEADER];
        input.read_exact(&mut header).map_err(ObtainError::damaged)?;
        let (name, size) = member(&header)
            .ok_or_else(|| ObtainError::damaged("the header of a member is broken"))?;
        if name.starts_with("data.tar") {
            return Ok(Some(input.take(size)));
        }
        // Members begin at even places.
        skip(&mut input, size + size % 2).map_err(ObtainError::damaged)?;
    }
    Ok(None)
}

fn member(header: &[u8; HEADER]) -> Option<(&str, u64)> {
    let (fields, mark) = header.split_last_chunk::<2>()?;
    let name = std::str::from_utf8(fields.get(..16)?).ok()?;
    let size = std::str::from_utf8(fields.get(48..)?).ok()?;
    let size = size.trim_end().parse().ok()?;
    (mark == b"`\n").then_some((name.trim_end(), size))
}

fn skip(input: &mut impl Read, count: u64) -> io::Result<()> {
    let skipped = io::copy(&mut input.take(count), &mut io::sink())?;
    if skipped < count {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}

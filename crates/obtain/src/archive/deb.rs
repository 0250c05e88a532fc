//! Packages of Debian: an `ar` archive with a tar in it.

use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use super::meter::Meter;
use super::sink::Sink;
use super::{CHUNK, Stop, stream};

/// The first bytes of an `ar` archive.
pub(super) const MAGIC: &[u8] = b"!<arch>\n";

/// The header of a member: its name in 16 bytes, four numbers, its size in 10 digits, a mark.
const HEADER: usize = 60;

/// Members before the data: the format's version, what the package manager reads.
const MEMBERS: usize = 8;

/// Reads the files of the package.
pub(super) fn read(
    mut input: impl BufRead,
    meter: &Rc<Meter>,
    sink: &mut Sink<'_>,
) -> Result<(), Stop> {
    let broken = |cause: io::Error| Stop::read(&cause);
    skip(&mut input, MAGIC.len() as u64).map_err(broken)?;
    for _ in 0..MEMBERS {
        let mut header = [0; HEADER];
        input.read_exact(&mut header).map_err(broken)?;
        let (name, size) = member(&header)
            .ok_or_else(|| Stop::Damaged("the header of a member is broken".to_owned()))?;
        if name.starts_with("data.tar") {
            // Links of a package begin at the root of the system that it is for.
            sink.rooted();
            let data = BufReader::with_capacity(CHUNK, input.take(size));
            return stream(data, meter, sink);
        }
        // Members begin at even places.
        skip(&mut input, size + size % 2).map_err(broken)?;
    }
    Err(Stop::Format("an ar archive without `data.tar`".to_owned()))
}

/// Name and size of a member.
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

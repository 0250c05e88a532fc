//! tar: POSIX, GNU, and as it was.

use std::io::{self, BufReader, Read};
use std::rc::Rc;

use tar::{Archive, Entry, EntryType, Header};

use super::meter::{CHUNK, Meter, Metered};
use super::sink::Sink;
use crate::error::{ObtainError, Result};

/// Bytes of a header, and of the head that tells archives apart.
pub(super) const HEAD: usize = 512;

/// The first bytes of what `input` gives.
pub(super) fn head_of(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    input.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Does this begin with a header of tar, whose checksum is right?
pub(super) fn starts(head: &[u8]) -> bool {
    let Some(head) = head.get(..HEAD).filter(|head| head.iter().any(|b| *b != 0)) else {
        return false;
    };
    let checksum = 148..156;
    let sum = head.iter().enumerate().map(|(at, byte)| {
        let counted = if checksum.contains(&at) { b' ' } else { *byte };
        u32::from(counted)
    });
    Header::from_byte_slice(head).cksum().is_ok_and(|said| said == sum.sum::<u32>())
}

/// Reads a tar out of `content`. False if that was compressed and is not a tar.
pub(super) fn read(
    content: impl Read,
    compressed: bool,
    meter: &Rc<Meter>,
    sink: &mut Sink<'_>,
) -> Result<bool> {
    let buffered = BufReader::with_capacity(CHUNK, content);
    let mut produced = Metered::decoded(buffered, meter);
    meter.header();
    let head = head_of(&mut produced).map_err(ObtainError::damaged)?;
    if compressed && head.len() < HEAD {
        return Ok(false);
    }
    let mut archive = Archive::new(io::Cursor::new(head).chain(produced));
    let mut some = false;
    for entry in archive.entries().map_err(ObtainError::damaged)? {
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(_) if !some && compressed && !meter.ended() => return Ok(false),
            Err(cause) => return Err(ObtainError::damaged(cause)),
        };
        some = true;
        meter.content();
        one(&mut entry, sink)?;
        meter.header();
    }
    if meter.ended() {
        return Err(ObtainError::damaged("the end mark of the tar is missing"));
    }
    // What follows the end mark is padding; the checksums of the compression come after it.
    meter.content();
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink()).map_err(ObtainError::damaged)?;
    Ok(true)
}

fn one<R: Read>(entry: &mut Entry<'_, R>, sink: &mut Sink<'_>) -> Result<()> {
    let name = entry.path_bytes().into_owned();
    let header = entry.header();
    let kind = header.entry_type();
    let program = header.mode().is_ok_and(|mode| mode & 0o100 != 0);
    let size = entry.size();
    let link = || entry.link_name_bytes().unwrap_or_default();
    match kind {
        // In the oldest tars a directory is a file whose name ends with a slash.
        EntryType::Regular if name.ends_with(b"/") => sink.directory(&name),
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
            sink.file(&name, program, size, entry)
        }
        EntryType::Directory => sink.directory(&name),
        EntryType::Symlink => sink.symlink(&name, &link()),
        EntryType::Link => sink.hard_link(&name, &link()),
        EntryType::Char => Err(Sink::special(&name, "character device")),
        EntryType::Block => Err(Sink::special(&name, "block device")),
        EntryType::Fifo => Err(Sink::special(&name, "named pipe")),
        // What it says is about owners, times and the like of all entries.
        EntryType::XGlobalHeader => Ok(()),
        _ => Err(Sink::special(&name, "thing of an unknown kind")),
    }
}

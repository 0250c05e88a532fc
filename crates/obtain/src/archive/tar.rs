//! tar: POSIX, GNU, and as it was.

use std::io::{self, BufReader, Read};
use std::rc::Rc;

use tar::{Archive, Entry, EntryType, Header};

use super::meter::{Meter, Produced};
use super::sink::Sink;
use super::{CHUNK, HEAD, Stop, head_of};

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
    Header::from_byte_slice(head)
        .cksum()
        .is_ok_and(|said| said == sum.sum::<u32>())
}

/// Reads a tar out of `content`; `compressed` is by what, for errors.
pub(super) fn read(
    content: impl Read,
    compressed: &str,
    meter: &Rc<Meter>,
    sink: &mut Sink<'_>,
) -> Result<(), Stop> {
    let buffered = BufReader::with_capacity(CHUNK, content);
    let mut produced = Produced::new(buffered, Rc::clone(meter));
    meter.header();
    let head = head_of(&mut produced).map_err(|cause| Stop::read(&cause))?;
    if !compressed.is_empty() && head.len() < HEAD {
        return Err(no_tar(compressed));
    }
    let mut archive = Archive::new(io::Cursor::new(head).chain(produced));
    let entries = archive.entries().map_err(|cause| Stop::read(&cause))?;
    let mut some = false;
    for entry in entries {
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(_) if !some && !compressed.is_empty() && !meter.ended() => {
                return Err(no_tar(compressed));
            }
            Err(cause) => return Err(Stop::read(&cause)),
        };
        some = true;
        meter.content();
        one(&mut entry, sink)?;
        meter.header();
    }
    if meter.ended() {
        return Err(Stop::Damaged(
            "the end mark of the tar is missing".to_owned(),
        ));
    }
    // What follows the end mark is padding; the checksums of the compression come after it.
    meter.content();
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink()).map_err(|cause| Stop::read(&cause))?;
    Ok(())
}

fn no_tar(compressed: &str) -> Stop {
    Stop::Format(format!("{compressed} of something that is no tar"))
}

fn one<R: Read>(entry: &mut Entry<'_, R>, sink: &mut Sink<'_>) -> Result<(), Stop> {
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

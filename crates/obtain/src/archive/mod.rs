//! Unpacks archives that nobody vouches for: by what they are, not by what they are called.
//!
//! Every format hands its entries to the [`Sink`], which alone writes, and which checks every name and
//! link; a [`Meter`] counts what goes in and comes out. Nothing is held in memory but names.

mod checks;
mod deb;
mod gzip;
mod meter;
mod sink;
mod tar;
mod zip;
mod zstd;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bzip2::bufread::MultiBzDecoder;
pub use checks::Flaw;
use lzma_rust2::XzReader;

use gzip::Members;
use meter::{CHUNK, Meter, Metered};
use sink::Sink;
use tar::{HEAD, head_of};

use crate::error::{ObtainError, Result};

const KNOWN: &str = "tar, tar.gz, tar.bz2, tar.xz, tar.zst, zip (jar, whl), deb";

/// The largest dictionary of xz that is allocated: four times that of the strongest preset.
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// Unpacks archives over each other into the empty directory `into`. On an error that directory is to
/// be thrown away: there may be something in it.
pub(crate) fn unpack(archives: &[PathBuf], into: &Path) -> Result<()> {
    unpack_wanted(archives, into, &|_| true)
}

/// The same, where not everything is wanted. A link that leads out is dropped where it is not wanted
/// anyway; whether other things that are not wanted come too is up to the format.
pub(crate) fn unpack_wanted(
    archives: &[PathBuf],
    into: &Path,
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<()> {
    let mut sink = Sink::new(into, wanted);
    for archive in archives {
        let file = File::open(archive).map_err(ObtainError::io("open", archive))?;
        let meter = Rc::new(Meter::new(into)?);
        sink.begin(archive, Rc::clone(&meter));
        // A reader that was stopped by the meter calls it what it likes; the meter knows better.
        read(file, &meter, &mut sink)
            .map_err(|error| meter.tripped().unwrap_or(error).of(archive))?;
    }
    sink.finish()
}

/// What a file is, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Tar,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    Zip,
    Deb,
}

impl Format {
    fn of(head: &[u8]) -> Result<Self> {
        let starts = |magic: &[u8]| head.starts_with(magic);
        Ok(if starts(&[0x1f, 0x8b]) {
            Self::Gzip
        } else if starts(b"BZh") {
            Self::Bzip2
        } else if starts(b"\xfd7zXZ\0") {
            Self::Xz
        } else if zstd::starts(head) {
            Self::Zstd
        } else if starts(b"PK\x03\x04") || starts(b"PK\x05\x06") {
            Self::Zip
        } else if starts(deb::MAGIC) {
            Self::Deb
        } else if tar::starts(head) {
            Self::Tar
        } else {
            return Err(unreadable(guess(head)));
        })
    }
}

/// What a file may be that is none of ours.
fn guess(head: &[u8]) -> &'static str {
    let kinds: [(&[u8], &str); 6] = [
        (b"\x7fELF", "a program or library"),
        (b"7z\xbc\xaf", "a 7-zip archive"),
        (b"Rar!", "a RAR archive"),
        (b"\xed\xab\xee\xdb", "an RPM package"),
        (b"<", "a page of text (an error of a server or proxy?)"),
        (b"{", "text (an error of a server?)"),
    ];
    let known = kinds.iter().find(|(magic, _)| head.starts_with(magic));
    match known {
        Some((_, kind)) => kind,
        None if head.is_empty() => "empty",
        None => "of an unknown kind",
    }
}

pub(crate) fn is_archive(path: &Path) -> bool {
    let head = File::open(path).and_then(|mut file| head_of(&mut file));
    head.is_ok_and(|head| Format::of(&head).is_ok())
}

fn unreadable(found: &str) -> ObtainError {
    ObtainError::Format { archive: PathBuf::new(), found: found.to_owned(), known: KNOWN }
}

fn read(mut file: File, meter: &Rc<Meter>, sink: &mut Sink<'_>) -> Result<()> {
    let head = head_of(&mut file).map_err(ObtainError::damaged)?;
    file.rewind().map_err(ObtainError::damaged)?;
    let input = Metered::archive(file, meter);
    match Format::of(&head)? {
        Format::Zip => zip::read(input, meter, sink),
        Format::Deb => {
            let input = BufReader::with_capacity(CHUNK, input);
            let data =
                deb::data(input)?.ok_or_else(|| unreadable("an ar archive without `data.tar`"))?;
            // Links of a package begin at the root of the system that it is for.
            sink.rooted();
            stream(BufReader::with_capacity(CHUNK, data), meter, sink)
        }
        Format::Tar | Format::Gzip | Format::Bzip2 | Format::Xz | Format::Zstd => {
            stream(BufReader::with_capacity(CHUNK, input), meter, sink)
        }
    }
}

/// A tar, compressed or not.
fn stream(mut input: impl BufRead, meter: &Rc<Meter>, sink: &mut Sink<'_>) -> Result<()> {
    let head = input.fill_buf().map_err(ObtainError::damaged)?;
    let (kind, result) = match Format::of(head.get(..HEAD).unwrap_or(head))? {
        Format::Gzip => ("gzip", tar::read(Members::new(input), true, meter, sink)),
        Format::Bzip2 => ("bzip2", tar::read(MultiBzDecoder::new(input), true, meter, sink)),
        Format::Xz => {
            let decoder = XzReader::new_mem_limit(input, true, XZ_MEMORY_KIB);
            ("xz", tar::read(decoder, true, meter, sink))
        }
        Format::Zstd => ("zstd", tar::read(zstd::Decoder::new(input), true, meter, sink)),
        Format::Tar => ("", tar::read(input, false, meter, sink)),
        Format::Zip | Format::Deb => return Err(unreadable("an archive of archives")),
    };
    if result? {
        Ok(())
    } else {
        Err(unreadable(&format!("{kind} of something other than a tar archive")))
    }
}

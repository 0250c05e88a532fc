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
mod xz;
mod zip;
mod zstd;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub use checks::Flaw;
use meter::{Consumed, Meter};
use sink::Sink;

use crate::error::ObtainError;

/// The formats that are read, for people.
const KNOWN: &str = "tar, tar.gz, tar.xz, tar.zst, zip (jar, whl), deb";

/// Bytes that are read at a time.
const CHUNK: usize = 128 << 10;

/// First bytes that tell the formats apart; the magic of tar is that far in.
const HEAD: usize = 512;

/// Unpacks archives over each other into the empty directory `into`. On an error that directory is to
/// be thrown away: there may be something in it.
pub(crate) fn unpack(archives: &[PathBuf], into: &Path) -> Result<(), ObtainError> {
    unpack_wanted(archives, into, &|_| true)
}

/// The same, where not everything is wanted. A link that leads out is dropped where it is not wanted
/// anyway; whether other things that are not wanted come too is up to the format.
pub(crate) fn unpack_wanted(
    archives: &[PathBuf],
    into: &Path,
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<(), ObtainError> {
    let mut sink = Sink::new(into, wanted);
    for archive in archives {
        let file = File::open(archive).map_err(ObtainError::io("open", archive))?;
        let meter = Rc::new(Meter::new(into)?);
        sink.begin(archive, Rc::clone(&meter));
        read(file, &meter, &mut sink).map_err(|stop| stop.explain(archive, &meter))?;
    }
    sink.finish()
}

/// Why unpacking stopped.
#[derive(Debug)]
enum Stop {
    /// An entry is hostile.
    Hostile(String, Flaw),
    /// The archive as a whole is.
    Bomb(Flaw),
    /// It cannot be read.
    Damaged(String),
    /// It is not of a known format.
    Format(String),
    /// What it unpacks to cannot be written.
    Write(ObtainError),
}

impl Stop {
    /// An error of a reader.
    fn read(cause: &impl ToString) -> Self {
        Self::Damaged(cause.to_string())
    }

    /// As the user is told it. A reader that was stopped by the meter calls it what it likes; the meter
    /// knows better.
    fn explain(self, archive: &Path, meter: &Meter) -> ObtainError {
        let archive = archive.to_owned();
        if let Some(tripped) = meter.tripped() {
            return tripped.explain(archive);
        }
        match self {
            Self::Hostile(entry, flaw) => ObtainError::Hostile {
                archive,
                entry,
                flaw,
            },
            Self::Bomb(flaw) => ObtainError::Bomb { archive, flaw },
            Self::Damaged(cause) => ObtainError::Damaged { archive, cause },
            Self::Format(found) => ObtainError::Format {
                archive,
                found,
                known: KNOWN,
            },
            Self::Write(error) => error,
        }
    }
}

/// What a file is, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Tar,
    Gzip,
    Xz,
    Zstd,
    Zip,
    Deb,
}

impl Format {
    fn of(head: &[u8]) -> Result<Self, Stop> {
        let starts = |magic: &[u8]| head.starts_with(magic);
        Ok(if starts(&[0x1f, 0x8b]) {
            Self::Gzip
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
            return Err(Stop::Format(guess(head).to_owned()));
        })
    }
}

/// What a file may be that is none of ours.
fn guess(head: &[u8]) -> &'static str {
    let kinds: [(&[u8], &str); 7] = [
        (b"BZh", "compressed by bzip2"),
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

/// Is this file an archive of a known format?
pub(crate) fn is_archive(path: &Path) -> bool {
    let head = File::open(path).and_then(|mut file| head_of(&mut file));
    head.is_ok_and(|head| Format::of(&head).is_ok())
}

fn head_of(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    file.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn read(mut file: File, meter: &Rc<Meter>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let head = head_of(&mut file).map_err(|cause| Stop::read(&cause))?;
    file.rewind().map_err(|cause| Stop::read(&cause))?;
    let input = Consumed::new(file, Rc::clone(meter));
    match Format::of(&head)? {
        Format::Zip => zip::read(input, meter, sink),
        Format::Deb => deb::read(BufReader::with_capacity(CHUNK, input), meter, sink),
        Format::Tar | Format::Gzip | Format::Xz | Format::Zstd => {
            stream(BufReader::with_capacity(CHUNK, input), meter, sink)
        }
    }
}

/// A tar, compressed or not.
fn stream(mut input: impl BufRead, meter: &Rc<Meter>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let head = input.fill_buf().map_err(|cause| Stop::read(&cause))?;
    let format = Format::of(head.get(..HEAD).unwrap_or(head))?;
    match format {
        Format::Gzip => tar::read(gzip::decoder(input), "gzip", meter, sink),
        Format::Xz => tar::read(xz::decoder(input), "xz", meter, sink),
        Format::Zstd => tar::read(zstd::Decoder::new(input), "zstd", meter, sink),
        Format::Tar => tar::read(input, "", meter, sink),
        Format::Zip | Format::Deb => Err(Stop::Format("an archive of archives".to_owned())),
    }
}

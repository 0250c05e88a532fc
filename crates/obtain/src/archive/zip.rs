//! zip, under whatever name: jar, whl.

use std::io::{BufReader, Read, Seek};
use std::rc::Rc;

use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;
use zip::{ZipArchive, ZipReadOptions};

use super::checks::{Flaw, shown};
use super::meter::{ENTRY_LIMIT, Meter};
use super::sink::Sink;
use crate::error::{ObtainError, Result};

/// Bytes that are read at a time; less than elsewhere, as every entry is sought.
const CHUNK: usize = 32 << 10;

/// The most that the directory of an archive may take: 500,000 entries with names of 80 characters.
const DIRECTORY_LIMIT: u64 = 64 << 20;

/// The longest target of a link that is read.
const TARGET_LIMIT: u64 = 8 << 10;

/// The bits of a mode that say what a file is, and their values.
const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;

/// Reads a zip, entry by entry as its directory lists them.
pub(super) fn read(input: impl Read + Seek, meter: &Rc<Meter>, sink: &mut Sink<'_>) -> Result<()> {
    let mut archive = open(input, meter)?;
    // Without links, what is not wanted by its name is not wanted at all, and need not be decompressed.
    let modes = (0..archive.len()).map(|index| Ok(archive.by_index_data(index)?.unix_mode()));
    let modes = modes.collect::<Result<Vec<_>, ZipError>>();
    let modes = modes.map_err(ObtainError::damaged)?;
    let links = modes.iter().flatten().any(|mode| mode & KIND == LINK);
    for index in 0..archive.len() {
        let options = ZipReadOptions::new();
        let mut entry =
            archive.by_index_with_options(index, options).map_err(ObtainError::damaged)?;
        let name = entry.name().map_err(ObtainError::damaged)?;
        let name = name.into_owned().into_bytes();
        if !links && sink.leave(&name)? {
            continue;
        }
        let mode = entry.unix_mode().unwrap_or_default();
        match mode & KIND {
            _ if entry.is_dir() => sink.directory(&name)?,
            LINK => {
                let mut target = Vec::new();
                let read = (&mut entry).take(TARGET_LIMIT).read_to_end(&mut target);
                read.map_err(ObtainError::damaged)?;
                sink.symlink(&name, &target)?;
            }
            0 | 0o100_000 => {
                let size = entry.size();
                sink.file(&name, mode & 0o100 != 0, size, &mut entry)?;
            }
            0o060_000 => return Err(Sink::special(&name, "block device")),
            0o020_000 => return Err(Sink::special(&name, "character device")),
            0o010_000 => return Err(Sink::special(&name, "named pipe")),
            0o140_000 => return Err(Sink::special(&name, "socket")),
            _ => return Err(Sink::special(&name, "thing of an unknown kind")),
        }
    }
    Ok(())
}

/// Reads the directory and looks for what would make the same bytes come out often.
fn open<R: Read + Seek>(input: R, meter: &Rc<Meter>) -> Result<ZipArchive<BufReader<R>>> {
    meter.allow_input(DIRECTORY_LIMIT);
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let input = BufReader::with_capacity(CHUNK, input);
    let mut archive = ZipArchive::with_config(config, input).map_err(ObtainError::damaged)?;
    if archive.len() as u64 > ENTRY_LIMIT {
        return Err(ObtainError::bomb(Flaw::Entries(ENTRY_LIMIT)));
    }
    if archive.has_duplicate_names() {
        return Err(ObtainError::bomb(Flaw::Twice));
    }
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(ObtainError::damaged)?;
        if entry.encrypted() {
            return Err(ObtainError::hostile(shown(entry.name_raw()), Flaw::Encrypted));
        }
    }
    meter.allow_input(u64::MAX);
    if archive.has_overlapping_entries().map_err(ObtainError::damaged)? {
        return Err(ObtainError::bomb(Flaw::Overlap));
    }
    // What was read so far must not count for what comes out.
    meter.allow_input(u64::MAX);
    Ok(archive)
}

//! Where a verb writes a file that is too large to be held.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat};

const BUFFER: usize = 1 << 18;

/// A file that is there whole or not at all: an old one stays until [`Output::keep`], and when the disk is
/// full. `-` is stdout; what is no ordinary file (a device, a pipe) is written to as it is; a link is
/// followed.
pub(crate) struct Output {
    out: BufWriter<File>,
    /// Where the file goes when it is whole.
    pending: Option<Pending>,
}

struct Pending {
    /// Beside the target. Nothing is there while the file has no name.
    beside: PathBuf,
    target: PathBuf,
    /// Has it no name yet? Then nothing is left of it when this process is killed.
    unnamed: bool,
}

/// Writes there what `body` writes: all of it or nothing. That the reader of stdout went away (`| head`) is
/// no error.
pub(crate) fn write(path: &Path, body: impl FnOnce(&mut Output) -> Result<()>) -> Result<()> {
    let mut out = Output::create(path)?;
    let written = body(&mut out).and_then(|()| Ok(out.keep()?));
    match written.with_context(|| cannot(path)) {
        Err(error) if path == Path::new("-") && is_reader_gone(&error) => Ok(()),
        written => written,
    }
}

impl Output {
    fn create(path: &Path) -> Result<Self> {
        let (file, pending) = opened(path).with_context(|| cannot(path))?;
        Ok(Self { out: BufWriter::with_capacity(BUFFER, file), pending })
    }

    fn keep(&mut self) -> io::Result<()> {
        self.out.flush()?;
        if let Some(pending) = &self.pending {
            let file = self.out.get_ref();
            file.sync_all()?;
            if pending.unnamed {
                name(file, &pending.beside)?;
            }
            fs::rename(&pending.beside, &pending.target)?;
            self.pending = None;
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(Pending { beside, .. }) = &self.pending {
            // What was not kept is not wanted; a leftover could not be helped.
            let _leftover = fs::remove_file(beside);
        }
    }
}

fn is_reader_gone(error: &anyhow::Error) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| {
        let cause = cause.downcast_ref::<io::Error>();
        cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
    })
}

fn cannot(path: &Path) -> String {
    if path == Path::new("-") {
        "cannot write to stdout".to_owned()
    } else {
        format!("cannot write {}", path.display())
    }
}

fn opened(path: &Path) -> io::Result<(File, Option<Pending>)> {
    if path == Path::new("-") {
        return Ok((File::from(io::stdout().as_fd().try_clone_to_owned()?), None));
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if target.exists() && !target.is_file() {
        return Ok((OpenOptions::new().write(true).open(&target)?, None));
    }
    let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy();
    let beside = target.with_file_name(format!(".{name}.{}", std::process::id()));
    let unnamed = unnamed(&target);
    let pending = Pending { unnamed: unnamed.is_some(), target, beside };
    let file = unnamed.map_or_else(|| File::create(&pending.beside), Ok)?;
    Ok((file, Some(pending)))
}

/// A file without a name on the target's disk; `None` where the file system has no such files, or where it could not
/// be given a name.
fn unnamed(target: &Path) -> Option<File> {
    let directory = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        Some(_) | None => Path::new("."),
    };
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(directory, flags, Mode::from_raw_mode(0o666)).ok()?;
    let file = File::from(file);
    link_of(&file).exists().then_some(file)
}

fn name(file: &File, path: &Path) -> io::Result<()> {
    // Of a process that had our id.
    let _none = fs::remove_file(path);
    linkat(CWD, link_of(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?;
    Ok(())
}

fn link_of(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_file_stays_until_the_new_one_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("all.csv");
        fs::write(&path, "old").unwrap();
        let mut given_up = Output::create(&path).unwrap();
        given_up.write_all(&vec![0; 2 * BUFFER]).unwrap();
        // A process that is killed now leaves nothing behind.
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        drop(given_up);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let mut whole = Output::create(&path).unwrap();
        whole.write_all(b"new").unwrap();
        whole.keep().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("none/all.csv");
        let error = Output::create(&path).err().unwrap();
        assert_eq!(error.to_string(), format!("cannot write {}", path.display()));
    }
}

//! Digests of programs.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use sha2::{Digest, Sha256};

/// What tells one state of a file from another without reading it: its name, where it lies, its
/// length, and when it was written.
type State = (PathBuf, u64, u64, u64, i64, i64);

/// Digests that this process has computed: every trial asks for those of the same few programs.
static KNOWN: LazyLock<Mutex<HashMap<State, Program>>> = LazyLock::new(Mutex::default);

/// Facts read from a program's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// SHA-256 in lower-case hexadecimal digits.
    pub(crate) sha256: String,
    /// The allocator that is linked into it, by the texts that this has in it.
    pub(crate) allocator: Option<&'static str>,
}

/// Texts of allocators in programs: their error messages.
const MARKS: [(&[u8], &str); 4] = [
    (b"<jemalloc>", "jemalloc"),
    (b"src/tcmalloc.cc", "tcmalloc"),
    (b"tcmalloc: large alloc", "tcmalloc"),
    (b"mimalloc: ", "mimalloc"),
];
/// The most that a mark may lie in the part of a file that was read before.
const OVERLAP: usize = 32;

/// SHA-256 of the file that `path` leads to; `name` is its known name.
pub(crate) fn sha256_of(path: &Path, name: &Path) -> io::Result<String> {
    Ok(program_of(path, name)?.sha256)
}

/// Looks at the file that `path` leads to; `name` is its known name. Read once as long as the file
/// stays the same.
pub(crate) fn program_of(path: &Path, name: &Path) -> io::Result<Program> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let state = (
        name.to_owned(),
        metadata.dev(),
        metadata.ino(),
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec(),
    );
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = known().get(&state) {
        return Ok(program.clone());
    }
    // Not under the lock: programs are large.
    let program = read(&mut file)?;
    known().insert(state, program.clone());
    Ok(program)
}

fn read(file: &mut impl Read) -> io::Result<Program> {
    let mut hasher = Sha256::new();
    let mut allocator = None;
    // The end of the previous block, then the new one.
    let mut seen: Vec<u8> = Vec::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let length = file.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        hasher.update(bytes);
        if allocator.is_none() {
            seen.extend_from_slice(bytes);
            allocator = mark_in(&seen);
            seen.drain(..seen.len().saturating_sub(OVERLAP));
        }
    }
    let mut text = String::new();
    for byte in hasher.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(Program { sha256: text, allocator })
}

/// The allocator of the first mark in `bytes`.
fn mark_in(bytes: &[u8]) -> Option<&'static str> {
    let found = MARKS.iter().find(|(mark, _)| memmem(bytes, mark));
    found.map(|(_, name)| *name)
}

/// Is `mark` in `bytes`? Looks at its first byte alone where it can: programs are large.
fn memmem(bytes: &[u8], mark: &[u8]) -> bool {
    let Some(&first) = mark.first() else {
        return false;
    };
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| byte == first) {
        rest = rest.get(at..).unwrap_or_default();
        if rest.starts_with(mark) {
            return true;
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use super::*;

    /// Gives a few bytes at a time.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[test]
    fn an_allocator_in_the_program_is_seen_wherever_its_mark_lies() {
        let program = b"ELF\0 much before <<jemalloc>: error in malloc\0 and much after it, too";
        for length in 1..program.len() {
            let read = read(&mut Slowly(program, length)).unwrap();
            assert_eq!(read.allocator, Some("jemalloc"), "{length} at a time");
        }
        let without = read(&mut Slowly(b"malloc and jemalloc", 5)).unwrap();
        assert_eq!(without.allocator, None);
    }

    #[test]
    fn the_digest_is_that_of_the_content_and_follows_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let digest = || sha256_of(file.path(), file.path()).unwrap();
        fs::write(file.path(), "abc").unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(), abc);
        assert_eq!(digest(), abc);
        fs::write(file.path(), "abd").unwrap();
        let later = SystemTime::now() + Duration::from_secs(9);
        file.as_file().set_modified(later).unwrap();
        assert_ne!(digest(), abc);
    }
}

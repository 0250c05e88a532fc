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
static KNOWN: LazyLock<Mutex<HashMap<State, String>>> = LazyLock::new(Mutex::default);

/// SHA-256 of the file that `path` leads to, in lower-case hexadecimal digits; `name` is what it is
/// known by. Read once as long as the file stays the same.
pub(crate) fn sha256_of(path: &Path, name: &Path) -> io::Result<String> {
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
    if let Some(digest) = known().get(&state) {
        return Ok(digest.clone());
    }
    // Not under the lock: programs are large.
    let digest = read(&mut file)?;
    known().insert(state, digest.clone());
    Ok(digest)
}

fn read(file: &mut File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let length = file.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        hasher.update(bytes);
    }
    let mut text = String::new();
    for byte in hasher.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use super::*;

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

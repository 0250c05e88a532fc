//! A short directory for an instance's socket.

use std::env;
use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::account::RunAs;
use crate::error::ServerError;

/// Bytes of the longest path that a Unix socket can have: `sun_path` of 108 with its final zero.
const LONGEST: usize = 107;

/// How the names begin; only such a directory is ever removed.
const PREFIX: &str = "bs-";

/// Names that are tried before giving up; each but the first means that another has it already.
const ATTEMPTS: u32 = 16;

/// A directory for one instance's socket, open to no one else, removed when dropped.
#[derive(Debug)]
pub(crate) struct SocketDirectory {
    path: PathBuf,
}

impl SocketDirectory {
    /// Makes one in the first of `places` that is short enough for a socket named `socket` and that lets
    /// us.
    pub(crate) fn create(
        instance: &Path,
        socket: &str,
        places: &[PathBuf],
    ) -> Result<Self, ServerError> {
        let mut problem = None;
        for place in places {
            match Self::create_in(place, instance, socket) {
                Ok(directory) => return Ok(directory),
                // The error of the last and most ordinary place is the one to act on.
                Err(error) => problem = Some(error),
            }
        }
        Err(problem.unwrap_or_else(|| ServerError::DoesNotExist { path: env::temp_dir() }))
    }

    fn create_in(place: &Path, instance: &Path, socket: &str) -> Result<Self, ServerError> {
        let mut path = place.to_owned();
        let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
        for attempt in 0..ATTEMPTS {
            path = place.join(name(instance, attempt));
            let whole = path.join(socket);
            let length = whole.as_os_str().len();
            if length > LONGEST {
                return Err(ServerError::SocketPathTooLong { path: whole, length, limit: LONGEST });
            }
            match make(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => taken = cause,
                Err(cause) => return Err(ServerError::io("create", &path)(cause)),
            }
        }
        Err(ServerError::io("create", &path)(taken))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates it anew, without files of a killed server.
    pub(crate) fn renew(&self) -> Result<(), ServerError> {
        remove(&self.path);
        make(&self.path).map_err(ServerError::io("create", &self.path))
    }

    /// Removes it; [`Self::renew`] makes it again.
    pub(crate) fn remove(&self) {
        remove(&self.path);
    }
}

impl Drop for SocketDirectory {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Where to make socket directories, the best first.
pub(crate) fn places(run_as: &RunAs) -> Vec<PathBuf> {
    let temporary = [env::temp_dir(), PathBuf::from("/tmp")];
    let ours = match run_as {
        RunAs::Ourselves | RunAs::Namespace => env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from),
        // Our own runtime directory is closed to another account.
        RunAs::Account(_) => None,
    };
    let ours = ours.filter(|path| path.is_absolute() && path.is_dir());
    ours.into_iter().chain(temporary).collect()
}

/// Removes a socket directory with all that is in it. Its name comes from a file, so anything that is
/// not a directory with a name of ours is left alone.
pub(crate) fn remove(path: &Path) {
    let is_ours = path
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with(PREFIX));
    if is_ours && path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        // A failed removal leaves a few bytes in the temp directory.
        let _ = fs::remove_dir_all(path);
    }
}

fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

fn name(instance: &Path, attempt: u32) -> String {
    let mut hasher = DefaultHasher::new();
    (instance, std::process::id(), attempt).hash(&mut hasher);
    format!("{PREFIX}{:08x}", hasher.finish() >> 32)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn private_distinct_and_gone_when_dropped() {
        let place = tempfile::tempdir().unwrap();
        let places = [place.path().to_owned()];
        let instance = Path::new("/lab/x");
        let one = SocketDirectory::create(instance, "s.sock", &places).unwrap();
        let two = SocketDirectory::create(instance, "s.sock", &places).unwrap();
        assert_ne!(one.path(), two.path());
        assert_eq!(fs::metadata(one.path()).unwrap().mode() & 0o777, 0o700);
        fs::write(one.path().join("s.sock"), "").unwrap();
        one.renew().unwrap();
        assert_eq!(fs::read_dir(one.path()).unwrap().count(), 0);
        drop((one, two));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_place_that_is_too_long_is_passed_over_and_said_when_it_is_the_last() {
        let root = tempfile::tempdir().unwrap();
        let long = root.path().join("x".repeat(100));
        fs::create_dir(&long).unwrap();
        let short = root.path().to_owned();
        let create =
            |places: &[PathBuf]| SocketDirectory::create(Path::new("/i"), "s.sock", places);
        assert!(create(&[long.clone(), short]).unwrap().path().starts_with(root.path()));
        let error = create(&[long]).unwrap_err();
        assert!(matches!(&error, ServerError::SocketPathTooLong { length, .. } if *length > 107));
        assert!(error.to_string().contains("a Unix socket allows 107: set TMPDIR"), "{error}");
    }

    #[test]
    fn only_directories_with_our_name_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let other = root.path().join("other");
        fs::create_dir(&other).unwrap();
        remove(&other);
        assert!(other.exists());
        let link = root.path().join("bs-1");
        std::os::unix::fs::symlink(&other, &link).unwrap();
        remove(&link);
        assert!(other.exists() && link.symlink_metadata().is_ok());
    }
}

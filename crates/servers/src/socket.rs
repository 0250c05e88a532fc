//! A short directory for an instance's socket.

use std::collections::hash_map::RandomState;
use std::env;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::account::RunAs;
use crate::error::{Result, ServerError};

/// Bytes of the longest path that a Unix socket can have: `sun_path` of 108 with its final zero.
const LONGEST: usize = 107;

/// How the names begin; only such a directory is ever removed.
const PREFIX: &str = "bs-";

/// Names that are tried before giving up; each but the first means that another has it already.
const ATTEMPTS: u32 = 16;

/// A directory for one instance's socket, open to no one else, removed when dropped.
#[derive(Debug)]
pub(crate) struct SocketDirectory {
    pub(crate) path: PathBuf,
}

impl SocketDirectory {
    /// Makes one in the first of `places` that is short enough for a socket named `socket` and that lets
    /// us.
    pub(crate) fn create(instance: &Path, socket: &str, places: &[PathBuf]) -> Result<Self> {
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

    fn create_in(place: &Path, instance: &Path, socket: &str) -> Result<Self> {
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

    /// Creates it anew, without files of a killed server.
    pub(crate) fn renew(&self) -> Result<()> {
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

/// Where servers of ours listen: the loopback interface alone.
pub(crate) const ADDRESS: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// The ports that the kernel gives to outgoing connections: two numbers.
const EPHEMERAL: &str = "/proc/sys/net/ipv4/ip_local_port_range";

/// Those of most kernels, where the file cannot be read.
const USUAL_EPHEMERAL: RangeInclusive<u16> = 32_768..=60_999;

/// Below it are the ports of well-known services.
const LOWEST: u16 = 10_240;

/// Ports that are tried before the kernel is asked for one.
const PORT_ATTEMPTS: u32 = 64;

/// A port on which nobody listens now. Another process may take it before the server does.
///
/// It is none of those that the kernel gives to outgoing connections where that can be: a client that
/// tries to connect again and again while the server is down may be given the server's own port and then
/// connects to itself, and any other connection of the host may sit on it when the server is back.
pub(crate) fn any_port() -> io::Result<u16> {
    let ephemeral = fs::read_to_string(EPHEMERAL)
        .ok()
        .and_then(|text| port_range(&text))
        .unwrap_or(USUAL_EPHEMERAL);
    for attempt in 0..PORT_ATTEMPTS {
        let port = outside(&ephemeral, random(attempt));
        if let Some(port) = port.filter(|port| !is_taken(*port)) {
            return Ok(port);
        }
    }
    Ok(TcpListener::bind((ADDRESS, 0))?.local_addr()?.port())
}

/// Does anybody listen there, or use it otherwise?
pub(crate) fn is_taken(port: u16) -> bool {
    TcpListener::bind((ADDRESS, port)).is_err()
}

fn port_range(text: &str) -> Option<RangeInclusive<u16>> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse::<u16>);
    let (low, high) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    (low <= high).then_some(low..=high)
}

/// The port number `pick`, modulo how many there are, of those from [`LOWEST`] on that are not ephemeral;
/// `None` where all are.
fn outside(ephemeral: &RangeInclusive<u16>, pick: u64) -> Option<u16> {
    let (low, high) = (*ephemeral.start(), *ephemeral.end());
    let below = u64::from(low.saturating_sub(LOWEST));
    let above = u64::from(u16::MAX - high.max(LOWEST - 1));
    let place = pick.checked_rem(below + above)?;
    let port = if place < below {
        u64::from(LOWEST) + place
    } else {
        u64::from(high.max(LOWEST - 1)) + 1 + place - below
    };
    u16::try_from(port).ok()
}

/// Another number in each process: runs that begin at the same time must not all try the same ports.
fn random(attempt: u32) -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(attempt);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn private_distinct_and_gone_when_dropped() {
        let place = tempfile::tempdir().unwrap();
        let places = [place.path().to_owned()];
        let instance = Path::new("/lab/x");
        let one = SocketDirectory::create(instance, "s.sock", &places).unwrap();
        let two = SocketDirectory::create(instance, "s.sock", &places).unwrap();
        assert_ne!(one.path, two.path);
        assert_eq!(fs::metadata(&one.path).unwrap().mode() & 0o777, 0o700);
        fs::write(one.path.join("s.sock"), "").unwrap();
        one.renew().unwrap();
        assert_eq!(fs::read_dir(&one.path).unwrap().count(), 0);
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
        assert!(create(&[long.clone(), short]).unwrap().path.starts_with(root.path()));
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

    #[test]
    fn a_free_port_can_be_had_and_is_taken_then() {
        let port = any_port().unwrap();
        let listener = TcpListener::bind((ADDRESS, port)).unwrap();
        assert!(is_taken(port));
        drop(listener);
        assert!(!is_taken(port));
    }

    #[test]
    fn ranges_as_the_kernel_writes_them() {
        assert_eq!(port_range("32768\t60999\n"), Some(USUAL_EPHEMERAL));
        assert_eq!(port_range("60999 32768"), None);
        assert_eq!(port_range("1024"), None);
        assert_eq!(outside(&(1_024..=u16::MAX), 5), None);
    }

    proptest! {
        #[test]
        fn no_port_is_ephemeral_or_well_known(low in 1u16.., more in any::<u16>(), pick in any::<u64>()) {
            let ephemeral = low..=low.saturating_add(more);
            if let Some(port) = outside(&ephemeral, pick) {
                prop_assert!(port >= LOWEST && !ephemeral.contains(&port), "{port}");
            }
        }
    }
}

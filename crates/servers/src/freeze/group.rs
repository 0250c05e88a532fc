//! The kernel's freezer: a control group whose processes stand still together.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::guard::Guard;
use super::tree::{FreezeError, POLL, Tree};
use crate::error::PathError;
use crate::identity::{self, Identity};

const PREFIX: &str = "backslide-";
/// A server that waits for a disk for longer counts as frozen: it does nothing of its own before it freezes.
const FOR_DISK: Duration = Duration::from_secs(1);

/// A control group that holds the processes of one server. Dropping it puts them back into the group above
/// and removes it.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) directory: PathBuf,
    version: Version,
    owned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    /// The file that freezes, and the words that freeze and thaw.
    const fn switch(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::One => ("freezer.state", "FROZEN", "THAWED"),
            Self::Two => ("cgroup.freeze", "1", "0"),
        }
    }

    /// The file that lists its threads.
    const fn threads(self) -> &'static str {
        match self {
            Self::One => "tasks",
            Self::Two => "cgroup.threads",
        }
    }

    /// The file that says how far the freezing is, and the line that says it is complete.
    const fn state(self) -> (&'static str, &'static str) {
        match self {
            Self::One => ("freezer.state", "FROZEN"),
            Self::Two => ("cgroup.events", "frozen 1"),
        }
    }
}

impl Group {
    /// Makes a group below this process's own, with all processes of the server in it.
    pub(super) fn make(server: &Identity) -> io::Result<Self> {
        let name = format!("{PREFIX}{}-{}", server.pid, server.start_ticks);
        let mut refused = io::Error::from(io::ErrorKind::Unsupported);
        for version in [Version::Two, Version::One] {
            let Some(own) = group_of(std::process::id(), version) else { continue };
            remove_left(&own);
            match Self::below(&own, &name, version).and_then(|group| group.adopt(server)) {
                Ok(group) => return Ok(group),
                Err(cause) => refused = cause,
            }
        }
        Err(refused)
    }

    /// The group of ours that holds a server; `None` where there is none.
    pub(super) fn of(server: &Identity) -> Option<Self> {
        if !server.is_alive() {
            return None;
        }
        [Version::Two, Version::One].into_iter().find_map(|version| {
            let directory = group_of(server.pid, version)?;
            let name = directory.file_name()?.to_str()?;
            let owned = name.starts_with(PREFIX).then_some(false)?;
            Some(Self { directory, version, owned })
        })
    }

    fn below(own: &Path, name: &str, version: Version) -> io::Result<Self> {
        let directory = own.join(name);
        match fs::create_dir(&directory) {
            Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => return Err(cause),
            Ok(()) | Err(_) => {}
        }
        let group = Self { directory, version, owned: true };
        let (switch, _, thaw) = version.switch();
        fs::write(group.directory.join(switch), thaw)?;
        Ok(group)
    }

    /// Moves all processes of a server into the group: those that they start later begin in it.
    fn adopt(self, server: &Identity) -> io::Result<Self> {
        let mut tree = Tree::new(server.clone());
        let mut moved = BTreeSet::new();
        // A process that started another one while it was moved has a child outside: look again.
        loop {
            let before = moved.len();
            for process in tree.processes() {
                if moved.insert(process.pid) {
                    put(&self.directory, process.pid)?;
                }
            }
            if moved.len() == before {
                return Ok(self);
            }
        }
    }

    /// Freezes it; true once all of its processes stand still, or wait in the kernel.
    pub(super) fn freeze(&self, limit: Duration, told: impl FnOnce()) -> Result<bool, FreezeError> {
        let (switch, freeze, _) = self.version.switch();
        let (state, complete) = self.version.state();
        let began = Instant::now();
        self.write(switch, freeze)?;
        told();
        loop {
            let path = self.directory.join(state);
            let text = fs::read_to_string(&path).map_err(PathError::of("read", &path))?;
            if text.lines().any(|line| line == complete)
                || (began.elapsed() >= FOR_DISK && !self.runs())
            {
                return Ok(true);
            }
            if began.elapsed() >= limit {
                return Ok(false);
            }
            thread::sleep(POLL);
        }
    }

    /// Does any of its threads run? Those that do not, once the kernel has been told, are frozen or wait in the kernel.
    pub(super) fn runs(&self) -> bool {
        let threads = fs::read_to_string(self.directory.join(self.version.threads()));
        threads
            .unwrap_or_default()
            .lines()
            .any(|thread| thread.parse().ok().and_then(identity::state_of) == Some('R'))
    }

    pub(super) fn thaw(&self) -> Result<(), FreezeError> {
        let (switch, _, thaw) = self.version.switch();
        self.write(switch, thaw)
    }

    /// The guard that thaws it when this process is killed.
    pub(super) fn guard(&self) -> io::Result<Guard> {
        let (switch, _, thaw) = self.version.switch();
        Guard::of_group(&self.directory.join(switch), thaw)
    }

    fn write(&self, file: &str, text: &str) -> Result<(), FreezeError> {
        let path = self.directory.join(file);
        Ok(fs::write(&path, text).map_err(PathError::of("write", &path))?)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.owned {
            return;
        }
        let _ = self.thaw();
        let inside = fs::read_to_string(self.directory.join("cgroup.procs")).unwrap_or_default();
        if let Some(above) = self.directory.parent() {
            for pid in inside.lines().filter_map(|line| line.parse().ok()) {
                let _ = put(above, pid);
            }
        }
        // One whose process has just ended is busy for a moment; empty, it costs nothing.
        let _ = fs::remove_dir(&self.directory);
    }
}

/// Removes the empty groups of servers that have ended: a killed process leaves its groups behind.
fn remove_left(own: &Path) {
    for entry in fs::read_dir(own).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let server = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
        if let Some((pid, _)) = server
            && !Path::new("/proc").join(pid).exists()
        {
            // The kernel keeps one that holds a process.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Moves a process into a group. One that has ended meanwhile is no error.
fn put(group: &Path, pid: u32) -> io::Result<()> {
    match fs::write(group.join("cgroup.procs"), pid.to_string()) {
        Err(cause) if cause.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {
            Ok(())
        }
        result => result,
    }
}

/// The directory of a process's group in the hierarchy that freezes.
fn group_of(pid: u32, version: Version) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let path = path_in(&groups, version)?;
    let directory = mount_point(&mounts, version)?.join(path.trim_start_matches('/'));
    directory.is_dir().then_some(directory)
}

/// The path of a process's group, out of `/proc/PID/cgroup`: lines of `number:controllers:path`.
fn path_in(groups: &str, version: Version) -> Option<&str> {
    groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let is_it = match version {
            Version::One => controllers.split(',').any(|controller| controller == "freezer"),
            Version::Two => number == "0" && controllers.is_empty(),
        };
        is_it.then_some(path)
    })
}

/// Where the hierarchy is mounted, out of `/proc/self/mounts`: see `fstab(5)`.
fn mount_point(mounts: &str, version: Version) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (point, kind, options) = (fields.next()?, fields.next()?, fields.next()?);
        let is_it = match version {
            Version::One => {
                kind == "cgroup" && options.split(',').any(|option| option == "freezer")
            }
            Version::Two => kind == "cgroup2",
        };
        is_it.then(|| PathBuf::from(point))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_of_a_process_is_found_in_either_version() {
        let groups = "7:cpuset:/a\n6:freezer:/a/b\n0::/user.slice/x.scope\n";
        assert_eq!(path_in(groups, Version::One), Some("/a/b"));
        assert_eq!(path_in(groups, Version::Two), Some("/user.slice/x.scope"));
        assert_eq!(path_in("3:cpu,freezer:/c\n", Version::One), Some("/c"));
        assert_eq!(path_in("3:cpu,freezer:/c\n", Version::Two), None);
        let mounts = "cgroup /s/freezer cgroup rw,freezer 0 0\ncgroup2 /s/unified cgroup2 rw 0 0\n";
        assert_eq!(mount_point(mounts, Version::One), Some("/s/freezer".into()));
        assert_eq!(mount_point(mounts, Version::Two), Some("/s/unified".into()));
        assert_eq!(mount_point("proc /proc proc rw 0 0\n", Version::Two), None);
    }
}

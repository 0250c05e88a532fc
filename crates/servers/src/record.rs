//! The record of a server in its instance's directory: enough to end one left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::Dbms;
use serde::{Deserialize, Serialize};

use crate::dbms::family;
use crate::error::{Result, ServerError};
use crate::identity::Identity;
use crate::process::end_stranger;
use crate::socket;

/// The file's name; a directory that holds it was made by backslide.
const FILE: &str = "instance.json";

const NEW_FILE: &str = "instance.json.new";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) dbms: Dbms,
    pub(crate) program: PathBuf,
    pub(crate) socket_directory: PathBuf,
    pub(crate) owner: Identity,
    /// The server, while one was started and not yet stopped.
    pub(crate) server: Option<Identity>,
}

impl Record {
    /// The record of a directory; `None` where there is none that can be read.
    pub(crate) fn read(directory: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(directory.join(FILE)).ok()?).ok()
    }

    /// Writes it whole or not at all.
    pub(crate) fn write(&self, directory: &Path) -> Result<()> {
        let path = directory.join(FILE);
        let new = directory.join(NEW_FILE);
        let write = || {
            fs::write(&new, serde_json::to_vec_pretty(self)?)?;
            fs::rename(&new, &path)
        };
        write().map_err(ServerError::io("write", &path))
    }
}

/// Makes `directory` an empty one that is ours: creates it, or empties it if it was ours before.
/// One that a live server uses, or that holds something that is not ours, is refused.
pub(crate) fn claim(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(ServerError::io("create", directory))?;
    let record = Record::read(directory);
    if let Some(server) = record.as_ref().and_then(|record| record.server.as_ref())
        && server.is_alive()
    {
        return Err(ServerError::InUse { directory: directory.to_owned(), pid: server.pid });
    }
    let entries = fs::read_dir(directory)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(ServerError::io("read", directory))?;
    // A crash may have left the half-written record of an otherwise empty directory.
    let others =
        entries.iter().filter(|entry| entry.file_name() != FILE && entry.file_name() != NEW_FILE);
    let others: Vec<PathBuf> = others.map(fs::DirEntry::path).collect();
    let Some(record) = record else {
        let has_record = directory.join(FILE).exists();
        return if others.is_empty() && !has_record {
            Ok(())
        } else {
            Err(ServerError::NotOurs { directory: directory.to_owned() })
        };
    };
    socket::remove(&record.socket_directory);
    others.iter().try_for_each(|path| remove(path))
}

/// Removes a file, or a directory with its content. A link is removed, not its target.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let is_directory = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) }
        .map_err(ServerError::io("remove", path))
}

/// How long an orphan may take to stop cleanly; its data is of no further use.
const STOP_LIMIT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    pub directory: PathBuf,
    pub program: PathBuf,
    pub pid: u32,
    pub how: HowEnded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowEnded {
    Stopped,
    Killed,
    /// Not even that ended it: it waits in the kernel, usually for a disk.
    StillThere,
}

/// Ends every server that a killed backslide left in the instances right below `instances_root`, and
/// removes their socket directories. Servers whose backslide still runs are left alone.
///
/// A process is ended only if pid, start time and boot are the recorded ones, never by its name.
pub fn sweep(instances_root: &Path) -> Vec<Swept> {
    let Ok(entries) = fs::read_dir(instances_root) else {
        return Vec::new(); // No instance was ever made.
    };
    let mut directories: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    directories.sort();
    directories.iter().filter_map(|directory| sweep_one(directory, STOP_LIMIT)).collect()
}

fn sweep_one(directory: &Path, limit: Duration) -> Option<Swept> {
    let record = Record::read(directory)?;
    if record.owner.is_alive() {
        return None;
    }
    let swept = end_server(directory, &record, limit);
    let survives = swept.as_ref().is_some_and(|swept| swept.how == HowEnded::StillThere);
    if !survives {
        socket::remove(&record.socket_directory);
        let without_server = Record { server: None, ..record };
        // If it cannot be written, the next sweep finds the same and ends nothing.
        let _ = without_server.write(directory);
    }
    swept
}

fn end_server(directory: &Path, record: &Record, limit: Duration) -> Option<Swept> {
    let server = record.server.as_ref().filter(|server| server.is_alive())?;
    let stop = family(record.dbms)?.traits().stop;
    let how = if end_stranger(server, stop, limit) {
        HowEnded::Stopped
    } else if server.is_alive() {
        HowEnded::StillThere
    } else {
        HowEnded::Killed
    };
    Some(Swept {
        directory: directory.to_owned(),
        program: record.program.clone(),
        pid: server.pid,
        how,
    })
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use model::Dbms;

    use super::*;
    use crate::identity::Identity;

    fn record(server: Option<Identity>) -> Record {
        Record {
            dbms: Dbms::Mariadb,
            program: "/usr/sbin/mariadbd".into(),
            socket_directory: "/nonexistent/bs-0".into(),
            owner: Identity::of(std::process::id()).unwrap(),
            server,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(Record::read(directory.path()), None);
        let written = record(Some(Identity::of(std::process::id()).unwrap()));
        written.write(directory.path()).unwrap();
        assert_eq!(Record::read(directory.path()), Some(written));
    }

    #[test]
    fn a_directory_of_ours_is_emptied() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("new/one");
        claim(&directory).unwrap();
        record(None).write(&directory).unwrap();
        let kept = root.path().join("kept");
        fs::write(&kept, "x").unwrap();
        fs::create_dir(directory.join("data")).unwrap();
        fs::write(directory.join("data/t"), "x").unwrap();
        std::os::unix::fs::symlink(&kept, directory.join("link")).unwrap();
        claim(&directory).unwrap();
        let names: Vec<_> =
            fs::read_dir(&directory).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, [FILE]);
        assert!(kept.exists());
    }

    #[test]
    fn what_is_not_ours_is_refused_and_untouched() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("thesis.txt");
        fs::write(&file, "x").unwrap();
        let error = claim(directory.path()).unwrap_err();
        assert!(matches!(error, ServerError::NotOurs { .. }), "{error}");
        // A file that merely has our record's name makes it ours no more than any other.
        fs::write(directory.path().join(FILE), "{}").unwrap();
        assert!(claim(directory.path()).is_err());
        fs::remove_file(&file).unwrap();
        assert!(claim(directory.path()).is_err());
    }

    #[test]
    fn a_directory_with_a_live_server_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let live = Identity::of(std::process::id()).unwrap();
        record(Some(live.clone())).write(directory.path()).unwrap();
        let error = claim(directory.path()).unwrap_err();
        assert!(matches!(error, ServerError::InUse { pid, .. } if pid == live.pid), "{error}");
        let gone = Identity { start_ticks: live.start_ticks + 1, ..live };
        record(Some(gone)).write(directory.path()).unwrap();
        claim(directory.path()).unwrap();
    }

    #[test]
    fn a_crash_while_writing_the_first_record_locks_no_one_out() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(NEW_FILE), "{").unwrap();
        claim(directory.path()).unwrap();
    }

    /// A process as a killed backslide would have left it, recorded in `root/x`.
    struct Orphan {
        process: Child,
        record: Record,
        directory: PathBuf,
        socket_directory: PathBuf,
    }

    impl Orphan {
        fn new(root: &Path, mut command: Command) -> Self {
            let process = command.spawn().unwrap();
            let server = Identity::of(process.id()).unwrap();
            let directory = root.join("x");
            let socket_directory = root.join("bs-12345678");
            fs::create_dir_all(&directory).unwrap();
            fs::create_dir_all(&socket_directory).unwrap();
            let record = Record {
                dbms: Dbms::Mariadb,
                program: "/bin/sleep".into(),
                socket_directory: socket_directory.clone(),
                owner: Identity { boot_id: "an earlier boot".to_owned(), ..server.clone() },
                server: Some(server),
            };
            record.write(&directory).unwrap();
            Self { process, record, directory, socket_directory }
        }

        fn rewrite(&mut self, change: impl FnOnce(&mut Record)) {
            change(&mut self.record);
            self.record.write(&self.directory).unwrap();
        }

        fn runs(&mut self) -> bool {
            self.process.try_wait().unwrap().is_none()
        }
    }

    impl Drop for Orphan {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }

    fn sleep() -> Command {
        let mut command = Command::new("sleep");
        command.arg("62");
        command
    }

    #[test]
    fn a_recorded_process_is_ended_and_its_socket_directory_removed() {
        let root = tempfile::tempdir().unwrap();
        let mut orphan = Orphan::new(root.path(), sleep());
        let swept = sweep(root.path());
        assert_eq!(swept.len(), 1);
        assert_eq!((swept[0].pid, swept[0].how), (orphan.process.id(), HowEnded::Stopped));
        assert!(!orphan.runs());
        assert!(!orphan.socket_directory.exists());
        assert_eq!(sweep(root.path()), []);
    }

    #[test]
    fn a_process_that_merely_has_the_pid_is_not_touched() {
        let root = tempfile::tempdir().unwrap();
        let mut orphan = Orphan::new(root.path(), sleep());
        let server = orphan.record.server.clone().unwrap();
        let strangers = [
            Identity { start_ticks: server.start_ticks + 1, ..server.clone() },
            Identity { boot_id: "an earlier boot".to_owned(), ..server },
        ];
        for stranger in strangers {
            orphan.rewrite(|record| record.server = Some(stranger));
            assert_eq!(sweep(root.path()), []);
            assert!(orphan.runs());
        }
    }

    #[test]
    fn the_servers_of_a_backslide_that_runs_are_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let mut orphan = Orphan::new(root.path(), sleep());
        orphan.rewrite(|record| record.owner = Identity::of(std::process::id()).unwrap());
        assert_eq!(sweep(root.path()), []);
        assert!(orphan.runs() && orphan.socket_directory.exists());
    }

    #[test]
    fn one_that_ignores_the_request_is_killed() {
        let root = tempfile::tempdir().unwrap();
        let ready = root.path().join("ready");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "trap '' TERM; : > \"$0\"; while :; do sleep 0.1; done"]).arg(&ready);
        let mut orphan = Orphan::new(root.path(), command);
        while !ready.exists() {
            assert!(orphan.runs());
            std::thread::sleep(Duration::from_millis(5));
        }
        let swept = sweep_one(&orphan.directory, Duration::from_millis(200)).unwrap();
        assert_eq!(swept.how, HowEnded::Killed);
        assert!(!orphan.runs());
    }

    #[test]
    fn other_files_and_a_missing_root_are_no_orphans() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("empty")).unwrap();
        fs::write(root.path().join("file"), "x").unwrap();
        fs::create_dir(root.path().join("torn")).unwrap();
        fs::write(root.path().join("torn/instance.json"), "{\"dbms\":").unwrap();
        assert_eq!(sweep(root.path()), []);
        assert_eq!(sweep(&root.path().join("none")), []);
    }
}

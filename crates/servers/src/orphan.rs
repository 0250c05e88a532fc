//! Servers that a killed backslide left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::dbms::family;
use crate::process::end_stranger;
use crate::record::Record;
use crate::socket;

/// How long an orphan may take to stop cleanly; its data is of no further use.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// A server that was left behind and has been ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// The instance's directory.
    pub directory: PathBuf,
    pub program: PathBuf,
    /// The process it was.
    pub pid: u32,
    pub how: HowEnded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowEnded {
    /// It stopped when asked.
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

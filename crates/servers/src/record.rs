//! The record of a server in its instance's directory: enough to end one left behind.

use std::fs;
use std::path::{Path, PathBuf};

use model::Dbms;
use serde::{Deserialize, Serialize};

use crate::error::ServerError;
use crate::identity::Identity;

/// The file's name; a directory that holds it was made by backslide.
const FILE: &str = "instance.json";

/// The name while it is written.
const NEW_FILE: &str = "instance.json.new";

/// The record of an instance's server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) dbms: Dbms,
    pub(crate) program: PathBuf,
    pub(crate) socket_directory: PathBuf,
    /// The backslide that made it.
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
    pub(crate) fn write(&self, directory: &Path) -> Result<(), ServerError> {
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
pub(crate) fn claim(directory: &Path) -> Result<(), ServerError> {
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
    crate::socket::remove(&record.socket_directory);
    others.iter().try_for_each(|path| remove(path))
}

/// Removes a file, or a directory with its content. A link is removed, not its target.
fn remove(path: &Path) -> Result<(), ServerError> {
    let is_directory = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) }
        .map_err(ServerError::io("remove", path))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

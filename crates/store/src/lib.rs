//! The lab's results in `SQLite`; the only crate that knows SQL of our own store.
//!
//! One file per lab, `lab.sqlite`; its tables are documented in `schema.sql`. It is the journal
//! of a run while it goes on, and all that a comparison or a report needs afterwards. A crash at
//! any moment, of this process or of the machine, leaves a file that opens and holds everything
//! up to a recent commit; a trial without an outcome is done again.
//!
//! [`Store`] writes in `write.rs` and reads in `read.rs`; [`Store::load`] (`load.rs`) reads a
//! whole run for comparison and report; `slices.rs` does both for slices, `control.rs` for verdicts on
//! controls. `merge.rs` joins the runs of several labs.

mod control;
mod error;
mod interval;
mod load;
mod merge;
mod migrate;
mod pack;
mod profile;
mod read;
mod read_only;
mod slices;
mod sqlite;
mod write;

#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use error::{Fault, Result};
pub use error::{NotOneRun, StoreError};
pub use load::finished::Want;
pub use merge::{Merged, merge};
pub use read::{RunSummary, UnderWay};
use sqlite::{PATIENCE, beside, in_transaction, keep_plans};

pub use write::{StepRowId, TrialId, WholeTrial};

/// How often the turn to open the store is asked for.
const POLL: Duration = Duration::from_millis(2);

/// Pages of the write-ahead log after which `SQLite` moves them into the file by itself, 64 MiB.
/// That syncs the disk, so it is done between steps and should not happen within one.
const CHECKPOINT_PAGES: u32 = 16_384;

#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the file, creates it where it is missing, and migrates an older one. Several processes may do so
    /// at the same time. A file that this user may only read is opened for reading: writing to it then fails.
    ///
    /// # Errors
    /// When the file cannot be opened, is not a lab's store, or was written by a newer backslide.
    pub fn open(path: &Path) -> Result<Self> {
        match Self::open_to_write(path) {
            Err(StoreError::Open { .. } | StoreError::ReadOnly { .. }) if path.is_file() => {
                Self::open_to_read(path)
            }
            outcome => outcome,
        }
    }

    /// Opens the file only to read it, also while a run writes it. Neither creates nor migrates one.
    ///
    /// # Errors
    /// When the file is missing, is not a lab's store, or was written by another version of backslide.
    pub fn open_to_read(path: &Path) -> Result<Self> {
        refuse_directory(path)?;
        Ok(Self { connection: read_only::open(path)?, path: path.to_owned() })
    }

    /// Has `SQLite` read the whole file, which takes a second or more for each GiB.
    ///
    /// # Errors
    /// The first damage that it finds.
    pub fn check(&self) -> Result<()> {
        let ask = "PRAGMA quick_check(1)";
        let found: String = self
            .connection
            .query_row(ask, [], |row| row.get(0))
            .map_err(|error| self.failed("checking it", error.into()))?;
        match found.as_str() {
            "ok" => Ok(()),
            _ => Err(self.failed("", Fault::damaged("checking it failed", &found))),
        }
    }

    fn open_to_write(path: &Path) -> Result<Self> {
        refuse_directory(path)?;
        let _turn = turn(path);
        // Without the flag for URIs: a path is a path, whatever it starts with.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // Where the file is missing, only its owner can ever read it. What cannot be created here cannot be created by
        // `SQLite` either, which says why.
        drop(OpenOptions::new().write(true).create_new(true).mode(0o600).open(path));
        let connection = Connection::open_with_flags(path, flags)
            .map_err(|source| StoreError::Open { path: path.to_owned(), source })?;
        let mut store = Self { connection, path: path.to_owned() };
        store.prepare().map_err(|fault| store.failed("opening it", fault))?;
        keep_private(path);
        Ok(store)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        let connection = &mut self.connection;
        connection.busy_timeout(PATIENCE)?;
        keep_plans(connection)?;
        // Before anything is written: the file may belong to someone else.
        migrate::recognise(connection, &self.path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        connection.set_prepared_statement_cache_capacity(32);
        migrate::migrate(connection, migrate::MIGRATIONS)
    }

    /// Runs `change` in a transaction of its own: all of it is kept, or nothing.
    fn write<T>(
        &mut self,
        doing: &'static str,
        change: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T> {
        in_transaction(&mut self.connection, change).map_err(|fault| self.failed(doing, fault))
    }

    /// Runs `query` on one unchanging state of the file, whatever others write meanwhile.
    fn read<T>(
        &self,
        doing: &'static str,
        query: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T> {
        self.connection
            .unchecked_transaction()
            .map_err(Fault::from)
            .and_then(|snapshot| query(&snapshot))
            .map_err(|fault| self.failed(doing, fault))
    }

    fn failed(&self, doing: &'static str, fault: Fault) -> StoreError {
        fault.at(&self.path, doing)
    }
}

/// `SQLite` only says that it is unable to open the file.
fn refuse_directory(path: &Path) -> Result<()> {
    if path.is_dir() { Err(StoreError::Directory { path: path.to_owned() }) } else { Ok(()) }
}

/// Waits for the turn to create, migrate or switch the journal of the store: these cannot be done by two
/// processes at once. A lock of the directory, so that no file stays. Where there are no such locks, or
/// another process takes too long, the store is opened without a turn.
fn turn(path: &Path) -> Option<File> {
    let directory = File::open(path.parent()?).ok()?;
    let since = Instant::now();
    loop {
        match directory.try_lock() {
            Ok(()) => return Some(directory),
            Err(TryLockError::WouldBlock) if since.elapsed() < PATIENCE => thread::sleep(POLL),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return None,
        }
    }
}

/// Lets only the owner read the store: it holds what servers said of themselves. `SQLite` gives the files
/// beside it the same mode.
fn keep_private(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let file = beside(path, suffix);
        if let Ok(metadata) = fs::metadata(&file)
            && metadata.mode() & 0o077 != 0
        {
            let closed = Permissions::from_mode(metadata.mode() & 0o700);
            // Another user's lab is for its owner to close.
            let _refused = fs::set_permissions(&file, closed);
        }
    }
}

//! Opens a store that this user may not write to.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::error::{Fault, Result, StoreError};
use crate::migrate::{self, MIGRATIONS};
use crate::sqlite::{PATIENCE, beside};

/// Opens the file for reading. It needs the current schema, because it cannot be migrated.
pub(crate) fn open(path: &Path) -> Result<Connection> {
    let failed = |fault: Fault| fault.at(path, "opening it to read");
    let needs_writing = |why| StoreError::NeedsWriting { path: path.to_owned(), why };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match connect(path, path, flags).map_err(failed) {
        // Readers of the write-ahead log need its index: nobody has made it, and this user cannot.
        Err(StoreError::Open { .. } | StoreError::ReadOnly { .. }) => {
            if has_log(path) {
                return Err(needs_writing("its latest changes are still in its log"));
            }
            connect(&uri(path, "immutable=1"), path, flags | OpenFlags::SQLITE_OPEN_URI)
                .map_err(failed)?
        }
        outcome => outcome?,
    };
    let schema = migrate::schema_version(&connection).map_err(failed)?;
    if (schema as usize) < MIGRATIONS.len() {
        return Err(needs_writing("an older backslide wrote it"));
    }
    Ok(connection)
}

/// Opens `address` and reads from it: only that shows whether it can be read. `path` is for messages.
fn connect(address: &Path, path: &Path, flags: OpenFlags) -> Result<Connection, Fault> {
    let connection = Connection::open_with_flags(address, flags)?;
    connection.busy_timeout(PATIENCE)?;
    migrate::recognise(&connection, path)?;
    Ok(connection)
}

/// Does the write-ahead log hold changes that may not be in the file yet?
pub(crate) fn has_log(path: &Path) -> bool {
    beside(path, "-wal").metadata().is_ok_and(|log| log.len() > 0)
}

/// The URI of a file. `immutable=1` reads it alone, without locks and without a log.
pub(crate) fn uri(path: &Path, query: &str) -> PathBuf {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.push('?');
    uri.push_str(query);
    PathBuf::from(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_in_the_uri() {
        let shown = uri(Path::new("/a b/50%?x#é.sqlite"), "immutable=1");
        assert_eq!(shown.to_str(), Some("file:/a%20b/50%25%3Fx%23%C3%A9.sqlite?immutable=1"));
    }
}

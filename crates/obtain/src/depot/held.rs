//! Who uses what: one process at a time changes the depot, and trees that somebody uses stay until he is done.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use model::ObtainEvent;

use crate::Listen;
use crate::error::{ObtainError, Result};

/// A build that stays on this machine as it is while this lives, or that nobody comes to use; the kernel lets go
/// of it when this process ends, however it ends.
#[derive(Debug)]
pub struct Held {
    /// `None` for files that the depot may not remove.
    _tree: Option<File>,
}

/// Holds the tree of the depot that `directory` is, or is in; `None` where it is gone.
pub(super) fn hold(trees: &Path, directory: &Path) -> Result<Option<Held>> {
    let inside = directory.strip_prefix(trees).ok().and_then(|inside| inside.iter().next());
    let Some(tree) = inside.map(|name| trees.join(name)) else {
        return Ok(Some(Held { _tree: None }));
    };
    // The opened file may have been replaced during the wait for its lock.
    while let Ok(file) = File::open(&tree) {
        match file.try_lock_shared() {
            // Some file systems lock no directories: there nothing can be held.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            // It is being removed or replaced at this moment.
            Err(TryLockError::WouldBlock) => {
                file.lock_shared().map_err(ObtainError::io("lock", &tree))?;
            }
        }
        if is_at(&file, &tree) {
            return Ok(Some(Held { _tree: Some(file) }));
        }
    }
    Ok(None)
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), path.metadata()) else {
        return false;
    };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

/// Takes the tree at `path` for a change of it; `None` while somebody holds it.
pub(super) fn take(path: &Path) -> Option<Held> {
    let Ok(file) = File::open(path) else {
        return Some(Held { _tree: None });
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => None,
        Ok(()) | Err(TryLockError::Error(_)) => Some(Held { _tree: Some(file) }),
    }
}

/// The lock of the depot in `root`, held while something is changed; the kernel lets go of it when this process ends,
/// however it ends. Waits for whoever has it, and says so.
pub(super) fn lock(root: &Path, listen: &mut Listen<'_>) -> Result<File> {
    fs::create_dir_all(root).map_err(ObtainError::io("create", root))?;
    let path = root.join("lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(ObtainError::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(cause)) => return Err(ObtainError::io("lock", &path)(cause)),
    }
    listen(ObtainEvent::Waiting);
    file.lock().map_err(ObtainError::io("lock", &path))?;
    Ok(file)
}

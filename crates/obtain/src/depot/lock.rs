//! One process at a time changes the depot.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;

use model::ObtainEvent;

use crate::error::ObtainError;

/// Held while something is changed; the kernel lets go of it when this process ends, however it ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of the depot in `root`; waits for whoever has it, and says so.
    pub(super) fn take(
        root: &Path,
        listen: &mut dyn FnMut(ObtainEvent),
    ) -> Result<Self, ObtainError> {
        fs::create_dir_all(root).map_err(ObtainError::io("create", root))?;
        let path = root.join("lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(ObtainError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => return Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(cause)) => return Err(ObtainError::io("lock", &path)(cause)),
        }
        listen(ObtainEvent::Checking {
            what: "whether another backslide, which is installing something, is done".to_owned(),
        });
        file.lock().map_err(ObtainError::io("lock", &path))?;
        Ok(Self { _file: file })
    }
}

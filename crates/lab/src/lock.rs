//! One run at a time in a lab.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::LabError;

/// Held while a run is under way; the kernel lets go of it when this process ends, however it ends.
#[derive(Debug)]
pub struct RunLock {
    file: File,
}

impl Drop for RunLock {
    /// Closing the file is not enough: a process that another thread is just starting has it open, too, until its
    /// program is loaded.
    fn drop(&mut self) {
        // The end of this process repairs a failure here.
        let _unlocked = self.file.unlock();
    }
}

impl RunLock {
    /// Takes the lock of the lab in `root`.
    pub(crate) fn take(root: &Path) -> Result<Self, LabError> {
        let path = root.join("run.lock");
        let failed =
            |action: &'static str, cause| LabError::Directory { action, path: path.clone(), cause };
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|cause| failed("open", cause))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                let mut owner = String::new();
                // The holder's name is only a hint; the lock itself counts.
                let _read = file.read_to_string(&mut owner);
                return Err(LabError::Busy {
                    path: root.to_owned(),
                    owner: owner.trim().to_owned(),
                });
            }
            Err(std::fs::TryLockError::Error(cause)) => return Err(failed("lock", cause)),
        }
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()));
        written.map_err(|cause| failed("write", cause))?;
        Ok(Self { file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_let_go_of_although_another_process_has_the_file_open() {
        let root = tempfile::tempdir().unwrap();
        let lock = RunLock::take(root.path()).unwrap();
        let inherited = lock.file.try_clone().unwrap();
        assert!(matches!(RunLock::take(root.path()), Err(LabError::Busy { .. })));
        drop(lock);
        RunLock::take(root.path()).unwrap();
        drop(inherited);
    }
}

//! Keeps a lab private: it contains servers' variables, and the data of running ones.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

/// A directory that others may fill has it, such as `/tmp`; it is not ours to close.
const STICKY: u32 = 0o1000;

/// Permissions of others on a lab's directory: none. A lab of root may be entered, not listed: `PostgreSQL`
/// refuses to run as root, and the account in its place has to reach its data.
fn open_to_others() -> u32 {
    if rustix::process::geteuid().is_root() { 0o011 } else { 0 }
}

/// Makes `directory`, and closes it to others if it is new or `is_lab`. Any other stays as open as it is.
pub(crate) fn make(directory: &Path, is_lab: bool) -> io::Result<()> {
    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent)?;
    }
    let made = DirBuilder::new().mode(0o700 | open_to_others()).create(directory);
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {
            if is_lab {
                close(directory);
            }
            Ok(())
        }
        made => made,
    }
}

/// Removes the permissions of others on a directory.
fn close(directory: &Path) {
    let Ok(metadata) = fs::metadata(directory) else {
        return;
    };
    let mode = metadata.mode() & 0o7777;
    let closed = mode & (0o700 | open_to_others());
    if mode & STICKY == 0 && mode != closed {
        // Another user's lab is for its owner to close.
        let _refused = fs::set_permissions(directory, Permissions::from_mode(closed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_new_lab_and_one_that_is_there_are_closed_and_other_directories_are_not() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let closed = 0o700 | open_to_others();
        make(&at("a/lab"), false).unwrap();
        assert_eq!(mode(&at("a/lab")), closed);
        for (name, is_lab, before, after) in [
            ("lab", true, 0o755, closed),
            ("closed", true, 0o700, 0o700),
            ("shared", true, 0o1777, 0o1777),
            ("other", false, 0o755, 0o755),
        ] {
            fs::create_dir(at(name)).unwrap();
            fs::set_permissions(at(name), Permissions::from_mode(before)).unwrap();
            make(&at(name), is_lab).unwrap();
            assert_eq!(mode(&at(name)), after, "{name}");
        }
        fs::write(at("file"), "").unwrap();
        assert!(make(&at("file"), true).is_err());
    }
}

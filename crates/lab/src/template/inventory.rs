//! The inventory of a data directory without file contents: enough to identify a clone and to notice damage.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use model::Bytes;
use obtain::text_digest;
use serde::{Deserialize, Serialize};

/// Unit of `st_blocks`, whatever the filesystem's own block is.
const BLOCK: u64 = 512;

/// Name, kind, mode, length and time of everything in a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Inventory {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// SHA-256 over all that [`Inventory`] is about.
    pub(crate) digest: String,
}

impl Inventory {
    pub(crate) fn of(root: &Path) -> io::Result<(Self, Bytes)> {
        let (mut files, mut bytes, mut allocated) = (0, 0, 0);
        let mut lines = Vec::new();
        let mut open = vec![root.to_owned()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory)? {
                let entry = entry?;
                let metadata = entry.metadata()?;
                let path = entry.path();
                let mode = metadata.mode();
                let of_its_kind = if metadata.is_dir() {
                    open.push(path.clone());
                    String::new()
                } else if metadata.is_symlink() {
                    fs::read_link(&path)?.display().to_string()
                } else if metadata.is_file() {
                    files += 1;
                    bytes += metadata.len();
                    let time = (metadata.mtime(), metadata.mtime_nsec());
                    format!("{} {time:?}", metadata.len())
                } else {
                    // Sockets and the like are no data and not cloned.
                    continue;
                };
                allocated += metadata.blocks() * BLOCK;
                let name = path.strip_prefix(root).unwrap_or(&path).as_os_str();
                let name = name.as_bytes().escape_ascii();
                lines.push(format!("{name} {mode:o} {of_its_kind}\n"));
            }
        }
        lines.sort();
        let inventory = Self { files, bytes, digest: text_digest(&lines.concat()) };
        Ok((inventory, Bytes(allocated)))
    }

    /// The first difference in `found`, for people; `None` without one.
    pub(crate) fn difference(&self, found: &Self) -> Option<String> {
        if self == found {
            return None;
        }
        let numbers = |of: &Self| amount(Bytes(of.bytes), of.files);
        Some(if (self.files, self.bytes) == (found.files, found.bytes) {
            "a file has another name, length, mode or time".to_owned()
        } else {
            format!("expected {}, found {}", numbers(self), numbers(found))
        })
    }
}

/// `1.25 GiB in 230 files`.
pub(crate) fn amount(bytes: Bytes, files: u64) -> String {
    let s = if files == 1 { "" } else { "s" };
    format!("{bytes} in {files} file{s}")
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn a_clone_has_the_same_and_every_change_shows() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        fs::create_dir_all(from.join("ib/empty")).unwrap();
        fs::write(from.join("ib/pi1.ibd"), vec![7; 3 << 20]).unwrap();
        fs::write(from.join("ibdata1"), "x").unwrap();
        std::os::unix::fs::symlink("ibdata1", from.join("link")).unwrap();
        let (original, allocated) = Inventory::of(&from).unwrap();
        assert_eq!((original.files, original.bytes), (2, (3 << 20) + 1));
        assert!(allocated >= Bytes::from_mib(3), "{allocated}");
        let differs = |change: &dyn Fn(&Path)| {
            let _absent = fs::remove_dir_all(&to);
            servers::clone_tree(&from, &to).unwrap();
            change(&to);
            original.difference(&Inventory::of(&to).unwrap().0)
        };
        assert_eq!(differs(&|_| ()), None);
        let shorter = differs(&|to| {
            File::options()
                .write(true)
                .open(to.join("ib/pi1.ibd"))
                .unwrap()
                .set_len(1 << 20)
                .unwrap();
        });
        insta::assert_snapshot!(shorter.unwrap(), @"expected 3.00 MiB in 2 files, found 1.00 MiB in 2 files");
        let gone = differs(&|to| fs::remove_file(to.join("ibdata1")).unwrap());
        insta::assert_snapshot!(gone.unwrap(), @"expected 3.00 MiB in 2 files, found 3.00 MiB in 1 file");
        let other = Some("a file has another name, length, mode or time".to_owned());
        let changes: [&dyn Fn(&Path); 4] = [
            &|to| fs::remove_dir(to.join("ib/empty")).unwrap(),
            &|to| fs::write(to.join("ibdata1"), "y").unwrap(),
            &|to| fs::rename(to.join("ibdata1"), to.join("ibdata2")).unwrap(),
            &|to| fs::remove_file(to.join("link")).unwrap(),
        ];
        for change in changes {
            assert_eq!(differs(change), other);
        }
    }
}

//! Directories of files: their digest and size, the space that is left for them, and their end.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use model::{Bytes, hexadecimal};
use sha2::{Digest, Sha256};

use crate::error::{ObtainError, Result};

/// What stays free on the disk whatever is installed.
pub(crate) const RESERVE: Bytes = Bytes(1 << 30);

/// The space that is free for this user where `directory` is.
pub(crate) fn free(directory: &Path) -> Result<Bytes> {
    let disk = rustix::fs::statvfs(directory)
        .map_err(|cause| ObtainError::io("ask the free space of", directory)(cause.into()))?;
    Ok(Bytes(disk.f_bavail.saturating_mul(disk.f_frsize)))
}

/// Something in a tree: its path from the top, and what the system says of it itself.
pub(crate) struct Item {
    pub(crate) path: PathBuf,
    pub(crate) metadata: Metadata,
}

/// Everything below `root`, links as themselves, sorted by path; a directory before what is in it.
pub(crate) fn walk(root: &Path) -> Result<Vec<Item>> {
    let mut items = Vec::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(directory) = pending.pop() {
        let full = root.join(&directory);
        for name in names(&full)? {
            let path = directory.join(name);
            let full = root.join(&path);
            let metadata =
                fs::symlink_metadata(&full).map_err(ObtainError::io("look at", &full))?;
            if metadata.is_dir() {
                pending.push(path.clone());
            }
            items.push(Item { path, metadata });
        }
    }
    items.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(items)
}

pub(crate) fn names(directory: &Path) -> Result<Vec<OsString>> {
    let read = || -> io::Result<Vec<OsString>> {
        let mut names = fs::read_dir(directory)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    };
    read().map_err(ObtainError::io("list", directory))
}

/// SHA-256 over the sorted listing of a tree: each path, whether it is a program, and the digest of its
/// content or the target of the link. Owners, times and other permissions do not count.
pub(crate) fn digest(root: &Path) -> Result<String> {
    let mut listing = Sha256::new();
    for Item { path, metadata } in walk(root)? {
        let full = root.join(&path);
        let (kind, content) = if metadata.is_dir() {
            ("directory", Vec::new())
        } else if metadata.is_symlink() {
            let target = fs::read_link(&full).map_err(ObtainError::io("read", &full))?;
            ("link", target.as_os_str().as_bytes().to_vec())
        } else {
            let program = metadata.permissions().mode() & 0o100 != 0;
            let kind = if program { "program" } else { "file" };
            (kind, file_digest(&full)?.into_bytes())
        };
        // Neither a path nor a target can hold a zero byte, so that no two trees have one listing.
        for part in [path.as_os_str().as_bytes(), kind.as_bytes(), &content] {
            listing.update(part);
            listing.update([0]);
        }
    }
    Ok(hexadecimal(&listing.finalize()))
}

/// SHA-256 of a file, in lower-case hexadecimal digits.
pub fn file_digest(path: &Path) -> Result<String> {
    let read = || -> io::Result<String> {
        let mut file = File::open(path)?;
        let mut digest = Sha256::new();
        let mut buffer = vec![0; 128 << 10];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(hexadecimal(&digest.finalize())),
                count => digest.update(buffer.get(..count).unwrap_or_default()),
            }
        }
    };
    read().map_err(ObtainError::io("read", path))
}

/// SHA-256 of a text, in lower-case hexadecimal digits.
pub fn text_digest(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes()))
}

/// What a tree takes on the disk; a file with several names counts once.
pub(crate) fn size(root: &Path) -> Result<Bytes> {
    let mut seen = std::collections::HashSet::new();
    let items = walk(root)?;
    let blocks = items
        .iter()
        .filter(|item| item.metadata.is_dir() || seen.insert(item.metadata.ino()))
        .map(|item| item.metadata.blocks());
    Ok(Bytes(blocks.sum::<u64>() * 512))
}

/// The way from the link `link` to `to`, both below the same directory.
pub(crate) fn relative(link: &Path, to: &Path) -> PathBuf {
    let from: Vec<_> = link.parent().into_iter().flat_map(Path::iter).collect();
    let to: Vec<_> = to.iter().collect();
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut way: PathBuf = from.iter().skip(common).map(|_| "..").collect();
    way.extend(to.iter().skip(common));
    if way.as_os_str().is_empty() {
        way.push(".");
    }
    way
}

/// Gives a file a second name, in place of what has that name. A file system without second names gets
/// a copy.
pub(crate) fn share(file: &Path, name: &Path) -> Result<()> {
    let share = || match fs::hard_link(file, name) {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(name)?;
            fs::hard_link(file, name)
        }
        done => done,
    };
    share().or_else(|_| fs::copy(file, name).map(drop)).map_err(ObtainError::io("create", name))
}

/// Removes a tree, or what there is of it; directories in it may be closed to their owner.
pub(crate) fn remove(root: &Path) -> Result<()> {
    let remove = || match fs::symlink_metadata(root) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(root),
        Ok(_) => fs::remove_file(root),
        Err(cause) => Err(cause),
    };
    let mut removed = remove();
    if removed.as_ref().is_err_and(|cause| cause.kind() == io::ErrorKind::PermissionDenied) {
        open_directories(root);
        removed = remove();
    }
    match removed {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
            Err(ObtainError::io("remove", root)(cause))
        }
        _ => Ok(()),
    }
}

/// Lets the owner into every directory; where that fails, removing says why.
fn open_directories(root: &Path) {
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        let _refused = fs::set_permissions(&directory, Permissions::from_mode(0o700));
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        pending.extend(directories.map(|entry| entry.path()));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("bin")).unwrap();
        fs::write(root.path().join("bin/mysqld"), "server").unwrap();
        fs::write(root.path().join("readme"), "text").unwrap();
        symlink("mysqld", root.path().join("bin/mariadbd")).unwrap();
        root
    }

    #[test]
    fn the_digest_is_of_paths_programs_contents_and_links() {
        let (one, two) = (tree(), tree());
        let at = |path: &str| two.path().join(path);
        let first = digest(one.path()).unwrap();
        assert_eq!(first.len(), 64);
        assert_eq!(first, digest(two.path()).unwrap());
        // Neither who may write nor when it was written counts.
        fs::set_permissions(at("readme"), Permissions::from_mode(0o600)).unwrap();
        assert_eq!(first, digest(two.path()).unwrap());
        let mut seen = vec![first];
        let mut differs = |what: &str| {
            let now = digest(two.path()).unwrap();
            assert!(!seen.contains(&now), "{what}");
            seen.push(now);
        };
        fs::set_permissions(at("readme"), Permissions::from_mode(0o755)).unwrap();
        differs("a program");
        fs::write(at("readme"), "other").unwrap();
        differs("content");
        fs::rename(at("readme"), at("read")).unwrap();
        differs("a name");
        fs::remove_file(at("bin/mariadbd")).unwrap();
        symlink("../read", at("bin/mariadbd")).unwrap();
        differs("a link");
        fs::create_dir(at("empty")).unwrap();
        differs("a directory");
    }

    #[test]
    fn a_file_with_two_names_counts_once() {
        let root = tree();
        fs::write(root.path().join("large"), vec![1; 1 << 20]).unwrap();
        let before = size(root.path()).unwrap();
        fs::hard_link(root.path().join("large"), root.path().join("again")).unwrap();
        assert_eq!(size(root.path()).unwrap(), before);
        assert!(before.0 >= 1 << 20, "{before}");
    }

    #[test]
    fn closed_directories_are_removed_too() {
        let root = tree();
        let bin = root.path().join("bin");
        fs::set_permissions(&bin, Permissions::from_mode(0o000)).unwrap();
        remove(root.path()).unwrap();
        assert!(!root.path().exists());
        remove(root.path()).unwrap();
    }

    #[test]
    fn removing_a_link_leaves_what_it_leads_to() {
        let (root, other) = (tree(), tree());
        symlink(other.path(), root.path().join("away")).unwrap();
        remove(&root.path().join("away")).unwrap();
        remove(root.path()).unwrap();
        assert!(other.path().join("readme").exists());
    }
}

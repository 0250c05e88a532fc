//! The libraries of another release, flat in one directory.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::archive;
use crate::error::{LibraryError, ObtainError, Result};
use crate::tree::{self, Item};

/// The loader of programs; it must be one itself.
pub(super) const LOADER: &str = "ld-linux-x86-64.so.2";

const NEEDED: [&str; 2] = [LOADER, "libc.so.6"];

/// Directories whose libraries are parts of something else: it loads them itself, by their path.
const PARTS: [&str; 9] =
    ["gconv", "ossl-modules", "plugin", "plugins", "sasl2", "security", "systemd", "udev", "audit"];

const PARTS_BEGIN: [&str; 3] = ["engines-", "perl", "python"];

/// Lays the shared libraries of packages into `syslib`, each under all names that it is asked for by.
pub(super) fn lay(packages: &[PathBuf], syslib: &Path) -> Result<()> {
    fs::create_dir_all(syslib).map_err(ObtainError::io("create", syslib))?;
    // On the same disk, so that files need no copies.
    let scratch = tempfile::tempdir_in(syslib).map_err(ObtainError::io("create", syslib))?;
    archive::unpack(packages, scratch.path())?;
    let items = tree::walk(scratch.path())?;
    let mut found: Vec<_> = items.iter().filter_map(|item| library(scratch.path(), item)).collect();
    // Links first: by their names libraries are asked for.
    found.sort_by_key(|library| !library.is_link);
    let mut laid: Vec<&Library> = Vec::new();
    for library in &found {
        let goes_on =
            |link: &&Library| link.real == library.real && goes_on(&library.name, &link.name);
        if laid.iter().any(|other| other.name == library.name) || laid.iter().any(goes_on) {
            continue;
        }
        let to = syslib.join(&library.name);
        tree::share(&library.real, &to)?;
        laid.push(library);
    }
    for missing in NEEDED {
        if !syslib.join(missing).is_file() {
            return Err(LibraryError::NotWhole { missing }.into());
        }
    }
    let loader = syslib.join(LOADER);
    fs::set_permissions(&loader, Permissions::from_mode(0o755))
        .map_err(ObtainError::io("set the permissions of", &loader))
}

/// `libz.so.1.3.1` goes on where `libz.so.1` ends: nothing asks for it by that name.
fn goes_on(name: &str, link: &str) -> bool {
    name.strip_prefix(link).is_some_and(|rest| rest.starts_with('.'))
}

#[derive(Debug)]
struct Library {
    name: String,
    is_link: bool,
    real: PathBuf,
}

/// The library that `item` of the tree below `root` is, unless it is a part of something else.
fn library(root: &Path, item: &Item) -> Option<Library> {
    let name = item.path.file_name()?.to_string_lossy().into_owned();
    let mut above = item.path.parent()?.iter();
    if !is_library(&name) || above.any(|directory| is_part(&directory.to_string_lossy())) {
        return None;
    }
    let real = root.join(&item.path).canonicalize().ok()?;
    real.is_file().then(|| Library { name, is_link: item.metadata.is_symlink(), real })
}

fn is_part(directory: &str) -> bool {
    PARTS.contains(&directory) || PARTS_BEGIN.iter().any(|start| directory.starts_with(start))
}

/// `libz.so`, or `libz.so.1.3.1`; not a description of a library in a file beside it.
fn is_library(name: &str) -> bool {
    let is_version =
        |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.contains('-');
    Path::new(name).extension().is_some_and(|kind| kind == "so")
        || name.rsplit_once(".so.").is_some_and(|(_, rest)| is_version(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A package, as a tar: files, and links as `name -> target`.
    fn package(directory: &Path, name: &str, entries: &[&str]) -> PathBuf {
        let path = directory.join(name);
        let mut tar = tar::Builder::new(fs::File::create(&path).unwrap());
        for entry in entries {
            let mut header = tar::Header::new_gnu();
            header.set_mode(0o644);
            header.set_size(0);
            if let Some((name, target)) = entry.split_once(" -> ") {
                header.set_entry_type(tar::EntryType::Symlink);
                tar.append_link(&mut header, name, target).unwrap();
            } else {
                header.set_size(entry.len() as u64);
                tar.append_data(&mut header, entry, entry.as_bytes()).unwrap();
            }
        }
        tar.finish().unwrap();
        path
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn libraries_are_laid_flat_and_parts_of_something_else_left() {
        let root = tempfile::tempdir().unwrap();
        let c = package(
            root.path(),
            "c.tar",
            &[
                "lib/x86_64-linux-gnu/ld-2.31.so",
                "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 -> ld-2.31.so",
                "lib/x86_64-linux-gnu/libc-2.31.so",
                "lib/x86_64-linux-gnu/libc.so.6 -> libc-2.31.so",
                "usr/lib/x86_64-linux-gnu/gconv/UTF-16.so",
                "usr/share/doc/libc6/notes.so-and-so",
                "usr/lib/debug/libc.so.6-gdb.py",
            ],
        );
        let z = package(
            root.path(),
            "z.tar",
            &[
                "usr/lib/x86_64-linux-gnu/libz.so.1 -> libz.so.1.3.1",
                "usr/lib/x86_64-linux-gnu/libz.so.1.3.1",
                "usr/lib/x86_64-linux-gnu/libssl.so.3",
                "usr/lib/x86_64-linux-gnu/engines-3/afalg.so",
                "usr/lib/x86_64-linux-gnu/libmariadb3/plugin/dialog.so",
                "usr/lib/python3/x.so",
                "usr/lib/x86_64-linux-gnu/libgone.so.1 -> libgone.so.1.0",
            ],
        );
        let syslib = root.path().join("syslib");
        lay(&[c, z.clone()], &syslib).unwrap();
        assert_eq!(
            names(&syslib),
            [
                "ld-2.31.so",
                "ld-linux-x86-64.so.2",
                "libc-2.31.so",
                "libc.so.6",
                "libssl.so.3",
                "libz.so.1"
            ]
        );
        for name in names(&syslib) {
            assert!(fs::symlink_metadata(syslib.join(name)).unwrap().is_file());
        }
        let text = fs::read_to_string(syslib.join("libz.so.1")).unwrap();
        assert!(text.ends_with("libz.so.1.3.1"));
        let mode = fs::metadata(syslib.join(LOADER)).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111);
        // No other unpacked file is left.
        assert_eq!(names(root.path()), ["c.tar", "syslib", "z.tar"]);
        let error = lay(&[z], &root.path().join("other")).unwrap_err();
        insta::assert_snapshot!(error, @"the libraries of the packages are incomplete: ld-linux-x86-64.so.2 is missing");
    }
}

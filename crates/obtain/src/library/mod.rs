//! Libraries that a host may not have: found by asking, or brought along for another release.

mod patch;
mod syslib;

use std::fs;
use std::path::{Path, PathBuf};

use model::{Build, Bytes, Helper};

pub(crate) use patch::patch_programs;

use crate::error::{LibraryError, ObtainError, Result};
use crate::fetch::{Clients, Closure, Errand, fetch};
use crate::{Work, place, tree};

const MOST: usize = 16;

/// Asks the server in `directory` what it is; whenever it lacks a library that a helper has, that comes
/// into `directory/lib`, and the server is asked again.
pub(crate) fn complete(directory: &Path, work: &mut Work<'_>) -> Result<Build> {
    let mut added: Vec<String> = Vec::new();
    loop {
        let cause = match (work.identify)(directory) {
            Ok(build) => return Ok(build),
            Err(cause) => cause,
        };
        let answer = cause.to_string();
        let Some(library) = missing_library(&answer) else {
            let what = format!("the server in {}", directory.display());
            return Err(ObtainError::Server { what, cause });
        };
        if added.len() == MOST || added.iter().any(|earlier| earlier == library) {
            let library = library.to_owned();
            return Err(LibraryError::NotFoundThere { library, answer }.into());
        }
        add(library, directory, work)?;
        added.push(library.to_owned());
    }
}

fn add(library: &str, directory: &Path, work: &mut Work<'_>) -> Result<()> {
    let Some(helper) = work.helper(library).cloned() else {
        return Err(LibraryError::Missing { library: library.to_owned() }.into());
    };
    let file = provide(&helper, &Clients::of_user(), work).map_err(|cause| {
        LibraryError::NotFetched { library: library.to_owned(), cause: Box::new(cause) }
    })?;
    let libraries = directory.join("lib");
    fs::create_dir_all(&libraries).map_err(ObtainError::io("create", &libraries))?;
    let to = libraries.join(library);
    fs::copy(&file, &to).map_err(ObtainError::io("write", &to))?;
    Ok(())
}

const BEGIN: &str = "error while loading shared libraries: ";

/// How it goes on after the library's name.
const END: &str = ": cannot open shared object file";

/// The library that the program lacks; `None` where it has another trouble.
fn missing_library(answer: &str) -> Option<&str> {
    let (_, rest) = answer.split_once(BEGIN)?;
    let (library, _) = rest.split_once(END)?;
    let is_name = library.contains(".so")
        && !library.starts_with('.')
        && library.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c));
    is_name.then_some(library)
}

/// Digits of a digest that tell parcels of one name apart.
const DIGITS: usize = 16;

/// The file of a helper, fetched where it is not there yet.
fn provide(helper: &Helper, clients: &Clients, work: &mut Work<'_>) -> Result<PathBuf> {
    let cache = work.downloads();
    let ready = cache.join(key(helper));
    let file = ready.join(&helper.name);
    if file.is_file() {
        return Ok(file);
    }
    let parcel = &helper.parcel;
    // Directly in the cache, so that it has what parcels share.
    let download = cache.join(format!("helper-{}", helper.name));
    let mut errand = Errand::new(&parcel.origin, Bytes(0), &download, clients, work.listen)?;
    let fetched = fetch(&parcel.origin, parcel.sha256.as_deref(), Closure::None, &mut errand)?;
    let scratch = tempfile::tempdir_in(&cache).map_err(ObtainError::io("create", &cache))?;
    let unpacked = scratch.path().join("unpacked");
    let room = scratch.path().join("room");
    place::assemble(&fetched.archives, &parcel.place, &room, &unpacked)?;
    let inside = unpacked.join(&helper.name);
    if !inside.is_file() {
        return Err(LibraryError::NotInside {
            what: parcel.origin.describe(),
            name: helper.name.clone(),
        }
        .into());
    }
    // A copy of what a link leads to, because it alone is kept; complete from the moment it has its name.
    let whole = scratch.path().join("whole");
    fs::copy(&inside, &whole).map_err(ObtainError::io("copy", &inside))?;
    fs::create_dir_all(&ready).map_err(ObtainError::io("create", &ready))?;
    fs::rename(&whole, &file).map_err(ObtainError::io("move", &whole))?;
    tree::remove(&download)?;
    Ok(file)
}

/// Another parcel of the same name has another key.
fn key(helper: &Helper) -> String {
    let mut digest = tree::text_digest(&format!("{:?}", helper.parcel));
    digest.truncate(DIGITS);
    format!("{}-{digest}", helper.name)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use model::{BuildSource, Dbms, Origin, Parcel, Placing};

    use super::*;
    use crate::depot::Effort;

    fn build() -> Build {
        Build::new(Dbms::Mysql, "5.6.24".parse().unwrap(), BuildSource::Embedded)
    }

    /// An archive of a library, with its name a link as packages have it.
    fn archive(directory: &Path) -> PathBuf {
        let path = directory.join("odd name.tar");
        let mut tar = tar::Builder::new(fs::File::create(&path).unwrap());
        let mut header = tar::Header::new_gnu();
        header.set_size(7);
        header.set_mode(0o644);
        tar.append_data(&mut header, "usr/lib/libodd.so.1.0.2", &b"library"[..]).unwrap();
        let mut link = tar::Header::new_gnu();
        link.set_size(0);
        link.set_entry_type(tar::EntryType::Symlink);
        tar.append_link(&mut link, "usr/lib/libodd.so.1", "libodd.so.1.0.2").unwrap();
        tar.finish().unwrap();
        path
    }

    fn helper(archive: &Path) -> Helper {
        Helper {
            name: "libodd.so.1".to_owned(),
            parcel: Parcel {
                origin: Origin::File(archive.display().to_string()),
                sha256: None,
                place: vec![Placing {
                    from: "usr/lib/libodd.so.*".to_owned(),
                    ..Placing::default()
                }],
            },
        }
    }

    fn lacks(library: &str) -> String {
        format!(
            "mysqld: error while loading shared libraries: {library}: cannot open shared object file: No such file or directory"
        )
    }

    #[test]
    fn a_library_that_a_helper_has_comes_beside_the_server() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("build");
        let library = directory.join("lib/libodd.so.1");
        let asked = Cell::new(0);
        let identify = |_: &Path| {
            asked.set(asked.get() + 1);
            if library.exists() { Ok(build()) } else { Err(lacks("libodd.so.1").into()) }
        };
        let helpers = [helper(&archive(root.path()))];
        let mut work = Work {
            root: root.path(),
            helpers: &helpers,
            identify: &identify,
            listen: &mut |_| {},
            effort: Effort::usual(),
        };
        let found = complete(&directory, &mut work).unwrap();
        assert_eq!((found, asked.get()), (build(), 2));
        assert_eq!(fs::read(&library).unwrap(), b"library");
        assert!(!fs::symlink_metadata(&library).unwrap().is_symlink());
        // The archive is not needed a second time.
        fs::remove_file(root.path().join("odd name.tar")).unwrap();
        fs::remove_dir_all(&directory).unwrap();
        complete(&directory, &mut work).unwrap();
    }

    #[test]
    fn what_no_helper_has_is_named_with_what_to_do() {
        let root = tempfile::tempdir().unwrap();
        let ask = |helpers: &[Helper], answer: String| {
            let identify = |_: &Path| Err(answer.clone().into());
            let root = root.path();
            let mut work = Work {
                root,
                helpers,
                identify: &identify,
                listen: &mut |_| {},
                effort: Effort::usual(),
            };
            complete(root, &mut work).unwrap_err().to_string()
        };
        insta::assert_snapshot!(ask(&[], lacks("libssl.so.1.1")), @"the server needs the library libssl.so.1.1, which this machine does not have: install the distribution's package that has it (`apt-file search libssl.so.1.1` or `dnf provides '*/libssl.so.1.1'` name it), or copy it into the build's lib directory");
        let helpers = [helper(&archive(root.path()))];
        let stubborn = ask(&helpers, lacks("libodd.so.1"));
        assert!(stubborn.contains("lib/libodd.so.1"), "{stubborn}");
        let gone = [helper(&root.path().join("gone.tar"))];
        let error = ask(&gone, lacks("libodd.so.1"));
        assert!(
            error.starts_with("the server needs the library libodd.so.1")
                && error.contains("gone.tar"),
            "{error}"
        );
        assert!(ask(&helpers, "Segmentation fault".into()).ends_with("Segmentation fault"));
    }

    #[test]
    fn the_library_in_the_words_of_the_loader() {
        let line = "/a b/bin/mysqld: error while loading shared libraries: libaio.so.1: cannot open shared object file: No such file or directory\n";
        assert_eq!(missing_library(line), Some("libaio.so.1"));
        let wrapped =
            format!("bin/mysqld does not say which server it is: `--version` answered `{line}`");
        assert_eq!(missing_library(&wrapped), Some("libaio.so.1"));
    }

    #[test]
    fn other_troubles_are_no_missing_library() {
        for line in [
            "",
            "Segmentation fault",
            "mysqld: /lib/libc.so.6: version `GLIBC_2.38' not found (required by mysqld)",
            "mysqld: error while loading shared libraries: libx.so.1: wrong ELF class: ELFCLASS32",
            "mysqld: error while loading shared libraries: ../../libx.so: cannot open shared object file",
            "mysqld: error while loading shared libraries: /etc/x.so: cannot open shared object file",
        ] {
            assert_eq!(missing_library(line), None, "{line}");
        }
    }
}

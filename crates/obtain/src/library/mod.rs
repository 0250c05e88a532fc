//! Libraries that a host may not have: found by asking, or brought along for another release.

mod error;
mod helper;
mod missing;
mod patch;
mod syslib;

use std::fs;
use std::path::Path;

use model::Build;

pub(crate) use error::LibraryError;
pub(crate) use patch::patch_programs;

use crate::error::ObtainError;
use crate::fetch::Clients;
use crate::work::Work;
use missing::missing_library;

/// Libraries that one server may lack.
const MOST: usize = 16;

/// Asks the server in `directory` what it is; whenever it lacks a library that a helper has, that comes
/// into `directory/lib`, and the server is asked again.
pub(crate) fn complete(directory: &Path, work: &mut Work<'_>) -> Result<Build, ObtainError> {
    let mut added: Vec<String> = Vec::new();
    loop {
        let answer = match (work.identify)(directory) {
            Ok(build) => return Ok(build),
            Err(answer) => answer,
        };
        let Some(library) = missing_library(&answer) else {
            return Err(ObtainError::Server {
                what: format!("the server in {}", directory.display()),
                cause: answer,
            });
        };
        if added.len() == MOST || added.iter().any(|earlier| earlier == library) {
            let library = library.to_owned();
            return Err(LibraryError::NotFoundThere { library, answer }.into());
        }
        add(library, directory, work)?;
        added.push(library.to_owned());
    }
}

/// Puts one library beside the server.
fn add(library: &str, directory: &Path, work: &mut Work<'_>) -> Result<(), ObtainError> {
    let Some(helper) = work.helper(library).cloned() else {
        return Err(LibraryError::Missing { library: library.to_owned() }.into());
    };
    let file = helper::provide(&helper, &Clients::of_user(), work).map_err(|cause| {
        LibraryError::NotFetched { library: library.to_owned(), cause: Box::new(cause) }
    })?;
    let libraries = directory.join("lib");
    fs::create_dir_all(&libraries).map_err(ObtainError::io("create", &libraries))?;
    let to = libraries.join(library);
    fs::copy(&file, &to).map_err(ObtainError::io("write", &to))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::path::PathBuf;

    use model::{BuildSource, Dbms, Helper, Origin, Parcel, Placing};

    use super::*;

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
            if library.exists() { Ok(build()) } else { Err(lacks("libodd.so.1")) }
        };
        let helpers = [helper(&archive(root.path()))];
        let mut work =
            Work { root: root.path(), helpers: &helpers, identify: &identify, listen: &mut |_| {} };
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
            let identify = |_: &Path| Err(answer.clone());
            let root = root.path();
            let mut work = Work { root, helpers, identify: &identify, listen: &mut |_| {} };
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
}

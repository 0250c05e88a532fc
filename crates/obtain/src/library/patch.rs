//! Programs of another release: led to the libraries that come with them.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use elf::Format;
use model::{Bytes, ObtainEvent};

use super::syslib::{self, LOADER};
use crate::Work;
use crate::error::{LibraryError, ObtainError, Result};
use crate::fetch::{Call, Clients};

const PATCHELF: &str = "patchelf";

const PATIENCE: Duration = Duration::from_mins(1);

/// Lays the libraries of packages into `directory/syslib` and makes the programs of `directory` use them,
/// from where they will be in the end: `final_directory`.
pub(crate) fn patch_programs(
    directory: &Path,
    final_directory: &Path,
    libraries: &[PathBuf],
    work: &mut Work<'_>,
) -> Result<()> {
    (work.listen)(ObtainEvent::Unpacking { what: "libraries of its release".to_owned() });
    syslib::lay(libraries, &directory.join("syslib"))?;
    let patchelf = find_patchelf(&Clients::of_user(), work)?;
    let syslib = final_directory.join("syslib");
    let mut path = OsString::from(&syslib);
    path.push(":");
    path.push(final_directory.join("lib"));
    for program in programs(directory)? {
        patch(&patchelf, &program, &syslib.join(LOADER), &path)?;
    }
    Ok(())
}

/// The one that the catalog names; where that cannot be had, the host's own.
fn find_patchelf(clients: &Clients, work: &mut Work<'_>) -> Result<PathBuf> {
    let fetched = match work.helper(PATCHELF).cloned() {
        Some(helper) => super::provide(&helper, clients, work),
        None => Err(LibraryError::NotInside {
            what: "the catalog".to_owned(),
            name: PATCHELF.to_owned(),
        }
        .into()),
    };
    match fetched {
        Ok(program) => {
            // Archives made on other systems do not say which files are programs.
            fs::set_permissions(&program, Permissions::from_mode(0o755))
                .map_err(ObtainError::io("set the permissions of", &program))?;
            Ok(program)
        }
        Err(cause) => clients
            .find(&[PATCHELF])
            .ok_or_else(|| LibraryError::NoPatchelf { cause: Box::new(cause) }.into()),
    }
}

/// The programs of a build that name a loader, each once.
fn programs(directory: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut places = vec![directory.join("bin")];
    let versions = directory.join("usr/lib/postgresql");
    if let Ok(entries) = fs::read_dir(&versions) {
        places.extend(entries.flatten().map(|entry| entry.path().join("bin")));
    }
    let mut found = BTreeSet::new();
    for place in places {
        // `bin` may be a link to one of the others.
        let Ok(place) = place.canonicalize() else {
            continue;
        };
        let entries = fs::read_dir(&place).map_err(ObtainError::io("read", &place))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            // A link is patched where it leads to.
            let data = fs::symlink_metadata(&path).map_err(ObtainError::io("look at", &path))?;
            let names_loader = |path| match Format::of(path)? {
                Format::Elf(program) => Ok(program.names_loader),
                Format::Script | Format::Foreign(_) | Format::Unknown => Ok(false),
            };
            if data.is_file() && names_loader(&path).map_err(ObtainError::io("read", &path))? {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

/// Writes another loader and another path of libraries into a program.
fn patch(patchelf: &Path, program: &Path, loader: &Path, path: &OsStr) -> Result<()> {
    let directory = program.parent().unwrap_or(program);
    let call = Call::new(patchelf, directory)
        .argument("--set-interpreter")
        .argument(loader)
        // The older form of the path: it holds for libraries that libraries need as well, and nothing
        // that the environment says goes before it.
        .arguments(["--force-rpath", "--set-rpath"])
        .argument(path)
        .argument(program);
    let finished = call
        .run(PATIENCE, Bytes(u64::MAX), &mut |_| {})
        .map_err(ObtainError::io("run", patchelf))?;
    if finished.is_well() {
        return Ok(());
    }
    Err(LibraryError::Patchelf { program: program.to_owned(), said: finished.last_words() }.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use model::{Helper, Origin, Parcel};

    use super::*;
    use crate::depot::Effort;
    use crate::tests::stand_in::script;

    /// The start of a program that names a loader.
    fn elf() -> Vec<u8> {
        let mut bytes = vec![0; 128];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[64] = 3;
        bytes
    }

    fn write(path: &Path, content: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn programs_are_found_once_and_scripts_and_links_left() {
        let root = tempfile::tempdir().unwrap();
        let bin = root.path().join("usr/lib/postgresql/18/bin");
        write(&bin.join("postgres"), &elf());
        write(&bin.join("pg_wrapper"), b"#!/bin/sh\n");
        symlink("postgres", bin.join("postmaster")).unwrap();
        symlink("usr/lib/postgresql/18/bin", root.path().join("bin")).unwrap();
        let found: Vec<PathBuf> = programs(root.path()).unwrap().into_iter().collect();
        assert_eq!(found, [bin.canonicalize().unwrap().join("postgres")]);
        fs::remove_file(root.path().join("bin")).unwrap();
        write(&root.path().join("bin/psql"), &elf());
        assert_eq!(programs(root.path()).unwrap().len(), 2);
        assert!(programs(&root.path().join("none")).unwrap().is_empty());
    }

    #[test]
    fn a_program_is_led_to_the_libraries_of_its_final_directory() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("a b/bin/server");
        write(&program, &elf());
        let patchelf = root.path().join("patchelf");
        script(&patchelf, "for a; do echo \"$a\"; done > told");
        let loader = Path::new("/final directory/syslib/ld-linux-x86-64.so.2");
        let path = OsStr::new("/final directory/syslib:/final directory/lib");
        patch(&patchelf, &program, loader, path).unwrap();
        let told = fs::read_to_string(program.with_file_name("told")).unwrap();
        let told = told.replace(&root.path().display().to_string(), "ROOT");
        insta::assert_snapshot!(told, @r"
        --set-interpreter
        /final directory/syslib/ld-linux-x86-64.so.2
        --force-rpath
        --set-rpath
        /final directory/syslib:/final directory/lib
        ROOT/a b/bin/server
        ");
        script(&patchelf, "echo 'patchelf: not an ELF executable' >&2; exit 1");
        let error = patch(&patchelf, &program, loader, path).unwrap_err().to_string();
        let error = error.replace(&root.path().display().to_string(), "ROOT");
        insta::assert_snapshot!(error, @"cannot make ROOT/a b/bin/server use the libraries of its own release: patchelf said: patchelf: not an ELF executable");
    }

    #[test]
    fn patchelf_is_the_one_of_the_catalog_or_else_that_of_the_host() {
        let root = tempfile::tempdir().unwrap();
        let bin = root.path().join("bin");
        let archive = root.path().join("wheel.tar");
        let mut tar = tar::Builder::new(fs::File::create(&archive).unwrap());
        let mut header = tar::Header::new_gnu();
        header.set_size(4);
        header.set_mode(0o644);
        tar.append_data(&mut header, PATCHELF, &b"tool"[..]).unwrap();
        tar.finish().unwrap();
        let helper = |archive: &Path| Helper {
            name: PATCHELF.to_owned(),
            parcel: Parcel {
                origin: Origin::File(archive.display().to_string()),
                sha256: None,
                place: Vec::new(),
            },
        };
        let cache = root.path().join("downloads");
        fs::create_dir(&cache).unwrap();
        let clients = Clients::of_path(bin.clone().into());
        let find = |archive: &Path| {
            let helpers = [helper(archive)];
            let mut work = Work {
                root: root.path(),
                helpers: &helpers,
                identify: &|_| Err("".into()),
                listen: &mut |_| {},
                effort: Effort::usual(),
            };
            find_patchelf(&clients, &mut work)
        };
        let found = find(&archive).unwrap();
        assert!(found.starts_with(&cache));
        assert_eq!(fs::metadata(&found).unwrap().permissions().mode() & 0o111, 0o111);
        let gone = root.path().join("gone.tar");
        let error = find(&gone).unwrap_err().to_string();
        assert!(error.contains("install patchelf") && error.contains("gone.tar"), "{error}");
        write(&bin.join(PATCHELF), b"#!/bin/sh\n");
        assert_eq!(find(&gone).unwrap(), bin.join(PATCHELF));
    }
}

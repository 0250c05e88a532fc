//! Programs of another release: led to the libraries that come with them.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Helper, ObtainEvent};

use super::elf::is_dynamic_program;
use super::error::LibraryError;
use super::helper;
use super::syslib::{self, LOADER};
use crate::error::ObtainError;
use crate::fetch::{Call, Clients};

/// The tool.
const PATCHELF: &str = "patchelf";

/// How long it may take for one program without doing anything.
const PATIENCE: Duration = Duration::from_mins(1);

/// Lays the libraries of packages into `directory/syslib` and makes the programs of `directory` use them,
/// from where they will be in the end: `final_directory`.
pub(crate) fn patch_programs(
    directory: &Path,
    final_directory: &Path,
    libraries: &[PathBuf],
    helpers: &[Helper],
    cache: &Path,
    listen: &mut dyn FnMut(ObtainEvent),
) -> Result<(), ObtainError> {
    listen(ObtainEvent::Unpacking {
        what: "libraries of its release".to_owned(),
    });
    syslib::lay(libraries, &directory.join("syslib"))?;
    let clients = Clients::of_user();
    let patchelf = find_patchelf(helpers, cache, &clients, listen)?;
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
fn find_patchelf(
    helpers: &[Helper],
    cache: &Path,
    clients: &Clients,
    listen: &mut dyn FnMut(ObtainEvent),
) -> Result<PathBuf, ObtainError> {
    let named = helpers.iter().find(|helper| helper.name == PATCHELF);
    let fetched = match named {
        Some(helper) => helper::provide(helper, cache, clients, listen),
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
        Err(cause) => clients.find(&[PATCHELF]).ok_or_else(|| {
            LibraryError::NoPatchelf {
                cause: Box::new(cause),
            }
            .into()
        }),
    }
}

/// The programs of a build that name a loader, each once.
fn programs(directory: &Path) -> Result<BTreeSet<PathBuf>, ObtainError> {
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
            if data.is_file()
                && is_dynamic_program(&path).map_err(ObtainError::io("read", &path))?
            {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

/// Writes another loader and another path of libraries into a program.
fn patch(patchelf: &Path, program: &Path, loader: &Path, path: &OsStr) -> Result<(), ObtainError> {
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
        .run(PATIENCE, &mut |_| {})
        .map_err(ObtainError::io("run", patchelf))?;
    if finished.is_well() {
        return Ok(());
    }
    Err(LibraryError::Patchelf {
        program: program.to_owned(),
        said: finished.last_words(),
    }
    .into())
}

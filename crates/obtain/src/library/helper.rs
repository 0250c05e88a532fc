//! Small things beside a build: fetched once, kept ready.

use std::fs;
use std::path::PathBuf;

use model::Helper;

use super::error::LibraryError;
use crate::error::ObtainError;
use crate::fetch::{Clients, fetch_helper};
use crate::place;
use crate::tree;
use crate::work::Work;

/// Digits of a digest that tell parcels of one name apart.
const DIGITS: usize = 16;

/// The file of a helper, fetched where it is not there yet.
pub(super) fn provide(
    helper: &Helper,
    clients: &Clients,
    work: &mut Work<'_>,
) -> Result<PathBuf, ObtainError> {
    let cache = work.downloads();
    let ready = cache.join(key(helper));
    let file = ready.join(&helper.name);
    if file.is_file() {
        return Ok(file);
    }
    let parcel = &helper.parcel;
    // Directly in the cache, so that it has what parcels share.
    let download = cache.join(format!("helper-{}", helper.name));
    let sha256 = parcel.sha256.as_deref();
    let fetched = fetch_helper(&parcel.origin, sha256, &download, clients, work.listen)?;
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

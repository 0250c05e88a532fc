//! Is a file the one that is meant?

use std::fs;
use std::path::{self, Path};

use super::errand::{Errand, Fetched};
use crate::error::FetchError;
use crate::error::ObtainError;
use crate::tree;

/// An error where the archive is not the one that is meant; it is removed then, because what is there
/// is taken for whole by the next errand.
pub(super) fn verify(
    archive: &Path,
    expected: Option<&str>,
    errand: &mut Errand<'_>,
) -> Result<(), ObtainError> {
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
pub(super) fn local(given: &str, expected: Option<&str>) -> Result<Fetched, ObtainError> {
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
fn difference(
    path: &Path,
    expected: Option<&str>,
) -> Result<Option<(String, String)>, ObtainError> {
    let Some(expected) = expected else {
        return Ok(None);
    };
    let found = tree::file_digest(path)?;
    Ok((!found.eq_ignore_ascii_case(expected)).then(|| (expected.to_owned(), found)))
}

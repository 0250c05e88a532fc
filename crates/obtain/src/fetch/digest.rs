//! Is a file the one that is meant?

use std::fs;
use std::path::Path;

use super::errand::Errand;
use crate::error::ObtainError;
use crate::tree;

/// An error where the archive is not the one that is meant; it is removed then, because what is there
/// is taken for whole by the next errand.
pub(super) fn verify(
    archive: &Path,
    expected: Option<&str>,
    errand: &mut Errand<'_>,
) -> Result<(), ObtainError> {
    let size = fs::metadata(archive)
        .map_err(ObtainError::io("read", archive))?
        .len();
    errand.tell(size);
    let Some(expected) = expected else {
        return Ok(());
    };
    let found = tree::file_digest(archive)?;
    if found.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    fs::remove_file(archive).map_err(ObtainError::io("remove", archive))?;
    Err(ObtainError::WrongDigest {
        what: errand.what.clone(),
        expected: expected.to_owned(),
        found,
    })
}

//! An archive on this machine: used where it lies.

use std::path::{self, Path};

use super::Fetched;
use super::error::FetchError;
use crate::error::ObtainError;
use crate::tree;

/// Finds it; nothing is copied, and nothing of the user's own is removed.
pub(super) fn find(given: &str, sha256: Option<&str>) -> Result<Fetched, ObtainError> {
    let given = Path::new(given);
    let path = path::absolute(given).map_err(ObtainError::io("find", given))?;
    if !path.is_file() {
        return Err(FetchError::NoFile { path }.into());
    }
    if let Some(expected) = sha256 {
        let found = tree::file_digest(&path)?;
        if !found.eq_ignore_ascii_case(expected) {
            return Err(FetchError::OtherFile {
                path,
                expected: expected.to_owned(),
                found,
            }
            .into());
        }
    }
    Ok(Fetched {
        archives: vec![path],
        libraries: Vec::new(),
    })
}

//! The files of a commit, by the user's git: nothing is checked out.

use std::path::PathBuf;

use super::client::Call;
use super::errand::Errand;
use crate::error::Result;

pub(super) fn fetch(repository: &str, commit: &str, errand: &mut Errand<'_>) -> Result<PathBuf> {
    let archive = errand.into.join("source.tar");
    if archive.is_file() {
        return Ok(archive);
    }
    let program = errand.client(&["git"], "git (Debian's package `git`)")?;
    let workplace = errand.workplace()?;
    let directory = workplace.path().to_owned();
    let made = directory.join("source.tar");
    let call = Call::new(&program, &directory)
        .arguments(["-C", repository, "archive", "--format=tar", "-o"])
        .argument(&made)
        .argument(commit);
    errand.run(&call)?;
    errand.keep(&call, &made, archive)
}

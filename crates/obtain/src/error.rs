//! Why a build could not be obtained.

use std::io;
use std::path::{Path, PathBuf};

use model::Bytes;

use crate::archive::Flaw;
use crate::fetch::FetchError;
use crate::library::LibraryError;

/// A build could not be obtained or removed. The builds of this machine are as they were; what was
/// downloaded so far may be kept, so that the next attempt goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum ObtainError {
    #[error("{} is refused: its entry `{entry}` {flaw}; nothing of it was kept", .archive.display())]
    Hostile { archive: PathBuf, entry: String, flaw: Flaw },
    #[error("{} is refused: it {flaw}; nothing of it was kept", .archive.display())]
    Bomb { archive: PathBuf, flaw: Flaw },
    #[error("{} is truncated or damaged ({cause}): fetch it again", .archive.display())]
    Damaged { archive: PathBuf, cause: String },
    #[error("{} is not an archive that can be read: it is {found}, not one of {known}", .archive.display())]
    Format { archive: PathBuf, found: String, known: &'static str },
    #[error("the archive is not laid out as expected: the rule {rule} {cause}")]
    Placing { rule: String, cause: String },
    #[error("not enough space in {}: {need} are needed, {free} are free", .directory.display())]
    NoSpace { directory: PathBuf, need: Bytes, free: Bytes },
    #[error(
        "{what} has the wrong SHA-256: found {found}, expected {expected}; the download was removed: try again, or check your mirror"
    )]
    WrongDigest { what: String, expected: String, found: String },
    #[error("{name} is the wrong server: it reports `{found}`, expected {expected}")]
    WrongVersion { name: String, expected: String, found: String },
    #[error("no server in {what}: looked for {looked_for}")]
    NoServer { what: String, looked_for: String },
    #[error("{what} does not run here: {cause}")]
    Server { what: String, cause: String },
    #[error(
        "`{name}` cannot be the name of a build: use 1 to 100 letters, digits, `.`, `-` and `_`, with a letter or digit first"
    )]
    Name { name: String },
    #[error(
        "`{name}` is in use by {by}: say `backslide remove {name}` first, or choose another name"
    )]
    NameInUse { name: String, by: String },
    #[error("no build is installed under the name `{name}`: {there}")]
    NotInstalled { name: String, there: String },
    #[error("{what} is in use by a run: try again when that is done")]
    Held { what: String },
    #[error("the build {build} in {} was removed: say `backslide install {build}`, or `backslide add {build}` for one of your own", .directory.display())]
    Gone { build: String, directory: PathBuf },
    #[error("{} is not a record of a build ({cause}): remove that file and install the build again", .path.display())]
    Record { path: PathBuf, cause: String },
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error(transparent)]
    Library(#[from] LibraryError),
    #[error("cannot {action} {}: {cause}", .path.display())]
    Io { action: &'static str, path: PathBuf, cause: io::Error },
}

impl ObtainError {
    /// For `map_err`: the system refused `action` on `path`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self::Io { action, path, cause }
    }

    /// Is the archive not what it should be, so that it is of no use to have it?
    pub(crate) fn is_of_archive(&self) -> bool {
        matches!(
            self,
            Self::Hostile { .. }
                | Self::Bomb { .. }
                | Self::Damaged { .. }
                | Self::Format { .. }
                | Self::Placing { .. }
                | Self::NoServer { .. }
        )
    }

    /// For `map_err`: the archive that is read cannot be read further. The readers of an archive do not
    /// know its path: [`Self::of`] adds it.
    #[expect(clippy::needless_pass_by_value, reason = "`map_err` gives the error itself")]
    pub(crate) fn damaged(cause: impl ToString) -> Self {
        Self::Damaged { archive: PathBuf::new(), cause: cause.to_string() }
    }

    pub(crate) fn bomb(flaw: Flaw) -> Self {
        Self::Bomb { archive: PathBuf::new(), flaw }
    }

    pub(crate) fn hostile(entry: String, flaw: Flaw) -> Self {
        Self::Hostile { archive: PathBuf::new(), entry, flaw }
    }

    pub(crate) fn of(mut self, path: &Path) -> Self {
        if let Some(archive) = self.archive() {
            path.clone_into(archive);
        }
        self
    }

    /// Of an archive that was unpacked below `unpacked`: it is named as a part of the one that it came in.
    pub(crate) fn within(mut self, unpacked: &Path, outer: &Path) -> Self {
        if let Some(archive) = self.archive()
            && let Ok(inner) = archive.strip_prefix(unpacked)
        {
            *archive = outer.join(inner);
        }
        self
    }

    fn archive(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::Hostile { archive, .. }
            | Self::Bomb { archive, .. }
            | Self::Damaged { archive, .. }
            | Self::Format { archive, .. } => Some(archive),
            _ => None,
        }
    }
}

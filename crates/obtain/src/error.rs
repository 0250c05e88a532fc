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
    /// An archive asks for something that no honest archive asks for.
    #[error("{} is refused: its entry `{entry}` {flaw}; nothing of it was kept", .archive.display())]
    Hostile {
        /// The archive.
        archive: PathBuf,
        /// The entry, with unprintable characters escaped.
        entry: String,
        /// What is wrong with it.
        flaw: Flaw,
    },
    /// An archive that is more than it can be.
    #[error("{} is refused: it {flaw}; nothing of it was kept", .archive.display())]
    Bomb {
        /// The archive.
        archive: PathBuf,
        /// Which bound it breaks.
        flaw: Flaw,
    },
    /// An archive that cannot be read to its end.
    #[error("{} is truncated or damaged ({cause}): fetch it again", .archive.display())]
    Damaged {
        /// The archive.
        archive: PathBuf,
        /// Where, and what its reader says.
        cause: String,
    },
    /// A file that is no archive, or of a kind that is not read.
    #[error("{} is not an archive that can be read: it is {found}, not one of {known}", .archive.display())]
    Format {
        /// The file.
        archive: PathBuf,
        /// What its first bytes say.
        found: String,
        /// The formats.
        known: &'static str,
    },
    /// A rule of a recipe that does not fit the archive.
    #[error("the archive is not laid out as expected: the rule {rule} {cause}")]
    Placing {
        /// The rule.
        rule: String,
        /// What is wrong.
        cause: String,
    },
    /// The disk is too small.
    #[error("not enough space in {}: {need} are needed, {free} are free", .directory.display())]
    NoSpace {
        /// Where.
        directory: PathBuf,
        /// At least.
        need: Bytes,
        /// For this user.
        free: Bytes,
    },
    /// An archive that is not the one that the catalog means.
    #[error(
        "{what} is not what it should be: its SHA-256 is {found}, expected is {expected}; the download was removed: try again, or look at what your mirror gives"
    )]
    WrongDigest {
        /// Coordinates.
        what: String,
        /// As the catalog has it.
        expected: String,
        /// As it is.
        found: String,
    },
    /// A server that says it is another one than the catalog says.
    #[error("{name} is not what it should be: the server says `{found}`, expected is {expected}")]
    WrongVersion {
        /// The build.
        name: String,
        /// Dbms and version.
        expected: String,
        /// The server's version line.
        found: String,
    },
    /// An archive or directory without a server that runs.
    #[error("no server in {what}: looked for {looked_for}")]
    NoServer {
        /// The archive.
        what: String,
        /// Programs and places.
        looked_for: String,
    },
    /// A server that does not tell its version.
    #[error("{what} does not run here: {cause}")]
    Server {
        /// The build or archive.
        what: String,
        /// The server's answer, or why there is none.
        cause: String,
    },
    /// A name that a build cannot have.
    #[error(
        "`{name}` cannot be the name of a build: use 1 to 100 letters, digits, `.`, `-` and `_`, with a letter or digit first"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A name that another build has.
    #[error(
        "`{name}` is in use by {by}: say `backslide remove {name}` first, or choose another name"
    )]
    NameInUse {
        /// The name.
        name: String,
        /// What it stands for.
        by: String,
    },
    /// A name that no build has.
    #[error("no build is installed under the name `{name}`: {there}")]
    NotInstalled {
        /// The name.
        name: String,
        /// What there is.
        there: String,
    },
    /// A build that a run uses.
    #[error("{what} is in use by a run: try again when that is done")]
    Held {
        /// The build.
        what: String,
    },
    /// The files of a build that are no longer there.
    #[error("the build {build} in {} was removed: say `backslide install {build}`, or `backslide add {build}` for one of your own", .directory.display())]
    Gone {
        /// Its name.
        build: String,
        /// Where it was.
        directory: PathBuf,
    },
    /// A record that cannot be read.
    #[error("{} is not a record of a build ({cause}): remove that file and install the build again", .path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// A source did not give what was asked of it.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A server has not got the libraries that it needs.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The system refused a file or directory.
    #[error("cannot {action} {}: {cause}", .path.display())]
    Io {
        /// A verb: `create`, `write`.
        action: &'static str,
        /// File or directory.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

impl ObtainError {
    /// For `map_err`: the system refused `action` on `path`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self::Io {
            action,
            path,
            cause,
        }
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

    /// Of an archive that was unpacked below `unpacked`: it is named as a part of the one that it came in.
    pub(crate) fn within(mut self, unpacked: &Path, outer: &Path) -> Self {
        if let Self::Hostile { archive, .. }
        | Self::Bomb { archive, .. }
        | Self::Damaged { archive, .. }
        | Self::Format { archive, .. } = &mut self
            && let Ok(inner) = archive.strip_prefix(unpacked)
        {
            *archive = outer.join(inner);
        }
        self
    }
}

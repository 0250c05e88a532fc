//! Why a build could not be obtained.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Bytes, Cause, Nanos};

use crate::archive::Flaw;

/// A build could not be obtained or removed. The builds of this machine are as they were; what was
/// downloaded so far may be kept, so that the next attempt goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum ObtainError {
    #[error("{} is refused: its entry `{entry}` {flaw}; nothing was kept", .archive.display())]
    Hostile { archive: PathBuf, entry: String, flaw: Flaw },
    #[error("{} is refused: it {flaw}; nothing was kept", .archive.display())]
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
    #[error(
        "cannot compile {what}: this machine has no C compiler: install one (Debian's packages `gcc` and `libc6-dev`)"
    )]
    NoCompiler { what: String },
    #[error("cannot compile {what} without {missing}; install Debian's packages `{packages}`")]
    Lacking { what: String, missing: String, packages: String },
    #[error("cannot compile {what}: {program} said: {said}; the log is {}", .log.display())]
    Compile { what: String, program: String, said: String, log: PathBuf },
    #[error("git in {}: {said}", .repository.display())]
    Git { repository: PathBuf, said: String },
    #[error("{commit}: {file} has no version")]
    NoVersion { commit: String, file: String },
    #[error("no server in {what}: looked for {looked_for}")]
    NoServer { what: String, looked_for: String },
    #[error("{what} does not run here: {cause}")]
    Server { what: String, cause: Cause },
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
    #[error("the build {build} in {} was removed: run `backslide install {build}`, or `backslide add {build}` for your own build", .directory.display())]
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

pub(crate) type Result<T, E = ObtainError> = std::result::Result<T, E>;

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

    /// Is it this machine's or the repository's fault, so that no other build could be obtained either?
    pub fn is_of_machine(&self) -> bool {
        matches!(
            self,
            Self::NoSpace { .. }
                | Self::NoCompiler { .. }
                | Self::Lacking { .. }
                | Self::Git { .. }
        )
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

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("`{given}` are not valid coordinates of {source_name}: write {form}")]
    Coordinates { source_name: &'static str, given: String, form: &'static str },
    #[error(
        "cannot fetch {address}: only addresses that begin with http:// or https:// are opened"
    )]
    Address { address: String },
    #[error("{} is not a readable file: give the path of an archive", .path.display())]
    NoFile { path: PathBuf },
    #[error(
        "{} has the wrong SHA-256: found {found}, expected {expected}",
        .path.display()
    )]
    OtherFile { path: PathBuf, expected: String, found: String },
    #[error(
        "cannot fetch {what}: {client} is missing on this machine: install {install}, or fetch the archive elsewhere and run `backslide add NAME --archive FILE`"
    )]
    NoClient { what: String, client: String, install: &'static str },
    #[error("cannot fetch {what}: {client} {trouble}")]
    Client { what: String, client: String, trouble: Trouble },
    #[error(
        "cannot fetch from Debian's suite `{suite}`: the suites are {}, and {{release}}-security",
        known
    )]
    Suite { suite: String, known: String },
    #[error(
        "cannot fetch {what}: this machine's apt knows no {mirror} of Debian: describe one in /etc/apt/sources.list.d (with `Enabled: no` it serves nothing else), or fetch the archive elsewhere and run `backslide add NAME --archive FILE`"
    )]
    NoMirror { what: String, mirror: &'static str },
    #[error("cannot fetch {what}: {suite} has no package {package}{}", instead(.versions))]
    NoPackage { what: String, suite: String, package: String, versions: Vec<String> },
}

impl FetchError {
    pub(crate) fn coordinates(source_name: &'static str, given: &str, form: &'static str) -> Self {
        Self::Coordinates { source_name, given: given.to_owned(), form }
    }
}

/// What a client did instead of fetching; continues a sentence.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error("said: {0}")]
    Said(String),
    #[error(
        "was stopped after {} without data; its last words: {said}. Try again: files already fetched are kept",
        Nanos::from(*.limit)
    )]
    Stalled { limit: Duration, said: String },
    #[error(
        "was stopped after {0}, more than expected; the partial file was removed. If the archive is that large, fetch it elsewhere and run `backslide add NAME --archive FILE`"
    )]
    TooLarge(Bytes),
    #[error("succeeded, but {0} is missing")]
    NothingCame(String),
}

fn instead(versions: &[String]) -> String {
    if versions.is_empty() {
        " in any version".to_owned()
    } else {
        format!(
            ": it has {} now, and suites replace their packages; add your own build with `backslide add`",
            versions.join(", ")
        )
    }
}

/// Why a server has not got the libraries that it needs.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    #[error(
        "the server needs the library {library}, which this machine does not have: install the distribution's package that has it (`apt-file search {library}` or `dnf provides '*/{library}'` name it), or copy it into the build's lib directory"
    )]
    Missing { library: String },
    #[error(
        "the server needs the library {library}, which this machine does not have: install the distribution's package that has it, or see why it cannot be fetched: {cause}"
    )]
    NotFetched { library: String, cause: Box<ObtainError> },
    #[error("the server does not find lib/{library} of its own directory: {answer}")]
    NotFoundThere { library: String, answer: String },
    #[error("{what} has no {name} in it where the catalog says")]
    NotInside { what: String, name: String },
    #[error("the libraries of the packages are incomplete: {missing} is missing")]
    NotWhole { missing: &'static str },
    #[error(
        "cannot make these programs use the libraries of their own release: patchelf is missing; install patchelf, or see why it cannot be fetched: {cause}"
    )]
    NoPatchelf { cause: Box<ObtainError> },
    #[error("cannot make {} use the libraries of its own release: patchelf said: {said}", .program.display())]
    Patchelf { program: PathBuf, said: String },
}

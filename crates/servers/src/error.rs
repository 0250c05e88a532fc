//! Errors of servers.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use model::{Cause, Dbms, Engine};

use crate::certificate::CertificateError;
use crate::cpus::CpuListError;
use crate::tail::Tail;

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("{} does not exist: give the directory that holds bin/, or the server program", .path.display())]
    DoesNotExist { path: PathBuf },
    #[error("no database server in {}: looked for {looked_for}", .path.display())]
    NoServer { path: PathBuf, looked_for: String },
    #[error("cannot execute {}: {cause}{}", .program.display(), why_not(.cause))]
    CannotExecute { program: PathBuf, cause: io::Error },
    #[error("{} is a program for {theirs}, and this machine is {ours}: get the build for {ours}", .program.display())]
    Architecture { program: PathBuf, theirs: String, ours: String },
    #[error("{} does not say which server it is: `--version` answered `{answer}`", .program.display())]
    NoVersion { program: PathBuf, answer: String },
    #[error("the path {} is not plain text (UTF-8 without control characters): move it", .path.display())]
    PathText { path: PathBuf },
    #[error("{build} is not a server that can be started here")]
    NotStartable { build: String },
    #[error("{engine} cannot be used with {dbms}: choose {offered}")]
    Engine { dbms: Dbms, engine: Engine, offered: String },
    #[error(transparent)]
    NoEngine(#[from] EngineMissing),
    #[error(transparent)]
    Preload(#[from] PreloadError),
    #[error("{build} does not map {}, which it was started with: the loader refused it, or the build is linked statically{tail}", .library.display())]
    NotPreloaded { build: String, library: PathBuf, tail: Tail },
    #[error("huge pages for {build}: {cause}")]
    HugePages { build: String, cause: HugePagesError },
    #[error(
        "{build} was asked to use huge pages and has {got_mib} MiB in them instead of {wanted_mib} MiB or more: give the pool more of them (vm.nr_hugepages){tail}"
    )]
    NotHuge { build: String, got_mib: u64, wanted_mib: u64, tail: Tail },
    #[error("a certificate for {build}: {cause}")]
    Certificate { build: String, cause: CertificateError },
    #[error("no TCP port of 127.0.0.1 is free for {build}: {cause}")]
    NoPort { build: String, cause: io::Error },
    #[error("cannot copy the data directory that {build} brings along: {cause}")]
    Seed { build: String, cause: PathError },
    #[error("config `{config}`: {cause}")]
    Setting { config: String, cause: SettingError },
    #[error("the server's CPUs: {0}")]
    Cpus(#[from] CpuListError),
    #[error("{build} cannot be initialised: {cause}")]
    Incomplete { build: String, cause: Missing },
    #[error("{} is in use by a running server (pid {pid}): stop it, or use another lab", .directory.display())]
    InUse { directory: PathBuf, pid: u32 },
    #[error(
        "{} is not empty and was not made by backslide: name another directory, or empty it yourself", .directory.display()
    )]
    NotOurs { directory: PathBuf },
    #[error(transparent)]
    Io(#[from] PathError),
    #[error(
        "the socket path {} has {length} bytes, a Unix socket allows {limit}: set TMPDIR to a shorter directory", .path.display()
    )]
    SocketPathTooLong { path: PathBuf, length: usize, limit: usize },
    #[error(
        "{build} refuses to run as root; user namespaces are not permitted here and there is neither a user `postgres` nor `nobody`: run backslide as an ordinary user"
    )]
    NoAccount { build: String },
    #[error(
        "user `{user}`, as whom the server must run, cannot enter {}: choose another lab directory with --lab, or allow it (chmod o+x)", .directory.display()
    )]
    NotTraversable { directory: PathBuf, user: String },
    #[error(
        "user `{user}`, as whom the server must run, cannot enter {}, where its program {} is: install builds elsewhere (BACKSLIDE_CACHE=DIRECTORY), or allow it (chmod o+x)", .directory.display(), .program.display()
    )]
    ProgramOutOfReach { program: PathBuf, directory: PathBuf, user: String },
    #[error("{build} in {} {fault}{tail}", .directory.display())]
    Instance { build: String, directory: PathBuf, fault: Fault, tail: Tail },
}

pub(crate) type Result<T, E = ServerError> = std::result::Result<T, E>;

impl ServerError {
    /// The last lines of the server's log, where there is one; the message shows the last few of them.
    pub fn log_tail(&self) -> &[String] {
        match self {
            Self::Instance { tail, .. }
            | Self::NotPreloaded { tail, .. }
            | Self::NotHuge { tail, .. } => tail.lines(),
            _ => &[],
        }
    }

    pub const fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Instance { fault, .. } => Some(fault),
            _ => None,
        }
    }

    /// Did an initialisation begin and not end well? Then its log explains it.
    pub const fn is_of_initialisation(&self) -> bool {
        matches!(self.fault(), Some(Fault::InitFailed(_) | Fault::InitTimeout(_)))
    }

    /// Makes an I/O error of a path: `.map_err(ServerError::io("create", &path))`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let of = PathError::of(action, path);
        move |cause| Self::Io(of(cause))
    }

    /// For `map_err`: the system did not run `program`.
    pub(crate) fn cannot_execute(program: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let program = program.to_owned();
        move |cause| Self::CannotExecute { program, cause }
    }
}

/// What happened to the process of an instance; continues "mysql-8.0.33 in DIRECTORY …".
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("failed to initialise: {0}")]
    InitFailed(String),
    #[error("did not initialise within {0:?}")]
    InitTimeout(Duration),
    #[error("already runs (pid {0})")]
    AlreadyRunning(u32),
    #[error("does not run")]
    NotRunning,
    #[error("died: {0}")]
    Died(String),
    #[error("did not answer within {limit:?}: {last}; it was killed")]
    NotReady { limit: Duration, last: Cause },
    #[error("did not stop within {0:?} and was killed")]
    StopTimeout(Duration),
    #[error("was killed: you asked to stop")]
    Interrupted,
    #[error("did not stop cleanly: {0}")]
    UncleanStop(ExitStatus),
}

fn why_not(cause: &io::Error) -> &'static str {
    match cause.kind() {
        // The program itself was found.
        io::ErrorKind::NotFound => {
            " (its loader is missing: the build was moved after it was patched, or is for another C library)"
        }
        io::ErrorKind::PermissionDenied => {
            " (make it executable, and see that its filesystem is not mounted noexec)"
        }
        _ => "",
    }
}

/// A part of a build that initialisation needs and that is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is missing from {}", .place.display())]
pub struct Missing {
    pub what: String,
    pub place: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("setting `{name}` {problem}")]
pub struct SettingError {
    pub name: String,
    pub problem: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{build} has no {engine}: {why}; {who}")]
pub struct EngineMissing {
    pub build: String,
    pub engine: Engine,
    pub why: String,
    pub who: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HugePagesError {
    #[error(
        "this system offers no huge pages (no HugePages_Total in /proc/meminfo): leave `huge_pages` out"
    )]
    None,
    #[error(
        "{setting} needs {needed} huge pages of {page_kib} kB and more, and {free} are free: run `sysctl -w vm.nr_hugepages={suggested}` as root, or leave `huge_pages` out"
    )]
    TooFew { setting: String, needed: u64, page_kib: u64, free: u64, suggested: u64 },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PreloadError {
    #[error(
        "the library to preload, `{name}`, is missing: looked for {files} in {places}; install it, or give its whole path"
    )]
    NotFound { name: String, files: String, places: String },
    #[error(
        "the library to preload, `{name}`, is neither a name nor a whole path: write `jemalloc` or `/…/libjemalloc.so.2`"
    )]
    Relative { name: String },
    #[error(
        "the library to preload, {}, has a space or a colon in its path, which ends it for the loader: link to it from another path", .path.display()
    )]
    Separator { path: PathBuf },
}

/// What could not be done with a file or directory.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {cause}", .path.display())]
pub struct PathError {
    /// A verb: `create`, `write`.
    action: &'static str,
    path: PathBuf,
    cause: io::Error,
}

impl PathError {
    pub fn of(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self { action, path, cause }
    }
}

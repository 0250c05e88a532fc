//! What can go wrong with a server.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Dbms, Engine};

use crate::certificate::CertificateError;
use crate::clone::CloneError;
use crate::cpus::CpuListError;
use crate::dbms::{EngineMissing, Missing, SettingError};
use crate::huge::HugePagesError;
use crate::preload::PreloadError;
use crate::tail::Tail;

/// An error of finding, initialising, starting or stopping a server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The path of a build that is not there.
    #[error("{} does not exist: give the directory that holds bin/, or the server program", .path.display())]
    DoesNotExist {
        /// The path.
        path: PathBuf,
    },
    /// A directory without a server in it.
    #[error("no database server in {}: looked for {looked_for}", .path.display())]
    NoServer {
        /// The directory.
        path: PathBuf,
        /// Programs and places.
        looked_for: String,
    },
    /// The system does not run the program.
    #[error("cannot execute {}: {cause}{}", .program.display(), why_not(.cause))]
    CannotExecute {
        /// The program.
        program: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// A program for another machine.
    #[error("{} is a program for {theirs}, and this machine is {ours}: get the build for {ours}", .program.display())]
    Architecture {
        /// The program.
        program: PathBuf,
        /// What it is for.
        theirs: String,
        /// What this machine is.
        ours: String,
    },
    /// The program ran and told no version that is known.
    #[error("{} does not say which server it is: `--version` answered `{answer}`", .program.display())]
    NoVersion {
        /// The program.
        program: PathBuf,
        /// What it printed, or how it ended.
        answer: String,
    },
    /// A path that a configuration file cannot hold.
    #[error("the path {} is not plain text (UTF-8 without control characters): move it", .path.display())]
    PathText {
        /// The path.
        path: PathBuf,
    },
    /// A build that is embedded, or a server that is not ours: there is nothing to start.
    #[error("{build} is not a server that can be started here")]
    NotStartable {
        /// The build.
        build: String,
    },
    /// An engine that this Dbms does not have, or that is not offered for it.
    #[error("{engine} cannot be used with {dbms}: choose {offered}")]
    Engine {
        /// The Dbms.
        dbms: Dbms,
        /// The engine.
        engine: Engine,
        /// What there is.
        offered: String,
    },
    /// An engine that this build lacks.
    #[error(transparent)]
    NoEngine(#[from] EngineMissing),
    /// The library to preload.
    #[error(transparent)]
    Preload(#[from] PreloadError),
    /// The server runs without the library that it was given to preload.
    #[error("{build} does not map {}, which it was started with: the loader refused it, or the build is linked statically{tail}", .library.display())]
    NotPreloaded {
        /// The build.
        build: String,
        /// The library.
        library: PathBuf,
        /// The last lines of its log.
        tail: Tail,
    },
    /// Too few huge pages.
    #[error("huge pages for {build}: {cause}")]
    HugePages {
        /// The build.
        build: String,
        /// What is short.
        cause: HugePagesError,
    },
    /// The server runs with fewer huge pages than it was asked to use.
    #[error(
        "{build} was asked to use huge pages and has {got_mib} MiB in them instead of {wanted_mib} MiB or more: give the pool more of them (vm.nr_hugepages){tail}"
    )]
    NotHuge {
        /// The build.
        build: String,
        /// What it has there.
        got_mib: u64,
        /// What its largest buffer takes.
        wanted_mib: u64,
        /// The last lines of its log.
        tail: Tail,
    },
    /// There is no certificate to encrypt with.
    #[error("a certificate for {build}: {cause}")]
    Certificate {
        /// The build.
        build: String,
        /// What is missing, and what to do.
        cause: CertificateError,
    },
    /// There is no port to listen on.
    #[error("no TCP port of 127.0.0.1 is free for {build}: {cause}")]
    NoPort {
        /// The build.
        build: String,
        /// What the system said.
        cause: io::Error,
    },
    /// The data directory that the build brings along cannot be copied.
    #[error("cannot copy the data directory that {build} brings along: {cause}")]
    Seed {
        /// The build.
        build: String,
        /// What failed.
        cause: CloneError,
    },
    /// A setting that cannot be given to this server.
    #[error("config `{config}`: {cause}")]
    Setting {
        /// The config.
        config: String,
        /// Which, and why.
        cause: SettingError,
    },
    /// The list of CPUs.
    #[error("the server's CPUs: {0}")]
    Cpus(#[from] CpuListError),
    /// A part of the build is missing.
    #[error("{build} cannot be initialised: {cause}")]
    Incomplete {
        /// The build.
        build: String,
        /// What is missing, and where it was looked for.
        cause: Missing,
    },
    /// A live server uses the directory.
    #[error("{} is in use by a running server (pid {pid}): stop it, or use another lab", .directory.display())]
    InUse {
        /// The directory.
        directory: PathBuf,
        /// The server.
        pid: u32,
    },
    /// A directory that holds something that is not ours.
    #[error(
        "{} is not empty and was not made by backslide: name another directory, or empty it yourself", .directory.display()
    )]
    NotOurs {
        /// The directory.
        directory: PathBuf,
    },
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
    /// No directory is short enough for a Unix socket.
    #[error(
        "the socket path {} has {length} bytes, a Unix socket allows {limit}: set TMPDIR to a shorter directory", .path.display()
    )]
    SocketPathTooLong {
        /// The shortest that could be had.
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
        /// The longest allowed.
        limit: usize,
    },
    /// The server refuses root, and there is no one else to run it as.
    #[error(
        "{build} refuses to run as root; user namespaces are not permitted here and there is neither a user `postgres` nor `nobody`: run backslide as an ordinary user"
    )]
    NoAccount {
        /// The build.
        build: String,
    },
    /// The account that the server runs as cannot reach its directory.
    #[error(
        "user `{user}`, as whom the server must run, cannot enter {}: choose another lab directory with --lab, or allow it (chmod o+x)", .directory.display()
    )]
    NotTraversable {
        /// The directory that is closed.
        directory: PathBuf,
        /// The account.
        user: String,
    },
    /// The account that the server runs as cannot reach the server's program.
    #[error(
        "user `{user}`, as whom the server must run, cannot enter {}, where its program {} is: install builds elsewhere (BACKSLIDE_CACHE=DIRECTORY), or allow it (chmod o+x)", .directory.display(), .program.display()
    )]
    ProgramOutOfReach {
        /// The program.
        program: PathBuf,
        /// The directory that is closed.
        directory: PathBuf,
        /// The account.
        user: String,
    },
    /// Initialisation failed.
    #[error("{build} failed to initialise {}: {status}{tail}", .directory.display())]
    InitFailed {
        /// The build.
        build: String,
        /// The instance's directory.
        directory: PathBuf,
        /// How it ended.
        status: String,
        /// The last lines of its log.
        tail: Tail,
    },
    /// Initialisation takes too long.
    #[error("{build} did not initialise {} within {limit:?}{tail}", .directory.display())]
    InitTimeout {
        /// The build.
        build: String,
        /// The instance's directory.
        directory: PathBuf,
        /// How long it was waited for.
        limit: Duration,
        /// The last lines of its log.
        tail: Tail,
    },
    /// It runs already.
    #[error("{build} in {} already runs (pid {pid})", .directory.display())]
    AlreadyRunning {
        /// The build.
        build: String,
        /// The instance's directory.
        directory: PathBuf,
        /// The server.
        pid: u32,
    },
    /// There is no process to look at.
    #[error("{build} in {} does not run", .directory.display())]
    NotRunning {
        /// The build.
        build: String,
        /// The instance's directory.
        directory: PathBuf,
    },
    /// The server ended by itself, at its start or later.
    #[error("{build} in {} died: {status}{tail}", .directory.display())]
    Died {
        /// The build.
        build: String,
        /// The instance's directory.
        directory: PathBuf,
        /// How it ended.
        status: String,
        /// The last lines of its log.
        tail: Tail,
    },
    /// The server runs and does not answer.
    #[error("{build} in {} did not answer within {limit:?}: {last}; it was killed{tail}", .directory.display())]
    NotReady {
        /// The build.
        build: String,
        /// The instance's directory.
        directory: PathBuf,
        /// How long it was waited for.
        limit: Duration,
        /// The last attempt's error.
        last: String,
        /// The last lines of its log.
        tail: Tail,
    },
    /// The server did not stop when asked, and was killed.
    #[error("{build} in {} did not stop within {limit:?} and was killed{tail}", .directory.display())]
    StopTimeout {
        /// The build.
        build: String,
        /// The instance's directory.
        directory: PathBuf,
        /// How long it was waited for.
        limit: Duration,
        /// The last lines of its log.
        tail: Tail,
    },
    /// A wait for the server was given up, because the user asked to stop; it was killed.
    #[error("{build} in {} was killed: you asked to stop", .directory.display())]
    Interrupted {
        /// The build.
        build: String,
        /// The instance's directory.
        directory: PathBuf,
    },
    /// The server stopped, but not cleanly.
    #[error("{build} in {} did not stop cleanly: {status}{tail}", .directory.display())]
    UncleanStop {
        /// The build.
        build: String,
        /// The instance's directory.
        directory: PathBuf,
        /// How it ended.
        status: String,
        /// The last lines of its log.
        tail: Tail,
    },
}

impl ServerError {
    /// The last lines of the server's log, where there is one; the message shows the last few of them.
    pub fn log_tail(&self) -> &[String] {
        match self {
            Self::InitFailed { tail, .. }
            | Self::InitTimeout { tail, .. }
            | Self::Died { tail, .. }
            | Self::NotReady { tail, .. }
            | Self::StopTimeout { tail, .. }
            | Self::UncleanStop { tail, .. }
            | Self::NotPreloaded { tail, .. }
            | Self::NotHuge { tail, .. } => tail.lines(),
            Self::DoesNotExist { .. }
            | Self::NoServer { .. }
            | Self::CannotExecute { .. }
            | Self::Architecture { .. }
            | Self::NoVersion { .. }
            | Self::PathText { .. }
            | Self::NotStartable { .. }
            | Self::Engine { .. }
            | Self::NoEngine(_)
            | Self::Preload(_)
            | Self::HugePages { .. }
            | Self::Certificate { .. }
            | Self::NoPort { .. }
            | Self::Seed { .. }
            | Self::Setting { .. }
            | Self::Cpus(_)
            | Self::Incomplete { .. }
            | Self::InUse { .. }
            | Self::NotOurs { .. }
            | Self::Io { .. }
            | Self::SocketPathTooLong { .. }
            | Self::NoAccount { .. }
            | Self::NotTraversable { .. }
            | Self::ProgramOutOfReach { .. }
            | Self::AlreadyRunning { .. }
            | Self::NotRunning { .. }
            | Self::Interrupted { .. } => &[],
        }
    }

    /// Did an initialisation begin and not end well? Then its log explains it.
    pub const fn is_of_initialisation(&self) -> bool {
        matches!(self, Self::InitFailed { .. } | Self::InitTimeout { .. })
    }

    /// Makes an I/O error of a path: `.map_err(ServerError::io("create", &path))`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self::Io {
            action,
            path,
            cause,
        }
    }
}

/// What may be behind a program that the system does not run.
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

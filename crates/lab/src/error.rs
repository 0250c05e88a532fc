//! Why a run could not begin or go on.

use std::path::PathBuf;

use drivers::SessionError;
use load::StepError;
use model::{Bytes, Dbms, RunId, StepId, VersionError};
use obtain::ObtainError;
use servers::{PathError, ServerError};
use store::StoreError;

pub(crate) type Result<T, E = LabError> = std::result::Result<T, E>;

/// The run as a whole cannot begin or go on. A trial that fails is an outcome, not an error.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Directory(#[from] PathError),
    /// Runs would be numbered from r1 again, over the reports and logs of earlier ones.
    #[error(
        "{} is empty, although this lab was used: it has {left}/; restore the file from a copy, remove {left}/ to begin anew, or use another lab (--lab)",
        .path.display()
    )]
    EmptyStore { path: PathBuf, left: &'static str },
    #[error("another run is under way in {} (process {owner}); wait for it, or use another lab directory (--lab)", .path.display())]
    Busy { path: PathBuf, owner: String },
    /// The plan does not fit on the disk.
    #[error(transparent)]
    Plan(#[from] plan::PlanError),
    #[error("cannot look at the run so far: {0}")]
    Look(#[from] stats::CompareError),
    #[error("cannot identify this host: {0}")]
    Host(#[from] probes::ProbeError),
    #[error(
        "run {0} is finished; nothing is left to resume. Trials that failed stay failed: begin a new run"
    )]
    Finished(RunId),
    #[error("the plan has {most} rounds to share out, which is too few for {parts} parts")]
    TooManyParts { parts: u32, most: u32 },
    #[error(
        "a part sees only its own rounds, so `rounds = {{ min, max }}` cannot decide when to stop: set a fixed number (--rounds)"
    )]
    LooksInParts,
    #[error("run {0} is not finished: `backslide run --resume {0}` finishes it")]
    NotFinished(RunId),
    #[error("`--rounds` must be above {planned}, which run {run} has already")]
    HasRounds { run: RunId, planned: u32 },
    #[error(
        "run {0} cannot have more rounds, because it has profiled rounds or is a part of a run: start a new run (--rounds)"
    )]
    CannotHaveMore(RunId),
    /// A system differs from the plan, or cannot be reached. Nothing was started.
    #[error("`{system}` cannot be measured: {cause}")]
    System { system: String, cause: Box<SystemError> },
    /// The templates of a run take more than they may. Nothing was started.
    #[error(
        "the templates of this plan need about {need}, and may take {budget}: allow more (--template-budget), choose a smaller scale or fewer systems, or leave `template` out of the plan"
    )]
    TemplateBudget { need: Bytes, budget: Bytes },
    #[error("the templates of this plan cannot be identified: {0}")]
    TemplateKey(String),
    #[error("a server of an earlier run is still running: process {pid} in {}; stop it, or use another lab directory (--lab)", .directory.display())]
    Orphan { pid: u32, directory: PathBuf },
    /// This process cannot open as many sessions as the workload has: `needed` and `found` are in units of `ulimit`.
    #[error(
        "{sessions} sessions need {needed} {what}, and the hard limit of this process is {found}: raise it (ulimit {flag} {needed}), or use fewer clients"
    )]
    Limit { sessions: u32, what: &'static str, flag: &'static str, needed: u64, found: u64 },
    #[error("the plan asks for profiles (`profile`): {0}")]
    Profile(#[from] profiles::ProfileError),
    #[error("the plan asks for counted rounds (`count`): {0}; or leave `count` out")]
    Count(profiles::ProfileError),
    /// Later trials would fail too. This one has no outcome.
    #[error(
        "`{system}` failed, and the disk that holds {} has only {free} left; make room, then resume the run: {reason}",
        .directory.display()
    )]
    DiskFull { system: String, reason: String, directory: PathBuf, free: Bytes },
    #[error("cannot place the client of `{system}`: {cause}")]
    Placement { system: String, cause: String },
}

/// Why a build is not found, or a system cannot be measured as its plan says.
#[derive(Debug, thiserror::Error)]
pub enum SystemError {
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Site(#[from] SiteError),
    #[error(transparent)]
    Version(#[from] VersionError),
    #[error(transparent)]
    Agent(#[from] StepError),
    #[error(transparent)]
    Obtain(#[from] ObtainError),
    #[error("the embedded SQLite has no version")]
    NoVersion,
    #[error("{0} is part of backslide: there is nothing to install")]
    NothingToInstall(String),
    #[error(
        "the catalog has no build `{name}`{nearest}; `backslide builds` lists all; for a build of your own, `backslide add NAME --path DIR` or `--archive FILE`"
    )]
    NotInCatalog { name: String, nearest: String },
    #[error(
        "the catalog has no source of {name}, only of {sources}; to compile a commit of a repository, set `build = {{ source = …, git = …, commit = … }}` in a plan"
    )]
    NoSource { name: String, sources: String },
    #[error("{} has no source that backslide knows: the catalog compiles MariaDB, MySQL, PostgreSQL, and SQLite as one file", .0.display())]
    NoProduct(PathBuf),
    #[error(
        "the catalog does not say how to compile {0}: add a build that you compiled yourself (`backslide add NAME --path DIR`)"
    )]
    NoCompile(Dbms),
    #[error(
        "it is neither installed nor in the catalog{nearest}; `backslide builds` lists available builds, `backslide add` adds one of your own, in a plan `path = \"…\"` says where one is"
    )]
    NoBuild { nearest: String },
    #[error("it is not installed: `backslide install {0}`")]
    NotInstalled(String),
    #[error("backslide samples only servers that it starts, and the plan connects to this one")]
    NotSampled,
    #[error("{} ({file})", MEASURED_ELSEWHERE)]
    Imported { file: String },
    #[error("it is `{now}` now, the run began with `{was}`: restore that build or begin a new run")]
    Changed { was: String, now: String },
    #[error(
        "{cause}; backslide does not store passwords of plan files, so give it in {}",
        PASSWORD
    )]
    Unreachable { cause: Box<Self> },
    #[error("{address} is `{line}`, which is not {dbms}")]
    OtherProduct { address: String, line: String, dbms: Dbms },
    #[error("{0} runs inside this process, without connections: leave `connection` out")]
    NoConnections(Dbms),
    #[error(
        "`connect` is the path of a socket and `connection` asks for TCP: give host:port in `connect`, or leave `transport` out"
    )]
    SocketOnly,
    #[error("the MySQL protocol has no portals to describe: leave `describe` out")]
    NoPortals,
    #[error("PostgreSQL's protocol has no compression: leave `compression` out")]
    NoCompression,
    #[error(
        "PostgreSQL encrypts TCP only: add `transport = \"tcp\"` to `connection`, or leave `tls` out"
    )]
    NoTlsOverSocket,
    #[error("`{0}` is not an address: expected user@host:port or user@/path/of/socket")]
    Address(String),
    #[error("{} is a directory: give the path of the socket in it, such as {}", .directory.display(), .socket.display())]
    NoSocket { directory: PathBuf, socket: PathBuf },
    #[error("`{0}` is not a port")]
    Port(String),
    #[error("SQLite has no address")]
    NoAddress,
    #[error(
        "step `{step}` opens {sessions} sessions besides one of backslide's own, and the server takes {limit}: {remedy}, or use fewer clients"
    )]
    Sessions { step: StepId, sessions: u32, limit: String, remedy: String },
}

/// A site that could not be made ready or ended.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct SiteError {
    /// What happened, with the cause and what to do.
    pub reason: String,
    pub log_tail: Vec<String>,
    /// What explains it and is to be kept: the whole log, cores.
    pub files: Vec<PathBuf>,
    /// What is left of a site that was not made ready, to be removed then.
    pub directory: Option<PathBuf>,
}

impl From<ServerError> for SiteError {
    fn from(error: ServerError) -> Self {
        Self::with_log(error.to_string(), error.log_tail().to_vec())
    }
}

macro_rules! told_as_reasons {
    ($($error:ty),*) => {
        $(impl From<$error> for SiteError {
            fn from(error: $error) -> Self {
                Self::new(error.to_string())
            }
        })*
    };
}

told_as_reasons!(LabError, ObtainError, PathError, SessionError, StepError, SystemError);

impl SiteError {
    pub fn new(reason: impl Into<String>) -> Self {
        Self::with_log(reason, Vec::new())
    }

    /// The reason and the last lines of the log, unless the reason has the telling ones already.
    pub fn with_lines(&self) -> String {
        let mut text = self.reason.clone();
        if !text.contains('\n') {
            for line in &self.log_tail {
                text.push_str("\n  | ");
                text.push_str(line);
            }
        }
        text
    }

    /// An error of a site that stays, with the last lines of its log.
    pub fn with_log(reason: impl Into<String>, log_tail: Vec<String>) -> Self {
        Self { reason: reason.into(), log_tail, files: Vec::new(), directory: None }
    }
}

/// Nothing of it is here: an import that was interrupted is begun again, not resumed.
pub(crate) const MEASURED_ELSEWHERE: &str =
    "it was measured by another tool and imported; import it again";

/// The environment variable with the password of a server that is not ours.
pub(crate) const PASSWORD: &str = "BACKSLIDE_PASSWORD";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_log_are_told_once() {
        let lines = |reason: &str| {
            let log = vec!["starting".to_owned(), "no room".to_owned()];
            SiteError::with_log(reason, log).with_lines()
        };
        assert_eq!(lines("cannot connect"), "cannot connect\n  | starting\n  | no room");
        assert_eq!(lines("it died\n  | no room"), "it died\n  | no room");
    }
}

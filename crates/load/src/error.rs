//! Why a step could not be finished.

use std::path::{Path, PathBuf};

use drivers::SessionError;

/// What fails with an error of a step unless it names another one.
pub type Result<T = (), E = StepError> = std::result::Result<T, E>;

/// A step that failed. The trial is over; what was measured until then is kept.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    #[error("{client}: {source}")]
    Session {
        /// Which client: `insert 3`.
        client: String,
        source: SessionError,
    },
    #[error("{client}: given up after {tries} tries; last {source}")]
    TooManyRetries { client: String, tries: u32, source: SessionError },
    /// A script failed; the message says where in it.
    #[error("{client}: {message}")]
    Script { client: String, message: String },
    /// The agent on another host is lost, or what it does says nothing of the step.
    #[error("host `{host}`: {message}")]
    Host { host: String, message: String },
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Unsupported(String),
    #[error("{0}")]
    Load(String),
    #[error("the state of the loaded data cannot be used: {0}")]
    State(String),
    #[error("cannot {action} {}, the log of acknowledged commits: {cause}", .path.display())]
    Log { action: &'static str, path: PathBuf, cause: std::io::Error },
    #[error(
        "cannot start a thread for client {client} of {of}: {cause}; raise the limit (ulimit -u) or use fewer clients"
    )]
    Thread { client: usize, of: usize, cause: std::io::Error },
    /// A client panicked: a bug in backslide.
    #[error("client {client} stopped by a bug in backslide: {message}")]
    Bug { client: String, message: String },
}

impl StepError {
    /// Makes an error of the log of acknowledged commits: `.map_err(StepError::log("read", path))`.
    pub fn log(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self::Log { action, path, cause }
    }
}

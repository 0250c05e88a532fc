//! Why a step could not be finished.

use std::path::{Path, PathBuf};

use drivers::SessionError;

/// A step that failed. The trial is over; what was measured until then is kept.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// A session failed.
    #[error("{client}: {source}")]
    Session {
        /// Which client: `insert 3`.
        client: String,
        /// What happened.
        source: SessionError,
    },
    /// An operation was repeated as often as is allowed.
    #[error("{client}: given up after {tries} tries; last {source}")]
    TooManyRetries {
        /// Which client.
        client: String,
        /// How often it was tried.
        tries: u32,
        /// The last error.
        source: SessionError,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The workload cannot do this on this system.
    #[error("{0}")]
    Unsupported(String),
    /// Tables cannot be loaded, or do not hold what was loaded.
    #[error("{0}")]
    Load(String),
    /// What another process remembered of the data cannot be used.
    #[error("the state of the loaded data cannot be used: {0}")]
    State(String),
    /// The log of acknowledged commits cannot be written or read.
    #[error("cannot {action} {}, the log of acknowledged commits: {cause}", .path.display())]
    Log {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the system said, or which line is wrong.
        cause: std::io::Error,
    },
    /// A thread of a client could not be started.
    #[error(
        "cannot start a thread for client {client} of {of}: {cause}; raise the limit (ulimit -u) or use fewer clients"
    )]
    Thread {
        /// Its number.
        client: usize,
        /// Clients wanted.
        of: usize,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A client panicked: a bug in backslide.
    #[error("client {client} stopped by a bug in backslide: {message}")]
    Bug {
        /// Which client.
        client: String,
        /// The panic's message.
        message: String,
    },
}

impl StepError {
    /// Makes an error of the log of acknowledged commits: `.map_err(StepError::log("read", path))`.
    pub(crate) fn log(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self::Log {
            action,
            path,
            cause,
        }
    }
}

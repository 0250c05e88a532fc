//! Why a step could not be finished.

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

//! What can go wrong on a connection.

use std::time::Duration;

/// An error of a session. Display is a lowercase fragment that names the address, code or statement.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The server could not be reached.
    #[error("cannot connect to {address}: {cause}")]
    Connect {
        /// Socket path or host and port.
        address: String,
        /// What the system said.
        cause: String,
    },
    /// The server refused the login, or asks for something that this client does not offer.
    #[error("{address} refused the login of user `{user}`: {message}")]
    Login {
        /// Socket path or host and port.
        address: String,
        /// As whom.
        user: String,
        /// What the server said, or what is missing and what to do.
        message: String,
    },
    /// The server answered with an error; the session goes on.
    #[error("error {code}: {message} (in `{statement}`)")]
    Server {
        /// `1213`, `40P01`, `SQLITE_BUSY`.
        code: String,
        /// What the server said.
        message: String,
        /// The statement's first characters.
        statement: String,
    },
    /// The connection ended; the session is of no further use.
    #[error("connection lost: {cause}")]
    Lost {
        /// What the system said.
        cause: String,
    },
    /// The server did not answer in time; the session is of no further use.
    #[error("no answer within {limit:?} (to `{statement}`)")]
    Timeout {
        /// How long it was waited for.
        limit: Duration,
        /// The statement's first characters.
        statement: String,
    },
    /// The server sent something that the protocol does not allow.
    #[error("protocol error: {what}")]
    Protocol {
        /// What, and where.
        what: String,
    },
}

/// What a client may do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The same operation may succeed when repeated: deadlock, lock wait, serialization failure, busy.
    Retryable,
    /// The trial is over.
    Fatal,
}

impl SessionError {
    /// The server's code, or a word for errors that have none.
    pub fn code(&self) -> &str {
        match self {
            Self::Connect { .. } => "connect",
            Self::Login { .. } => "login",
            Self::Server { code, .. } => code,
            Self::Lost { .. } => "lost",
            Self::Timeout { .. } => "timeout",
            Self::Protocol { .. } => "protocol",
        }
    }

    /// The same error with the statement that it answers, cut to its first characters, where the
    /// kind of error names one. The layers below a session do not know the statement.
    #[must_use]
    pub(crate) fn about(mut self, sql: &str) -> Self {
        if let Self::Server { statement, .. } | Self::Timeout { statement, .. } = &mut self {
            *statement = excerpt(sql);
        }
        self
    }

    /// What a client may do about it.
    pub fn class(&self) -> ErrorClass {
        // MySQL: 1205 lock wait timeout, 1213 deadlock. PostgreSQL: 40001 serialization failure,
        // 40P01 deadlock, 55P03 lock not available. SQLite: 5 busy, 6 locked.
        const RETRYABLE: [&str; 7] = [
            "1205",
            "1213",
            "40001",
            "40P01",
            "55P03",
            "SQLITE_BUSY",
            "SQLITE_LOCKED",
        ];
        match self {
            Self::Server { code, .. } if RETRYABLE.contains(&code.as_str()) => {
                ErrorClass::Retryable
            }
            Self::Connect { .. }
            | Self::Login { .. }
            | Self::Server { .. }
            | Self::Lost { .. }
            | Self::Timeout { .. }
            | Self::Protocol { .. } => ErrorClass::Fatal,
        }
    }
}

/// The first characters of a statement: enough to know it by, short enough for one line of a log.
fn excerpt(sql: &str) -> String {
    const CHARACTERS: usize = 120;
    sql.chars().take(CHARACTERS).collect()
}

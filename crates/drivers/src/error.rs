//! What can go wrong on a connection.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use model::Dialect;

/// An error of a session. Display is a lowercase fragment that names the address, code or statement.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("cannot connect to {address}: {cause}")]
    Connect { address: String, cause: String },
    #[error("{} is not a usable SQLite library: {cause}", .path.display())]
    Library { path: PathBuf, cause: String },
    /// The server refused the login, or asks for something that this client does not offer.
    #[error("{address} refused the login of user `{user}`: {message}")]
    Login {
        address: String,
        user: String,
        /// What the server said, or what is missing and what to do.
        message: String,
    },
    /// The server answered with an error; the session goes on.
    #[error("error {code}: {message} (in `{statement}`)")]
    Server {
        /// `1213`, `40P01`, `SQLITE_BUSY`.
        code: String,
        /// The SQL state that MySQL sends beside its code; empty where there is none, or where it is the code.
        state: Box<str>,
        message: String,
        statement: String,
    },
    /// The connection ended; the session is of no further use.
    #[error("connection lost: {cause}")]
    Lost { cause: String },
    /// The server did not answer in time; the session is of no further use.
    #[error("no answer within {limit:?} (to `{statement}`)")]
    Timeout { limit: Duration, statement: String },
    #[error("protocol error: {what}")]
    Protocol { what: String },
}

/// What fails with an error of a session unless it names another one.
pub type Result<T = (), E = SessionError> = std::result::Result<T, E>;

impl SessionError {
    /// The server's code, or a word for errors that have none.
    pub fn code(&self) -> &str {
        match self {
            Self::Connect { .. } => "connect",
            Self::Library { .. } => "library",
            Self::Login { .. } => "login",
            Self::Server { code, .. } => code,
            Self::Lost { .. } => "lost",
            Self::Timeout { .. } => "timeout",
            Self::Protocol { .. } => "protocol",
        }
    }

    #[cold]
    pub(crate) fn protocol(what: impl Into<String>) -> Self {
        Self::Protocol { what: what.into() }
    }

    #[cold]
    pub(crate) fn lost(cause: impl Into<String>) -> Self {
        Self::Lost { cause: cause.into() }
    }

    /// An error that the server gives, or would give with this code; the caller adds the statement.
    #[cold]
    pub(crate) fn server(code: &str, message: impl Into<String>) -> Self {
        Self::Server {
            code: code.to_owned(),
            state: Box::default(),
            message: message.into(),
            statement: String::new(),
        }
    }

    #[cold]
    pub(crate) fn parameter_count(code: &str, wanted: usize, given: usize) -> Self {
        Self::server(code, format!("the statement has {wanted} parameters, {given} were given"))
    }

    /// A parameter is not of its declared type; positions begin with 1.
    #[cold]
    pub(crate) fn parameter_type(code: &str, position: usize, declared: impl fmt::Debug) -> Self {
        let message =
            format!("parameter {position} was declared as {declared:?} and given as another");
        Self::server(code, message)
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

    /// May the same operation succeed when it is repeated?
    pub fn is_retryable(&self) -> bool {
        let all = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite];
        all.into_iter().any(|dialect| retryable(dialect).contains(&self.code()))
    }
}

/// The codes of errors after which the same operation may succeed when it is repeated.
pub const fn retryable(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        // 1020 the record has changed since it was read (snapshot isolation of MariaDB), 1205 lock wait
        // timeout, 1213 deadlock, 1615 the statement needs to be prepared again, 3572 a lock was not
        // available (NOWAIT).
        Dialect::Mysql => &["1020", "1205", "1213", "1615", "3572"],
        // 40001 serialization failure, 40P01 deadlock, 55P03 a lock was not available.
        Dialect::Postgres => &["40001", "40P01", "55P03"],
        Dialect::Sqlite => &["SQLITE_BUSY", "SQLITE_LOCKED"],
    }
}

/// The first characters of a statement: enough to know it by, short enough for one line of a log. A
/// password in them is left out, and so is all that follows it.
pub(crate) fn excerpt(sql: &str) -> String {
    const CHARACTERS: usize = 120;
    let mut text: String = sql.chars().take(CHARACTERS).collect();
    if let Some(quote) = secret(&text) {
        text.truncate(quote);
        text.push('…');
    }
    text
}

/// Where the first quoted text begins after a word that announces a password.
fn secret(sql: &str) -> Option<usize> {
    const WORDS: [&str; 2] = ["identified", "password"];
    // Of the same length: only ASCII letters change.
    let lower = sql.to_ascii_lowercase();
    let word = WORDS.iter().filter_map(|word| lower.find(word)).min()?;
    let quote = lower.get(word..)?.find(['\'', '"'])?;
    Some(word + quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_tells_no_password() {
        assert_eq!(excerpt(&"é".repeat(200)), "é".repeat(120));
        for (sql, told) in [
            (
                "CREATE USER 'é'@'h' IDENTIFIED BY 'secret', u IDENTIFIED BY 'secret'",
                "CREATE USER 'é'@'h' IDENTIFIED BY …",
            ),
            ("alter role r password 'it''s secret'", "alter role r password …"),
            ("SET password_encryption = \"md5\"", "SET password_encryption = …"),
            ("SELECT 'a', password FROM t", "SELECT 'a', password FROM t"),
            ("SELECT 'a'", "SELECT 'a'"),
        ] {
            assert_eq!(excerpt(sql), told);
            assert_eq!(excerpt(told), told, "twice is as good as once");
        }
    }
}

//! The seam between workloads and protocols.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Result, SessionError};

/// One connection to a server, owned by one thread. Every call blocks until the server answered
/// or the endpoint's timeout has passed. SQLite has no server: there, only the wait for a lock ends.
pub trait Session: Send {
    /// Sends one statement as text; rows that it returns are counted and dropped.
    fn execute(&mut self, sql: &str) -> Result<Done> {
        self.query(sql, &mut |_| ())
    }

    /// Sends one statement as text and shows each row that it returns.
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done>;

    /// As [`Session::query`], for a statement in the connection's own encoding.
    fn query_bytes(&mut self, sql: &[u8], each: &mut dyn FnMut(&dyn Row)) -> Result<Done> {
        let text = std::str::from_utf8(sql).map_err(|error| {
            let statement = String::from_utf8_lossy(sql);
            SessionError::protocol(format!("{error} in `{}`", crate::error::excerpt(&statement)))
        })?;
        self.query(text, each)
    }

    /// Prepares a statement on the server. Placeholders are the protocol's own: `?` or `$1`.
    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId>;

    /// Runs a prepared statement and shows each row. `params` match the types given to [`Session::prepare`].
    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done>;

    /// As [`Session::execute_prepared`], but only counts the rows, which costs less.
    fn count_prepared(&mut self, statement: StatementId, params: &[Param<'_>]) -> Result<Done> {
        self.execute_prepared(statement, params, &mut |_| ())
    }

    /// Runs independent prepared statements: sends all before it reads the first answer where the protocol
    /// allows, otherwise one after the other. `each` gets the rows with the index of their statement, `done`
    /// how each ended, in order. The first error ends the batch; the answers after it are read and
    /// dropped, and the session stays usable.
    fn execute_pipelined(
        &mut self,
        batch: &[Execution<'_>],
        each: &mut dyn FnMut(usize, &dyn Row),
        done: &mut dyn FnMut(usize, Done),
    ) -> Result {
        for (index, (statement, params)) in batch.iter().enumerate() {
            let answer = self.execute_prepared(*statement, params, &mut |row| each(index, row))?;
            done(index, answer);
        }
        Ok(())
    }

    /// Can [`Session::load_rows`] be used?
    fn can_load_rows(&self) -> bool {
        false
    }

    /// Adds rows to `table` by `COPY … FROM STDIN` or `LOAD DATA LOCAL INFILE`, as one statement; how many
    /// were added. They have values for `columns`, or for all columns when none is named. `next` appends
    /// whole rows to the buffer it is given, some ten kilobytes at a time, and tells whether there were
    /// any; the values of a row are separated by tabs and it ends with a line feed. In a value, backslash,
    /// tab, line feed and carriage return are written `\\`, `\t`, `\n`, `\r`.
    fn load_rows(
        &mut self,
        table: &str,
        columns: &[&str],
        next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64> {
        let _ = (columns, next);
        let what = format!("rows cannot be loaded into {table} by this protocol");
        Err(SessionError::Protocol { what })
    }

    /// What the server said of itself and what was agreed at connect.
    fn info(&self) -> &SessionInfo;
}

/// Opens sessions to one database of one server. Shared by the threads of all clients.
pub trait Connector: Send + Sync {
    fn connect(&self) -> Result<Box<dyn Session>>;

    /// The database that its sessions use; empty where there is no name for it.
    #[expect(clippy::unnecessary_literal_bound, reason = "other connectors lend their own name")]
    fn database(&self) -> &str {
        ""
    }

    /// Can no later attempt succeed either, because the server has ended and nobody starts it again?
    fn is_hopeless(&self) -> bool {
        false
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    pub rows: u64,
    /// Rows inserted, deleted or updated.
    pub affected: u64,
    /// Columns of its last result; 0 where it returned none.
    pub columns: u32,
}

pub type Execution<'a> = (StatementId, &'a [Param<'a>]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    Int,
    Text,
    /// Date and time to the second, without zone; given as text `2026-11-21 10:00:00`.
    DateTime,
    /// Decimal number; given as text `-12.50`.
    Decimal,
}

#[derive(Clone, Copy, Debug)]
pub enum Param<'a> {
    /// For [`ParamType::Int`].
    Int(i64),
    /// For all other types.
    Text(&'a str),
    /// For [`ParamType::Text`], in the connection's own encoding.
    Bytes(&'a [u8]),
}

/// One returned row, read in place; valid only during the call that shows it.
pub trait Row {
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a column; NULL for a column beyond the last.
    fn value(&self, column: usize) -> Value<'_>;
}

/// A column's value as the protocol brought it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Int(i64),
    Real(f64),
    /// Text, or the text form of any type.
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// As an integer: binary ones as they are, text when it is a whole number; `None` otherwise.
    pub fn as_int(&self) -> Option<i64> {
        match *self {
            Self::Int(i) => Some(i),
            Self::Bytes(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            Self::Null | Self::Real(_) => None,
        }
    }

    /// As text; `None` for NULL.
    pub fn to_text(&self) -> Option<String> {
        match *self {
            Self::Null => None,
            Self::Int(i) => Some(i.to_string()),
            Self::Real(r) => Some(r.to_string()),
            Self::Bytes(text) => Some(String::from_utf8_lossy(text).into_owned()),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionInfo {
    /// The server's version as it says it: `10.11.18-MariaDB-0+deb12u1`.
    pub server_version: String,
    /// Process or thread id of the server's side, where the protocol tells.
    pub backend: Option<u32>,
    pub authentication: String,
    /// TLS version and cipher, `None` when the connection is not encrypted.
    pub tls: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket: MySQL's socket file, or `.s.PGSQL.<port>` of PostgreSQL.
    Socket(PathBuf),
    Tcp {
        host: String,
        port: u16,
    },
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "{}", path.display()),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    pub user: String,
    /// Password; empty for none. Never printed.
    pub password: String,
    /// Database; empty for none.
    pub database: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.user, self.database)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerEndpoint {
    pub address: Address,
    pub login: Login,
    /// Longest wait for an answer.
    pub timeout: Duration,
    /// Is the connection encrypted? A server that cannot is an error then. Its certificate is not
    /// checked: what is measured is the cost, not the peer.
    pub tls: bool,
    /// Is it compressed? A server or protocol that cannot is an error then.
    pub compression: bool,
    /// Does each run of a prepared statement ask for its columns, as libpq does? Only PostgreSQL's can.
    pub describe: bool,
}

impl ServerEndpoint {
    /// Is nobody able to read along: is it encrypted, or does it stay in the kernel of this host? Only then
    /// a password goes over it as it is. Loopback does not count: another user can take the port of a
    /// server that is not up, or forward it elsewhere.
    pub(crate) const fn is_private(&self) -> bool {
        self.tls || matches!(self.address, Address::Socket(_))
    }

    /// The host's name for TLS, which a Unix socket has not.
    pub(crate) fn host(&self) -> &str {
        match &self.address {
            Address::Tcp { host, .. } => host,
            Address::Socket(_) => "localhost",
        }
    }

    /// The login is refused, by the server or because of what it asks for.
    #[cold]
    pub(crate) fn refused(&self, message: impl Into<String>) -> SessionError {
        SessionError::Login {
            address: self.address.to_string(),
            user: self.login.user.clone(),
            message: message.into(),
        }
    }

    /// The server may let in later.
    #[cold]
    pub(crate) fn not_ready(&self, cause: String) -> SessionError {
        SessionError::Connect { address: self.address.to_string(), cause }
    }

    /// Neither encrypted nor compressed, with columns described once.
    pub const fn plain(address: Address, login: Login, timeout: Duration) -> Self {
        Self { address, login, timeout, tls: false, compression: false, describe: false }
    }
}

/// How to reach a database: everything that a session needs to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    Mysql(ServerEndpoint),
    Postgres(ServerEndpoint),
    Sqlite {
        /// The library whose SQLite it is; `None` for the one that is built in.
        library: Option<PathBuf>,
        /// The file; created when missing.
        path: PathBuf,
        /// `PRAGMA name = value` for each session, in this order.
        pragmas: Vec<(String, String)>,
        /// Longest wait for a lock.
        timeout: Duration,
    },
}

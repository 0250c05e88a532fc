//! The wire: one thin blocking client per protocol behind the [`Session`] trait.
//!
//! A session is one connection, owned by one thread. Over the wire, the hot calls
//! ([`Session::execute`], [`Session::execute_prepared`]) allocate nothing per operation: they patch
//! parameters into one reused buffer, write, poll, read, and walk the rows in place.

mod connect;
mod cursor;
mod error;
mod mysql;
mod pipeline;
mod postgres;
mod session;
mod sqlite;
mod stream;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod tests;

pub use connect::connector;
pub use error::{Result, SessionError, retryable};
pub use mysql::MysqlSession;
pub use postgres::PostgresSession;
pub use session::{
    Address, Connector, Done, Endpoint, Execution, Login, Param, ParamType, Row, ServerEndpoint,
    Session, SessionInfo, StatementId, Value,
};
pub use sqlite::{SqliteSession, sqlite_library, sqlite_version};

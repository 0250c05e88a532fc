//! The MySQL protocol: MySQL 5.5 to 9.7, MariaDB 10.1 to 11.8, and what speaks like them.
//!
//! Text statements (`COM_QUERY`), prepared ones (`COM_STMT_PREPARE`, `COM_STMT_EXECUTE` with binary
//! rows), one at a time or several ahead, and `LOAD DATA LOCAL`. TLS and compression where they are
//! asked for. Never negotiated: several statements in one text, and `CLIENT_DEPRECATE_EOF`: without
//! it every version frames its results in the same packets, so that versions differ by what they do
//! and not by what was agreed.
//!
//! [`session`] puts the files together.

mod auth;
mod column;
mod compressed;
mod exchange;
mod handshake;
mod load;
mod packets;
mod reply;
mod rows;
mod rsa;
mod session;
mod statement;
mod temporal;
#[cfg(test)]
mod tests;

pub use session::MysqlSession;

use crate::stream::Stream;
use crate::{Connector, ServerEndpoint, Session, SessionError};

/// Opens sessions to a server that speaks the MySQL protocol.
#[derive(Clone, Debug)]
pub struct MysqlConnector {
    server: ServerEndpoint,
}

impl MysqlConnector {
    /// Nothing is opened yet. The timeout bounds the connect and each wait for an answer.
    pub const fn new(server: ServerEndpoint) -> Self {
        Self { server }
    }

    /// Opens a session, as its own type.
    pub fn open(&self) -> Result<MysqlSession, SessionError> {
        let stream = Stream::connect(&self.server.address, self.server.timeout)?;
        self.session_over(stream)
    }

    /// Logs in over a connection that is open already.
    pub(crate) fn session_over(&self, stream: Stream) -> Result<MysqlSession, SessionError> {
        MysqlSession::log_in(stream, &self.server)
    }
}

impl Connector for MysqlConnector {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::new(self.open()?))
    }
}

/// The server sent bytes that the protocol does not allow here.
#[cold]
fn malformed(what: &str) -> SessionError {
    SessionError::protocol(format!("malformed {what} from the server"))
}

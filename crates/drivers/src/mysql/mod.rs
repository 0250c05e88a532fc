//! The MySQL protocol: MySQL 5.5 to 9.7, MariaDB 10.1 to 11.8, and what speaks like them.
//!
//! Text statements (`COM_QUERY`) and prepared ones (`COM_STMT_PREPARE`, `COM_STMT_EXECUTE` with
//! binary rows), without TLS. Never negotiated: `LOAD DATA LOCAL`, compression, several statements
//! in one text. `CLIENT_DEPRECATE_EOF` is not negotiated either: every version then frames its
//! results in the same packets, so that versions differ by what they do and not by what was agreed.
//!
//! Each file does one thing: [`packets`] frames, [`cursor`] reads fields, [`handshake`] and
//! [`auth`] log in, [`reply`] reads what a server says of a statement, [`column`], [`rows`] and
//! [`temporal`] decode values, [`statement`] encodes parameters, [`session`] puts them together.

mod auth;
mod column;
mod cursor;
mod handshake;
mod packets;
mod reply;
mod rows;
mod session;
mod statement;
mod temporal;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use session::MysqlSession;

use crate::stream::Stream;
use crate::{Address, Connector, Login, Session, SessionError};

/// Opens sessions to a server that speaks the MySQL protocol.
#[derive(Clone, Debug)]
pub struct MysqlConnector {
    address: Address,
    login: Login,
    timeout: Duration,
}

impl MysqlConnector {
    /// Nothing is opened yet. `timeout` bounds the connect and each wait for an answer.
    pub fn new(address: Address, login: Login, timeout: Duration) -> Self {
        Self {
            address,
            login,
            timeout,
        }
    }

    /// Opens a session, as its own type.
    pub fn open(&self) -> Result<MysqlSession, SessionError> {
        let stream = Stream::connect(&self.address, self.timeout)?;
        MysqlSession::log_in(stream, &self.address, &self.login)
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
    SessionError::Protocol {
        what: format!("malformed {what} from the server"),
    }
}

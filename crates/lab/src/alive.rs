//! Sessions of a server of ours, which nobody starts again when it dies.

use drivers::{Connector, Session, SessionError};
use servers::ServerProcess;

/// Opens sessions, and knows when no attempt can succeed any more.
pub(crate) struct WhileAlive {
    inner: Box<dyn Connector>,
    process: Option<ServerProcess>,
}

impl WhileAlive {
    /// The sessions of `inner`, which are those of a server that is this process.
    pub(crate) fn new(inner: Box<dyn Connector>, process: Option<ServerProcess>) -> Self {
        Self { inner, process }
    }
}

impl Connector for WhileAlive {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        self.inner.connect().map_err(|error| match error {
            SessionError::Connect { address, .. } if self.is_hopeless() => SessionError::Connect {
                address,
                cause: "the server's process has ended".to_owned(),
            },
            other => other,
        })
    }

    fn is_hopeless(&self) -> bool {
        self.process.as_ref().is_some_and(|process| !process.is_alive())
    }
}

//! How clients talk to a server.

use serde::{Deserialize, Serialize};

/// How clients talk to the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the plan, independent of the others"
)]
pub struct Connection {
    pub transport: Transport,
    pub tls: bool,
    pub compression: bool,
    /// Are all statements of an operation sent before the first answer is read?
    pub pipeline: bool,
    /// Does each run of a prepared statement ask PostgreSQL to describe its columns, as libpq does?
    pub describe: bool,
}

/// Over what clients reach a server on this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    #[default]
    Socket,
    Tcp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Isolation {
    pub const fn sql(self) -> &'static str {
        match self {
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }
}

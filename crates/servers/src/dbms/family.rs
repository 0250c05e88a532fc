//! What a family of servers is: data that [`crate::Instance`] carries out.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use model::{Build, Engine, Setting, System, Transport, Version};
use rustix::process::Signal;

use crate::error::{EngineMissing, Missing, SettingError};
use crate::installation::Installation;

/// A family of servers. Every method returns data and performs no I/O; [`crate::Instance`] carries
/// it out.
pub(crate) trait Family: Debug + Sync {
    fn traits(&self) -> &'static Traits;

    /// The version in a line that the server printed when asked for it; `None` for a line of another
    /// family.
    fn parse_version(&self, line: &str) -> Option<Version>;

    fn init(&self, system: &System, layout: &Layout) -> Result<Init, Missing>;

    /// The text of the configuration file: the settings, which were checked, and what isolation demands.
    fn config(&self, system: &System, layout: &Layout) -> String;

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

#[derive(Debug)]
pub(crate) struct Traits {
    pub(crate) socket: &'static str,
    pub(crate) stop: Signal,
    /// Can it sleep through that request, when it comes right after the start, until someone connects?
    pub(crate) sleeps_through_stop: bool,
    /// Ends the server and all its processes at once; sent by the kernel when backslide dies.
    pub(crate) death: Signal,
    pub(crate) refuses_root: bool,
}

pub(crate) fn uses_tcp(system: &System) -> bool {
    system.connection.transport == Transport::Tcp
}

/// Where one instance of one installation has everything. All paths are absolute and plain text.
#[derive(Clone, Debug)]
pub struct Layout {
    pub installation: Installation,
    /// The instance's directory; everything below lies in it, except for the socket.
    pub directory: PathBuf,
    pub socket: PathBuf,
    /// The TCP port of 127.0.0.1; `None` for a server that listens on its socket alone.
    pub port: Option<u16>,
    pub as_root: bool,
}

pub(crate) const DATA: &str = "data";
pub(crate) const INIT_LOG: &str = "init.log";

impl Layout {
    pub fn data(&self) -> PathBuf {
        self.directory.join(DATA)
    }

    pub fn config(&self) -> PathBuf {
        self.directory.join("server.cnf")
    }

    /// The configuration file of the initialisation, where that needs one.
    pub fn init_config(&self) -> PathBuf {
        self.directory.join("init.cnf")
    }

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

    pub fn log(&self) -> PathBuf {
        self.directory.join("server.log")
    }

    pub fn init_log(&self) -> PathBuf {
        self.directory.join(INIT_LOG)
    }

    pub fn socket_directory(&self) -> &Path {
        self.socket.parent().unwrap_or(&self.socket)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Init {
    pub copy: Option<Copied>,
    pub directories: Vec<PathBuf>,
    pub files: Vec<(PathBuf, String)>,
    pub commands: Vec<InitCommand>,
}

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Text(String),
    File(PathBuf),
}

/// A setting that a server does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Objection {
    pub option: String,
    /// What is wrong with its value; `None` for an unknown name.
    pub problem: Option<String>,
}

/// Which files of an instance hold what: paths relative to its data directory. A directory means all
/// that is in it; `*` stands for any text within a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
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
pub fn is_named(setting: &str, names: &[impl AsRef<str>]) -> bool {
    let name = setting.to_lowercase().replace('-', "_");
    let name = name.strip_prefix("loose_").unwrap_or(&name);
    names.iter().any(|known| known.as_ref() == name)
}

pub const TOKUDB_UNVERIFIED: &str = "TokuDB is unverified: its vendors have dropped it, and no build of the catalog has it, so \
     backslide has not been tried with it; check `SHOW ENGINES`, the sizes and the \
     captures yourself";

/// The options that turn an engine on, and make it the default: a name each, and a value of those that take one.
pub(crate) fn engine_lines(
    build: &Build,
    engine: Engine,
    installation: &Installation,
) -> Result<&'static [Vec<String>], EngineMissing> {
    let Some(facts) = build.dbms.product().engine.get(&engine) else {
        return Ok(&[]);
    };
    let Some(plugin) = &facts.plugin else {
        return Ok(&facts.options);
    };
    let place = installation.plugins.as_ref();
    let is_it = |path: &PathBuf| path.file_name().is_some_and(|name| name == plugin.as_str());
    if installation.engine_plugins.iter().any(is_it) {
        return Ok(&facts.options);
    }
    let line = build.version_line.to_lowercase();
    let says_so = |built_in: &&model::BuiltIn| {
        built_in.since.holds(&build.version) && built_in.banner.iter().any(|b| line.contains(b))
    };
    if let Some(built_in) = facts.built_in.as_ref().filter(says_so) {
        return Ok(&built_in.options);
    }
    Err(EngineMissing {
        build: build.id(),
        engine,
        why: match place {
            Some(place) => format!("{plugin} is not in {}", place.display()),
            None => format!("it has no directory of plugins below {}", installation.base.display()),
        },
        who: facts.missing.clone(),
    })
}

/// Where the tables of the benchmark and the logs are.
pub(crate) fn files(build: &Build, engine: Engine) -> Files {
    let product = build.dbms.product();
    let data = product.engine.get(&engine).map_or_else(Vec::new, |facts| {
        let is_before = !facts.also_before.holds(&build.version);
        let has_also = facts.also_before != model::Since::Never && is_before;
        let also = facts.also.iter().filter(|_| has_also);
        facts.data.iter().chain(also).cloned().collect()
    });
    Files { data, log: product.server.log_files.clone() }
}

#[cfg(test)]
mod tests {
    use model::Dbms;

    use super::*;

    fn build(dbms: Dbms, version: &str, line: &str) -> Build {
        let source = model::BuildSource::Path("/b".to_owned());
        Build {
            version_line: line.to_owned(),
            ..Build::new(dbms, version.parse().unwrap(), source)
        }
    }

    fn installation(plugins: &[&str]) -> Installation {
        let directory = PathBuf::from("/b/lib/plugin");
        Installation {
            program: "/b/bin/mysqld".into(),
            base: "/b".into(),
            share: None,
            scripts: Vec::new(),
            engine_plugins: plugins.iter().map(|name| directory.join(name)).collect(),
            plugins: Some(directory),
            libraries: None,
            tools: Vec::new(),
            seed: None,
        }
    }

    fn text(build: &Build, engine: Engine, plugins: &[&str]) -> String {
        match engine_lines(build, engine, &installation(plugins)) {
            Ok(lines) => lines.iter().map(|line| line.join("=")).collect::<Vec<_>>().join(" "),
            Err(missing) => missing.to_string(),
        }
    }

    #[test]
    fn each_family_has_its_own_way_to_an_engine() {
        let mariadb = build(Dbms::Mariadb, "10.5.23", "mariadbd  Ver 10.5.23-MariaDB");
        let percona = build(
            Dbms::Mysql,
            "8.0.33",
            "mysqld  Ver 8.0.33-25 for Linux on x86_64 (Percona Server (GPL), Release 25)",
        );
        let facebook = build(
            Dbms::Mysql,
            "8.0.28",
            "mysqld  Ver 8.0.28-20230131 for Linux on x86_64 (Source distribution)",
        );
        let both = &["ha_rocksdb.so", "ha_tokudb.so"];
        insta::assert_snapshot!(text(&mariadb, Engine::Myrocks, both), @"plugin-load-add=ha_rocksdb default-storage-engine=ROCKSDB default-tmp-storage-engine=InnoDB");
        insta::assert_snapshot!(text(&percona, Engine::Myrocks, both), @"plugin-load-add=ha_rocksdb.so default-storage-engine=ROCKSDB default-tmp-storage-engine=InnoDB");
        insta::assert_snapshot!(text(&facebook, Engine::Myrocks, &[]), @"rocksdb default-storage-engine=rocksdb default-tmp-storage-engine=MyISAM");
        insta::assert_snapshot!(text(&mariadb, Engine::Tokudb, both), @"plugin-load-add=ha_tokudb default-storage-engine=TokuDB");
        insta::assert_snapshot!(text(&percona, Engine::Tokudb, both), @"plugin-load-add=ha_tokudb.so default-storage-engine=TokuDB");
        insta::assert_snapshot!(text(&percona, Engine::Innodb, &[]), @"");
    }

    #[test]
    fn a_build_without_the_engine_is_refused_and_told_who_has_it() {
        let old = build(Dbms::Mariadb, "10.1.8", "mysqld  Ver 10.1.8-MariaDB");
        let oracle = build(
            Dbms::Mysql,
            "8.0.33",
            "mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)",
        );
        insta::assert_snapshot!(text(&old, Engine::Myrocks, &["ha_tokudb.so"]), @"mariadb-10.1.8 has no myrocks: ha_rocksdb.so is not in /b/lib/plugin; MariaDB has it from 10.2 on where ha_rocksdb.so is in its plugin directory, as in Debian's builds of the catalog with mariadb-plugin-rocksdb (10.5.23, 10.11, 11.8); Percona Server and FB MySQL have it, too, and can be added with `backslide add`");
        let refused = text(&oracle, Engine::Myrocks, &[]);
        assert!(
            refused.starts_with("mysql-8.0.33 has no myrocks: ha_rocksdb.so is not in"),
            "{refused}"
        );
        let refused = text(&oracle, Engine::Tokudb, &["ha_rocksdb.so"]);
        assert!(
            refused.starts_with("mysql-8.0.33 has no tokudb: ha_tokudb.so is not in"),
            "{refused}"
        );
        // Before 5.6 nobody had it.
        let ancient =
            build(Dbms::Mysql, "5.5.9", "mysqld  Ver 5.5.9 for Linux (Source distribution)");
        assert!(text(&ancient, Engine::Myrocks, &[]).contains("has no myrocks"));
    }

    #[test]
    fn sizes_and_status_are_those_of_the_engine() {
        let mariadb = build(Dbms::Mariadb, "11.8.9", "");
        let mysql = |version| build(Dbms::Mysql, version, "");
        let data = |build: &Build, engine| files(build, engine).data.join(" ");
        assert_eq!(data(&mariadb, Engine::Innodb), "ib");
        assert_eq!(data(&mariadb, Engine::Myrocks), "ib #rocksdb");
        assert_eq!(data(&mysql("8.0.28"), Engine::Myrocks), "ib .rocksdb");
        assert_eq!(data(&mysql("5.7.22"), Engine::Tokudb), "ib *.tokudb tokudb.*");
        assert_eq!(data(&mysql("5.6.24"), Engine::Innodb), "ib");
        assert_eq!(data(&mysql("5.5.34"), Engine::Innodb), "ib ibdata*");
        let names = Engine::ALL.map(|engine| {
            let mut all = Dbms::Mysql.product().captures(&mariadb.version, engine);
            all.nth(3).map(|(name, _)| name)
        });
        assert_eq!(names, [None, Some("rocksdb_status"), Some("tokudb_status"), None, None]);
    }
}

//! Engines of MySQL and MariaDB besides `InnoDB`: what turns them on, and where they keep their files.

use std::path::PathBuf;

use model::{Build, Dbms, Engine};

use super::{CaptureQuery, Files, at_least};
use crate::installation::Installation;

/// What is to be told wherever `TokuDB` is measured.
pub const TOKUDB_UNVERIFIED: &str = "TokuDB is unverified: backslide has not been tried with any build that has it, because it \
     is in no build of the catalog and its vendors have dropped it; check `SHOW ENGINES`, the sizes and the \
     captures yourself";

/// Options of an engine: names, and values of those that take one.
pub(super) type Lines = &'static [(&'static str, Option<&'static str>)];

/// An engine that a build does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{build} has no {engine}: {why}; {who}")]
pub struct EngineMissing {
    /// The build.
    pub build: String,
    /// The engine.
    pub engine: Engine,
    /// What was looked for, and where.
    pub why: String,
    /// Which builds have it.
    pub who: &'static str,
}

/// Files of plugins that bring an engine.
pub(super) const PLUGINS: &[&str] = &[ROCKSDB_PLUGIN, TOKUDB_PLUGIN];
const ROCKSDB_PLUGIN: &str = "ha_rocksdb.so";
const TOKUDB_PLUGIN: &str = "ha_tokudb.so";

const WHO_HAS_MYROCKS: &str = "MariaDB has it from 10.2 on where ha_rocksdb.so is in its plugin directory, as in Debian's \
     builds of the catalog with mariadb-plugin-rocksdb (10.5.23, 10.11, 11.8); Percona Server and FB MySQL have it, too, and \
     can be added with `backslide add`";
const WHO_HAS_TOKUDB: &str = "builds of MariaDB up to 10.5 and of Percona Server up to 8.0.27 have it where ha_tokudb.so is in \
     their plugin directory, and can be added with `backslide add`";

/// How a build comes by an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It is always there.
    Always,
    /// By a plugin of MariaDB.
    MariadbPlugin,
    /// By a plugin of Percona Server.
    PerconaPlugin,
    /// It is part of FB MySQL, and needs to be turned on.
    Facebook,
}

/// The options that turn an engine on, and make it the default.
pub(super) fn lines(
    build: &Build,
    engine: Engine,
    installation: &Installation,
) -> Result<Lines, EngineMissing> {
    Ok(match (engine, way(build, engine, installation)?) {
        (Engine::Innodb | Engine::Heap | Engine::Btree | Engine::Other, _) | (_, Way::Always) => {
            &[]
        }
        // MyRocks has no temporary tables.
        (Engine::Myrocks, Way::MariadbPlugin) => &[
            ("plugin-load-add", Some("ha_rocksdb")),
            ("default-storage-engine", Some("ROCKSDB")),
            ("default-tmp-storage-engine", Some("InnoDB")),
        ],
        (Engine::Myrocks, Way::PerconaPlugin) => &[
            ("plugin-load-add", Some(ROCKSDB_PLUGIN)),
            ("default-storage-engine", Some("ROCKSDB")),
            ("default-tmp-storage-engine", Some("InnoDB")),
        ],
        (Engine::Myrocks, Way::Facebook) => &[
            ("rocksdb", None),
            ("default-storage-engine", Some("rocksdb")),
            ("default-tmp-storage-engine", Some("MyISAM")),
        ],
        (Engine::Tokudb, Way::MariadbPlugin) => &[
            ("plugin-load-add", Some("ha_tokudb")),
            ("default-storage-engine", Some("TokuDB")),
        ],
        (Engine::Tokudb, Way::PerconaPlugin | Way::Facebook) => &[
            ("plugin-load-add", Some(TOKUDB_PLUGIN)),
            ("default-storage-engine", Some("TokuDB")),
        ],
    })
}

fn way(build: &Build, engine: Engine, installation: &Installation) -> Result<Way, EngineMissing> {
    let (plugin, who) = match engine {
        Engine::Innodb | Engine::Heap | Engine::Btree | Engine::Other => return Ok(Way::Always),
        Engine::Myrocks => (ROCKSDB_PLUGIN, WHO_HAS_MYROCKS),
        Engine::Tokudb => (TOKUDB_PLUGIN, WHO_HAS_TOKUDB),
    };
    let is_plugin = |path: &PathBuf| path.file_name().is_some_and(|name| name == plugin);
    if installation.engine_plugins.iter().any(is_plugin) {
        return Ok(if build.dbms == Dbms::Mariadb {
            Way::MariadbPlugin
        } else {
            Way::PerconaPlugin
        });
    }
    if engine == Engine::Myrocks && may_be_facebook(build) {
        return Ok(Way::Facebook);
    }
    let place = installation.plugins.as_ref();
    Err(EngineMissing {
        build: build.id(),
        engine,
        why: match place {
            Some(place) => format!("{plugin} is not in {}", place.display()),
            None => format!(
                "it has no directory of plugins below {}",
                installation.base.display()
            ),
        },
        who,
    })
}

/// FB MySQL does not name itself: its version line is that of anybody's own compile, from 5.6 on, often with a
/// date behind the version. The vendors' builds name themselves.
fn may_be_facebook(build: &Build) -> bool {
    let line = build.version_line.to_lowercase();
    build.dbms == Dbms::Mysql
        && at_least(&build.version, &[5, 6])
        && (line.contains("source distribution") || line.contains("facebook"))
}

/// Directory of RocksDB below that of the data: MariaDB's, and that of all others.
const MARIADB_ROCKS: &str = "#rocksdb";
const OTHER_ROCKS: &str = ".rocksdb";

/// Where the tables of the benchmark are; `logs` are those of the server.
pub(super) fn files(build: &Build, engine: Engine, logs: &'static [&'static str]) -> Files {
    let data: &[&str] = match engine {
        Engine::Myrocks if build.dbms == Dbms::Mariadb => &["ib", MARIADB_ROCKS],
        Engine::Myrocks => &["ib", OTHER_ROCKS],
        // Beside the tables, or in the database's directory with `tokudb_dir_per_db`.
        Engine::Tokudb => &["ib", "*.tokudb", "tokudb.*"],
        // Before 5.6 all tables are in the system's tablespace, unless a setting says otherwise.
        Engine::Innodb if !at_least(&build.version, &[5, 6]) => &["ib", "ibdata*"],
        Engine::Innodb | Engine::Heap | Engine::Btree | Engine::Other => &["ib"],
    };
    Files { data, log: logs }
}

/// What an engine tells of itself, besides `InnoDB`.
pub(super) fn captures(engine: Engine) -> Option<CaptureQuery> {
    match engine {
        Engine::Myrocks => Some(CaptureQuery {
            name: "rocksdb_status",
            sql: "SHOW ENGINE ROCKSDB STATUS",
        }),
        Engine::Tokudb => Some(CaptureQuery {
            name: "tokudb_status",
            sql: "SHOW ENGINE TOKUDB STATUS",
        }),
        Engine::Innodb | Engine::Heap | Engine::Btree | Engine::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(dbms: Dbms, version: &str, line: &str) -> Build {
        Build {
            dbms,
            version: version.parse().unwrap(),
            source: model::BuildSource::Path("/b".to_owned()),
            version_line: line.to_owned(),
            name: None,
            facts: model::BuildFacts::default(),
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
        match lines(build, engine, &installation(plugins)) {
            Ok(lines) => {
                let line = |(name, value): &(&str, Option<&str>)| match value {
                    Some(value) => format!("{name}={value}"),
                    None => (*name).to_owned(),
                };
                lines.iter().map(line).collect::<Vec<_>>().join(" ")
            }
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
        let both = PLUGINS;
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
        let ancient = build(
            Dbms::Mysql,
            "5.5.9",
            "mysqld  Ver 5.5.9 for Linux (Source distribution)",
        );
        assert!(text(&ancient, Engine::Myrocks, &[]).contains("has no myrocks"));
    }

    #[test]
    fn sizes_and_status_are_those_of_the_engine() {
        let mariadb = build(Dbms::Mariadb, "11.8.9", "");
        let mysql = |version| build(Dbms::Mysql, version, "");
        let data = |build: &Build, engine| files(build, engine, &["log*"]).data.join(" ");
        assert_eq!(data(&mariadb, Engine::Innodb), "ib");
        assert_eq!(data(&mariadb, Engine::Myrocks), "ib #rocksdb");
        assert_eq!(data(&mysql("8.0.28"), Engine::Myrocks), "ib .rocksdb");
        assert_eq!(
            data(&mysql("5.7.22"), Engine::Tokudb),
            "ib *.tokudb tokudb.*"
        );
        assert_eq!(data(&mysql("5.6.24"), Engine::Innodb), "ib");
        assert_eq!(data(&mysql("5.5.34"), Engine::Innodb), "ib ibdata*");
        let names = Engine::ALL.map(|engine| captures(engine).map(|capture| capture.name));
        assert_eq!(
            names,
            [
                None,
                Some("rocksdb_status"),
                Some("tokudb_status"),
                None,
                None
            ]
        );
    }
}

//! MariaDB Server.

use std::path::PathBuf;

use model::{Build, Dbms, Engine, Version};
use rustix::process::Signal;

use super::option_file::{
    self, HUGE_PAGES, RESERVED, RESERVED_ON_TCP, TCP_USER, TLS, TREE, VERSION_ARGUMENTS,
};
use super::{
    CaptureQuery, EngineMissing, Files, Init, Layout, Missing, Objection, Product, SettingError,
    Traits, Wanted, at_least, engines,
};
use crate::installation::Installation;

pub(super) struct Mariadb;

const TRAITS: Traits = Traits {
    dbms: Dbms::Mariadb,
    // Before 10.5 the program has the old name only.
    programs: &["mariadbd", "mysqld"],
    version_arguments: VERSION_ARGUMENTS,
    engines: &[Engine::Innodb, Engine::Myrocks, Engine::Tokudb],
    tree: TREE,
    socket: "s.sock",
    superuser: "root",
    tcp_user: TCP_USER,
    first_database: "mysql",
    stop: Signal::TERM,
    sleeps_through_stop: true,
    death: Signal::KILL,
    refuses_root: false,
    reserved: RESERVED,
    reserved_on_tcp: RESERVED_ON_TCP,
    huge_pages: HUGE_PAGES,
    tls: TLS,
};

const LOGS: &[&str] = &["ib_logfile*", "undo*", "*-bin.*", "binlog.*", "*.tokulog*"];

impl Product for Mariadb {
    fn traits(&self) -> &'static Traits {
        &TRAITS
    }

    fn parse_version(&self, line: &str) -> Option<Version> {
        line.contains("MariaDB")
            .then(|| option_file::parse_version(line))
            .flatten()
    }

    fn check_engine(
        &self,
        build: &Build,
        engine: Engine,
        installation: &Installation,
    ) -> Result<(), EngineMissing> {
        engines::lines(build, engine, installation).map(drop)
    }

    fn init(&self, build: &Build, wanted: &Wanted<'_>, layout: &Layout) -> Result<Init, Missing> {
        option_file::init(
            build,
            wanted,
            layout,
            &option_file::isolation(&layout.without_tcp()),
            false,
        )
    }

    fn config(
        &self,
        build: &Build,
        wanted: &Wanted<'_>,
        layout: &Layout,
    ) -> Result<String, SettingError> {
        self.check_settings(wanted)?;
        let isolation = option_file::isolation(layout);
        Ok(option_file::config(build, wanted, layout, &isolation))
    }

    fn examine(&self, _build: &Build, layout: &Layout) -> Vec<String> {
        option_file::help(layout)
    }

    fn list_settings(&self, layout: &Layout) -> Vec<String> {
        option_file::help(layout)
    }

    fn objection(&self, answer: &str) -> Option<Objection> {
        option_file::objection(answer)
    }

    fn listed<'a>(&self, answer: &'a str) -> Vec<&'a str> {
        option_file::listed(answer)
    }

    fn start(&self, layout: &Layout) -> Vec<String> {
        option_file::start(layout)
    }

    fn access(&self, build: &Build, layout: &Layout) -> (PathBuf, String) {
        // Since 10.4 `mysql.user` is a view.
        let is_view = at_least(&build.version, &[10, 4]);
        option_file::access(layout, if is_view { "global_priv" } else { "user" })
    }

    fn files(&self, build: &Build, engine: Engine) -> Files {
        engines::files(build, engine, LOGS)
    }

    fn captures(&self, _version: &Version, engine: Engine) -> Vec<CaptureQuery> {
        let captures = option_file::CAPTURES.into_iter();
        captures.chain(engines::captures(engine)).collect()
    }
}

#[cfg(test)]
mod tests {
    use model::Setting;

    use super::super::InitCommand;
    use super::*;

    fn build() -> Build {
        Build {
            dbms: Dbms::Mariadb,
            version: "10.11.19".parse().unwrap(),
            source: model::BuildSource::Path("/usr".to_owned()),
            version_line: String::new(),
            name: None,
            facts: model::BuildFacts::default(),
        }
    }

    fn layout() -> Layout {
        let share = PathBuf::from("/usr/share/mysql");
        Layout {
            installation: Installation {
                program: "/usr/sbin/mariadbd".into(),
                base: "/usr".into(),
                scripts: vec![
                    share.join("mysql_system_tables.sql"),
                    share.join("fill_help_tables.sql"),
                ],
                share: Some(share),
                plugins: Some("/usr/lib/mysql/plugin".into()),
                libraries: None,
                tools: Vec::new(),
                engine_plugins: vec!["/usr/lib/mysql/plugin/ha_rocksdb.so".into()],
                seed: None,
            },
            directory: "/lab/a #1/x".into(),
            socket: "/tmp/bs-0/s.sock".into(),
            port: None,
            as_root: true,
        }
    }

    fn wanted(engine: Engine, settings: &[Setting]) -> Wanted<'_> {
        Wanted {
            engine,
            settings,
            huge_pages: false,
            tcp: false,
            tls: false,
        }
    }

    #[test]
    fn version_lines() {
        let table = [
            (
                "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)",
                "10.11.19",
            ),
            (
                "/o p/bin/mysqld  Ver 10.1.8-MariaDB for Linux on x86_64 (MariaDB Server)",
                "10.1.8",
            ),
            (
                "mysqld  Ver 10.2.11-MariaDB-log for Linux on x86_64 (MariaDB Server)",
                "10.2.11",
            ),
            (
                "mariadbd  Ver 11.8.9-MariaDB-4 from Debian for debian-linux-gnu on x86_64 (Debian n/a)",
                "11.8.9",
            ),
            (
                "mariadbd from 11.4.5-MariaDB, Ver 11.4.5-MariaDB for Linux on x86_64 (MariaDB Server)",
                "11.4.5",
            ),
        ];
        for (line, version) in table {
            assert_eq!(
                Mariadb
                    .parse_version(line)
                    .map(|v| v.to_string())
                    .as_deref(),
                Some(version),
                "{line}"
            );
        }
        for other in [
            "mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)",
            "postgres (PostgreSQL) 15.19",
            "MariaDB",
            "",
        ] {
            assert_eq!(Mariadb.parse_version(other), None, "{other}");
        }
    }

    #[test]
    fn config_file() {
        let settings = [
            Setting {
                name: "innodb_buffer_pool_size".to_owned(),
                value: Some("2G".to_owned()),
            },
            Setting {
                name: "skip-log-bin".to_owned(),
                value: None,
            },
        ];
        let text = Mariadb
            .config(&build(), &wanted(Engine::Innodb, &settings), &layout())
            .unwrap();
        insta::assert_snapshot!(text, @r#"
        # Written by backslide for mariadb-10.11.19; made anew with each instance.
        [mysqld]
        innodb_buffer_pool_size = 2G
        skip-log-bin
        # Isolation.
        user = root
        basedir = /usr
        datadir = "/lab/a #1/x/data"
        lc-messages-dir = /usr/share/mysql
        character-sets-dir = /usr/share/mysql/charsets
        plugin-dir = /usr/lib/mysql/plugin
        secure-file-priv = "/lab/a #1/x/tmp"
        skip-networking
        socket = /tmp/bs-0/s.sock
        pid-file = "/lab/a #1/x/server.pid"
        "#);
    }

    #[test]
    fn myrocks_brings_its_plugin() {
        let text = Mariadb
            .config(&build(), &wanted(Engine::Myrocks, &[]), &layout())
            .unwrap();
        let head: Vec<&str> = text.lines().skip(2).take(3).collect();
        assert_eq!(
            head,
            [
                "plugin-load-add = ha_rocksdb",
                "default-storage-engine = ROCKSDB",
                "default-tmp-storage-engine = InnoDB"
            ]
        );
        let names: Vec<_> = Mariadb
            .captures(&build().version, Engine::Myrocks)
            .iter()
            .map(|c| c.name)
            .collect();
        assert_eq!(
            names,
            ["variables", "status", "innodb_status", "rocksdb_status"]
        );
    }

    #[test]
    fn what_isolation_sets_is_reserved() {
        for (name, _) in option_file::isolation(&layout()) {
            assert!(
                RESERVED.contains(&name.replace('-', "_").as_str()),
                "{name}"
            );
        }
    }

    #[test]
    fn accounts_are_where_the_version_keeps_them() {
        let deletes = |version: &str| {
            let build = Build {
                version: version.parse().unwrap(),
                ..build()
            };
            let (_, text) = Mariadb.access(&build, &layout());
            text.split(" WHERE").next().unwrap().to_owned()
        };
        assert_eq!(deletes("10.3.39"), "DELETE FROM mysql.user");
        assert_eq!(deletes("10.4.1"), "DELETE FROM mysql.global_priv");
    }

    #[test]
    fn bootstrap_feeds_the_system_tables() {
        let init = Mariadb
            .init(&build(), &wanted(Engine::Innodb, &[]), &layout())
            .unwrap();
        let [
            InitCommand {
                arguments, input, ..
            },
        ] = init.commands.as_slice()
        else {
            panic!("one command expected: {init:?}");
        };
        assert_eq!(
            arguments.first().map(String::as_str),
            Some("--defaults-file=/lab/a #1/x/init.cnf")
        );
        assert!(arguments.contains(&"--bootstrap".to_owned()));
        assert_eq!(input.len(), 3);
        let mut without = layout();
        without.installation.scripts.clear();
        let missing = Mariadb
            .init(&build(), &wanted(Engine::Innodb, &[]), &without)
            .unwrap_err();
        insta::assert_snapshot!(missing, @"the SQL of the system tables (mysql_system_tables.sql or mariadb_system_tables.sql) is missing from /usr/share/mysql");
    }
}

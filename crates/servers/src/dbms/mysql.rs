//! MySQL, and what is built from it: Percona Server, FB MySQL.

use model::{Build, Dbms, Engine, Setting, Version};
use rustix::process::Signal;

use super::option_file::{self, RESERVED, TREE, VERSION_ARGUMENTS};
use super::{
    CaptureQuery, Files, Init, InitCommand, Layout, Missing, Product, SettingError, Traits,
    at_least,
};

pub(super) struct Mysql;

const TRAITS: Traits = Traits {
    dbms: Dbms::Mysql,
    programs: &["mysqld"],
    version_arguments: VERSION_ARGUMENTS,
    engines: &[Engine::Innodb],
    tree: TREE,
    socket: "s.sock",
    superuser: "root",
    first_database: "mysql",
    stop: Signal::TERM,
    death: Signal::KILL,
    refuses_root: false,
    reserved: RESERVED,
};

impl Product for Mysql {
    fn traits(&self) -> &'static Traits {
        &TRAITS
    }

    fn parse_version(&self, line: &str) -> Option<Version> {
        (!line.contains("MariaDB"))
            .then(|| option_file::parse_version(line))
            .flatten()
    }

    fn init(&self, build: &Build, layout: &Layout) -> Result<Init, Missing> {
        if !at_least(&build.version, &[5, 7]) {
            return option_file::bootstrap(layout);
        }
        Ok(Init {
            directories: Vec::new(),
            commands: vec![InitCommand {
                program: layout.installation.program.clone(),
                arguments: vec![
                    option_file::only_our_file(layout),
                    "--initialize-insecure".to_owned(),
                ],
                input: Vec::new(),
            }],
        })
    }

    fn config(
        &self,
        build: &Build,
        _engine: Engine,
        settings: &[Setting],
        layout: &Layout,
    ) -> Result<String, SettingError> {
        let mut isolation = option_file::isolation(layout);
        if at_least(&build.version, &[8, 0, 11]) {
            // Its own port and socket. `loose`: stripped builds have no X plugin.
            isolation.push(("loose-mysqlx".to_owned(), Some("OFF".to_owned())));
        }
        option_file::render(build, &[], settings, &isolation)
    }

    fn start(&self, layout: &Layout) -> Vec<String> {
        vec![option_file::only_our_file(layout)]
    }

    fn files(&self, _engine: Engine) -> Files {
        Files {
            data: &["ib"],
            log: &[
                "ib_logfile*",
                "#innodb_redo",
                "undo*",
                "*-bin.*",
                "binlog.*",
            ],
        }
    }

    fn captures(&self, _version: &Version, _engine: Engine) -> Vec<CaptureQuery> {
        option_file::CAPTURES.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::installation::Installation;

    fn build(version: &str) -> Build {
        Build {
            dbms: Dbms::Mysql,
            version: version.parse().unwrap(),
            source: model::BuildSource::Path("/opt/my sql".to_owned()),
            version_line: String::new(),
            name: None,
            facts: model::BuildFacts::default(),
        }
    }

    fn layout() -> Layout {
        Layout {
            installation: Installation {
                program: "/opt/my sql/bin/mysqld".into(),
                base: "/opt/my sql".into(),
                share: Some("/opt/my sql/share".into()),
                scripts: vec!["/opt/my sql/share/mysql_system_tables.sql".into()],
                plugins: None,
                libraries: Some("/opt/my sql/lib".into()),
                tools: Vec::new(),
            },
            directory: "/lab/x".into(),
            socket: "/tmp/bs-0/s.sock".into(),
            as_root: false,
        }
    }

    #[test]
    fn version_lines() {
        let table = [
            (
                "mysqld  Ver 5.5.9-log for Linux on x86_64 (Source distribution)",
                "5.5.9",
            ),
            (
                "bin/mysqld  Ver 5.6.24 for linux-glibc2.5 on x86_64 (MySQL Community Server (GPL))",
                "5.6.24",
            ),
            (
                "mysqld  Ver 5.6.24-72.2 for Linux on x86_64 (Percona Server (GPL), Release 72.2, Revision 8d0f85b)",
                "5.6.24",
            ),
            (
                "mysqld  Ver 5.7.22 for linux-glibc2.12 on x86_64 (MySQL Community Server (GPL))",
                "5.7.22",
            ),
            (
                "/a b/mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)",
                "8.0.33",
            ),
            (
                "/x/mysqld  Ver 8.0.33-25 for Linux on x86_64 (Percona Server (GPL), Release 25, Revision 60c9e2c5)",
                "8.0.33",
            ),
            (
                "/My Ver 1/mysqld  Ver 8.0.28-20230131 for Linux on x86_64 (Source distribution)",
                "8.0.28",
            ),
            (
                "/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))",
                "9.7.4",
            ),
        ];
        for (line, version) in table {
            assert_eq!(
                Mysql.parse_version(line).map(|v| v.to_string()).as_deref(),
                Some(version),
                "{line}"
            );
        }
        for other in [
            "mysqld  Ver 10.1.8-MariaDB for Linux on x86_64 (MariaDB Server)",
            "mysqld  Ver x",
            "postgres (PostgreSQL) 9.6.24",
            "",
        ] {
            assert_eq!(Mysql.parse_version(other), None, "{other}");
        }
    }

    #[test]
    fn the_x_plugin_is_off_where_there_is_one() {
        let text = |version: &str| {
            Mysql
                .config(&build(version), Engine::Innodb, &[], &layout())
                .unwrap()
        };
        insta::assert_snapshot!(text("9.7.4"), @r"
        # Written by backslide for mysql-9.7.4; made anew with each instance.
        [mysqld]
        # Isolation.
        basedir = /opt/my sql
        datadir = /lab/x/data
        lc-messages-dir = /opt/my sql/share
        character-sets-dir = /opt/my sql/share/charsets
        secure-file-priv = 
        skip-networking
        socket = /tmp/bs-0/s.sock
        pid-file = /lab/x/server.pid
        loose-mysqlx = OFF
        ");
        assert!(text("8.0.11").contains("mysqlx"));
        assert!(!text("8.0.4").contains("mysqlx"));
        assert!(!text("5.7.22").contains("mysqlx"));
    }

    #[test]
    fn old_versions_bootstrap_and_new_ones_initialise_themselves() {
        let arguments = |version: &str| {
            Mysql
                .init(&build(version), &layout())
                .unwrap()
                .commands
                .remove(0)
                .arguments
        };
        for old in ["5.5.34", "5.6.51"] {
            assert!(arguments(old).contains(&"--bootstrap".to_owned()), "{old}");
        }
        for new in ["5.7.19", "8.0.33", "9.7.4"] {
            assert_eq!(
                arguments(new),
                ["--defaults-file=/lab/x/server.cnf", "--initialize-insecure"],
                "{new}"
            );
        }
    }
}

//! MySQL, and what is built from it: Percona Server, FB MySQL.

use std::path::PathBuf;

use model::{Build, Dbms, Engine, Version};
use rustix::process::Signal;

use super::option_file::{
    self, HUGE_PAGES, Lines, RESERVED, RESERVED_ON_TCP, TCP_USER, TLS, TREE, VERSION_ARGUMENTS,
};
use super::{
    CaptureQuery, EngineMissing, Files, Init, Layout, Missing, Objection, Product, SettingError,
    Traits, Wanted, at_least, engines,
};
use crate::installation::Installation;

pub(super) struct Mysql;

const TRAITS: Traits = Traits {
    dbms: Dbms::Mysql,
    programs: &["mysqld"],
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

const LOGS: &[&str] = &[
    "ib_logfile*",
    "#innodb_redo",
    "undo*",
    "*-bin.*",
    "binlog.*",
    "*.tokulog*",
];

impl Product for Mysql {
    fn traits(&self) -> &'static Traits {
        &TRAITS
    }

    fn parse_version(&self, line: &str) -> Option<Version> {
        (!line.contains("MariaDB"))
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
        let initialises_itself = at_least(&build.version, &[5, 7]);
        let isolation = isolation(build, &layout.without_tcp());
        option_file::init(build, wanted, layout, &isolation, initialises_itself)
    }

    fn config(
        &self,
        build: &Build,
        wanted: &Wanted<'_>,
        layout: &Layout,
    ) -> Result<String, SettingError> {
        self.check_settings(wanted)?;
        let isolation = isolation(build, layout);
        Ok(option_file::config(build, wanted, layout, &isolation))
    }

    fn examine(&self, build: &Build, layout: &Layout) -> Vec<String> {
        if at_least(&build.version, &[8, 0, 16]) {
            option_file::validate(layout)
        } else {
            option_file::help(layout)
        }
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

    fn access(&self, _build: &Build, layout: &Layout) -> (PathBuf, String) {
        option_file::access(layout, "user")
    }

    fn files(&self, build: &Build, engine: Engine) -> Files {
        engines::files(build, engine, LOGS)
    }

    fn captures(&self, _version: &Version, engine: Engine) -> Vec<CaptureQuery> {
        let captures = option_file::CAPTURES.into_iter();
        captures.chain(engines::captures(engine)).collect()
    }
}

fn isolation(build: &Build, layout: &Layout) -> Lines {
    let mut isolation = option_file::isolation(layout);
    if at_least(&build.version, &[8, 0, 11]) {
        // Its own port and socket. `loose`: stripped builds have no X plugin.
        isolation.push(("loose-mysqlx".to_owned(), Some("OFF".to_owned())));
    }
    isolation
}

#[cfg(test)]
mod tests {
    use model::Setting;

    use super::*;

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
                engine_plugins: Vec::new(),
                seed: None,
            },
            directory: "/lab/x".into(),
            socket: "/tmp/bs-0/s.sock".into(),
            port: None,
            as_root: false,
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
                .config(&build(version), &wanted(Engine::Innodb, &[]), &layout())
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
        secure-file-priv = /lab/x/tmp
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
                .init(&build(version), &wanted(Engine::Innodb, &[]), &layout())
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
                [
                    "--defaults-file=/lab/x/init.cnf",
                    "--initialize-insecure",
                    "--default-storage-engine=InnoDB"
                ],
                "{new}"
            );
        }
    }

    #[test]
    fn a_ready_made_data_directory_is_copied() {
        let mut seeded = layout();
        seeded.installation.seed = Some("/opt/my sql/seed".into());
        let init = Mysql
            .init(&build("5.6.24"), &wanted(Engine::Innodb, &[]), &seeded)
            .unwrap();
        let copy = init.copy.unwrap();
        assert_eq!(copy.from, PathBuf::from("/opt/my sql/seed"));
        assert_eq!(copy.to, PathBuf::from("/lab/x/data"));
        assert!(copy.without.contains(&"auto.cnf"));
        assert!(init.commands.is_empty() && init.directories.is_empty());
    }

    #[test]
    fn the_initialisation_does_without_the_engine() {
        let mut percona = layout();
        percona.installation.engine_plugins = vec!["/opt/my sql/lib/plugin/ha_rocksdb.so".into()];
        let settings = [
            Setting {
                name: "rocksdb_block_cache_size".to_owned(),
                value: Some("1G".to_owned()),
            },
            Setting {
                name: "innodb_page_size".to_owned(),
                value: Some("4k".to_owned()),
            },
        ];
        let wanted = Wanted {
            huge_pages: true,
            ..wanted(Engine::Myrocks, &settings)
        };
        let build = build("8.0.33");
        let text = Mysql.config(&build, &wanted, &percona).unwrap();
        let lines = |text: &str| -> String {
            let lines = text.lines().skip(2);
            let lines: Vec<_> = lines.take_while(|line| *line != "# Isolation.").collect();
            lines.join("\n")
        };
        insta::assert_snapshot!(lines(&text), @r"
        plugin-load-add = ha_rocksdb.so
        default-storage-engine = ROCKSDB
        default-tmp-storage-engine = InnoDB
        large-pages
        rocksdb_block_cache_size = 1G
        innodb_page_size = 4k
        ");
        let init = Mysql.init(&build, &wanted, &percona).unwrap();
        let (path, text) = init.files.first().unwrap();
        assert_eq!(*path, percona.init_config());
        insta::assert_snapshot!(lines(text), @r"
        loose_rocksdb_block_cache_size = 1G
        innodb_page_size = 4k
        ");
        assert!(text.contains("datadir = /lab/x/data"));
    }

    #[test]
    fn huge_pages_are_said_once() {
        let settings = [Setting {
            name: "large-pages".to_owned(),
            value: Some("ON".to_owned()),
        }];
        let mut wanted = wanted(Engine::Innodb, &settings);
        assert!(Mysql.config(&build("8.0.33"), &wanted, &layout()).is_ok());
        wanted.huge_pages = true;
        let error = Mysql
            .config(&build("8.0.33"), &wanted, &layout())
            .unwrap_err();
        insta::assert_snapshot!(error, @"setting `large-pages` is what the plan's `huge_pages = true` sets: leave one of the two out");
    }

    #[test]
    fn a_server_on_tcp_listens_on_the_loopback_interface_alone() {
        let mut layout = layout();
        assert_eq!(Mysql.start(&layout), ["--defaults-file=/lab/x/server.cnf"]);
        layout.port = Some(20_001);
        let arguments = [
            "--defaults-file=/lab/x/server.cnf",
            "--port=20001",
            "--init-file=/lab/x/access.sql",
        ];
        assert_eq!(Mysql.start(&layout), arguments);
        let wanted = wanted(Engine::Innodb, &[]);
        let text = Mysql.config(&build("8.0.33"), &wanted, &layout).unwrap();
        let (_, text) = text.split_once("secure-file-priv = /lab/x/tmp\n").unwrap();
        insta::assert_snapshot!(text, @r"
        bind-address = 127.0.0.1
        skip-name-resolve
        socket = /tmp/bs-0/s.sock
        pid-file = /lab/x/server.pid
        loose-mysqlx = OFF
        ");
    }

    #[test]
    fn no_account_of_the_data_directory_reaches_a_server_on_tcp() {
        let mut layout = layout();
        layout.port = Some(20_001);
        let (path, text) = Mysql.access(&build("5.6.24"), &layout);
        assert_eq!(path, PathBuf::from("/lab/x/access.sql"));
        insta::assert_snapshot!(text, @r"
        DELETE FROM mysql.user WHERE (Host NOT IN ('localhost', '') OR User = '') AND NOT (User = 'backslide' AND Host = '127.0.0.1');
        DELETE FROM mysql.db WHERE User = '';
        FLUSH PRIVILEGES;
        ");
        // Initialisation never listens there.
        let wanted_here = wanted(Engine::Innodb, &[]);
        let init = Mysql.init(&build("9.7.4"), &wanted_here, &layout).unwrap();
        let (_, text) = &init.files[0];
        assert!(text.contains("\nskip-networking\n") && !text.contains("bind-address"));
        for name in ["init_file", "skip-grant-tables"] {
            let settings = [Setting {
                name: name.to_owned(),
                value: None,
            }];
            let check = |tcp| {
                Mysql.check_settings(&Wanted {
                    tcp,
                    ..wanted(Engine::Innodb, &settings)
                })
            };
            let error = check(true).unwrap_err();
            assert!(error.to_string().contains("log in over TCP"), "{error}");
            check(false).unwrap();
        }
    }

    #[test]
    fn tls_brings_a_certificate_and_leaves_out_what_turns_it_off() {
        let setting = |name: &str, value: Option<&str>| Setting {
            name: name.to_owned(),
            value: value.map(str::to_owned),
        };
        let config = |settings: &[Setting]| {
            let wanted = Wanted {
                tls: true,
                ..wanted(Engine::Innodb, settings)
            };
            Mysql.config(&build("9.7.4"), &wanted, &layout())
        };
        let text = config(&[
            setting("skip_ssl", None),
            setting("tls_version", Some("")),
            setting("tls_ciphersuites", Some("TLS_AES_128_GCM_SHA256")),
        ]);
        let text = text.unwrap();
        assert!(!text.contains("skip_ssl") && !text.contains("tls_version"));
        assert!(text.contains("tls_ciphersuites"));
        let (_, text) = text.split_once("loose-mysqlx = OFF\n").unwrap();
        insta::assert_snapshot!(text, @r"
        # The plan's `tls = true`.
        ssl-cert = /lab/x/server.crt
        ssl-key = /lab/x/server.key
        ");
        let error = config(&[setting("ssl-cert", Some("/my.crt"))]).unwrap_err();
        insta::assert_snapshot!(error, @"setting `ssl-cert` is what the plan's `tls = true` sets: leave one of the two out");
    }
}

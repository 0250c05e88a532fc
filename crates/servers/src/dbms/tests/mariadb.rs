//! Servers of MariaDB.

use std::path::PathBuf;

use model::{Build, Config, Dbms, Engine, Setting, System};

use super::super::mysql::{Mysql, isolation};
use super::super::{Family, InitCommand, Layout, version_in};
use crate::installation::Installation;

fn build() -> Build {
    let source = model::BuildSource::Path("/usr".to_owned());
    Build::new(Dbms::Mariadb, "10.11.19".parse().unwrap(), source)
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

fn wanted(engine: Engine, settings: &[Setting]) -> System {
    let config = Config { settings: settings.to_vec(), ..Config::default() };
    System { engine, config, ..System::new("a", build()) }
}

#[test]
fn version_lines() {
    let table = [
        (
            "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)",
            "10.11.19",
        ),
        ("/o p/bin/mysqld  Ver 10.1.8-MariaDB for Linux on x86_64 (MariaDB Server)", "10.1.8"),
        ("mysqld  Ver 10.2.11-MariaDB-log for Linux on x86_64 (MariaDB Server)", "10.2.11"),
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
            version_in(Dbms::Mariadb, line).map(|v| v.to_string()).as_deref(),
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
        assert_eq!(version_in(Dbms::Mariadb, other), None, "{other}");
    }
}

#[test]
fn config_file() {
    let settings = [
        Setting { name: "innodb_buffer_pool_size".to_owned(), value: Some("2G".to_owned()) },
        Setting { name: "skip-log-bin".to_owned(), value: None },
    ];
    let text = Mysql.config(&wanted(Engine::Innodb, &settings), &layout());
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
    let text = Mysql.config(&wanted(Engine::Myrocks, &[]), &layout());
    let head: Vec<&str> = text.lines().skip(2).take(3).collect();
    assert_eq!(
        head,
        [
            "plugin-load-add = ha_rocksdb",
            "default-storage-engine = ROCKSDB",
            "default-tmp-storage-engine = InnoDB"
        ]
    );
    let product = Dbms::Mariadb.product();
    let names: Vec<_> =
        product.captures(&build().version, Engine::Myrocks).map(|(name, _)| name).collect();
    assert_eq!(names, ["variables", "status", "innodb_status", "rocksdb_status"]);
}

#[test]
fn what_isolation_sets_is_reserved() {
    let reserved = &Dbms::Mariadb.product().options.reserved;
    for (name, _) in isolation(&layout()) {
        assert!(reserved.contains(&name.replace('-', "_")), "{name}");
    }
}

#[test]
fn accounts_are_where_the_version_keeps_them() {
    let deletes = |version: &str| {
        let build = Build { version: version.parse().unwrap(), ..build() };
        let (_, text) = Mysql.access(&build, &layout());
        text.split(" WHERE").next().unwrap().to_owned()
    };
    assert_eq!(deletes("10.3.39"), "DELETE FROM mysql.user");
    assert_eq!(deletes("10.4.1"), "DELETE FROM mysql.global_priv");
}

#[test]
fn bootstrap_feeds_the_system_tables() {
    let init = Mysql.init(&wanted(Engine::Innodb, &[]), &layout()).unwrap();
    let [InitCommand { arguments, input, .. }] = init.commands.as_slice() else {
        panic!("one command expected: {init:?}");
    };
    assert_eq!(arguments.first().map(String::as_str), Some("--defaults-file=/lab/a #1/x/init.cnf"));
    assert!(arguments.contains(&"--bootstrap".to_owned()));
    assert_eq!(input.len(), 3);
    let mut without = layout();
    without.installation.scripts.clear();
    let missing = Mysql.init(&wanted(Engine::Innodb, &[]), &without).unwrap_err();
    insta::assert_snapshot!(missing, @"the SQL of the system tables (mysql_system_tables.sql or mariadb_system_tables.sql) is missing from /usr/share/mysql");
}

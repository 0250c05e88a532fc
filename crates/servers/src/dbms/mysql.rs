//! MySQL's family: MySQL, MariaDB and what is built from them. What differs between them is data.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use model::{Build, Setting, System, Version};
use rustix::process::Signal;

use super::family::{
    Copied, Family, Init, InitCommand, Input, Layout, Objection, Traits, between, engine_lines,
    is_named,
};
use crate::error::Missing;
use crate::socket::ADDRESS;

#[derive(Debug)]
pub(super) struct Mysql;

const TRAITS: Traits = Traits {
    socket: "s.sock",
    stop: Signal::TERM,
    sleeps_through_stop: true,
    death: Signal::KILL,
    refuses_root: false,
};

impl Family for Mysql {
    fn traits(&self) -> &'static Traits {
        &TRAITS
    }

    /// The version after the last ` Ver ` of a line such as
    /// `mysqld  Ver 8.0.33-25 for Linux on x86_64 (Percona Server (GPL), Release 25)`.
    fn parse_version(&self, line: &str) -> Option<Version> {
        let (_, rest) = line.rsplit_once(" Ver ")?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        rest.get(..end)?.parse().ok()
    }

    /// The way of initialisation: the data directory that the build brings along, the server's own
    /// `--initialize-insecure` where it has that, otherwise its bootstrap mode.
    fn init(&self, system: &System, layout: &Layout) -> Result<Init, Missing> {
        let build = &system.build;
        let initialises_itself =
            build.dbms.product().server.initialises_itself.holds(&build.version);
        let installation = &layout.installation;
        if let Some(seed) = &installation.seed {
            return Ok(Init {
                copy: Some(Copied {
                    from: seed.clone(),
                    to: layout.data(),
                    // An identity of its own, which the server makes, and what only the archive needed.
                    without: &["auto.cnf", "META-INF"],
                }),
                ..Init::default()
            });
        }
        let (command, directories) = if initialises_itself {
            let command = InitCommand {
                program: installation.program.clone(),
                // A config may default to an engine that the plugins do not bring yet.
                arguments: ["--initialize-insecure", "--default-storage-engine=InnoDB"]
                    .map(str::to_owned)
                    .into(),
                input: Vec::new(),
            };
            (command, Vec::new())
        } else {
            (bootstrap(build, layout)?, vec![layout.data().join("mysql")])
        };
        let file = layout.init_config();
        let arguments = std::iter::once(only(&file)).chain(command.arguments);
        Ok(Init {
            copy: None,
            directories,
            commands: vec![InitCommand { arguments: arguments.collect(), ..command }],
            files: vec![(file, init_config(system, layout))],
        })
    }

    /// The option file of the server: what turns the engine on, then the config's own settings, then what
    /// isolation demands. A later line wins, so a config can still change what an engine asks for. Where the
    /// plan asks for TLS, what only turns it off is left out.
    fn config(&self, system: &System, layout: &Layout) -> String {
        let build = &system.build;
        let mut text = head(build);
        // An engine that the build does not have has been refused before.
        let engine = engine_lines(build, system.engine, &layout.installation).unwrap_or_default();
        let huge = &build.dbms.product().options.huge_pages.line;
        let huge = system.huge_pages.then_some(huge);
        for line in engine.iter().chain(huge) {
            if let Some((name, value)) = line.split_first() {
                push(&mut text, name, value.first().map(String::as_str));
            }
        }
        for setting in &system.config.settings {
            if !(system.connection.tls && turns_tls_off(setting)) {
                push(&mut text, &setting.name, setting.value.as_deref());
            }
        }
        push_isolation(&mut text, build, layout);
        if system.connection.tls {
            push_tls(&mut text, layout);
        }
        text
    }

    /// Help on all options reads the file first and objects to unknown names; later versions pass over them there
    /// and have a mode of their own.
    fn examine(&self, build: &Build, layout: &Layout) -> Vec<String> {
        if build.dbms.product().server.validates_config.holds(&build.version) {
            vec![only(&layout.config()), "--validate-config".to_owned()]
        } else {
            self.list_settings(layout)
        }
    }

    /// The first objection in what a server printed. Warnings are none: they are how it takes `loose` options.
    fn objection(&self, answer: &str) -> Option<Objection> {
        let mut errors = answer.lines().filter(|line| !line.contains("[Warning]"));
        errors.find_map(objection_of)
    }

    fn list_settings(&self, layout: &Layout) -> Vec<String> {
        vec![only(&layout.config()), "--verbose".to_owned(), "--help".to_owned()]
    }

    /// The names in the table of [`help`], which a line of dashes begins and an empty line ends.
    fn listed<'a>(&self, answer: &'a str) -> Vec<&'a str> {
        let is_rule = |line: &&str| line.starts_with("----");
        let rows = answer.lines().skip_while(|line| !is_rule(line)).skip(1);
        rows.take_while(|line| !line.is_empty())
            .filter_map(|line| line.split_ascii_whitespace().next())
            .collect()
    }

    /// The arguments that start a server. The port is no part of the file: it is another one in each instance.
    fn start(&self, layout: &Layout) -> Vec<String> {
        let tcp = layout.port.map(|port| {
            let file = access_file(layout).display().to_string();
            [format!("--port={port}"), format!("--init-file={file}")]
        });
        std::iter::once(only(&layout.config())).chain(tcp.into_iter().flatten()).collect()
    }

    /// SQL that a server on TCP runs before it takes its first connection. Bootstrap scripts and data
    /// directories of archives bring accounts without a password, which anybody on this host could use until
    /// they are dropped over a session; sessions opened by then would even outlive the drop.
    fn access(&self, build: &Build, layout: &Layout) -> (PathBuf, String) {
        let server = &build.dbms.product().server;
        let table =
            if server.global_accounts.holds(&build.version) { "global_priv" } else { "user" };
        // Roles have no host. One statement a line: the reader of such files takes a line for a statement.
        let text = format!(
            "DELETE FROM mysql.{table} WHERE (Host NOT IN ('localhost', '') OR User = '') \
             AND NOT (User = '{}' AND Host = '{ADDRESS}');\n\
             DELETE FROM mysql.db WHERE User = '';\n\
             FLUSH PRIVILEGES;\n",
            server.tcp_user
        );
        (access_file(layout), text)
    }
}

fn access_file(layout: &Layout) -> PathBuf {
    layout.directory.join("access.sql")
}

/// No other option file than this one is read: the first argument, which must be the first, says so.
fn only(file: &Path) -> String {
    format!("--defaults-file={}", file.display())
}

fn objection_of(line: &str) -> Option<Objection> {
    let found = |option: &str, problem: Option<String>| {
        let option = option.trim_start_matches('-');
        let name = option.split_once('=').map_or(option, |(name, _)| name);
        Some(Objection { option: name.to_owned(), problem })
    };
    let unknown = ["unknown variable '", "unknown option '", "ambiguous option '"];
    if let Some(option) = unknown.iter().find_map(|mark| between(line, mark, "'")) {
        return found(option, None);
    }
    if let Some(value) = between(line, "Error while setting value '", "' to '") {
        let option = between(line, "' to '", "'")?;
        return found(option, Some(format!("does not take the value `{value}`")));
    }
    let option = between(line, "option '", "' requires an argument")?;
    found(option, Some("needs a value".to_owned()))
}

/// System tables from the server's own SQL, fed to it in bootstrap mode: the way of every MariaDB and of
/// MySQL before 5.7. The installation scripts around it need Perl or a shell and read the host's files.
fn bootstrap(build: &Build, layout: &Layout) -> Result<InitCommand, Missing> {
    // One statement a line: the bootstrap reader of MySQL 5.5 and 5.6 takes a line for a statement.
    // Without the two variables MariaDB ≥ 10.4 lets root in over `unix_socket` only, and makes
    // anonymous accounts.
    const PROLOGUE: &str = "create database if not exists mysql;\nuse mysql;\n\
        set @auth_root_socket=NULL;\nset @skip_auth_anonymous=1;\n";
    let installation = &layout.installation;
    let scripts = &build.dbms.product().program.tree.scripts;
    let scripts: Vec<&str> = scripts.iter().take(2).map(String::as_str).collect();
    let tables = installation.scripts.first().ok_or_else(|| Missing {
        what: format!("the SQL of the system tables ({})", scripts.join(" or ")),
        place: installation.share.clone().unwrap_or_else(|| installation.base.join("share")),
    })?;
    let mut input = vec![Input::Text(PROLOGUE.to_owned()), Input::File(tables.clone())];
    input.extend(installation.scripts.iter().skip(1).cloned().map(Input::File));
    let arguments = [
        "--bootstrap",
        "--max_allowed_packet=8M",
        "--net_buffer_length=16K",
        // A config may default to an engine whose plugin cannot hold the system tables.
        "--default-storage-engine=InnoDB",
    ];
    Ok(InitCommand {
        program: installation.program.clone(),
        arguments: arguments.map(str::to_owned).into(),
        input,
    })
}

/// Is it one of the ways to switch TLS off in a config?
fn turns_tls_off(setting: &Setting) -> bool {
    let value = setting.value.as_deref();
    let is_off = |value: &str| matches!(value.to_lowercase().as_str(), "0" | "off" | "false");
    if is_named(&setting.name, &["skip_ssl", "disable_ssl"]) {
        return !value.is_some_and(is_off);
    }
    is_named(&setting.name, &["ssl"]) && value.is_some_and(is_off)
        || is_named(&setting.name, &["tls_version"]) && value == Some("")
}

fn push_tls(text: &mut String, layout: &Layout) {
    text.push_str("# The plan's `tls = true`.\n");
    for (name, path) in [("ssl-cert", layout.certificate()), ("ssl-key", layout.key())] {
        push(text, name, Some(&path.display().to_string()));
    }
}

/// The option file of the initialisation: the same but for the engine, whose plugin need not be there
/// yet and which holds no system table. Settings of the engine are then unknown, which `loose` permits.
fn init_config(system: &System, layout: &Layout) -> String {
    const OF_ENGINES: [&str; 2] = ["rocksdb", "tokudb"];
    let mut text = head(&system.build);
    for setting in &system.config.settings {
        let name = &setting.name;
        let of_engine = OF_ENGINES.iter().any(|engine| name.starts_with(engine));
        let name = if of_engine { &format!("loose_{name}") } else { name };
        push(&mut text, name, setting.value.as_deref());
    }
    let socket_only = Layout { port: None, ..layout.clone() };
    push_isolation(&mut text, &system.build, &socket_only);
    text
}

fn head(build: &Build) -> String {
    let section = &build.dbms.product().server.section;
    format!(
        "# Written by backslide for {}; made anew with each instance.\n[{section}]\n",
        build.id()
    )
}

fn push_isolation(text: &mut String, build: &Build, layout: &Layout) {
    text.push_str("# Isolation.\n");
    for (name, value) in isolation(layout) {
        push(text, name, value.as_deref());
    }
    for option in &build.dbms.product().server.isolation {
        if option.since.holds(&build.version) {
            push(text, &option.name, Some(&option.value));
        }
    }
}

/// What keeps a server apart from the host and from other servers.
pub(super) fn isolation(layout: &Layout) -> Vec<(&'static str, Option<String>)> {
    let path = |path: &Path| Some(path.display().to_string());
    let installation = &layout.installation;
    let mut lines = Vec::new();
    let mut line = |name, value| lines.push((name, value));
    if layout.as_root {
        line("user", Some("root".to_owned()));
    }
    line("basedir", path(&installation.base));
    line("datadir", path(&layout.data()));
    if let Some(share) = &installation.share {
        line("lc-messages-dir", path(share));
        line("character-sets-dir", path(&share.join("charsets")));
    }
    if let Some(plugins) = &installation.plugins {
        line("plugin-dir", path(plugins));
    }
    // Statements reach no other files of the host. Some builds have a directory compiled in and abort when
    // it is absent.
    line("secure-file-priv", path(&layout.temporary()));
    if layout.port.is_some() {
        line("bind-address", Some(ADDRESS.to_string()));
        // Otherwise 127.0.0.1 is `localhost`, as whom root needs no password.
        line("skip-name-resolve", None);
    } else {
        line("skip-networking", None);
    }
    line("socket", path(&layout.socket));
    line("pid-file", path(&layout.directory.join("server.pid")));
    lines
}

fn push(text: &mut String, name: &str, value: Option<&str>) {
    // Writing to a String cannot fail.
    let _ = match value {
        Some(value) => writeln!(text, "{name} = {}", quoted(value)),
        None => writeln!(text, "{name}"),
    };
}

/// A value as the reader of option files takes it: `\` escapes, `#` begins a comment and blanks at the
/// edges are cut off unless quotes are around them.
fn quoted(value: &str) -> String {
    let escaped = value.replace('\\', "\\\\");
    let plain = !value.contains(['#', '"', '\'']) && value.trim() == value;
    if plain { escaped } else { format!("\"{}\"", escaped.replace('"', "\\\"")) }
}

#[cfg(test)]
mod tests {
    use model::{Config, Dbms, Engine, Setting, Transport};

    use super::super::{check_settings, version_in};
    use super::*;
    use crate::error::SettingError;
    use crate::installation::Installation;

    fn build(version: &str) -> Build {
        let source = model::BuildSource::Path("/opt/my sql".to_owned());
        Build::new(Dbms::Mysql, version.parse().unwrap(), source)
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

    fn init(build: &Build, wanted: &System, layout: &Layout) -> Result<Init, Missing> {
        Mysql.init(&System { build: build.clone(), ..wanted.clone() }, layout)
    }

    /// The file of a server whose settings were checked before.
    fn checked_config(
        build: &Build,
        wanted: &System,
        layout: &Layout,
    ) -> Result<String, SettingError> {
        let system = System { build: build.clone(), ..wanted.clone() };
        check_settings(&system)?;
        Ok(Mysql.config(&system, layout))
    }

    fn wanted(engine: Engine, settings: &[Setting]) -> System {
        let config = Config { settings: settings.to_vec(), ..Config::default() };
        System { engine, config, ..System::new("a", build("8.0.33")) }
    }

    #[test]
    fn version_lines() {
        let table = [
            ("mysqld  Ver 5.5.9-log for Linux on x86_64 (Source distribution)", "5.5.9"),
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
            ("/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))", "9.7.4"),
        ];
        for (line, version) in table {
            assert_eq!(
                version_in(Dbms::Mysql, line).map(|v| v.to_string()).as_deref(),
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
            assert_eq!(version_in(Dbms::Mysql, other), None, "{other}");
        }
    }

    #[test]
    fn the_x_plugin_is_off_where_there_is_one() {
        let text = |version: &str| {
            checked_config(&build(version), &wanted(Engine::Innodb, &[]), &layout()).unwrap()
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
            init(&build(version), &wanted(Engine::Innodb, &[]), &layout())
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
        let init = init(&build("5.6.24"), &wanted(Engine::Innodb, &[]), &seeded).unwrap();
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
            Setting { name: "rocksdb_block_cache_size".to_owned(), value: Some("1G".to_owned()) },
            Setting { name: "innodb_page_size".to_owned(), value: Some("4k".to_owned()) },
        ];
        let wanted = System { huge_pages: true, ..wanted(Engine::Myrocks, &settings) };
        let build = build("8.0.33");
        let text = checked_config(&build, &wanted, &percona).unwrap();
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
        let init = init(&build, &wanted, &percona).unwrap();
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
        let settings = [Setting { name: "large-pages".to_owned(), value: Some("ON".to_owned()) }];
        let mut wanted = wanted(Engine::Innodb, &settings);
        assert!(checked_config(&build("8.0.33"), &wanted, &layout()).is_ok());
        wanted.huge_pages = true;
        let error = checked_config(&build("8.0.33"), &wanted, &layout()).unwrap_err();
        insta::assert_snapshot!(error, @"setting `large-pages` duplicates the plan's `huge_pages = true`: remove one of the two");
    }

    #[test]
    fn a_server_on_tcp_listens_on_the_loopback_interface_alone() {
        let mut layout = layout();
        assert_eq!(Mysql.start(&layout), ["--defaults-file=/lab/x/server.cnf"]);
        layout.port = Some(20_001);
        let arguments =
            ["--defaults-file=/lab/x/server.cnf", "--port=20001", "--init-file=/lab/x/access.sql"];
        assert_eq!(Mysql.start(&layout), arguments);
        let wanted = wanted(Engine::Innodb, &[]);
        let text = checked_config(&build("8.0.33"), &wanted, &layout).unwrap();
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
        let init = init(&build("9.7.4"), &wanted_here, &layout).unwrap();
        let (_, text) = &init.files[0];
        assert!(text.contains("\nskip-networking\n") && !text.contains("bind-address"));
        for name in ["init_file", "skip-grant-tables"] {
            let settings = [Setting { name: name.to_owned(), value: None }];
            let check = |tcp| {
                let mut system = wanted(Engine::Innodb, &settings);
                system.connection.transport = if tcp { Transport::Tcp } else { Transport::Socket };
                check_settings(&system)
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
            let mut wanted = wanted(Engine::Innodb, settings);
            wanted.connection.tls = true;
            checked_config(&build("9.7.4"), &wanted, &layout())
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
        insta::assert_snapshot!(error, @"setting `ssl-cert` duplicates the plan's `tls = true`: remove one of the two");
    }

    #[test]
    fn objections_of_every_generation_are_recognised() {
        let told = |line: &str| Mysql.objection(line).map(|found| (found.option, found.problem));
        let unknown = |name: &str| Some((name.to_owned(), None));
        let refused = |name: &str, why: &str| Some((name.to_owned(), Some(why.to_owned())));
        for (line, expected) in [
            (
                "2026-11-23 16:36:22 0 [ERROR] /b/mysqld: unknown variable 'bufer=1G'",
                unknown("bufer"),
            ),
            (
                "2026-11-23T16:36:19Z 0 [ERROR] [MY-000067] [Server] unknown variable 'a_b=x=y'.",
                unknown("a_b"),
            ),
            (
                "2026-11-23T16:37:37Z 0 [ERROR] unknown option '--skip-nothing'",
                unknown("skip-nothing"),
            ),
            (
                "0 [ERROR] [MY-000077] [Server] /b/mysqld: Error while setting value 'lots' to 'innodb-flush-method'.",
                refused("innodb-flush-method", "does not take the value `lots`"),
            ),
            (
                "0 [ERROR] Buffered error: /b/mysqld: option '--max_connections' requires an argument",
                refused("max_connections", "needs a value"),
            ),
            (
                "0 [ERROR] /b/mysqld: ambiguous option '--innodb-buffer' (innodb-buffer-a, innodb-buffer-b)",
                unknown("innodb-buffer"),
            ),
            ("0 [Warning] /b/mysqld: unknown variable 'loose_nothing=1'", None),
            (
                "0 [ERROR] Can't open the mysql.plugin table. Please run mysql_upgrade to create it.",
                None,
            ),
        ] {
            assert_eq!(told(line), expected, "{line}");
        }
    }

    #[test]
    fn the_table_of_help_has_the_names() {
        let answer = "mysqld  Ver 8\n  --big-tables  Allow\n\nVariables (--variable-name=value)\n\
                      and boolean options {FALSE|TRUE}  Value (after reading options)\n\
                      ------------------------------- ---------\n\
                      big-tables                      FALSE\n\
                      bind-address                    *\n\n\
                      To see what values a running server uses, type\n";
        assert_eq!(Mysql.listed(answer), ["big-tables", "bind-address"]);
        assert!(Mysql.listed("nothing").is_empty());
    }

    #[test]
    fn what_turns_tls_off_is_known() {
        let off = |name: &str, value: Option<&str>| {
            turns_tls_off(&Setting { name: name.to_owned(), value: value.map(str::to_owned) })
        };
        assert!(off("skip-ssl", None) && off("loose_skip_ssl", Some("1")));
        assert!(off("ssl", Some("OFF")) && off("tls_version", Some("")));
        assert!(!off("skip_ssl", Some("0")) && !off("ssl", None) && !off("ssl", Some("1")));
        assert!(!off("tls_version", Some("TLSv1.3")) && !off("ssl_cipher", Some("")));
    }

    #[test]
    fn values_survive_the_reader_of_option_files() {
        assert_eq!(quoted("a b"), "a b");
        assert_eq!(quoted(""), "");
        assert_eq!(quoted("/x #1/y"), "\"/x #1/y\"");
        assert_eq!(quoted(" x"), "\" x\"");
        assert_eq!(quoted("a\"b\\c"), "\"a\\\"b\\\\c\"");
    }
}

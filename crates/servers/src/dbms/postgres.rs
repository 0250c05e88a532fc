//! PostgreSQL.

use std::fmt::Write;
use std::path::PathBuf;

use model::{Build, Setting, System, Version};
use rustix::process::Signal;

use super::family::{Family, Init, InitCommand, Layout, Objection, Traits, between};
use crate::error::{Missing, SettingError};
use crate::socket::ADDRESS;

#[derive(Debug)]
pub(super) struct Postgres;

const TRAITS: Traits = Traits {
    socket: ".s.PGSQL.5432",
    // Fast shutdown: sessions are ended, a checkpoint is written.
    stop: Signal::INT,
    sleeps_through_stop: false,
    // Immediate shutdown: the server ends its own processes, which SIGKILL would leave to themselves.
    death: Signal::QUIT,
    refuses_root: true,
};

/// Only the name of the socket has it where there is no TCP.
const PORT: &str = "5432";

/// Who may log in, where that is not what `initdb` wrote.
fn access_file(layout: &Layout) -> PathBuf {
    layout.directory.join("hba.conf")
}

/// The configuration that `initdb` makes for this host.
fn shipped(layout: &Layout) -> PathBuf {
    layout.data().join("postgresql.conf")
}

impl Family for Postgres {
    fn traits(&self) -> &'static Traits {
        &TRAITS
    }

    fn parse_version(&self, line: &str) -> Option<Version> {
        let (_, rest) = line.split_once("(PostgreSQL) ")?;
        rest.split_ascii_whitespace().next()?.parse().ok()
    }

    fn init(&self, system: &System, layout: &Layout) -> Result<Init, Missing> {
        let installation = &layout.installation;
        let initdb = installation.tool("initdb").ok_or_else(|| Missing {
            what: "initdb".to_owned(),
            place: installation.program.parent().unwrap_or(&installation.base).to_owned(),
        })?;
        let data = layout.data().display().to_string();
        let superuser = system.build.dbms.product().server.superuser.as_str();
        let arguments = ["-U", superuser, "-A", "trust", "-E", "UTF8", "--locale=C"];
        Ok(Init {
            commands: vec![InitCommand {
                program: initdb.to_owned(),
                arguments: ["-D".to_owned(), data]
                    .into_iter()
                    .chain(arguments.map(str::to_owned))
                    .collect(),
                input: Vec::new(),
            }],
            ..Init::default()
        })
    }

    /// Our file includes the one that `initdb` made for this host, so that an empty config runs as the
    /// version ships; the settings after it win.
    fn config(&self, system: &System, layout: &Layout) -> String {
        let build = &system.build;
        let shipped = shipped(layout);
        let mut text = format!(
            "# Written by backslide for {}; made anew with each instance.\ninclude {}\n",
            build.id(),
            quoted(&shipped.display().to_string())
        );
        let huge = &build.dbms.product().options.huge_pages.line;
        if let ([name, value], true) = (huge.as_slice(), system.huge_pages) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name} = {}", quoted(value));
        }
        for setting in &system.config.settings {
            let value = setting.value.as_deref().unwrap_or_default();
            let _ = writeln!(text, "{} = {}", setting.name, quoted(value));
        }
        if system.connection.tls {
            for (name, value) in [
                ("ssl", "on".to_owned()),
                ("ssl_cert_file", layout.certificate().display().to_string()),
                ("ssl_key_file", layout.key().display().to_string()),
            ] {
                let _ = writeln!(text, "{name} = {}", quoted(&value));
            }
        }
        text
    }

    fn check_setting(&self, setting: &Setting) -> Result<(), SettingError> {
        let problem = "has no value: every setting of PostgreSQL needs one";
        let missing = || SettingError { name: setting.name.clone(), problem };
        setting.value.as_ref().map(drop).ok_or_else(missing)
    }

    /// `-C` reads the whole file before it prints one setting. It must be the first argument: only then
    /// root may ask.
    fn examine(&self, _build: &Build, layout: &Layout) -> Vec<String> {
        let config = format!("config_file={}", layout.config().display());
        let data = layout.data().display().to_string();
        ["-C", "shared_buffers", "-D", &data, "-c", &config].map(str::to_owned).into()
    }

    fn objection(&self, answer: &str) -> Option<Objection> {
        let mut lines = answer.lines();
        let told = |line: &'_ str, level| line.split_once(level).map(|(_, told)| told.to_owned());
        let (option, problem) = lines.find_map(|line| {
            let unknown = between(line, "unrecognized configuration parameter \"", "\"");
            if let Some(option) = unknown {
                return Some((option, None));
            }
            let told = told(line, "LOG:  ")?;
            Some((between(line, "parameter \"", "\"")?, Some(told)))
        })?;
        let hint = lines.next().and_then(|line| told(line, "HINT:  "));
        let hint = hint.map_or_else(String::new, |hint| format!(" ({hint})"));
        Some(Objection {
            option: option.to_owned(),
            problem: problem
                .map(|told| format!("has a value that the server refuses: {told}{hint}")),
        })
    }

    fn list_settings(&self, _layout: &Layout) -> Vec<String> {
        vec!["--describe-config".to_owned()]
    }

    fn listed<'a>(&self, answer: &'a str) -> Vec<&'a str> {
        let rows = answer.lines().filter_map(|line| line.split_once('\t'));
        rows.map(|(name, _)| name).collect()
    }

    fn shipped_config(&self, layout: &Layout) -> Option<PathBuf> {
        Some(shipped(layout))
    }

    /// What isolation demands stands on the command line, which no file and no ALTER SYSTEM overrides.
    fn start(&self, layout: &Layout) -> Vec<String> {
        // The list of socket directories splits at commas outside of double quotes.
        let directory = layout.socket_directory().display().to_string();
        let sockets = format!("\"{}\"", directory.replace('"', "\"\""));
        let (address, port, access) = match layout.port {
            None => (String::new(), PORT.to_owned(), None),
            Some(port) => {
                let access = access_file(layout).display().to_string();
                let access = ("hba_file", access);
                (ADDRESS.to_string(), port.to_string(), Some(access))
            }
        };
        let settings = [
            ("config_file", layout.config().display().to_string()),
            ("listen_addresses", address),
            ("port", port),
            ("unix_socket_directories", sockets),
            ("logging_collector", "off".to_owned()),
            ("log_destination", "stderr".to_owned()),
        ];
        let mut arguments = vec!["-D".to_owned(), layout.data().display().to_string()];
        for (name, value) in settings.into_iter().chain(access) {
            arguments.extend(["-c".to_owned(), format!("{name}={value}")]);
        }
        arguments
    }

    fn own_socket(&self, layout: &Layout) -> Option<PathBuf> {
        let port = layout.port?;
        Some(layout.socket_directory().join(format!(".s.PGSQL.{port}")))
    }

    /// Nobody gets in over TCP without a password: `initdb` trusts everybody on this host, and the superuser
    /// can run programs as the server's user.
    fn access(&self, build: &Build, layout: &Layout) -> (PathBuf, String) {
        let method = if build.dbms.product().server.scram.holds(&build.version) {
            "scram-sha-256"
        } else {
            "md5"
        };
        let text = format!(
            "# Written by backslide.\nlocal all all trust\nhost all all {ADDRESS}/32 {method}\n"
        );
        (access_file(layout), text)
    }
}

/// A value as `postgresql.conf` takes it: in single quotes, where `\` escapes.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use model::{Config, Dbms, Engine};

    use super::super::{check_settings, version_in};
    use super::*;
    use crate::installation::Installation;

    fn build() -> Build {
        let source = model::BuildSource::Path("/usr/lib/postgresql/15".to_owned());
        Build::new(Dbms::Postgres, "15.19".parse().unwrap(), source)
    }

    fn layout() -> Layout {
        let bin = PathBuf::from("/usr/lib/postgresql/15/bin");
        Layout {
            installation: Installation {
                program: bin.join("postgres"),
                base: "/usr/lib/postgresql/15".into(),
                share: None,
                scripts: Vec::new(),
                plugins: None,
                libraries: None,
                tools: vec![bin.join("initdb")],
                engine_plugins: Vec::new(),
                seed: None,
            },
            directory: "/lab/it's".into(),
            socket: "/tmp/bs-0/.s.PGSQL.5432".into(),
            port: None,
            as_root: false,
        }
    }

    fn init(build: &Build, wanted: &System, layout: &Layout) -> Result<Init, Missing> {
        Postgres.init(&System { build: build.clone(), ..wanted.clone() }, layout)
    }

    /// The file of a server whose settings were checked before.
    fn checked_config(
        build: &Build,
        wanted: &System,
        layout: &Layout,
    ) -> Result<String, SettingError> {
        let system = System { build: build.clone(), ..wanted.clone() };
        check_settings(&system)?;
        Ok(Postgres.config(&system, layout))
    }

    fn wanted(settings: &[Setting]) -> System {
        let config = Config { settings: settings.to_vec(), ..Config::default() };
        System { config, ..System::new("a", build()) }
    }

    #[test]
    fn version_lines() {
        let table = [
            ("postgres (PostgreSQL) 9.6.24", "9.6.24"),
            ("postgres (PostgreSQL) 15.19 (Debian 15.19-0+deb12u1)", "15.19"),
            ("postgres (PostgreSQL) 18.6", "18.6"),
            ("postgres (PostgreSQL) 19rc1 (Debian 19~rc1-1)", "19rc1"),
            ("postgres (PostgreSQL) 20devel", "20devel"),
            ("postgres (PostgreSQL) 16.3 - Percona Distribution", "16.3"),
        ];
        for (line, version) in table {
            assert_eq!(
                version_in(Dbms::Postgres, line).map(|v| v.to_string()).as_deref(),
                Some(version),
                "{line}"
            );
        }
        for other in [
            "mysqld  Ver 8.0.33 for Linux",
            "postgres (PostgreSQL) ",
            "postgres (PostgreSQL) x",
            "",
        ] {
            assert_eq!(version_in(Dbms::Postgres, other), None, "{other}");
        }
    }

    #[test]
    fn config_file() {
        let settings = [
            Setting { name: "shared_buffers".to_owned(), value: Some("4GB".to_owned()) },
            Setting {
                name: "auto_explain.log_format".to_owned(),
                value: Some("it's \\".to_owned()),
            },
        ];
        let text = checked_config(&build(), &wanted(&settings), &layout()).unwrap();
        insta::assert_snapshot!(text, @r"
        # Written by backslide for postgres-15.19; made anew with each instance.
        include '/lab/it''s/data/postgresql.conf'
        shared_buffers = '4GB'
        auto_explain.log_format = 'it''s \\'
        ");
        let no_value = [Setting { name: "fsync".to_owned(), value: None }];
        let error = checked_config(&build(), &wanted(&no_value), &layout()).unwrap_err();
        insta::assert_snapshot!(error, @"setting `fsync` has no value: every setting of PostgreSQL needs one");
    }

    #[test]
    fn what_isolation_sets_is_reserved() {
        let arguments = Postgres.start(&layout());
        insta::assert_snapshot!(arguments.join("\n"), @r#"
        -D
        /lab/it's/data
        -c
        config_file=/lab/it's/server.cnf
        -c
        listen_addresses=
        -c
        port=5432
        -c
        unix_socket_directories="/tmp/bs-0"
        -c
        logging_collector=off
        -c
        log_destination=stderr
        "#);
        let reserved = &Dbms::Postgres.product().options.reserved;
        for name in arguments.iter().filter_map(|a| a.split_once('=')).map(|(name, _)| name) {
            assert!(reserved.iter().any(|known| known == name), "{name}");
        }
    }

    #[test]
    fn initdb_beside_the_server() {
        let made = init(&build(), &wanted(&[]), &layout()).unwrap();
        insta::assert_snapshot!(made.commands[0].arguments.join(" "), @"-D /lab/it's/data -U postgres -A trust -E UTF8 --locale=C");
        let mut without = layout();
        without.installation.tools.clear();
        let missing = init(&build(), &wanted(&[]), &without).unwrap_err();
        insta::assert_snapshot!(missing, @"initdb is missing from /usr/lib/postgresql/15/bin");
    }

    #[test]
    fn each_version_is_asked_only_for_what_it_has() {
        let names = |version: &str| -> String {
            let version = version.parse().unwrap();
            let captures = Dbms::Postgres.product().captures(&version, Engine::Heap);
            captures.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("9.6.24"), "variables bgwriter database tables indexes");
        assert_eq!(names("14.24"), "variables bgwriter database wal tables indexes");
        assert_eq!(
            names("19rc1"),
            "variables bgwriter checkpointer database wal io tables indexes"
        );
    }

    #[test]
    fn huge_pages_are_demanded_and_said_once() {
        let mut settings =
            vec![Setting { name: "shared_buffers".to_owned(), value: Some("1GB".to_owned()) }];
        let config = |settings: &[Setting]| {
            let wanted = System { huge_pages: true, ..wanted(settings) };
            checked_config(&build(), &wanted, &layout())
        };
        let text = config(&settings).unwrap();
        assert!(text.ends_with("\nhuge_pages = 'on'\nshared_buffers = '1GB'\n"), "{text}");
        settings.push(Setting { name: "huge_pages".to_owned(), value: Some("off".to_owned()) });
        insta::assert_snapshot!(config(&settings).unwrap_err(), @"setting `huge_pages` duplicates the plan's `huge_pages = true`: remove one of the two");
    }

    #[test]
    fn a_server_on_tcp_asks_everybody_for_a_password_there() {
        let mut layout = layout();
        assert_eq!(Postgres.own_socket(&layout), None);
        layout.port = Some(20_001);
        let own = Postgres.own_socket(&layout).unwrap();
        assert_eq!(own, PathBuf::from("/tmp/bs-0/.s.PGSQL.20001"));
        let arguments = Postgres.start(&layout);
        for argument in ["listen_addresses=127.0.0.1", "port=20001", "hba_file=/lab/it's/hba.conf"]
        {
            assert!(arguments.iter().any(|a| a == argument), "{arguments:?}");
        }
        let reserved = &Dbms::Postgres.product().options.reserved;
        for name in arguments.iter().filter_map(|a| a.split_once('=')) {
            assert!(reserved.iter().any(|known| known == name.0), "{name:?}");
        }
        let (path, text) = Postgres.access(&build(), &layout);
        assert_eq!(path, access_file(&layout));
        insta::assert_snapshot!(text, @r"
        # Written by backslide.
        local all all trust
        host all all 127.0.0.1/32 scram-sha-256
        ");
        let old = Build { version: "9.6.24".parse().unwrap(), ..build() };
        let (_, text) = Postgres.access(&old, &layout);
        assert!(text.ends_with(" md5\n"), "{text}");
    }

    #[test]
    fn objections_are_recognised() {
        let told = |line: &str| Postgres.objection(line);
        let found = |option: &str, problem: Option<&str>| {
            Some(Objection {
                option: option.to_owned(),
                problem: problem.map(|told| format!("has a value that the server refuses: {told}")),
            })
        };
        let skipped =
            "2026-11-23 16:37:39.334 GMT [9961] LOG:  skipping missing configuration file \"/x\"\n";
        let unknown = "LOG:  unrecognized configuration parameter \"shared_buffer\" in file \"/x\" line 2\n\
                       FATAL:  configuration file \"/x\" contains errors\n";
        assert_eq!(told(skipped), None);
        assert_eq!(told(&format!("{skipped}{unknown}")), found("shared_buffer", None));
        let value = "invalid value for parameter \"work_mem\": \"lots\"";
        assert_eq!(told(&format!("GMT [1] LOG:  {value}\n")), found("work_mem", Some(value)));
        let range =
            "1 8kB is outside the valid range for parameter \"shared_buffers\" (16 .. 1073741823)";
        assert_eq!(told(&format!("LOG:  {range}")), found("shared_buffers", Some(range)));
        let level = "invalid value for parameter \"wal_level\": \"high\"";
        assert_eq!(
            told(&format!(
                "LOG:  {level}\n[1] HINT:  Available values: minimal, logical.\nFATAL:  x"
            )),
            found("wal_level", Some(&format!("{level} (Available values: minimal, logical.)")))
        );
        assert_eq!(Postgres.listed("a\tsighup\tX\nb\tuser\n\n"), ["a", "b"]);
    }

    #[test]
    fn tls_brings_a_certificate() {
        let mut settings = Vec::new();
        let config = |settings: &[Setting]| {
            let mut wanted = wanted(settings);
            wanted.connection.tls = true;
            checked_config(&build(), &wanted, &layout())
        };
        let text = config(&settings).unwrap();
        let (_, text) = text.split_once("postgresql.conf'\n").unwrap();
        insta::assert_snapshot!(text, @r"
        ssl = 'on'
        ssl_cert_file = '/lab/it''s/server.crt'
        ssl_key_file = '/lab/it''s/server.key'
        ");
        settings.push(Setting { name: "ssl".to_owned(), value: Some("off".to_owned()) });
        insta::assert_snapshot!(config(&settings).unwrap_err(), @"setting `ssl` duplicates the plan's `tls = true`: remove one of the two");
    }
}

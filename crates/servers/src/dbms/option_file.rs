//! What MySQL and MariaDB share: the option file, the bootstrap of system tables, the listings.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use model::{Build, Setting, Version};

use super::engines;
use super::{
    CaptureQuery, Copied, HugePages, Init, InitCommand, Input, Layout, Missing, Objection, Tree,
    Wanted, between, is_named,
};
use crate::port;

/// Where archives and distributions keep the files of these servers.
pub(super) const TREE: Tree = Tree {
    share: &["share", "share/mysql", "share/mariadb", "share/share"],
    share_marker: "charsets/Index.xml",
    // Older versions have the first of each pair, newer ones the second.
    scripts: &[
        "mysql_system_tables.sql",
        "mariadb_system_tables.sql",
        "mysql_performance_tables.sql",
        "mariadb_performance_tables.sql",
        "mysql_system_tables_data.sql",
        "mariadb_system_tables_data.sql",
        "fill_help_tables.sql",
        "maria_add_gis_sp_bootstrap.sql",
        "mysql_sys_schema.sql",
        "mariadb_sys_schema.sql",
    ],
    plugins: &["lib/plugin", "lib/mysql/plugin", "lib64/mysql/plugin"],
    libraries: &["lib"],
    tools: &[],
    engine_plugins: engines::PLUGINS,
    seeds: &["seed"],
    seed_marker: "mysql",
};

/// `InnoDB`'s buffer pool goes there, and smaller buffers: the key cache, the log buffer.
pub(super) const HUGE_PAGES: HugePages = HugePages {
    lines: &[("large-pages", None)],
    names: &["large_pages", "skip_large_pages"],
    buffer: "innodb_buffer_pool_size",
    default: 128 << 20,
    unit: 1,
    others: 256 << 20,
};

/// What isolation owns. `log_error` is among them because the log is the server's standard error.
pub(super) const RESERVED: &[&str] = &[
    "user",
    "basedir",
    "datadir",
    "lc_messages_dir",
    "character_sets_dir",
    "plugin_dir",
    "secure_file_priv",
    "skip_networking",
    "socket",
    "pid_file",
    "log_error",
    "port",
    "bind_address",
    "mysqlx",
    // With these it does something else than to serve, or where nobody looks for it.
    "help",
    "version",
    "bootstrap",
    "initialize",
    "initialize_insecure",
    "validate_config",
    "daemonize",
    "chroot",
];

/// What would let others on the host log in over TCP.
pub(super) const RESERVED_ON_TCP: &[&str] = &["init_file", "skip_grant_tables"];

/// The account for TCP. The superuser has no password and stays on the socket.
pub(super) const TCP_USER: &str = "backslide";

/// What a plan's `tls = true` sets.
pub(super) const TLS: &[&str] = &["ssl_cert", "ssl_key", "ssl_ca", "ssl_capath"];

/// `--no-defaults`: a faulty option file of the host must not keep a server from telling its version.
pub(super) const VERSION_ARGUMENTS: &[&str] = &["--no-defaults", "--version"];

/// The version after the last ` Ver ` of a line such as
/// `mysqld  Ver 8.0.33-25 for Linux on x86_64 (Percona Server (GPL), Release 25)`.
pub(super) fn parse_version(line: &str) -> Option<Version> {
    let (_, rest) = line.rsplit_once(" Ver ")?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// Lines of isolation: names, and values of those that take one.
pub(super) type Lines = Vec<(String, Option<String>)>;

/// The option file of the server: what turns the engine on, then the config's own settings, then what
/// isolation demands. A later line wins, so a config can still change what an engine asks for. Where the
/// plan asks for TLS, what only turns it off is left out.
pub(super) fn config(
    build: &Build,
    wanted: &Wanted<'_>,
    layout: &Layout,
    isolation: &Lines,
) -> String {
    let mut text = head(build);
    // An engine that the build does not have has been refused before.
    let engine = engines::lines(build, wanted.engine, &layout.installation).unwrap_or_default();
    let huge = wanted.huge_pages.then_some(HUGE_PAGES.lines);
    for (name, value) in engine.iter().chain(huge.unwrap_or_default()) {
        push(&mut text, name, *value);
    }
    for setting in wanted.settings {
        if !(wanted.tls && turns_tls_off(setting)) {
            push(&mut text, &setting.name, setting.value.as_deref());
        }
    }
    push_isolation(&mut text, isolation);
    if wanted.tls {
        push_tls(&mut text, layout);
    }
    text
}

/// Is it one of the ways in which configs say that there shall be no TLS?
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
    for (name, path) in [
        ("ssl-cert", layout.certificate()),
        ("ssl-key", layout.key()),
    ] {
        push(text, name, Some(&path.display().to_string()));
    }
}

/// The option file of the initialisation: the same but for the engine, whose plugin need not be there
/// yet and which holds no system table. Settings of the engine are then unknown, which `loose` permits.
fn init_config(build: &Build, wanted: &Wanted<'_>, isolation: &Lines) -> String {
    const OF_ENGINES: [&str; 2] = ["rocksdb", "tokudb"];
    let mut text = head(build);
    for setting in wanted.settings {
        let name = &setting.name;
        let of_engine = OF_ENGINES.iter().any(|engine| name.starts_with(engine));
        let name = if of_engine {
            &format!("loose_{name}")
        } else {
            name
        };
        push(&mut text, name, setting.value.as_deref());
    }
    push_isolation(&mut text, isolation);
    text
}

fn head(build: &Build) -> String {
    format!(
        "# Written by backslide for {}; made anew with each instance.\n[mysqld]\n",
        build.id()
    )
}

fn push_isolation(text: &mut String, isolation: &Lines) {
    text.push_str("# Isolation.\n");
    for (name, value) in isolation {
        push(text, name, value.as_deref());
    }
}

/// What keeps a server apart from the host and from other servers.
pub(super) fn isolation(layout: &Layout) -> Lines {
    let path = |path: &Path| Some(path.display().to_string());
    let installation = &layout.installation;
    let mut lines = Vec::new();
    let mut line = |name: &str, value: Option<String>| lines.push((name.to_owned(), value));
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
        line("bind-address", Some(port::ADDRESS.to_string()));
        // Else 127.0.0.1 is `localhost`, as whom root needs no password.
        line("skip-name-resolve", None);
    } else {
        line("skip-networking", None);
    }
    line("socket", path(&layout.socket));
    line("pid-file", path(&layout.directory.join("server.pid")));
    lines
}

/// The arguments that start a server. The port is no part of the file: it is another one in each instance.
pub(super) fn start(layout: &Layout) -> Vec<String> {
    let tcp = layout.port.map(|port| {
        let file = access_file(layout).display().to_string();
        [format!("--port={port}"), format!("--init-file={file}")]
    });
    std::iter::once(only(&layout.config()))
        .chain(tcp.into_iter().flatten())
        .collect()
}

fn access_file(layout: &Layout) -> PathBuf {
    layout.directory.join("access.sql")
}

/// SQL that a server on TCP runs before it takes its first connection. Bootstrap scripts and data
/// directories of archives bring accounts without a password, which anybody on this host could use until
/// they are dropped over a session; sessions opened by then would even outlive the drop. `table` holds the
/// accounts.
pub(super) fn access(layout: &Layout, table: &str) -> (PathBuf, String) {
    // Roles have no host. One statement a line: the reader of such files takes a line for a statement.
    let address = port::ADDRESS;
    let text = format!(
        "DELETE FROM mysql.{table} WHERE (Host NOT IN ('localhost', '') OR User = '') \
         AND NOT (User = '{TCP_USER}' AND Host = '{address}');\n\
         DELETE FROM mysql.db WHERE User = '';\n\
         FLUSH PRIVILEGES;\n"
    );
    (access_file(layout), text)
}

/// No other option file than this one is read: the first argument, which must be the first, says so.
fn only(file: &Path) -> String {
    format!("--defaults-file={}", file.display())
}

/// The arguments that make a server read its option file, print its options and end. Of names that it does
/// not know it says so, and of some values.
pub(super) fn help(layout: &Layout) -> Vec<String> {
    let rest = ["--verbose", "--help"].map(str::to_owned);
    std::iter::once(only(&layout.config()))
        .chain(rest)
        .collect()
}

/// The same from MySQL 8.0.16 on, where help passes over unknown names.
pub(super) fn validate(layout: &Layout) -> Vec<String> {
    vec![only(&layout.config()), "--validate-config".to_owned()]
}

/// The first objection in what a server printed. Warnings are none: they are how it takes `loose` options.
pub(super) fn objection(answer: &str) -> Option<Objection> {
    let mut errors = answer.lines().filter(|line| !line.contains("[Warning]"));
    errors.find_map(objection_of)
}

fn objection_of(line: &str) -> Option<Objection> {
    let found = |option: &str, problem: Option<String>| {
        let option = option.trim_start_matches('-');
        let name = option.split_once('=').map_or(option, |(name, _)| name);
        Some(Objection {
            option: name.to_owned(),
            problem,
        })
    };
    let unknown = [
        "unknown variable '",
        "unknown option '",
        "ambiguous option '",
    ];
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

/// The names in the table of [`help`], which a line of dashes begins and an empty line ends.
pub(super) fn listed(answer: &str) -> Vec<&str> {
    let is_rule = |line: &&str| line.starts_with("----");
    let rows = answer.lines().skip_while(|line| !is_rule(line)).skip(1);
    rows.take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_ascii_whitespace().next())
        .collect()
}

/// The way of initialisation: the data directory that the build brings along, the server's own
/// `--initialize-insecure` where it has that, else its bootstrap mode.
pub(super) fn init(
    build: &Build,
    wanted: &Wanted<'_>,
    layout: &Layout,
    isolation: &Lines,
    initialises_itself: bool,
) -> Result<Init, Missing> {
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
    let command = if initialises_itself {
        InitCommand {
            program: installation.program.clone(),
            // A config may default to an engine that the plugins do not bring yet.
            arguments: ["--initialize-insecure", "--default-storage-engine=InnoDB"]
                .map(str::to_owned)
                .into(),
            input: Vec::new(),
        }
    } else {
        bootstrap(layout)?
    };
    let file = layout.init_config();
    let arguments = std::iter::once(only(&file)).chain(command.arguments);
    Ok(Init {
        copy: None,
        directories: if initialises_itself {
            Vec::new()
        } else {
            vec![layout.data().join("mysql")]
        },
        commands: vec![InitCommand {
            arguments: arguments.collect(),
            ..command
        }],
        files: vec![(file, init_config(build, wanted, isolation))],
    })
}

/// System tables from the server's own SQL, fed to it in bootstrap mode: the way of every MariaDB and of
/// MySQL before 5.7. The installation scripts around it need Perl or a shell and read the host's files.
fn bootstrap(layout: &Layout) -> Result<InitCommand, Missing> {
    // One statement a line: the bootstrap reader of MySQL 5.5 and 5.6 takes a line for a statement.
    // Without the two variables MariaDB ≥ 10.4 lets root in over `unix_socket` only, and makes
    // anonymous accounts.
    const PROLOGUE: &str = "create database if not exists mysql;\nuse mysql;\n\
        set @auth_root_socket=NULL;\nset @skip_auth_anonymous=1;\n";
    let installation = &layout.installation;
    let tables = installation.scripts.first().ok_or_else(|| Missing {
        what: format!(
            "the SQL of the system tables ({})",
            TREE.scripts[..2].join(" or ")
        ),
        place: installation
            .share
            .clone()
            .unwrap_or_else(|| installation.base.join("share")),
    })?;
    let mut input = vec![
        Input::Text(PROLOGUE.to_owned()),
        Input::File(tables.clone()),
    ];
    input.extend(
        installation
            .scripts
            .iter()
            .skip(1)
            .cloned()
            .map(Input::File),
    );
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

/// Listings that every version has.
pub(super) const CAPTURES: [CaptureQuery; 3] = [
    CaptureQuery {
        name: "variables",
        sql: "SHOW GLOBAL VARIABLES",
    },
    CaptureQuery {
        name: "status",
        sql: "SHOW GLOBAL STATUS",
    },
    CaptureQuery {
        name: "innodb_status",
        sql: "SHOW ENGINE INNODB STATUS",
    },
];

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
    if plain {
        escaped
    } else {
        format!("\"{}\"", escaped.replace('"', "\\\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_tls_off_is_known() {
        let off = |name: &str, value: Option<&str>| {
            turns_tls_off(&Setting {
                name: name.to_owned(),
                value: value.map(str::to_owned),
            })
        };
        assert!(off("skip-ssl", None) && off("loose_skip_ssl", Some("1")));
        assert!(off("ssl", Some("OFF")) && off("tls_version", Some("")));
        assert!(!off("skip_ssl", Some("0")) && !off("ssl", None) && !off("ssl", Some("1")));
        assert!(!off("tls_version", Some("TLSv1.3")) && !off("ssl_cipher", Some("")));
    }

    #[test]
    fn objections_of_every_generation_are_recognised() {
        let told = |line: &str| objection(line).map(|found| (found.option, found.problem));
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
            (
                "0 [Warning] /b/mysqld: unknown variable 'loose_nothing=1'",
                None,
            ),
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
        assert_eq!(listed(answer), ["big-tables", "bind-address"]);
        assert!(listed("nothing").is_empty());
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

//! What MySQL and MariaDB share: the option file, the bootstrap of system tables, the listings.

use std::fmt::Write;
use std::path::Path;

use model::{Build, Setting, Version};

use super::{
    CaptureQuery, Init, InitCommand, Input, Layout, Missing, SettingError, Tree, check_setting,
};

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
    "loose_mysqlx",
    "mysqlx",
];

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

/// The option file: `engine_settings`, then the config's own, then what isolation demands. A later
/// line wins, so a config can still change what an engine asks for.
pub(super) fn render(
    build: &Build,
    engine_settings: &[(&str, &str)],
    settings: &[Setting],
    isolation: &[(String, Option<String>)],
) -> Result<String, SettingError> {
    let mut text = format!(
        "# Written by backslide for {}; made anew with each instance.\n[mysqld]\n",
        build.id()
    );
    for (name, value) in engine_settings {
        push(&mut text, name, Some(value));
    }
    for setting in settings {
        check_setting(setting, RESERVED)?;
        push(&mut text, &setting.name, setting.value.as_deref());
    }
    text.push_str("# Isolation.\n");
    for (name, value) in isolation {
        push(&mut text, name, value.as_deref());
    }
    Ok(text)
}

/// What keeps a server apart from the host and from other servers.
pub(super) fn isolation(layout: &Layout) -> Vec<(String, Option<String>)> {
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
    // Some builds have a directory of the host compiled in and abort when it is absent.
    line("secure-file-priv", Some(String::new()));
    line("skip-networking", None);
    line("socket", path(&layout.socket));
    line("pid-file", path(&layout.directory.join("server.pid")));
    lines
}

/// No other option file is read: the first argument, which must be the first, says so.
pub(super) fn only_our_file(layout: &Layout) -> String {
    format!("--defaults-file={}", layout.config().display())
}

/// System tables from the server's own SQL, fed to it in bootstrap mode: the way of every MariaDB and of
/// MySQL before 5.7. The installation scripts around it need Perl or a shell and read the host's files.
pub(super) fn bootstrap(layout: &Layout) -> Result<Init, Missing> {
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
    Ok(Init {
        directories: vec![layout.data().join("mysql")],
        commands: vec![InitCommand {
            program: installation.program.clone(),
            arguments: std::iter::once(only_our_file(layout))
                .chain(arguments.map(str::to_owned))
                .collect(),
            input,
        }],
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
    fn values_survive_the_reader_of_option_files() {
        assert_eq!(quoted("a b"), "a b");
        assert_eq!(quoted(""), "");
        assert_eq!(quoted("/x #1/y"), "\"/x #1/y\"");
        assert_eq!(quoted(" x"), "\" x\"");
        assert_eq!(quoted("a\"b\\c"), "\"a\\\"b\\\\c\"");
    }
}

//! The text of the option file of MySQL's family.

use std::fmt::Write;
use std::path::Path;

use model::{Build, Setting, System};

use super::family::{Layout, is_named};
use crate::socket::ADDRESS;

/// Is it one of the ways to switch TLS off in a config?
pub(super) fn turns_tls_off(setting: &Setting) -> bool {
    let value = setting.value.as_deref();
    let is_off = |value: &str| matches!(value.to_lowercase().as_str(), "0" | "off" | "false");
    if is_named(&setting.name, &["skip_ssl", "disable_ssl"]) {
        return !value.is_some_and(is_off);
    }
    is_named(&setting.name, &["ssl"]) && value.is_some_and(is_off)
        || is_named(&setting.name, &["tls_version"]) && value == Some("")
}

pub(super) fn push_tls(text: &mut String, layout: &Layout) {
    text.push_str("# The plan's `tls = true`.\n");
    for (name, path) in [("ssl-cert", layout.certificate()), ("ssl-key", layout.key())] {
        push(text, name, Some(&path.display().to_string()));
    }
}

/// The option file of the initialisation: the same but for the engine, whose plugin need not be there
/// yet and which holds no system table. Settings of the engine are then unknown, which `loose` permits.
pub(super) fn init_config(system: &System, layout: &Layout) -> String {
    const OF_ENGINES: [&str; 2] = ["rocksdb", "tokudb"];
    let mut text = head(&system.build);
    for setting in &system.config.settings {
        let name = &setting.name;
        let of_engine = OF_ENGINES.iter().any(|engine| name.starts_with(engine));
        let name = if of_engine { &format!("loose_{name}") } else { name };
        push(&mut text, name, setting.value.as_deref());
    }
    push_isolation(&mut text, &system.build, &layout.without_tcp());
    text
}

pub(super) fn head(build: &Build) -> String {
    let section = &build.dbms.product().server.section;
    format!(
        "# Written by backslide for {}; made anew with each instance.\n[{section}]\n",
        build.id()
    )
}

pub(super) fn push_isolation(text: &mut String, build: &Build, layout: &Layout) {
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

pub(super) fn push(text: &mut String, name: &str, value: Option<&str>) {
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
    use super::*;

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

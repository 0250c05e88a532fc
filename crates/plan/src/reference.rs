//! The keys of a plan as people look them up: `plan --keys` and the tables in `docs/`.

use std::sync::LazyLock;

use crate::keys::Key;
use crate::sql::{options, pace};
use crate::{connection, course, cpus, file, insert, lua, tpcc};

/// What the rows do not say of their keys, by table and key.
static TEXTS: LazyLock<toml::Table> =
    LazyLock::new(|| include_str!("keys.toml").parse().unwrap_or_default());

#[derive(Clone, Debug)]
pub struct KeyTable {
    pub name: &'static str,
    pub keys: Vec<KeyDoc>,
}

/// A key, for people: Markdown.
#[derive(Clone, Debug)]
pub struct KeyDoc {
    pub key: &'static str,
    pub takes: String,
    pub default: String,
    pub meaning: &'static str,
}

pub fn key_tables() -> Vec<KeyTable> {
    let queue = || docs("queue", pace::QUEUE_KEYS);
    let of_tpcc = [docs("tpcc", tpcc::KEYS), docs("tpcc", tpcc::PACE_KEYS), queue()];
    let tables = [
        ("plan", [docs("plan", file::KEYS), docs("plan", course::KEYS)].concat()),
        ("quarantine", docs("quarantine", course::LIMIT_KEYS)),
        ("system", docs("system", file::SYSTEM_KEYS)),
        ("cpus", docs("cpus", cpus::KEYS)),
        ("connection", docs("connection", connection::KEYS)),
        ("insert", docs("insert", insert::KEYS)),
        ("sql", [docs("sql", options::KEYS), queue()].concat()),
        ("ramp", docs("ramp", pace::RAMP_KEYS)),
        ("load", docs("load", options::LOAD_KEYS)),
        ("errors", docs("errors", options::ERROR_KEYS)),
        ("tpcc", of_tpcc.concat()),
        ("lua", [docs("lua", lua::KEYS), queue()].concat()),
    ];
    tables.map(|(name, keys)| KeyTable { name, keys }).into()
}

fn docs<T>(table: &str, keys: &[Key<T>]) -> Vec<KeyDoc> {
    let docs = keys.iter().map(|Key(key, takes)| {
        let text = |of| text(table, key, of);
        KeyDoc {
            key,
            takes: takes.shown().unwrap_or_else(|| text("takes").to_owned()),
            default: default_shown(text("default")),
            meaning: text("meaning"),
        }
    });
    docs.collect()
}

pub(crate) fn text(table: &str, key: &str, of: &str) -> &'static str {
    let text = TEXTS.get(table).and_then(|table| table.get(key)?.get(of)?.as_str());
    text.unwrap_or_default()
}

/// Values as code, except numbers; words as they are.
fn default_shown(default: &str) -> String {
    if default.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') {
        default.replace('_', ",")
    } else if default.starts_with(['"', '[']) || ["true", "false"].contains(&default) {
        format!("`{default}`")
    } else {
        default.to_owned()
    }
}

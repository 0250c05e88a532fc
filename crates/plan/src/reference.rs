//! The keys of a plan as people look them up: `plan --keys` and the tables in `docs/`.

use crate::keys::Key;
use crate::{connection, course, cpus, file, insert, sql, tpcc};

#[derive(Clone, Debug)]
pub struct KeyTable {
    /// `[[system]]`.
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

/// Every key that a plan may have, by table.
pub fn key_tables() -> Vec<KeyTable> {
    vec![
        table("plan", [docs(&file::KEYS), docs(&course::KEYS)].concat()),
        table("quarantine", docs(&course::LIMIT_KEYS)),
        table("system", docs(&file::SYSTEM_KEYS)),
        table("cpus", docs(&cpus::KEYS)),
        table("connection", docs(&connection::KEYS)),
        table("insert", docs(&insert::KEYS)),
        table("sql", [docs(&sql::options::KEYS), docs(&sql::pace::QUEUE_KEYS)].concat()),
        table("ramp", docs(&sql::pace::RAMP_KEYS)),
        table("load", docs(&sql::options::LOAD_KEYS)),
        table("errors", docs(&sql::rules::KEYS)),
        table(
            "tpcc",
            [docs(&tpcc::KEYS), docs(&tpcc::PACE_KEYS), docs(&sql::pace::QUEUE_KEYS)].concat(),
        ),
    ]
}

const fn table(name: &'static str, keys: Vec<KeyDoc>) -> KeyTable {
    KeyTable { name, keys }
}

fn docs<T>(keys: &[Key<T>]) -> Vec<KeyDoc> {
    let docs = keys.iter().map(|key| KeyDoc {
        key: key.name,
        takes: key.takes.shown(),
        default: default_shown(key.default),
        meaning: key.meaning,
    });
    docs.collect()
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

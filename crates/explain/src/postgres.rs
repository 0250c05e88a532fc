//! The conditions of PostgreSQL.

use model::Dialect;

use crate::stand::{Durability, Said, character_set, collation, is_on};
use crate::{Condition, Facts};

/// What costs something in each statement or IO where it is on.
const SWITCHES: [&str; 4] = [
    "track_io_timing",
    "track_wal_io_timing",
    "track_commit_timestamp",
    "log_duration",
];
/// Extensions that see every statement.
const WATCHERS: [&str; 2] = ["pg_stat_statements", "auto_explain"];

pub(crate) fn said(facts: &Facts) -> Vec<Said> {
    let known = [
        durability(facts).map(Durability::said),
        torn_pages(facts),
        facts.value("wal_level").map(|level| {
            let text = format!("write-ahead log of level {level}");
            Said::within(Dialect::Postgres, Condition::BinaryLog, text)
        }),
        facts
            .value("default_transaction_isolation")
            .map(|level| Said::common(Condition::Isolation, level.to_ascii_uppercase())),
        facts
            .value("server_encoding")
            .map(|name| Said::common(Condition::CharacterSet, character_set(name))),
        // From 16 on the collation is a matter of each database.
        facts.value("lc_collate").map(collation),
        instrumentation(facts),
    ];
    known.into_iter().flatten().collect()
}

pub(crate) fn durability(facts: &Facts) -> Option<Durability> {
    let waits = facts.value("synchronous_commit")?;
    let fsync = facts.value("fsync")?;
    Some(match (waits, is_on(fsync)) {
        ("off" | "false" | "no" | "0", _) => Durability::Nothing,
        (_, true) => Durability::Machine,
        (_, false) => Durability::Server,
    })
}

fn torn_pages(facts: &Facts) -> Option<Said> {
    let text = if is_on(facts.value("full_page_writes")?) {
        "protected"
    } else {
        "not protected"
    };
    Some(Said::common(Condition::TornPages, text))
}

fn instrumentation(facts: &Facts) -> Option<Said> {
    facts.value("track_io_timing")?;
    let switches = SWITCHES
        .iter()
        .filter(|name| facts.value(name).is_some_and(is_on));
    let libraries = facts.value("shared_preload_libraries").unwrap_or_default();
    let watchers = WATCHERS.iter().filter(|name| libraries.contains(**name));
    let functions = facts.value("track_functions").filter(|v| *v != "none");
    let functions = functions.map(|_| "track_functions");
    let on: Vec<&str> = switches.chain(watchers).copied().chain(functions).collect();
    let text = if on.is_empty() {
        "counters only".to_owned()
    } else {
        format!("counters, {}", on.join(", "))
    };
    Some(Said::within(
        Dialect::Postgres,
        Condition::Instrumentation,
        text,
    ))
}

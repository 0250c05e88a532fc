//! The conditions of MySQL and MariaDB.

use model::{Dialect, Engine};

use crate::stand::{Durability, Said, character_set, collation, is_on};
use crate::{Condition, Facts};

pub(crate) fn said(facts: &Facts) -> Vec<Said> {
    let known = [
        durability(facts).map(Durability::said),
        torn_pages(facts),
        binary_log(facts),
        isolation(facts),
        facts.value("character_set_server").map(character_set_of),
        facts.value("collation_server").map(collation),
        instrumentation(facts),
    ];
    known.into_iter().flatten().collect()
}

fn has_binary_log(facts: &Facts) -> bool {
    facts.value("log_bin").is_some_and(is_on)
}

/// The binary log decides with the engine: what is not in it is rolled back after a crash.
pub(crate) fn durability(facts: &Facts) -> Option<Durability> {
    let (flush, method) = match facts.engine {
        Engine::Myrocks => ("rocksdb_flush_log_at_trx_commit", ""),
        Engine::Innodb | Engine::Tokudb | Engine::Heap | Engine::Btree | Engine::Other => {
            ("innodb_flush_log_at_trx_commit", "innodb_flush_method")
        }
    };
    let never_syncs = facts
        .value(method)
        .is_some_and(|method| method.eq_ignore_ascii_case("nosync"));
    let synced = !has_binary_log(facts) || facts.value("sync_binlog") == Some("1");
    Some(match facts.value(flush)? {
        "0" => Durability::Nothing,
        // 3 of MariaDB syncs once more than 1.
        "1" | "3" if synced && !never_syncs => Durability::Machine,
        _ => Durability::Server,
    })
}

fn torn_pages(facts: &Facts) -> Option<Said> {
    let said = |text| Some(Said::common(Condition::TornPages, text));
    if facts.engine == Engine::Myrocks {
        // Pages are written once and never changed.
        return said("protected");
    }
    let value = facts.value("innodb_doublewrite")?;
    match value.to_ascii_lowercase().as_str() {
        "fast" => said("protected, without a sync of its own"),
        "detect_only" => said("not protected, only noticed"),
        "detect_and_recover" => said("protected"),
        other if is_on(other) => said("protected"),
        _ => said("not protected"),
    }
}

fn binary_log(facts: &Facts) -> Option<Said> {
    let said = |text: String| Some(Said::within(Dialect::Mysql, Condition::BinaryLog, text));
    facts.value("log_bin")?;
    if !has_binary_log(facts) {
        return said("no binary log".to_owned());
    }
    let synced = match facts.value("sync_binlog") {
        Some("0") | None => "not synced".to_owned(),
        Some("1") => "synced at each commit".to_owned(),
        Some(commits) => format!("synced after {commits} commits"),
    };
    let format = facts.value("binlog_format").unwrap_or("ROW");
    let ids = if facts.value("gtid_mode").is_some_and(is_on) {
        ", with global transaction ids"
    } else {
        ""
    };
    said(format!("binary log of {format}, {synced}{ids}"))
}

fn isolation(facts: &Facts) -> Option<Said> {
    let level = facts
        .value("transaction_isolation")
        .or_else(|| facts.value("tx_isolation"))?;
    let level = level.to_ascii_uppercase().replace('-', " ");
    let is_snapshot = facts.value("innodb_snapshot_isolation").is_some_and(is_on)
        && facts.engine == Engine::Innodb
        && level == "REPEATABLE READ";
    let text = if is_snapshot {
        format!("{level}, writes checked against the snapshot")
    } else {
        level
    };
    Some(Said::common(Condition::Isolation, text))
}

fn character_set_of(name: &str) -> Said {
    // Its old name means the one of three bytes.
    let is_short = matches!(name.to_ascii_lowercase().as_str(), "utf8" | "utf8mb3");
    let name = if is_short {
        "UTF-8 of at most 3 bytes".to_owned()
    } else {
        character_set(name)
    };
    Said::common(Condition::CharacterSet, name)
}

fn instrumentation(facts: &Facts) -> Option<Said> {
    let schema = facts.value("performance_schema")?;
    let mut on = Vec::new();
    for (name, text) in [
        ("performance_schema", "performance schema"),
        ("general_log", "general log"),
        ("userstat", "user statistics"),
    ] {
        let value = if name == "performance_schema" {
            Some(schema)
        } else {
            facts.value(name)
        };
        if value.is_some_and(is_on) {
            on.push(text);
        }
    }
    let text = if on.is_empty() {
        "no performance schema".to_owned()
    } else {
        on.join(", ")
    };
    Some(Said::within(
        Dialect::Mysql,
        Condition::Instrumentation,
        text,
    ))
}

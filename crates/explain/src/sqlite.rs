//! The conditions of SQLite, where the server is the process of the client.

use crate::stand::{Durability, Said, character_set};
use crate::{Condition, Facts};

pub(crate) fn said(facts: &Facts) -> Vec<Said> {
    let known = [
        durability(facts).map(Durability::said),
        torn_pages(facts),
        // One writer at a time, and readers see one state of the database.
        Some(Said::common(Condition::Isolation, "SERIALIZABLE")),
        facts
            .value("encoding")
            .map(|name| Said::common(Condition::CharacterSet, character_set(name))),
        Some(crate::stand::collation("BINARY")),
    ];
    known.into_iter().flatten().collect()
}

/// Has the journal whole pages, so that a crash in the middle of a write is undone?
fn is_journaled(facts: &Facts) -> Option<bool> {
    let mode = facts.value("journal_mode")?.to_ascii_lowercase();
    Some(!matches!(mode.as_str(), "off" | "memory"))
}

pub(crate) fn durability(facts: &Facts) -> Option<Durability> {
    let is_wal = facts.value("journal_mode")?.eq_ignore_ascii_case("wal");
    let synchronous = facts.value("synchronous")?.to_ascii_lowercase();
    if !is_journaled(facts)? {
        return Some(Durability::Nothing);
    }
    Some(match synchronous.as_str() {
        "0" | "off" => Durability::Server,
        // With a write-ahead log it syncs at checkpoints only.
        "1" | "normal" if is_wal => Durability::Server,
        _ => Durability::Machine,
    })
}

fn torn_pages(facts: &Facts) -> Option<Said> {
    let text = if is_journaled(facts)? {
        "protected"
    } else {
        "not protected"
    };
    Some(Said::common(Condition::TornPages, text))
}

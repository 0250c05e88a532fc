//! Changes that may come from how a build was made: where its compiler is not that of the build before, for example.

use stats::{Change, History};

use crate::format;

/// `compiler gcc 4.4, then gcc 7.5`: what differs between the build at this place and the one before it; empty where
/// nothing does.
pub(super) fn differences(history: &History, at: usize) -> String {
    let Some(after) = history.builds.get(at) else { return String::new() };
    let Some(before) = at.checked_sub(1).and_then(|before| history.builds.get(before)) else {
        return String::new();
    };
    let differing = before.made.differences(&after.made);
    format::joined(differing.map(|(fact, old, new)| format!("{fact} {old}, then {new}")), "; ")
}

pub(super) fn is_made_otherwise(history: &History, change: &Change) -> bool {
    !differences(history, change.at).is_empty()
}

/// How many changes stand where the way of making builds changes, and nothing tells the version from that.
pub(super) fn sentence(history: &History) -> String {
    let changes = history.lines.iter().flat_map(|line| &line.changes);
    match changes.filter(|change| is_made_otherwise(history, change)).count() {
        0 => String::new(),
        count => format!(
            " {count} of these may come from the compiler, the allocator or the flags, which change at the same build."
        ),
    }
}

//! Changes that may come from how a build was made: where its compiler is not that of the build before, for example.

use stats::{Change, History};

use crate::format;

/// What differs between the build at this place and the one before it: the fact, its old value and its new one.
fn differing(history: &History, at: usize) -> impl Iterator<Item = (&'static str, &str, &str)> {
    let before = at.checked_sub(1).and_then(|before| history.builds.get(before));
    let both = before.zip(history.builds.get(at));
    both.into_iter().flat_map(|(before, after)| before.made.differences(&after.made))
}

/// `compiler gcc 4.4, then gcc 7.5`; empty where nothing differs.
pub(super) fn differences(history: &History, at: usize) -> String {
    let said = |(fact, old, new)| format!("{fact} {old}, then {new}");
    format::joined(differing(history, at).map(said), "; ")
}

pub(super) fn is_made_otherwise(history: &History, change: &Change) -> bool {
    differing(history, change.at).next().is_some()
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

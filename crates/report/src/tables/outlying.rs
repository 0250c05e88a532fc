//! Rounds that pull a ratio away from what the others say: marked, never dropped.

use model::Comparison;

use crate::Cell;

/// What stands beside a verdict that has such rounds, and beside each of them.
const SIGN: &str = "*";

/// What these rounds do.
const PULL: &str = "Such rounds pull the ratio away from Hodges and Lehmann's estimate by more than its standard error; none is dropped.";

/// Verdicts whose rounds a note tells; what is more is counted.
const MOST: usize = 20;

/// The rounds of a comparison.
pub(super) fn rounds(comparison: &Comparison) -> &[u32] {
    let evidence = comparison.evidence.as_ref();
    let outlying = evidence.map(|evidence| evidence.outlying.as_slice());
    outlying.unwrap_or_default()
}

/// The cell, with the sign where it is of such a round.
pub(super) fn signed(cell: Cell, is_outlying: bool) -> Cell {
    let tone = cell.tone;
    if is_outlying { cell.marked(tone, SIGN) } else { cell }
}

/// `rounds 3, 7 of l.i0`, where the cells that name a row say `l.i0`; `None` without such a round.
pub(super) fn told(comparison: &Comparison, names: &[Cell]) -> Option<String> {
    let rounds = rounds(comparison);
    let word = match rounds {
        [] => return None,
        [_] => "round",
        [_, _, ..] => "rounds",
    };
    let numbers: Vec<String> = rounds.iter().map(u32::to_string).collect();
    let names: Vec<&str> = names.iter().map(|cell| cell.text.as_str()).collect();
    Some(format!("{word} {} of {}", numbers.join(", "), names.join(", ")))
}

/// The line below a table of verdicts that says which rounds; `None` where there are none. In a table of one system
/// no row names it, so that the line does: those of two systems are never the same.
pub(super) fn note(of_one: Option<&str>, mut told: Vec<String>) -> Option<String> {
    let more = told.len().saturating_sub(MOST);
    told.truncate(MOST);
    if more > 0 {
        told.push(format!("those of {more} more verdicts"));
    }
    let system = of_one.map_or_else(String::new, |system| format!(" in {system}"));
    (!told.is_empty()).then(|| format!("{SIGN} Outlying{system}: {}. {PULL}", told.join("; ")))
}

/// The line below a table in which each such round has the sign.
pub(super) fn note_of_rounds() -> String {
    format!("{SIGN} Outlying. {PULL}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_note_is_counted() {
        let verdicts = |count: usize| (1..=count).map(|n| format!("round 1 of s{n}")).collect();
        assert_eq!(note(None, verdicts(0)), None);
        let most = note(None, verdicts(MOST)).unwrap();
        assert!(most.starts_with("* Outlying: round 1 of s1; round 1 of s2; "));
        assert!(most.contains("; round 1 of s20. Such rounds"), "{most}");
        let more = note(None, verdicts(MOST + 3)).unwrap();
        assert!(more.contains("; round 1 of s20; those of 3 more verdicts. Such rounds"), "{more}");
    }
}

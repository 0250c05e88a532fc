//! Two single runs, side by side.

use super::Measured;

/// The colour bands of the Small Datum blog's tables of relative throughput: red at 0.95 and below, grey
/// up to 1.05, green from there; read cell by cell from one run each. A gate of 5 % in CI is the same rule.
const RED: f64 = 0.95;

pub(super) fn finds_regression(test: &[Measured]) -> bool {
    let mut runs = test.iter().filter_map(Measured::first);
    runs.any(|(base, candidate)| candidate / base <= RED)
}

#[cfg(test)]
mod tests {
    use super::super::once;
    use super::*;

    #[test]
    fn any_red_cell_counts_and_the_limit_is_red() {
        let red = |candidate| finds_regression(&once(&[(1, 100.0, 100.0), (8, 100.0, candidate)]));
        assert!(!red(95.1) && red(95.0) && red(60.0) && !red(140.0));
    }
}

//! The number of clients at which the rates differ by most decides.

use super::Measured;

/// MariaDB TAF 2.5, `create_backend.sql`, procedure `do_compare`: of the means over the iterations the
/// thread count with the largest absolute difference is taken, and its change in per cent is held against
/// fixed thresholds: WARNING from 3 %, REGRESSED from 5 % (`pct_warning`, `pct_fail`; the defaults).
/// No spread is looked at. Here there is one iteration.
const FAIL_PERCENT: f64 = 5.0;

pub(super) fn finds_regression(test: &[Measured]) -> bool {
    let difference = |(base, candidate): &(f64, f64)| (candidate - base).abs();
    let largest = test
        .iter()
        .filter_map(Measured::first)
        .max_by(|a, b| difference(a).total_cmp(&difference(b)));
    largest.is_some_and(|(base, candidate)| (candidate - base) / base * 100.0 <= -FAIL_PERCENT)
}

#[cfg(test)]
mod tests {
    use super::super::once;
    use super::*;

    #[test]
    fn a_small_loss_at_many_clients_hides_a_large_one_at_one() {
        assert!(finds_regression(&once(&[(1, 1000.0, 600.0)])));
        let hidden = once(&[(1, 1_000.0, 600.0), (64, 70_000.0, 69_000.0)]);
        assert!(!finds_regression(&hidden));
        let seen = once(&[(1, 1_000.0, 1_000.0), (64, 70_000.0, 66_500.0)]);
        assert!(finds_regression(&seen));
    }

    #[test]
    fn a_gain_that_is_larger_hides_a_loss() {
        assert!(!finds_regression(&once(&[(1, 1000.0, 900.0), (2, 1000.0, 1200.0)])));
    }
}

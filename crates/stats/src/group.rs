//! The tests of one group in a few numbers, as the published summaries have them.

use model::Comparison;

use crate::levels::CONFIDENCE;
use crate::paired::Paired;
use crate::summary::{geometric_mean, max, mean, median, min};

/// The ratios of a group of tests of one candidate to the base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupSummary {
    /// Tests that have a ratio.
    pub tests: u32,
    pub min: f64,
    pub max: f64,
    /// The arithmetic mean: the average of the published tables.
    pub average: f64,
    pub median: f64,
    /// The geometric mean, the only one that does not depend on which side is the base.
    pub geometric_mean: f64,
    /// The 95 % interval of the geometric mean, from the rounds that are complete for all of these tests;
    /// `None` with fewer than two.
    pub ends: Option<(f64, f64)>,
}

/// Summarises the comparisons of one candidate in the tests of one group; those without a ratio are
/// left out, `None` where none has one.
///
/// The interval comes from the rounds, as every other: the mean log ratio over the tests is one number
/// a round, mean ± t(0.975, n−1)·s/√n. It tells how well this mean of these tests is known, not what
/// other tests would show.
pub fn summarise(comparisons: &[&Comparison]) -> Option<GroupSummary> {
    let with_ratio = comparisons
        .iter()
        .filter_map(|c| Some((*c, c.ratio.filter(|r| r.is_finite() && *r > 0.0)?)));
    let (used, ratios): (Vec<&Comparison>, Vec<f64>) = with_ratio.unzip();
    let by_rounds = Paired::of(&means_of_rounds(&used));
    Some(GroupSummary {
        tests: ratios.len() as u32,
        min: min(&ratios)?,
        max: max(&ratios)?,
        average: mean(&ratios)?,
        median: median(&ratios)?,
        geometric_mean: match by_rounds {
            Some(rounds) => rounds.ratio(),
            None => geometric_mean(&ratios)?,
        },
        ends: by_rounds
            .and_then(|rounds| rounds.interval(CONFIDENCE))
            .map(|(low, high)| (low.exp(), high.exp())),
    })
}

/// For each round that is complete in all of them, the mean of their log ratios.
fn means_of_rounds(comparisons: &[&Comparison]) -> Vec<f64> {
    let Some(first) = comparisons.first() else {
        return Vec::new();
    };
    let of_round = |round: u32| -> Option<f64> {
        let logs = comparisons.iter().map(|c| {
            let (_, ratio) = c.pairs.iter().find(|(r, _)| *r == round)?;
            Some(ratio.ln()).filter(|log| log.is_finite())
        });
        mean(&logs.collect::<Option<Vec<f64>>>()?)
    };
    let rounds = first.pairs.iter();
    rounds.filter_map(|(round, _)| of_round(*round)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::run_of;
    use crate::{Options, compare};

    /// One comparison: its ratio in each round.
    fn compared(rounds: &[f64]) -> Comparison {
        let rounds: Vec<[f64; 2]> = rounds.iter().map(|r| [100.0, 100.0 * r]).collect();
        let data = run_of(&["a", "b"], "rate", &rounds);
        compare(&data, &Options::default()).unwrap().remove(0)
    }

    #[test]
    fn worked_by_hand() {
        let tests = [
            compared(&[0.5, 0.5, 0.5]),
            compared(&[1.0, 1.0, 1.0]),
            compared(&[2.0, 2.0, 2.0]),
            compared(&[4.0, 4.0, 4.0]),
        ];
        let summary = summarise(&tests.each_ref()).unwrap();
        assert_eq!(summary.tests, 4);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(summary.min, 0.5);
        close(summary.max, 4.0);
        close(summary.average, 7.5 / 4.0);
        close(summary.median, 1.5);
        close(summary.geometric_mean, 2.0_f64.sqrt());
        let (low, high) = summary.ends.unwrap();
        assert!(low < 2.0_f64.sqrt() && 2.0_f64.sqrt() < high && high - low < 1e-4);
    }

    #[test]
    fn what_the_tests_of_a_round_share_is_in_the_interval_and_what_they_do_not_cancels() {
        // Each test swings by 20 %, but against the other.
        let tests = [compared(&[0.9, 1.1, 0.9]), compared(&[1.1, 0.9, 1.1])];
        let (low, high) = summarise(&tests.each_ref()).unwrap().ends.unwrap();
        assert!(high / low < 1.0001, "{low} {high}");
        let tests = [compared(&[0.9, 1.1, 0.9]), compared(&[0.9, 1.1, 0.9])];
        let (low, high) = summarise(&tests.each_ref()).unwrap().ends.unwrap();
        assert!(high / low > 1.5, "{low} {high}");
    }

    #[test]
    fn rounds_that_miss_a_test_are_in_no_interval() {
        let mut partly = compared(&[1.0, 1.0, 1.0]);
        partly.pairs.remove(1);
        let whole = compared(&[1.0, 9.0, 1.0]);
        let summary = summarise(&[&whole, &partly]).unwrap();
        assert!((summary.geometric_mean - 1.0).abs() < 1e-9);
        assert_eq!(summarise(&[]), None);
        let mut none = compared(&[1.0]);
        none.ratio = None;
        assert_eq!(summarise(&[&none]), None);
        assert_eq!(summarise(&[&none, &whole]).unwrap().tests, 1);
        assert_eq!(summarise(&[&compared(&[0.8])]).unwrap().ends, None);
    }
}

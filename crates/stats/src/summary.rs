//! Summaries, as reports print them: of slices, of the verdicts on a control. Those of slices are `None` for an
//! empty slice and where a value is not finite, so that no summary hides a broken one.

use model::{Comparison, Reason, Verdict};

/// A normal distribution's standard deviation over its median absolute deviation.
pub(crate) const NORMAL_MAD: f64 = 1.4826;

/// The middle value; of an even number, the mean of the two middle ones.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = finite(values)?.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(sorted.len() / 2 - 1)?;
    Some(f64::midpoint(lower, upper))
}

pub fn mean(values: &[f64]) -> Option<f64> {
    let values = finite(values)?;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Some(mean).filter(|m| m.is_finite())
}

/// The n-th root of the product; `None` too where a value is not positive.
///
/// The only mean of ratios that does not depend on which side is the base: Fleming & Wallace
/// 1986, *How not to lie with statistics*, CACM 29(3).
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let values = finite(values)?;
    values.iter().all(|v| *v > 0.0).then(|| {
        let logs: f64 = values.iter().map(|v| v.ln()).sum();
        (logs / values.len() as f64).exp()
    })
}

pub fn min(values: &[f64]) -> Option<f64> {
    finite(values)?.iter().copied().reduce(f64::min)
}

pub fn max(values: &[f64]) -> Option<f64> {
    finite(values)?.iter().copied().reduce(f64::max)
}

fn finite(values: &[f64]) -> Option<&[f64]> {
    (!values.is_empty() && values.iter().all(|v| v.is_finite())).then_some(values)
}

/// Verdicts of a second copy of the base. Every change that it shows is a false alarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControlSummary {
    /// Cells that were judged: regressed, improved, unchanged, or too noisy to say.
    pub cells: u32,
    pub regressed: u32,
    pub improved: u32,
}

impl ControlSummary {
    pub const fn changed(&self) -> u32 {
        self.regressed + self.improved
    }

    /// The share of false alarms, either way; `None` when nothing was judged.
    pub fn false_alarms(&self) -> Option<f64> {
        (self.cells > 0).then(|| f64::from(self.changed()) / f64::from(self.cells))
    }
}

/// Could a cell of the control have been called different? One that is inconclusive by noise was looked at and not
/// called, which is what a control shall show. With too few rounds nothing is ever called, and what is incomparable
/// or better in neither direction was not looked at: none of these says anything of false alarms. What fell to zero
/// is incomparable by its word only.
pub const fn is_judged(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Regressed | Verdict::Improved | Verdict::Unchanged => true,
        Verdict::Inconclusive(reason) => {
            matches!(reason, Reason::TooNoisy { .. } | Reason::FewSlices | Reason::Drifting { .. })
        }
        Verdict::Incomparable(_) => verdict.is_regression(),
    }
}

/// Counts the verdicts of the system `control` that [were judged](is_judged).
pub fn rates_of_control(comparisons: &[Comparison], control: &str) -> ControlSummary {
    let mut summary = ControlSummary::default();
    for comparison in comparisons.iter().filter(|c| c.system == control) {
        let verdict = &comparison.verdict;
        summary.cells += u32::from(is_judged(verdict));
        summary.regressed += u32::from(verdict.is_regression());
        summary.improved += u32::from(*verdict == Verdict::Improved);
    }
    summary
}

#[cfg(test)]
mod tests {
    use model::{Host, HostRounds};
    use proptest::prelude::*;
    use testkit::fixtures::run_of;

    use super::*;
    use crate::group::summarise;
    use crate::{Options, compare};

    #[test]
    fn worked_by_hand() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert!((geometric_mean(&[1.0, 8.0, 27.0]).unwrap() - 6.0).abs() < 1e-12);
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(min(&[2.0, -1.0, 3.0]), Some(-1.0));
        assert_eq!(max(&[2.0, -1.0, 3.0]), Some(3.0));
    }

    #[test]
    fn nothing_and_nonsense_have_no_summary() {
        for summary in [median, mean, geometric_mean, min, max] {
            assert_eq!(summary(&[]), None);
            assert_eq!(summary(&[1.0, f64::NAN]), None);
            assert_eq!(summary(&[1.0, f64::INFINITY]), None);
        }
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(geometric_mean(&[1.0, -1.0]), None);
    }

    proptest! {
        #[test]
        fn every_mean_lies_between_the_extremes(values in prop::collection::vec(1e-3..1e6f64, 1..20)) {
            let (low, high) = (min(&values).unwrap(), max(&values).unwrap());
            for mean in [median(&values).unwrap(), mean(&values).unwrap(), geometric_mean(&values).unwrap()] {
                prop_assert!(low * (1.0 - 1e-12) <= mean && mean <= high * (1.0 + 1e-12));
            }
        }
    }

    #[test]
    fn only_judged_cells_of_the_control_count() {
        let quiet = [100.0, 80.0, 100.0];
        let alarm = [100.0, 80.0, 120.0];
        let data = run_of(&["base", "other", "control"], "rate", &[quiet, quiet, alarm]);
        let found = compare(&data, &Options::default()).unwrap();
        let few = rates_of_control(&found, "control");
        assert_eq!(few.cells, 1);

        let data = run_of(&["base", "other", "control"], "rate", &[alarm; 3]);
        let found = compare(&data, &Options::default()).unwrap();
        let alarmed = rates_of_control(&found, "control");
        let expected = ControlSummary { cells: 1, regressed: 0, improved: 1 };
        assert_eq!(alarmed, expected);
        assert_eq!(alarmed.false_alarms(), Some(1.0));

        let data = run_of(&["base", "control"], "rate", &[[1.0, 1.0], [1.0, 1.0]]);
        let found = compare(&data, &Options::default()).unwrap();
        let none = rates_of_control(&found, "control");
        assert_eq!((none.cells, none.false_alarms()), (0, None));

        let data = run_of(&["base", "control"], "rate", &[[1.0, 0.0]; 3]);
        let found = compare(&data, &Options::default()).unwrap();
        let fallen = rates_of_control(&found, "control");
        assert_eq!((fallen.cells, fallen.regressed), (1, 1));
    }

    fn compared(rounds: &[f64]) -> Comparison {
        let rounds: Vec<[f64; 2]> = rounds.iter().map(|r| [100.0, 100.0 * r]).collect();
        let data = run_of(&["a", "b"], "rate", &rounds);
        compare(&data, &Options::default()).unwrap().remove(0)
    }

    #[test]
    fn a_group_worked_by_hand() {
        let tests = [
            compared(&[0.5, 0.5, 0.5]),
            compared(&[1.0, 1.0, 1.0]),
            compared(&[2.0, 2.0, 2.0]),
            compared(&[4.0, 4.0, 4.0]),
        ];
        let summary = summarise(&tests.each_ref(), &[]).unwrap();
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
        let (low, high) = summarise(&tests.each_ref(), &[]).unwrap().ends.unwrap();
        assert!(high / low < 1.0001, "{low} {high}");
        let tests = [compared(&[0.9, 1.1, 0.9]), compared(&[0.9, 1.1, 0.9])];
        let (low, high) = summarise(&tests.each_ref(), &[]).unwrap().ends.unwrap();
        assert!(high / low > 1.5, "{low} {high}");
    }

    #[test]
    fn three_hosts_are_the_replicates_of_a_group() {
        // Each host favours a system, and its rounds agree.
        let rounds = [0.8, 0.8, 1.0, 1.0, 1.2, 1.2];
        let tests = [compared(&rounds), compared(&rounds)];
        let host = |from: u32| HostRounds { host: Host::default(), rounds: vec![from, from + 1] };
        let hosts = [host(1), host(3), host(5)];
        let width = |hosts: &[HostRounds]| {
            let (low, high) = summarise(&tests.each_ref(), hosts).unwrap().ends.unwrap();
            (high / low).ln()
        };
        // t(0.975, 2) and t(0.975, 5). With the squares of three means, s²/n is a sixth of their sum; with those of six
        // rounds, which are twice as many, it is a fifteenth.
        let expected = 4.3027 / 2.5706 * (15.0_f64 / 6.0).sqrt();
        assert!((width(&hosts) / width(&[]) - expected).abs() < 1e-3);
    }

    #[test]
    fn rounds_that_miss_a_test_are_in_no_interval() {
        let mut partly = compared(&[1.0, 1.0, 1.0]);
        partly.pairs.remove(1);
        let whole = compared(&[1.0, 9.0, 1.0]);
        let summary = summarise(&[&whole, &partly], &[]).unwrap();
        assert!((summary.geometric_mean - 1.0).abs() < 1e-9);
        assert_eq!(summarise(&[], &[]), None);
        let mut none = compared(&[1.0]);
        none.ratio = None;
        assert_eq!(summarise(&[&none], &[]), None);
        assert_eq!(summarise(&[&none, &whole], &[]).unwrap().tests, 1);
        assert_eq!(summarise(&[&compared(&[0.8])], &[]).unwrap().ends, None);
    }
}

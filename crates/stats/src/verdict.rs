//! From evidence to a verdict.

use model::{Direction, Magnitude, Reason, Verdict};

use crate::drift::Drift;
use crate::estimate::Estimate;
use crate::levels::FEWEST_STARTS;
use crate::looks::Looks;
use crate::power::{Situation, further_rounds_by};
use crate::student::Quantiles;

/// The difference of two copies of one server after one start, and seldom after several: a fraction.
const START_EFFECT: f64 = 0.02;

/// A cell that a verdict is due for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    pub(crate) estimate: Estimate,
    /// The 95 % interval of the mean log ratio; `None` where it is wider than any ratio.
    pub(crate) interval: Option<(f64, f64)>,
    /// The mean log ratio of whole windows; that of the estimate but for slices, of which some may not count.
    pub(crate) whole: f64,
    /// How the log ratio drifts within the window; `None` where that is unknown or nothing is certain.
    pub(crate) drift: Option<Drift>,
    /// Does a higher value mean a better one?
    pub(crate) higher_is_better: bool,
    /// The practical margin, on the scale of logarithms.
    pub(crate) margin: f64,
    /// The p-value, among all looks.
    pub(crate) p: f64,
}

impl Evidence {
    /// Is the whole interval within the margin, or did nothing ever differ?
    fn is_within(&self) -> bool {
        let within = |(low, high): (f64, f64)| low >= -self.margin && high <= self.margin;
        self.interval.is_some_and(within) || self.estimate.is_equality()
    }
}

/// The evidence's conclusion, regardless of the better direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Decision {
    /// Certainly different, and by more than the margin.
    Changed,
    /// Certainly within the margin.
    Unchanged,
    Undecided,
    /// One of the first two, but not if the window had been longer.
    Drifting(Drift),
    /// One of the first two, but below the effect of another start of the servers.
    TooFewStarts,
}

/// Decides about a cell.
///
/// A change is called when it is certain (`q_value` ≤ `q_limit`) and its estimate lies beyond the
/// margin. "Unchanged" needs evidence of its own: the 95 % interval inside ±margin, which is two
/// one-sided tests at 2.5 % each (Schuirmann 1987, *A comparison of the two one-sided tests
/// procedure and the power approach*, J. Pharmacokin. Biopharm. 15(6)). Whole windows must be within it, too, so
/// that no stall hides behind slices that agree. Either is withheld where the ratio certainly drifts within the window, so much that the next
/// window would say something else. A margin of nothing is kept by equality only, such as the same
/// number of errors in every round.
pub(crate) fn decide(evidence: &Evidence, q_value: f64, q_limit: f64) -> Decision {
    let Evidence { estimate, margin, .. } = evidence;
    let size = estimate.paired.mean.abs();
    let few = estimate.paired.rounds < FEWEST_STARTS;
    let (decision, about) = if q_value <= q_limit && size > *margin {
        (Decision::Changed, size)
    } else if evidence.is_within() && evidence.whole.abs() <= *margin {
        (Decision::Unchanged, *margin)
    } else {
        return Decision::Undecided;
    };
    if few && about < log_margin(START_EFFECT) {
        Decision::TooFewStarts
    } else if let Some(drift) =
        evidence.drift.filter(|drift| drift.unsettles(estimate.paired.mean, *margin))
    {
        Decision::Drifting(drift)
    } else {
        decision
    }
}

/// How all cells of a comparison are judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule<'a> {
    /// The largest q-value that counts as certain.
    pub(crate) q_limit: f64,
    /// Is the run looked at after each round?
    pub(crate) looks: Option<Looks>,
    /// Quantiles that were asked for before.
    pub(crate) quantiles: &'a Quantiles,
}

/// The verdict of a cell.
pub(crate) fn judge(evidence: &Evidence, q_value: f64, rule: &Rule<'_>) -> Verdict {
    let paired = &evidence.estimate.paired;
    match decide(evidence, q_value, rule.q_limit) {
        Decision::Changed if (paired.mean > 0.0) == evidence.higher_is_better => Verdict::Improved,
        Decision::Changed => Verdict::Regressed,
        Decision::Unchanged => Verdict::Unchanged,
        Decision::TooFewStarts => {
            Verdict::Inconclusive(Reason::TooFewRounds { have: paired.rounds, need: FEWEST_STARTS })
        }
        Decision::Drifting(drift) => Verdict::Inconclusive(drift.reason(paired.mean)),
        Decision::Undecided if evidence.is_within() => Verdict::Inconclusive(Reason::FewSlices),
        Decision::Undecided if evidence.estimate.is_rounded => {
            Verdict::Inconclusive(Reason::TooCoarse)
        }
        Decision::Undecided => Verdict::Inconclusive(Reason::TooNoisy {
            more_rounds: more_rounds(evidence, q_value, rule),
        }),
    }
}

/// The adjustment asks `p ≤ q_limit·p/q` of this cell, as long as its rank among the others stays.
fn more_rounds(evidence: &Evidence, q_value: f64, rule: &Rule<'_>) -> Option<u32> {
    let share = if q_value > 0.0 { (evidence.p / q_value).min(1.0) } else { 1.0 };
    let estimate = &evidence.estimate;
    let situation = Situation {
        rounds: estimate.paired.rounds,
        mean: estimate.paired.mean,
        sd: estimate.sd,
        prior_df: estimate.prior_df,
        margin: evidence.margin,
        alpha: rule.q_limit * share,
        looks: rule.looks,
    };
    further_rounds_by(&situation, rule.quantiles)
}

/// The margin of a fraction on the scale of logarithms: 2 % is a factor of 1.02 up or down, so
/// that a change and its inverse are judged alike.
pub(crate) fn log_margin(fraction: f64) -> f64 {
    fraction.ln_1p()
}

/// How big a change is, whichever way it goes: 1 / 1.2 is as large as 1.2.
pub(crate) fn magnitude(mean: f64) -> Magnitude {
    let size = mean.abs();
    if size < log_margin(0.05) {
        Magnitude::Small
    } else if size < log_margin(0.15) {
        Magnitude::Medium
    } else {
        Magnitude::Large
    }
}

/// Is higher better? `None` where neither direction is.
pub(crate) const fn higher_is_better(direction: Direction) -> Option<bool> {
    match direction {
        Direction::Higher => Some(true),
        Direction::Lower => Some(false),
        Direction::Neither => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::LEVEL;
    use crate::paired::Paired;

    fn evidence(logs: &[f64], higher_is_better: bool) -> Evidence {
        let estimate = Estimate::of(Paired::of(logs).unwrap(), None).unwrap();
        Evidence {
            estimate,
            interval: estimate.interval(LEVEL / 2.0, &Quantiles::default()),
            whole: estimate.paired.mean,
            drift: None,
            higher_is_better,
            margin: log_margin(0.02),
            p: estimate.p_value(),
        }
    }

    fn judged(evidence: &Evidence, q_value: f64) -> Verdict {
        let rule = Rule { q_limit: 0.01, looks: None, quantiles: &Quantiles::default() };
        judge(evidence, q_value, &rule)
    }

    #[test]
    fn certain_and_big_enough_is_a_change_in_the_metrics_direction() {
        let down = [-0.050, -0.051, -0.049, -0.050];
        assert_eq!(judged(&evidence(&down, true), 0.005), Verdict::Regressed);
        assert_eq!(judged(&evidence(&down, false), 0.005), Verdict::Improved);
        // The limit itself counts.
        assert_eq!(judged(&evidence(&down, true), 0.01), Verdict::Regressed);
    }

    #[test]
    fn certain_and_small_is_unchanged() {
        let little = [0.010, 0.011, 0.009, 0.010];
        assert_eq!(judged(&evidence(&little, true), 0.0), Verdict::Unchanged);
    }

    #[test]
    fn what_is_within_by_slices_and_not_by_whole_windows_is_open() {
        let little = [0.001, 0.0, -0.001, 0.0];
        let stalls = Evidence { whole: -0.03, ..evidence(&little, true) };
        let open = Verdict::Inconclusive(Reason::FewSlices);
        assert_eq!(judged(&stalls, 1.0), open);
    }

    #[test]
    fn three_starts_say_nothing_about_less_than_another_start_may_change() {
        let narrow = |logs: &[f64]| Evidence { margin: log_margin(0.01), ..evidence(logs, false) };
        let too_few = Verdict::Inconclusive(Reason::TooFewRounds { have: 3, need: 4 });
        let (little, some) = ([0.001, 0.0, -0.001], [0.0150, 0.0151, 0.0149]);
        assert_eq!(judged(&narrow(&little), 1.0), too_few);
        assert_eq!(judged(&narrow(&some), 0.001), too_few);
        assert_eq!(judged(&narrow(&[0.030, 0.031, 0.029]), 0.001), Verdict::Regressed);
        assert_eq!(judged(&evidence(&little, false), 1.0), Verdict::Unchanged);
        let fourth = [0.001, 0.0, -0.001, 0.0];
        assert_eq!(judged(&narrow(&fourth), 1.0), Verdict::Unchanged);
    }

    #[test]
    fn big_and_uncertain_is_inconclusive_and_says_for_how_long() {
        // Mean 0.045, sd 0.0516, p = 0.18, so that a change needs p <= 0.01 * 0.18 / 0.2 = 0.009:
        // 23 rounds, for (t(0.9955, 22) + 1.28) * 0.0516 / sqrt(23) = 0.045 within 1 %.
        let noisy = [0.10, -0.02, 0.07, 0.03];
        assert_eq!(
            judged(&evidence(&noisy, true), 0.2),
            Verdict::Inconclusive(Reason::TooNoisy { more_rounds: Some(19) })
        );
    }

    #[test]
    fn a_margin_of_nothing_leaves_only_equality_unchanged() {
        let judged = |logs: &[f64], q| {
            let none = Evidence { margin: 0.0, ..evidence(logs, false) };
            judged(&none, q)
        };
        assert_eq!(judged(&[0.0; 4], 1.0), Verdict::Unchanged);
        assert_eq!(judged(&[0.1; 4], 0.0), Verdict::Regressed);
        assert!(matches!(
            judged(&[0.1, -0.1, 0.05, -0.05], 1.0),
            Verdict::Inconclusive(Reason::TooNoisy { more_rounds: None })
        ));
    }

    #[test]
    fn magnitude_is_the_same_there_and_back() {
        for (ratio, expected) in [
            (1.04_f64, Magnitude::Small),
            (1.06, Magnitude::Medium),
            (1.14, Magnitude::Medium),
            (1.16, Magnitude::Large),
        ] {
            assert_eq!(magnitude(ratio.ln()), expected);
            assert_eq!(magnitude((1.0 / ratio).ln()), expected);
        }
    }
}

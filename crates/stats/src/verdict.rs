//! From evidence to a verdict; ratios that drift while a step is measured.

use model::{Direction, Magnitude, Reason, Verdict};

use crate::looks::Looks;
use crate::paired::{Estimate, Paired, ratio_of};
use crate::power::{Situation, further_rounds};
use crate::student::{FEWEST_STARTS, LEVEL, Quantiles};

/// The difference of two copies of one server after one start, and seldom after several: a fraction.
pub(crate) const START_EFFECT: f64 = 0.02;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    pub(crate) estimate: Estimate,
    /// Complete rounds; the estimate counts hosts where there are many.
    pub(crate) rounds: u32,
    /// The 95 % interval of the mean log ratio; `None` where it is wider than any ratio.
    pub(crate) interval: Option<(f64, f64)>,
    /// The mean log ratio of whole windows; that of the estimate but for slices, of which some may not count.
    pub(crate) whole: f64,
    /// How the log ratio drifts within the window; `None` where that is unknown or nothing is certain.
    pub(crate) drift: Option<Drift>,
    pub(crate) higher_is_better: bool,
    /// The practical margin, on the scale of logarithms.
    pub(crate) margin: f64,
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
    Changed,
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
    let few = evidence.rounds < FEWEST_STARTS;
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

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule<'a> {
    pub(crate) q_limit: f64,
    pub(crate) looks: Option<Looks>,
    pub(crate) quantiles: &'a Quantiles,
}

pub(crate) fn judge(evidence: &Evidence, q_value: f64, rule: &Rule<'_>) -> Verdict {
    let paired = &evidence.estimate.paired;
    match decide(evidence, q_value, rule.q_limit) {
        Decision::Changed if (paired.mean > 0.0) == evidence.higher_is_better => Verdict::Improved,
        Decision::Changed => Verdict::Regressed,
        Decision::Unchanged => Verdict::Unchanged,
        Decision::TooFewStarts => Verdict::Inconclusive(Reason::TooFewRounds {
            have: evidence.rounds,
            need: FEWEST_STARTS,
        }),
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
        spread: estimate.spread,
        prior_df: estimate.prior_df,
        margin: evidence.margin,
        alpha: rule.q_limit * share,
        looks: rule.looks,
    };
    // Further hosts have as many rounds each as these.
    let of_each = evidence.rounds.div_ceil(estimate.paired.rounds);
    further_rounds(&situation, rule.quantiles).map(|more| more.saturating_mul(of_each))
}

/// On the scale of logarithms, 2 % is a factor of 1.02 up or down: a change and its inverse are judged alike.
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

pub(crate) const fn higher_is_better(direction: Direction) -> Option<bool> {
    match direction {
        Direction::Higher => Some(true),
        Direction::Lower => Some(false),
        Direction::Neither => None,
    }
}

/// The middles of the first and last third are two thirds of a window apart, those of two windows a whole one.
const TO_THE_NEXT: f64 = 1.5;

/// How the log ratio of two systems changes from the first to the last third of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Drift {
    change: f64,
}

impl Drift {
    /// From the drift of each round; `None` without a certain drift (paired t-test at 5 %).
    pub(crate) fn of(rounds: &[f64]) -> Option<Self> {
        let paired = Paired::of(rounds)?;
        (paired.p_value()? <= LEVEL).then_some(Self { change: paired.mean })
    }

    /// Would the next window, drifting on, change the verdict: does the log ratio come to another side of the margin?
    pub(crate) fn unsettles(self, now: f64, margin: f64) -> bool {
        let side = |log: f64| i32::from(log > margin) - i32::from(log < -margin);
        side(now) != side(now + TO_THE_NEXT * self.change)
    }

    /// The ratios of the first and the last third, for a ratio over the whole window.
    pub(crate) fn reason(self, mean: f64) -> Reason {
        let thousandths = |log: f64| (1_000.0 * ratio_of(log)).round() as u32;
        Reason::Drifting {
            first: thousandths(mean - self.change / 2.0),
            last: thousandths(mean + self.change / 2.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{MetricId, Rng, RunData, Verdict};
    use proptest::prelude::*;
    use testkit::fixtures::{cell, empty_run};

    use super::*;
    use crate::paired::Paired;
    use crate::student::LEVEL;
    use crate::tests::simulation::normal;
    use crate::{Options, compare};

    fn evidence(logs: &[f64], higher_is_better: bool) -> Evidence {
        let estimate = Estimate::of(Paired::of(logs).unwrap(), None).unwrap();
        Evidence {
            estimate,
            rounds: estimate.paired.rounds,
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
        // 24 rounds, for λ * 0.0516 / sqrt(24) = 0.0443, where λ = 4.21 is the distance for t(0.9955, 23) = 2.85.
        let noisy = [0.10, -0.02, 0.07, 0.03];
        assert_eq!(
            judged(&evidence(&noisy, true), 0.2),
            Verdict::Inconclusive(Reason::TooNoisy { more_rounds: Some(20) })
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

    /// Four rounds of a step: the log ratio and its drift in each, and the base's own drift, which both share.
    fn run(rounds: &[(f64, f64)], shared: f64) -> RunData {
        let mut data = empty_run(&["a", "b"]);
        for (round, (ratio, drift)) in (1..).zip(rounds) {
            let percent = |log: f64| 100.0 * log.exp_m1();
            for (system, rate, drift) in [("a", 0.0, 0.0), ("b", *ratio, *drift)] {
                let drift = percent(shared + drift);
                let rate = 1000.0 * f64::exp(rate);
                data.cells.push(cell(round, system, "s0", "rate", rate));
                let of_rate = MetricId::DRIFT_RATE;
                data.cells.push(cell(round, system, "s0", of_rate, drift));
            }
        }
        data
    }

    fn verdict(rounds: &[(f64, f64)], shared: f64) -> Verdict {
        let found = compare(&run(rounds, shared), &Options::default()).unwrap();
        found[0].verdict.clone()
    }

    const LOSS: [f64; 4] = [-0.300, -0.301, -0.299, -0.300];

    fn with_drift(logs: [f64; 4], drift: f64) -> Vec<(f64, f64)> {
        let each = logs.iter().enumerate();
        each.map(|(at, log)| (*log, drift + 0.001 * at as f64)).collect()
    }

    #[test]
    fn a_loss_that_a_longer_window_would_turn_is_withheld() {
        assert_eq!(verdict(&with_drift(LOSS, 0.0), 0.0), Verdict::Regressed);
        let Verdict::Inconclusive(reason) = verdict(&with_drift(LOSS, 0.25), 0.0) else {
            panic!("not withheld")
        };
        let told = "not steady: ratio 0.65 at the start of the window, 0.84 at its end";
        assert_eq!(reason.to_string(), told);
    }

    #[test]
    fn a_drift_that_leaves_the_verdict_alone_is_no_reason_to_withhold_it() {
        // The loss grows, and the loss shrinks to what still is one.
        assert_eq!(verdict(&with_drift(LOSS, -0.25), 0.0), Verdict::Regressed);
        assert_eq!(verdict(&with_drift(LOSS, 0.10), 0.0), Verdict::Regressed);
        // Both systems slow down alike.
        assert_eq!(verdict(&with_drift(LOSS, 0.0), -0.5), Verdict::Regressed);
    }

    #[test]
    fn what_is_unchanged_so_far_may_be_drifting_away() {
        let same = [0.000, 0.001, -0.001, 0.000];
        assert_eq!(verdict(&with_drift(same, 0.0), 0.0), Verdict::Unchanged);
        let Verdict::Inconclusive(reason) = verdict(&with_drift(same, 0.03), 0.0) else {
            panic!("not withheld")
        };
        assert!(reason.to_string().starts_with("not steady"), "{reason}");
    }

    /// The number of withheld cells among simulated ones with four rounds. The log ratio over the window and its drift
    /// have this truth and this scatter.
    fn withheld(cells: u32, (ratio, drift): (f64, f64), scatter: f64) -> u32 {
        let mut rng = Rng::new(11);
        let mut withheld = 0;
        for _ in 0..cells {
            let rounds: Vec<(f64, f64)> = (0..4)
                .map(|_| {
                    let of_ratio = ratio + 0.5 * scatter * normal(&mut rng);
                    (of_ratio, drift + scatter * normal(&mut rng))
                })
                .collect();
            let verdict = verdict(&rounds, 0.0);
            let is_drifting = |reason: &Reason| matches!(reason, Reason::Drifting { .. });
            withheld += u32::from(matches!(&verdict, Verdict::Inconclusive(r) if is_drifting(r)));
        }
        withheld
    }

    #[test]
    fn steady_cells_are_seldom_withheld_and_transients_nearly_always() {
        // 3 % slower for good, thirds of a window that scatter by 2 %: one direction of a test at 5 %.
        let steady = withheld(2_000, (-0.03, 0.0), 0.02);
        assert!(steady <= 60, "{steady} of 2000");
        // In three seconds the ratio goes from 0.6 to 0.85, on its way to 1.15.
        let transient = withheld(2_000, (-0.33, 0.35), 0.05);
        assert!(transient >= 1_900, "{transient} of 2000");
    }

    proptest! {
        #[test]
        fn a_comparison_and_its_mirror_are_withheld_together(
            rounds in proptest::collection::vec((-0.5..0.5, -0.5..0.5), 3..8)
        ) {
            let mirrored: Vec<(f64, f64)> = rounds.iter().map(|(r, d)| (-r, -d)).collect();
            let is_withheld = |rounds: &[(f64, f64)]| {
                matches!(verdict(rounds, 0.0), Verdict::Inconclusive(Reason::Drifting { .. }))
            };
            prop_assert_eq!(is_withheld(&rounds), is_withheld(&mirrored));
        }
    }
}

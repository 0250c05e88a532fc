//! Ratios that drift while a step is measured.

use model::Reason;

use crate::levels::LEVEL;
use crate::paired::{Paired, ratio_of};

/// From the middle of the first third of a window to that of the last is two thirds of it. The middle of the next
/// window is a whole window away from the middle of this one.
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
        let is_certain = paired.p_value()? <= LEVEL;
        is_certain.then_some(Self { change: paired.mean })
    }

    /// If the drift goes on as it is, would the next window change the verdict? It would where the log ratio comes to
    /// lie on another side of the margin.
    pub(crate) fn unsettles(self, now: f64, margin: f64) -> bool {
        let side = |log: f64| {
            if log > margin {
                1
            } else if log < -margin {
                -1
            } else {
                0
            }
        };
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

    use super::*;
    use crate::tests::fixture::{cell, empty_run};
    use crate::tests::simulation::normal;
    use crate::{Options, compare};

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

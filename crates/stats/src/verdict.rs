//! From evidence to a verdict.

use model::{Direction, Magnitude, Reason, Verdict};

use crate::paired::Paired;
use crate::power::{Situation, further_rounds};

/// The confidence of every interval that is shown or judged by.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Rounds below which no verdict is given: two agree by chance too easily.
pub(crate) const FEWEST_ROUNDS: u32 = 3;

/// A cell that a verdict is due for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    /// The rounds; at least [`FEWEST_ROUNDS`].
    pub(crate) paired: Paired,
    /// Does a higher value mean a better one?
    pub(crate) higher_is_better: bool,
    /// The practical margin, on the scale of logarithms.
    pub(crate) margin: f64,
    /// The p-value.
    pub(crate) p: f64,
}

/// The verdict of a cell.
///
/// A change is called when it is certain (`q_value` ≤ `q_limit`) and its estimate lies beyond the
/// margin. "Unchanged" needs evidence of its own: the 95 % interval inside ±margin, which is two
/// one-sided tests at 2.5 % each (Schuirmann 1987, *A comparison of the two one-sided tests
/// procedure and the power approach*, J. Pharmacokin. Biopharm. 15(6)).
pub(crate) fn judge(evidence: &Evidence, q_value: f64, q_limit: f64) -> Verdict {
    let Evidence { paired, margin, .. } = *evidence;
    if q_value <= q_limit && paired.mean.abs() > margin {
        return if (paired.mean > 0.0) == evidence.higher_is_better {
            Verdict::Improved
        } else {
            Verdict::Regressed
        };
    }
    match paired.interval(CONFIDENCE) {
        Some((low, high)) if low >= -margin && high <= margin => Verdict::Unchanged,
        _ => Verdict::Inconclusive(Reason::TooNoisy {
            more_rounds: more_rounds(evidence, q_value, q_limit),
        }),
    }
}

/// The adjustment asks `p ≤ q_limit·p/q` of this cell, as long as its rank among the others stays.
fn more_rounds(evidence: &Evidence, q_value: f64, q_limit: f64) -> Option<u32> {
    let share = if q_value > 0.0 {
        (evidence.p / q_value).min(1.0)
    } else {
        1.0
    };
    further_rounds(&Situation {
        rounds: evidence.paired.rounds,
        mean: evidence.paired.mean,
        sd: evidence.paired.sd?,
        margin: evidence.margin,
        alpha: q_limit * share,
    })
}

/// The margin of a fraction on the scale of logarithms: 2 % is a factor of 1.02 up or down, so
/// that a change and its inverse are judged alike.
pub(crate) fn log_margin(fraction: f64) -> f64 {
    fraction.ln_1p()
}

/// How big a change is, whichever way it goes: 1 / 1.2 is as large as 1.2.
pub(crate) fn magnitude(paired: &Paired) -> Magnitude {
    let size = paired.mean.abs();
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

    fn evidence(logs: &[f64], higher_is_better: bool) -> Evidence {
        let paired = Paired::of(logs).unwrap();
        Evidence {
            paired,
            higher_is_better,
            margin: log_margin(0.02),
            p: paired.p_value().unwrap(),
        }
    }

    #[test]
    fn certain_and_big_enough_is_a_change_in_the_metrics_direction() {
        let down = [-0.050, -0.051, -0.049, -0.050];
        assert_eq!(
            judge(&evidence(&down, true), 0.005, 0.01),
            Verdict::Regressed
        );
        assert_eq!(
            judge(&evidence(&down, false), 0.005, 0.01),
            Verdict::Improved
        );
        // The limit itself counts.
        assert_eq!(
            judge(&evidence(&down, true), 0.01, 0.01),
            Verdict::Regressed
        );
    }

    #[test]
    fn certain_and_small_is_unchanged() {
        let little = [0.010, 0.011, 0.009, 0.010];
        assert_eq!(
            judge(&evidence(&little, true), 0.0, 0.01),
            Verdict::Unchanged
        );
    }

    #[test]
    fn big_and_uncertain_is_inconclusive_and_says_for_how_long() {
        // Mean 0.045, sd 0.0516, p = 0.18, so that a change needs p <= 0.01 * 0.18 / 0.2 = 0.009:
        // 23 rounds, for (t(0.9955, 22) + 1.28) * 0.0516 / sqrt(23) = 0.045 within 1 %.
        let noisy = [0.10, -0.02, 0.07, 0.03];
        let verdict = judge(&evidence(&noisy, true), 0.2, 0.01);
        assert_eq!(
            verdict,
            Verdict::Inconclusive(Reason::TooNoisy {
                more_rounds: Some(19)
            })
        );
    }

    #[test]
    fn a_margin_of_nothing_leaves_only_equality_unchanged() {
        let judged = |logs: &[f64], q| {
            judge(
                &Evidence {
                    margin: 0.0,
                    ..evidence(logs, false)
                },
                q,
                0.01,
            )
        };
        assert_eq!(judged(&[0.0, 0.0, 0.0], 1.0), Verdict::Unchanged);
        assert_eq!(judged(&[0.1, 0.1, 0.1], 0.0), Verdict::Regressed);
        assert!(matches!(
            judged(&[0.1, -0.1, 0.0], 1.0),
            Verdict::Inconclusive(Reason::TooNoisy { more_rounds: None })
        ));
    }

    #[test]
    fn magnitude_is_the_same_there_and_back() {
        let of = |ratio: f64| magnitude(&Paired::of(&[ratio.ln()]).unwrap());
        for (ratio, expected) in [
            (1.04, Magnitude::Small),
            (1.06, Magnitude::Medium),
            (1.14, Magnitude::Medium),
            (1.16, Magnitude::Large),
        ] {
            assert_eq!(of(ratio), expected);
            assert_eq!(of(1.0 / ratio), expected);
        }
    }
}

//! How many more rounds would decide a cell.

use crate::looks::{Looks, tail_among};
use crate::paired::Spread;
use crate::student::{LEVEL, Quantiles, z_critical};

/// Rounds beyond these are not worth planning.
const MOST: u32 = 1000;

/// The probability with which the rounds asked for shall decide, if the estimate is the truth.
const DECIDED: f64 = 0.9;

/// Facts about an undecided cell; all on the scale of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Situation {
    pub(crate) rounds: u32,
    pub(crate) mean: f64,
    pub(crate) spread: Spread,
    /// Degrees of freedom that the family adds to those of the rounds; 0 without one.
    pub(crate) prior_df: f64,
    pub(crate) margin: f64,
    /// The p-value that a change needs, adjusted for the other tests of its family.
    pub(crate) alpha: f64,
    pub(crate) looks: Option<Looks>,
}

/// The smallest number of further rounds after which the cell would be decided with probability
/// 0.9, if estimate and spreads are the true ones; `None` when more than a thousand.
///
/// The nearer of the margins ±δ is what has to be told from the estimate `m`. The decision is the
/// one that the verdict's own rule would take with n rounds:
/// - inside the margin, "unchanged": the end of the 95 % interval must stay inside, so
///   `δ − |m| ≥ λ(0.975)·s/√n`;
/// - outside, a change: the estimate must stay outside, `|m| − δ ≥ z(0.9)·s/√n`, and the test must
///   reject, `|m| ≥ λ(1−α/2)·s/√n`.
///
/// λ is the distance for the degrees of freedom and the look at the n in question.
pub(crate) fn further_rounds(now: &Situation, quantiles: &Quantiles) -> Option<u32> {
    let decided =
        |further: u32| decides(now, now.rounds.saturating_add(further), DECIDED, quantiles);
    if !decided(MOST) {
        return None;
    }
    // More rounds never decide less, so halving finds the fewest.
    let (mut undecided, mut enough) = (0, MOST);
    while enough - undecided > 1 {
        let middle = u32::midpoint(undecided, enough);
        if decided(middle) {
            enough = middle;
        } else {
            undecided = middle;
        }
    }
    Some(enough)
}

/// Would so many rounds decide the cell with this probability?
pub(crate) fn decides(now: &Situation, rounds: u32, power: f64, quantiles: &Quantiles) -> bool {
    if rounds < 2 {
        return false;
    }
    let error = now.spread.after(rounds) / f64::from(rounds).sqrt();
    let beyond = now.mean.abs() - now.margin;
    let z = z_critical(1.0 - power);
    // Nothing decides sooner than the normal distribution does, whose quantile costs little.
    if beyond.abs() < z * error {
        return false;
    }
    let df = f64::from(rounds - 1) + now.prior_df;
    let least = |level| {
        let t = quantiles.t_critical(tail_among(now.looks, rounds, level), df);
        distance(t, df, z) * error
    };
    if beyond < 0.0 {
        -beyond >= least(LEVEL)
    } else {
        beyond > 0.0 && now.mean.abs() >= least(now.alpha)
    }
}

/// λ, with which a noncentral t exceeds the critical value `t` with the probability of −`z`.
///
/// It is approximately normal: P(T ≥ t) = Φ((λ − t(1 − 1/4ν)) / √(1 + t²/2ν)) (Abramowitz and Stegun 1964, 26.7.10).
pub(crate) fn distance(t: f64, df: f64, z: f64) -> f64 {
    t * (1.0 - 0.25 / df) + z * (1.0 + t * t / (2.0 * df)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn further_rounds(now: &Situation) -> Option<u32> {
        super::further_rounds(now, &Quantiles::default())
    }

    const NOISY: Situation = Situation {
        rounds: 4,
        mean: 0.03,
        spread: Spread { rounds: 0.02, pairs: 0.0 },
        prior_df: 0.0,
        margin: 0.02,
        alpha: 0.01,
        looks: None,
    };

    #[test]
    fn agrees_with_a_textbook_sample_size() {
        // One-sample t-test, effect of one standard deviation, two-sided 5 %, power 90 %: n = 13
        // (Cohen 1988, table 2.4.1, as G*Power and R's `power.t.test` give it: 12.6).
        let cohen = Situation {
            rounds: 3,
            mean: 1.0,
            spread: Spread { rounds: 1.0, pairs: 0.0 },
            margin: 0.0,
            alpha: 0.05,
            ..NOISY
        };
        assert_eq!(further_rounds(&cohen), Some(13 - 3));
    }

    #[test]
    fn the_nearer_margin_decides_how_many() {
        let rounds = |mean| {
            further_rounds(&Situation { mean, ..NOISY })
                .map_or(u32::MAX, |more| more + NOISY.rounds)
        };
        assert!(rounds(0.0) < rounds(0.01));
        assert!(rounds(0.01) < rounds(0.019));
        assert_eq!(rounds(0.02), u32::MAX);
        assert!(rounds(0.04) < rounds(0.025));
        assert_eq!(rounds(0.03), rounds(-0.03));
    }

    #[test]
    fn a_family_saves_rounds_and_looking_costs_some() {
        let plain = Situation { mean: 0.06, alpha: 0.001, ..NOISY };
        let steadied = Situation { prior_df: 20.0, ..plain };
        let looked = Situation { looks: Looks::new(3, 12), ..steadied };
        let rounds = [plain, steadied, looked].map(|now| further_rounds(&now).unwrap());
        assert!(rounds[1] < rounds[0] && rounds[1] < rounds[2], "{rounds:?}");
    }

    #[test]
    fn pairs_that_scatter_more_than_rounds_count_less_with_each_round() {
        let spread = Spread { rounds: 0.02, pairs: 0.04 };
        let worst = Spread { rounds: 0.04, pairs: 0.04 };
        let more = |spread| further_rounds(&Situation { mean: 0.045, spread, ..NOISY }).unwrap();
        // As if the 4 rounds' spread, 0.0357, stayed what it is: too many.
        let now = Spread { rounds: spread.after(4), pairs: 0.0 };
        assert!(more(NOISY.spread) < more(spread));
        assert!(more(spread) < more(now) && more(now) < more(worst));
    }

    #[test]
    fn no_spread_needs_one_more_and_nonsense_none() {
        let quiet = Situation { spread: Spread { rounds: 0.0, pairs: 0.0 }, ..NOISY };
        assert_eq!(further_rounds(&quiet), Some(1));
        let broken = Situation { spread: Spread { rounds: f64::NAN, pairs: 0.0 }, ..NOISY };
        assert_eq!(further_rounds(&broken), None);
    }
}

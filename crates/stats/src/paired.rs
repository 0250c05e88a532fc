//! The paired comparison of one cell.

use crate::moderate::Prior;
use crate::student::{Quantiles, t_critical, two_sided_p};
use crate::summary::median;

/// The least standard deviation of a logarithm that is believed, a millionth.
///
/// Rounds that agree to the last digit have none, and without one a difference would be certain without
/// end, in an interval of no width. But digits are limited, those of measured values and those that
/// logarithms are computed with. A millionth is a thousandth of what the quietest metric scatters by, and a
/// hundredth of the least margin that a plan may ask for, 0.01 %: with three rounds that agree the interval
/// is 2.5 millionths to each side. So it decides nothing, and values that are the same in every round by their
/// nature, such as sizes of files, stay as certain as they are.
pub(crate) const LEAST_SD: f64 = 1e-6;

/// The paired t-test of the complete rounds' log ratios.
///
/// The unit is `d[r] = ln candidate[r] − ln base[r]`, one for each complete round: pairing takes
/// out whatever a round's systems share (Student 1908, *The probable error of a mean*, Biometrika
/// 6(1), has the paired test and its table). Logarithms make a ratio and its inverse mirror
/// images of each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// Complete rounds, or the hosts of many; at least one.
    pub rounds: u32,
    pub mean: f64,
    /// Their sample standard deviation (n − 1), zero where they agree; `None` with a single round.
    pub sd: Option<f64>,
}

impl Paired {
    /// The order of the rounds does not matter; `None` without any, or when one is not finite.
    pub fn of(logs: &[f64]) -> Option<Self> {
        // Sums are taken from the median, so that equal values give exactly their value and
        // exactly no deviation.
        let origin = median(logs)?;
        let n = logs.len() as f64;
        let from_origin: Vec<f64> = logs.iter().map(|d| d - origin).collect();
        let mean = origin + sum(&from_origin) / n;
        let squares: Vec<f64> = logs.iter().map(|d| (d - mean) * (d - mean)).collect();
        let sd = (logs.len() > 1).then(|| (sum(&squares) / (n - 1.0)).sqrt());
        (mean.is_finite() && sd.is_none_or(f64::is_finite)).then_some(Self {
            rounds: logs.len() as u32,
            mean,
            sd,
        })
    }

    pub fn ratio(&self) -> f64 {
        ratio_of(self.mean)
    }

    /// Of the mean log ratio, `mean ± t·sd/√n`; covers the true one with this probability. `None` with a single round.
    pub fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        let half = t_critical((1.0 - confidence) / 2.0, self.df()) * self.standard_error()?;
        Some((self.mean - half, self.mean + half))
    }

    /// The two-sided p-value of "no difference"; `None` with a single round.
    pub fn p_value(&self) -> Option<f64> {
        Some(two_sided_p(self.mean / self.standard_error()?, self.df()))
    }

    pub(crate) fn df(&self) -> f64 {
        f64::from(self.rounds.saturating_sub(1))
    }

    fn standard_error(&self) -> Option<f64> {
        let sd = self.sd?.max(LEAST_SD);
        Some(sd / f64::from(self.rounds).sqrt())
    }
}

/// Of two positive values: exactly minus that of the two exchanged, and the same when both are doubled.
pub(crate) fn log_ratio(base: f64, candidate: f64) -> f64 {
    let (small, large) = if base < candidate { (base, candidate) } else { (candidate, base) };
    let quotient = large / small;
    let log = if quotient.is_finite() { quotient.ln() } else { large.ln() - small.ln() };
    if base < candidate { log } else { -log }
}

/// Of two that are each other's negative, the one below 1 is exactly the inverse of the other.
pub(crate) fn ratio_of(log: f64) -> f64 {
    if log < 0.0 { (-log).exp().recip() } else { log.exp() }
}

/// Exactly the same in any order, and exactly its negative when all are negated: rounding of the sum upwards and of
/// that downwards are mirror images.
pub(crate) fn sum(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upwards: f64 = sorted.iter().sum();
    let downwards: f64 = sorted.iter().rev().sum();
    f64::midpoint(upwards, downwards)
}

/// Weight of the pairs' variance beside that of the rounds, if it is larger: degrees of freedom.
const DF_OF_PAIRS: f64 = 8.0;

/// Standard deviations of a round's log ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// As the rounds have it, moderated.
    pub rounds: f64,
    /// As the pairs within the rounds have it.
    pub pairs: f64,
}

impl Spread {
    /// What counts after so many rounds. Where pairs have the larger one, the variance is drawn towards theirs, as if
    /// they were `DF_OF_PAIRS` degrees of freedom: with few rounds it counts most, because these may agree by chance.
    /// With many it counts little: pairs next to each other often make up for one another, which only rounds show.
    pub fn after(&self, rounds: u32) -> f64 {
        if self.pairs <= self.rounds {
            return self.rounds;
        }
        let of_rounds = self.rounds.powi(2);
        (of_rounds + weight_of_pairs(rounds) * (self.pairs.powi(2) - of_rounds)).sqrt()
    }
}

/// Weight of the pairs' variance after so many rounds, if it is the larger one.
pub(crate) fn weight_of_pairs(rounds: u32) -> f64 {
    // Without the family's degrees of freedom: in its other steps, turns may make up for one another.
    let df = f64::from(rounds.saturating_sub(1));
    DF_OF_PAIRS / (DF_OF_PAIRS + df)
}

/// The mean log ratio of a cell with two rounds at least, and its spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) paired: Paired,
    /// Standard deviation of a log ratio: that of the rounds or hosts, moderated; at least [`LEAST_SD`].
    pub(crate) sd: f64,
    pub(crate) spread: Spread,
    /// Degrees of freedom that the family adds to those of the rounds.
    pub(crate) prior_df: f64,
    /// Is the spread that of rounded values, so that more rounds make the mean no surer?
    pub(crate) is_rounded: bool,
}

impl Estimate {
    /// From the rounds alone without a prior; `None` with a single round.
    pub(crate) fn of(paired: Paired, prior: Option<&Prior>) -> Option<Self> {
        let own = paired.sd?;
        let (sd, prior_df) = prior.map_or((own, 0.0), |prior| {
            let (variance, prior_df) = prior.moderate(own * own, paired.df());
            (variance.sqrt(), prior_df)
        });
        let sd = sd.max(LEAST_SD);
        let spread = Spread { rounds: sd, pairs: sd };
        Some(Self { paired, sd, spread, prior_df, is_rounded: false })
    }

    /// The same with the standard error that the pairs within the rounds give.
    pub(crate) fn with_pairs(self, error: f64) -> Self {
        let pairs = error * f64::from(self.paired.rounds).sqrt();
        let spread = Spread { pairs, ..self.spread };
        Self { sd: spread.after(self.paired.rounds), spread, ..self }
    }

    /// The same with a standard error of at least this, which is that of rounded values.
    pub(crate) fn with_rounding(self, least: f64) -> Self {
        if least > self.error() {
            let sd = least * f64::from(self.paired.rounds).sqrt();
            let spread = Spread { rounds: sd, pairs: sd };
            Self { sd, spread, is_rounded: true, ..self }
        } else {
            self
        }
    }

    pub(crate) fn df(&self) -> f64 {
        self.paired.df() + self.prior_df
    }

    pub(crate) fn error(&self) -> f64 {
        self.sd / f64::from(self.paired.rounds).sqrt()
    }

    /// The standard deviation of a round with the same standard error, from that of a replicate (a round or a host).
    pub(crate) fn of_round(&self, rounds: u32, sd: f64) -> f64 {
        let of_each = f64::from(rounds) / f64::from(self.paired.rounds);
        sd * of_each.sqrt()
    }

    pub(crate) fn p_value(&self) -> f64 {
        two_sided_p(self.paired.mean / self.error(), self.df())
    }

    /// Did no round differ, and does nothing else say that rounds might?
    pub(crate) fn is_equality(&self) -> bool {
        self.paired.mean == 0.0 && self.sd <= LEAST_SD
    }

    /// mean ± t·s/√n, each end of which leaves `tail` beyond it; `None` where it is wider than a ratio can be.
    pub(crate) fn interval(&self, tail: f64, quantiles: &Quantiles) -> Option<(f64, f64)> {
        let half = quantiles.t_critical(tail, self.df()) * self.error();
        let mean = self.paired.mean;
        (half <= WIDEST).then_some((mean - half, mean + half))
    }
}

/// e to this is a number that no report prints.
const WIDEST: f64 = 300.0;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::moderate::Family;

    /// Student 1908, §9: additional hours of sleep, the second drug over the first, ten patients.
    /// Student's own odds for the second drug are 666 to 1; the modern t is 4.0621 with nine
    /// degrees of freedom, p = 0.002833, interval 0.70 to 2.46 (as R's `sleep` example prints).
    const SLEEP: [f64; 10] = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];

    #[test]
    fn students_own_example() {
        let paired = Paired::of(&SLEEP).unwrap();
        assert_eq!(paired.rounds, 10);
        assert!((paired.mean - 1.58).abs() < 1e-12);
        assert!((paired.sd.unwrap() - 1.229_995).abs() < 1e-6);
        assert!((paired.p_value().unwrap() - 0.002_833).abs() < 1e-6);
        let (low, high) = paired.interval(0.95).unwrap();
        assert!((low - 0.700_114).abs() < 1e-5, "{low}");
        assert!((high - 2.459_886).abs() < 1e-5, "{high}");
    }

    #[test]
    fn rounds_that_agree_are_as_certain_as_digits_allow() {
        let same = Paired::of(&[0.1, 0.1, 0.1]).unwrap();
        assert_eq!((same.mean, same.sd), (0.1, Some(0.0)));
        let p = same.p_value().unwrap();
        assert!(p > 0.0 && p < 1e-9, "{p}");
        let (low, high) = same.interval(0.95).unwrap();
        assert!(0.1 - 1e-5 < low && low < 0.1 && 0.1 < high && high < 0.1 + 1e-5);
        let none = Paired::of(&[0.0, 0.0]).unwrap();
        assert_eq!(none.p_value(), Some(1.0));
        let (low, high) = none.interval(0.95).unwrap();
        assert!(-1e-4 < low && low < 0.0 && 0.0 < high && high < 1e-4);
    }

    #[test]
    fn one_round_is_a_ratio_and_no_more() {
        let one = Paired::of(&[2.0_f64.ln()]).unwrap();
        assert!((one.ratio() - 2.0).abs() < 1e-12);
        assert_eq!((one.interval(0.95), one.p_value()), (None, None));
        assert_eq!(Paired::of(&[]), None);
        assert_eq!(Paired::of(&[0.0, f64::NAN]), None);
        assert_eq!(Paired::of(&[f64::INFINITY]), None);
    }

    #[test]
    fn ratios_beyond_a_double_have_a_logarithm() {
        let log = log_ratio(1e-300, 1e300);
        assert!((log / (600.0 * 10.0_f64.ln()) - 1.0).abs() < 1e-12, "{log}");
        assert!(log_ratio(3.0, 3.0).abs() <= 0.0);
    }

    proptest! {
        #[test]
        fn the_mirror_is_exact(logs in prop::collection::vec(-1.0..1.0f64, 2..12)) {
            let there = Paired::of(&logs).unwrap();
            let back = Paired::of(&logs.iter().map(|d| -d).collect::<Vec<_>>()).unwrap();
            prop_assert_eq!(there, Paired { mean: -back.mean, ..back });
            prop_assert_eq!(there.p_value(), back.p_value());
            let ((low, high), (back_low, back_high)) =
                (there.interval(0.95).unwrap(), back.interval(0.95).unwrap());
            prop_assert_eq!((low, high), (-back_high, -back_low));
            let (less, more) = (there.ratio().min(back.ratio()), there.ratio().max(back.ratio()));
            prop_assert_eq!(Some(less), Some(more.recip()));
        }

        #[test]
        fn the_order_does_not_matter(
            logs in prop::collection::vec(-1.0..1.0f64, 2..12),
            turn in 0usize..12,
        ) {
            let mut turned = logs.clone();
            turned.rotate_left(turn % logs.len());
            prop_assert_eq!(Paired::of(&logs), Paired::of(&turned));
        }

        #[test]
        fn a_log_ratio_knows_neither_side_nor_unit(
            base in 1e-6..1e6f64,
            candidate in 1e-6..1e6f64,
            doublings in -40i32..40,
        ) {
            let log = log_ratio(base, candidate);
            prop_assert_eq!(Some(log), Some(-log_ratio(candidate, base)));
            let factor = 2.0_f64.powi(doublings);
            prop_assert_eq!(Some(log), Some(log_ratio(base * factor, candidate * factor)));
            prop_assert!((log - (candidate.ln() - base.ln())).abs() < 1e-13);
        }

        #[test]
        fn the_interval_misses_zero_exactly_when_p_is_small(
            logs in prop::collection::vec(-1.0..1.0f64, 2..12),
        ) {
            let paired = Paired::of(&logs).unwrap();
            let p = paired.p_value().unwrap();
            let (low, high) = paired.interval(0.95).unwrap();
            prop_assume!((p - 0.05).abs() > 1e-6);
            prop_assert_eq!(p < 0.05, low > 0.0 || high < 0.0);
        }
    }

    #[test]
    fn the_family_steadies_a_cell_with_few_rounds() {
        let paired = Paired::of(&[0.010, 0.011, 0.009, 0.010]).unwrap();
        let plain = Estimate::of(paired, None).unwrap();
        assert_eq!((plain.df(), plain.prior_df), (3.0, 0.0));
        assert_eq!(Some(plain.p_value()), paired.p_value());
        let quantiles = Quantiles::default();
        let (low, _) = plain.interval(0.025, &quantiles).unwrap();
        assert!((low - paired.interval(0.95).unwrap().0).abs() < 1e-9);
        // All others scatter ten times as much.
        let family = Family { variances: vec![(6.7e-5, 3.0); 20], cells: 20, df: 60.0 };
        let prior = Prior::fit(&family).unwrap();
        let moderated = Estimate::of(paired, Some(&prior)).unwrap();
        assert!(moderated.sd > 5.0 * plain.sd);
        assert!((moderated.df() - (3.0 + 14.44)).abs() < 0.01);
        assert!(moderated.p_value() > 0.01 && plain.p_value() < 0.001);
    }

    #[test]
    fn one_round_has_no_spread_and_what_is_too_wide_is_no_interval() {
        assert_eq!(Estimate::of(Paired::of(&[0.1]).unwrap(), None), None);
        let two = Estimate::of(Paired::of(&[0.1, 0.2]).unwrap(), None).unwrap();
        let quantiles = Quantiles::default();
        assert!(two.interval(0.025, &quantiles).is_some());
        assert_eq!(two.interval(0.0, &quantiles), None);
        assert_eq!(two.interval(1e-9, &quantiles), None);
        let same = Estimate::of(Paired::of(&[0.1, 0.1]).unwrap(), None).unwrap();
        let (low, high) = same.interval(0.025, &quantiles).unwrap();
        assert!(low < 0.1 && 0.1 < high && high - low < 1e-4);
        assert!(same.p_value() > 0.0 && !same.is_equality());
        let few = same.with_pairs(0.5);
        assert!((few.error() - 0.5 * (8.0_f64 / 9.0).sqrt()).abs() < 1e-12);
        // Pairs that scatter less change nothing.
        assert!((Spread { rounds: 0.5, pairs: 0.4 }.after(3) - 0.5).abs() < 1e-12);
        let floor = same.with_rounding(0.5);
        assert!((floor.error() - 0.5).abs() < 1e-12 && floor.is_rounded);
        assert!(same.with_pairs(0.5).with_rounding(0.4) == few);
    }
}

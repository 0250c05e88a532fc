//! The paired comparison of one cell.

use crate::student::{t_quantile, two_sided_p};

/// What the log ratios of the complete rounds say, by the paired t-test.
///
/// The unit is `d[r] = ln candidate[r] − ln base[r]`, one for each complete round: pairing takes
/// out whatever a round's systems share (Student 1908, *The probable error of a mean*, Biometrika
/// 6(1), has the paired test and its table). Logarithms make a ratio and its inverse mirror
/// images of each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// Complete rounds; at least one.
    pub rounds: u32,
    /// Mean of the log ratios.
    pub mean: f64,
    /// Their sample standard deviation (n − 1); `None` with a single round.
    pub sd: Option<f64>,
}

impl Paired {
    /// From the log ratios of the complete rounds; `None` when there is none or when one is not
    /// finite.
    pub fn of(logs: &[f64]) -> Option<Self> {
        let origin = *logs.first()?;
        let n = logs.len() as f64;
        // Sums are taken from the first value, so that equal values give exactly their value and
        // exactly no deviation.
        let mean = origin + logs.iter().map(|d| d - origin).sum::<f64>() / n;
        let squares: f64 = logs.iter().map(|d| (d - mean) * (d - mean)).sum();
        let sd = (logs.len() > 1).then(|| (squares / (n - 1.0)).sqrt());
        (mean.is_finite() && sd.is_none_or(f64::is_finite)).then_some(Self {
            rounds: logs.len() as u32,
            mean,
            sd,
        })
    }

    /// Geometric mean of the ratios.
    pub fn ratio(&self) -> f64 {
        self.mean.exp()
    }

    /// The interval of the mean log ratio, `mean ± t·sd/√n`, which covers the true one with
    /// probability `confidence`; `None` with a single round.
    pub fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        let error = self.standard_error()?;
        let half = t_quantile(f64::midpoint(1.0, confidence), self.rounds - 1) * error;
        Some((self.mean - half, self.mean + half))
    }

    /// The two-sided p-value of "no difference"; `None` with a single round.
    ///
    /// Rounds that agree exactly have no spread to test against: then any difference is certain
    /// (p = 0), and none is none (p = 1).
    pub fn p_value(&self) -> Option<f64> {
        let error = self.standard_error()?;
        if error > 0.0 {
            return Some(two_sided_p(self.mean / error, self.rounds - 1));
        }
        Some(if self.mean == 0.0 { 1.0 } else { 0.0 })
    }

    fn standard_error(&self) -> Option<f64> {
        self.sd.map(|sd| sd / f64::from(self.rounds).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    fn rounds_that_agree_divide_by_nothing() {
        let same = Paired::of(&[0.1, 0.1, 0.1]).unwrap();
        assert_eq!((same.mean, same.sd), (0.1, Some(0.0)));
        assert_eq!(same.p_value(), Some(0.0));
        assert_eq!(same.interval(0.95), Some((0.1, 0.1)));
        let none = Paired::of(&[0.0, 0.0]).unwrap();
        assert_eq!(none.p_value(), Some(1.0));
        assert_eq!(none.interval(0.95), Some((0.0, 0.0)));
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
}

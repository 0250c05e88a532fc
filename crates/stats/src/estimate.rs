//! How well the mean log ratio of a cell is known, in the light of its family.

use crate::moderate::Prior;
use crate::paired::{LEAST_SD, Paired};
use crate::student::{Quantiles, two_sided_p};

/// The mean log ratio of a cell with two rounds at least, and its spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) paired: Paired,
    /// Standard deviation of a round's log ratio: that of the rounds, moderated; at least [`LEAST_SD`].
    pub(crate) sd: f64,
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
        Some(Self { paired, sd: sd.max(LEAST_SD), prior_df, is_rounded: false })
    }

    /// The same with a standard error of at least this.
    pub(crate) fn with_error_from(self, least: f64) -> Self {
        let sd = self.sd.max(least * f64::from(self.paired.rounds).sqrt());
        Self { sd, ..self }
    }

    /// The same with a standard error of at least this, which is that of rounded values.
    pub(crate) fn with_rounding(self, least: f64) -> Self {
        Self { is_rounded: least > self.error(), ..self.with_error_from(least) }
    }

    pub(crate) fn df(&self) -> f64 {
        self.paired.df() + self.prior_df
    }

    pub(crate) fn error(&self) -> f64 {
        self.sd / f64::from(self.paired.rounds).sqrt()
    }

    /// The two-sided p-value of "no difference".
    pub(crate) fn p_value(&self) -> f64 {
        two_sided_p(self.paired.mean / self.error(), self.df())
    }

    /// Did no round differ, and does nothing else say that rounds might?
    pub(crate) fn is_equality(&self) -> bool {
        self.paired.mean == 0.0 && self.sd <= LEAST_SD
    }

    /// mean ± t·s/√n, each end of which leaves `tail` beyond it; `None` where that is wider than
    /// a ratio can be.
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
    use super::*;
    use crate::moderate::Family;

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
        let floor = same.with_error_from(0.5);
        assert!((floor.error() - 0.5).abs() < 1e-12);
        assert!(same.with_rounding(0.5).is_rounded && !floor.with_rounding(0.4).is_rounded);
    }
}

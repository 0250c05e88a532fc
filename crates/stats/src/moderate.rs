//! What the cells of a family tell about the variance of each of them.

use crate::gamma::{digamma, trigamma, trigamma_inverse};
use crate::summary::{mean, median};

/// Families of fewer cells tell too little: then each cell has its own variance only.
const SMALLEST_FAMILY: u32 = 8;

/// A variance of nothing has no logarithm: it counts as this share of the family's median.
const SMALLEST_SHARE: f64 = 1e-5;

/// The variances of a family: cells of one metric, one class of steps and one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Family {
    /// Sample variance of the log ratios of a cell, and its degrees of freedom.
    pub(crate) variances: Vec<(f64, f64)>,
    /// Cells: steps × candidates.
    pub(crate) cells: u32,
    /// Degrees of freedom that all of them have together; no cell can have more.
    pub(crate) df: f64,
}

/// What is expected of a variance before its cell is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prior {
    /// How many degrees of freedom that expectation is worth; infinite where the variances differ
    /// by no more than chance.
    df: f64,
    /// The variance that is expected.
    variance: f64,
    /// Degrees of freedom of the whole family.
    total: f64,
}

impl Prior {
    /// The prior that fits the variances of a family; `None` where the family is too small, or
    /// where most of its variances are nothing.
    ///
    /// Smyth 2004, *Linear models and empirical Bayes methods for assessing differential
    /// expression in microarray experiments*, Statistical Applications in Genetics and Molecular
    /// Biology 3(1):3, §6.2: true variances are taken to follow a scaled inverse χ²
    /// distribution; then `e = ln s² − ψ(d/2) + ln(d/2)` has the expectation
    /// `ln s0² − ψ(d0/2) + ln(d0/2)` and the variance `ψ′(d/2) + ψ′(d0/2)`, and both are set equal
    /// to those that are found. Where no spread is left for `d0`, it is infinite and the expected
    /// variance is the mean one.
    pub(crate) fn fit(family: &Family) -> Option<Self> {
        let Family {
            variances,
            cells,
            df: total,
        } = family;
        let found: Vec<f64> = variances.iter().map(|(variance, _)| *variance).collect();
        let middle = median(&found)?;
        if *cells < SMALLEST_FAMILY || found.len() < 2 || middle <= 0.0 {
            return None;
        }
        let log = |(variance, df): &(f64, f64)| {
            variance.max(SMALLEST_SHARE * middle).ln() - digamma(df / 2.0) + (df / 2.0).ln()
        };
        let logs: Vec<f64> = variances.iter().map(log).collect();
        let centre = mean(&logs)?;
        let squares: f64 = logs.iter().map(|log| (log - centre) * (log - centre)).sum();
        let by_chance: Vec<f64> = variances.iter().map(|(_, df)| trigamma(df / 2.0)).collect();
        let spread = squares / (logs.len() - 1) as f64 - mean(&by_chance)?;
        let prior = if spread > 0.0 {
            let half = trigamma_inverse(spread);
            Self {
                df: 2.0 * half,
                variance: (centre + digamma(half) - half.ln()).exp(),
                total: *total,
            }
        } else {
            let weights: f64 = variances.iter().map(|(_, df)| df).sum();
            let weighted: f64 = variances.iter().map(|(variance, df)| df * variance).sum();
            Self {
                df: f64::INFINITY,
                variance: weighted / weights,
                total: *total,
            }
        };
        (prior.variance.is_finite() && prior.variance > 0.0).then_some(prior)
    }

    /// The same of variances that are so many times as large.
    pub(crate) fn times(&self, factor: f64) -> Self {
        Self {
            variance: self.variance * factor,
            ..*self
        }
    }

    /// The variance of a cell in the light of its family, `(d0·s0² + d·s²) / (d0 + d)`, and how
    /// many degrees of freedom the family adds to the cell's own: `d0`, but never more than the
    /// other cells have.
    pub(crate) fn moderate(&self, variance: f64, df: f64) -> (f64, f64) {
        let moderated = if self.df.is_finite() {
            (self.df * self.variance + df * variance) / (self.df + df)
        } else {
            self.variance
        };
        (moderated, self.df.min(self.total - df).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use model::Rng;

    use super::*;
    use crate::simulation::normal;

    fn family(variances: &[f64]) -> Family {
        Family {
            variances: variances.iter().map(|variance| (*variance, 3.0)).collect(),
            cells: variances.len() as u32,
            df: 3.0 * variances.len() as f64,
        }
    }

    #[test]
    fn worked_by_hand() {
        // Four logarithms at -1, four at +1: variance 8/7, less ψ′(1.5) = 0.9348022 leaves
        // 0.2080549, which is ψ′(5.28921). Their mean, 0, less ψ(1.5) − ln 1.5 = −0.3689751, plus
        // ψ(5.28921) − ln 5.28921 = −0.0975003, is ln 1.31190.
        let e = std::f64::consts::E;
        let prior = Prior::fit(&family(&[[e, 1.0 / e]; 4].concat())).unwrap();
        assert!((prior.df - 10.578_4).abs() < 2e-3, "{prior:?}");
        assert!((prior.variance - 1.311_90).abs() < 1e-4, "{prior:?}");
        let (variance, added) = prior.moderate(e, 3.0);
        let by_hand = (10.578_4 * 1.311_90 + 3.0 * e) / 13.578_4;
        assert!((variance - by_hand).abs() < 1e-3, "{variance}");
        assert!((added - 10.578_4).abs() < 2e-3);
    }

    #[test]
    fn variances_that_agree_are_pooled_and_no_cell_knows_more_than_all() {
        let prior = Prior::fit(&family(&[2.0; 8])).unwrap();
        assert_eq!(prior.moderate(2.0, 3.0), (2.0, 21.0));
    }

    #[test]
    fn small_families_and_those_without_spread_have_no_prior() {
        assert_eq!(Prior::fit(&family(&[2.0; 7])), None);
        assert_eq!(Prior::fit(&family(&[])), None);
        assert_eq!(Prior::fit(&family(&[0.0; 20])), None);
        let mut some = [1.0; 20];
        some[0] = 0.0;
        let (variance, _) = Prior::fit(&family(&some)).unwrap().moderate(0.0, 3.0);
        assert!(variance > 0.0 && variance < 1.0, "{variance}");
    }

    #[test]
    fn finds_the_prior_that_variances_were_drawn_from() {
        let mut rng = Rng::new(21);
        let mut chi = |df: u32| -> f64 { (0..df).map(|_| normal(&mut rng).powi(2)).sum() };
        // σ² = d0·s0²/χ²(d0) with d0 = 6 and s0² = 4; s² = σ²·χ²(3)/3.
        let drawn: Vec<f64> = (0..5000)
            .map(|_| 6.0 * 4.0 / chi(6) * chi(3) / 3.0)
            .collect();
        let prior = Prior::fit(&family(&drawn)).unwrap();
        assert!((4.5..8.0).contains(&prior.df), "{prior:?}");
        assert!((3.7..4.3).contains(&prior.variance), "{prior:?}");
    }
}

//! Moderates the variance of each cell by its family.

use statrs::function::gamma::ln_gamma;

use crate::summary::median;

/// Families of fewer cells tell too little: then each cell has its own variance only.
const SMALLEST_FAMILY: u32 = 6;

/// `d0` is log-normal around this. In runs of four products (docs/statistics.md, Families) the moments of Smyth 2004
/// give 2 to infinity, more than half of them above 10.
const USUAL_DF: f64 = 6.0;

/// Standard deviation of the logarithm of `d0`: nineteen of twenty are within a factor of four of the usual one.
const SD_OF_LOG_DF: f64 = 0.7;

/// Between these `d0` is searched; the upper one is as good as infinity.
const DF: std::ops::Range<f64> = 1.0..1000.0;

/// A variance below this share of its family's median says that its rounds were measured in coarse steps and fell on
/// the same one, not that they are so exact: of three degrees of freedom, one in 25,000 is that small by chance. The
/// likeliest prior of zeros would be zero.
const SMALLEST_SHARE: f64 = 1e-3;

/// Steps after which Newton's method has long arrived.
const MOST_STEPS: u32 = 60;

const NEAR: f64 = 1e-3;

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

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prior {
    /// How many degrees of freedom that expectation is worth.
    df: f64,
    variance: f64,
    total: f64,
}

impl Prior {
    /// The prior that fits the variances of a family; `None` where the family is too small, or
    /// where most of its variances are nothing. Those that are nothing tell nothing of the others.
    ///
    /// The model is that of Smyth 2004, *Linear models and empirical Bayes methods for assessing differential
    /// expression in microarray experiments*, Statistical Applications in Genetics and Molecular Biology 3(1):3,
    /// §6: true variances follow a scaled inverse χ² distribution, and so `s²/s0²` follows an F distribution with
    /// `d` and `d0` degrees of freedom. His moments of the logarithms tell little of `d0` where cells are few: it
    /// comes out anywhere between 2 and infinity for the same truth. So both are those of the largest likelihood,
    /// and `d0` has a distribution of its own beforehand: cells by the dozen say more than it, a handful less.
    pub(crate) fn fit(family: &Family) -> Option<Self> {
        let found: Vec<f64> = family.variances.iter().map(|(variance, _)| *variance).collect();
        let middle = median(&found)?;
        let varies = |(variance, _): &&(f64, f64)| *variance >= SMALLEST_SHARE * middle;
        let varying: Vec<(f64, f64)> = family.variances.iter().filter(varies).copied().collect();
        let enough = SMALLEST_FAMILY as usize * found.len();
        if family.cells as usize * varying.len() < enough || varying.len() < 2 || middle <= 0.0 {
            return None;
        }
        let weight = family.df / degrees(&family.variances);
        let likelihood = Likelihood::of(&varying, middle, weight);
        let mut log_variance = 0.0;
        let log_df = largest(DF.start.ln(), DF.end.ln(), |log_df| {
            log_variance = likelihood.log_variance(log_df.exp(), log_variance);
            likelihood.of_prior(log_df, log_variance)
        });
        let df = log_df.exp();
        let variance = middle * likelihood.log_variance(df, log_variance).exp();
        let prior = Self { df, variance, total: weight * degrees(&varying) };
        (variance.is_finite() && variance > 0.0).then_some(prior)
    }

    pub(crate) fn times(&self, factor: f64) -> Self {
        Self { variance: self.variance * factor, ..*self }
    }

    /// `(d0·s0² + d·s²) / (d0 + d)`, and the degrees of freedom that the family adds to the cell's own: `d0`, but never
    /// more than the other cells have.
    pub(crate) fn moderate(&self, variance: f64, df: f64) -> (f64, f64) {
        let moderated = (self.df * self.variance + df * variance) / (self.df + df);
        (moderated, self.df.min(self.total - df).max(0.0))
    }
}

fn degrees(variances: &[(f64, f64)]) -> f64 {
    variances.iter().map(|(_, df)| df).sum()
}

/// How likely the variances of a family are under a prior; variances in units of some usual one.
struct Likelihood {
    /// Sum of squares of a cell, `d·s²`, and `d`.
    cells: Vec<(f64, f64)>,
    /// The weight of one pair of systems: there are more pairs than independent cells.
    weight: f64,
}

impl Likelihood {
    fn of(variances: &[(f64, f64)], unit: f64, weight: f64) -> Self {
        let cells = variances.iter();
        Self { cells: cells.map(|(v, df)| (df * v / unit, *df)).collect(), weight }
    }

    /// The logarithm of the expected variance under which the cells are likeliest, for a given `d0`; the search
    /// begins at a guess.
    ///
    /// There `Σ (d + d0)·w/(1 + w) = Σ d` with `w = d·s²/(d0·s0²)`. The left side falls with `s0²`: Newton's
    /// method, in steps of a factor of *e* at most.
    fn log_variance(&self, df: f64, guess: f64) -> f64 {
        let mut log = guess;
        for _ in 0..MOST_STEPS {
            let scale = 1.0 / (df * log.exp());
            let (mut excess, mut slope) = (0.0, 0.0);
            for (squares, own) in &self.cells {
                let share = scale * squares / (1.0 + scale * squares);
                excess += (own + df) * share - own;
                slope += (own + df) * share * (1.0 - share);
            }
            let step = (excess / slope).clamp(-1.0, 1.0);
            log += step;
            if step.abs() < 1e-9 {
                break;
            }
        }
        log
    }

    /// The logarithm of the likelihood of a prior times the prior of `d0`, except for a constant.
    fn of_prior(&self, log_df: f64, log_variance: f64) -> f64 {
        let df = log_df.exp();
        let expected = df * log_variance.exp();
        let constant = df / 2.0 * expected.ln() - ln_gamma(df / 2.0);
        // Few families have rounds of different number: the last cell's is mostly this one's too.
        let mut last = (f64::NAN, f64::NAN);
        let of_cell = |(squares, own): &(f64, f64)| {
            let half = f64::midpoint(*own, df);
            if last.0.total_cmp(own).is_ne() {
                last = (*own, ln_gamma(half));
            }
            constant + last.1 - half * (expected + squares).ln()
        };
        let of_cells: f64 = self.cells.iter().map(of_cell).sum();
        let deviation = (log_df - USUAL_DF.ln()) / SD_OF_LOG_DF;
        self.weight * of_cells - deviation * deviation / 2.0
    }
}

/// Where a function with one peak between two places is largest: the golden section (Kiefer 1953, *Sequential
/// minimax search for a maximum*, Proceedings of the American Mathematical Society 4(3)).
fn largest(low: f64, high: f64, mut of: impl FnMut(f64) -> f64) -> f64 {
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (low, high);
    let (mut left, mut right) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_left, mut at_right) = (of(left), of(right));
    while high - low > NEAR {
        if at_left < at_right {
            (low, left, at_left) = (left, right, at_right);
            right = low + golden * (high - low);
            at_right = of(right);
        } else {
            (high, right, at_right) = (right, left, at_left);
            left = high - golden * (high - low);
            at_left = of(left);
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use model::Rng;

    use super::*;
    use crate::tests::simulation::normal;

    fn family(variances: &[f64]) -> Family {
        Family {
            variances: variances.iter().map(|variance| (*variance, 3.0)).collect(),
            cells: variances.len() as u32,
            df: 3.0 * variances.len() as f64,
        }
    }

    /// Both as `scipy.stats` 1.17 has them: the largest `f.logpdf(v / s0², d, d0) − ln s0²`, summed, and the log-normal.
    #[test]
    fn the_likeliest_prior() {
        let e = std::f64::consts::E;
        let of = |df: &[f64], variances: &[f64], cells: u32| {
            let cell = |(variance, df): (&f64, &f64)| (*variance, *df);
            let family = Family {
                variances: variances.iter().zip(df).map(cell).collect(),
                cells,
                df: df.iter().sum::<f64>() * f64::from(cells) / df.len() as f64,
            };
            Prior::fit(&family).unwrap()
        };
        for (found, df, variance) in [
            (of(&[3.0; 8], &[[e, 1.0 / e]; 4].concat(), 8), 6.861, 1.225_23),
            (of(&[3.0; 8], &[2.0; 8], 8), 9.773, 2.0),
            (
                of(&[3.0, 3.0, 2.0, 3.0, 5.0, 3.0], &[0.1, 0.4, 1.0, 2.0, 7.0, 50.0], 6),
                2.438,
                1.416_97,
            ),
            // Twelve pairs of systems, six of them independent.
            (of(&[3.0; 12], &[[1.0, 4.0, 0.3, 2.0, 0.7, 9.0]; 2].concat(), 6), 5.696, 1.869_32),
        ] {
            assert!((found.df / df - 1.0).abs() < 2e-3, "{found:?} {df}");
            assert!((found.variance / variance - 1.0).abs() < 1e-3, "{found:?} {variance}");
        }
    }

    #[test]
    fn a_cell_is_drawn_to_its_family_and_none_knows_more_than_all() {
        let prior = Prior { df: 6.0, variance: 2.0, total: 24.0 };
        assert_eq!(prior.moderate(5.0, 3.0), (3.0, 6.0));
        let narrow = Prior { total: 8.0, ..prior };
        assert_eq!(narrow.moderate(5.0, 3.0), (3.0, 5.0));
        assert_eq!(prior.times(2.0).moderate(4.0, 3.0), (4.0, 6.0));
    }

    #[test]
    fn small_families_and_those_without_spread_have_no_prior() {
        assert_eq!(Prior::fit(&family(&[2.0; 5])), None);
        assert_eq!(Prior::fit(&family(&[])), None);
        assert_eq!(Prior::fit(&family(&[0.0; 20])), None);
        let mut some = [1.0; 20];
        some[0] = 0.0;
        let (variance, _) = Prior::fit(&family(&some)).unwrap().moderate(0.0, 3.0);
        assert!(variance > 0.0 && variance < 1.0, "{variance}");
        some[0] = f64::INFINITY;
        assert_eq!(Prior::fit(&family(&some)), None);
    }

    /// Rates of a ramp are one of few: rounds that are all on the same one are ordinary.
    #[test]
    fn cells_that_do_not_vary_tell_nothing_of_the_others() {
        let varying = [0.1, 0.4, 1.0, 2.0, 7.0, 50.0, 0.8, 3.0];
        for df in [3.0, 11.0] {
            for (zeros, nothing) in [(1, 0.0), (4, 0.0), (7, 0.0), (5, 1e-6), (7, 1e-30)] {
                let of = |variances: &[f64]| {
                    let family = Family {
                        df: df * variances.len() as f64,
                        variances: variances.iter().map(|v| (*v, df)).collect(),
                        cells: variances.len() as u32,
                    };
                    Prior::fit(&family).unwrap()
                };
                let alone = of(&varying);
                let with = of(&[&varying[..], &vec![nothing; zeros]].concat());
                assert!((with.df / alone.df - 1.0).abs() < 0.02, "{with:?} {alone:?}");
                let variance = with.variance / alone.variance;
                assert!((variance - 1.0).abs() < 0.01, "{with:?} {alone:?}");
                assert!((with.total - alone.total).abs() < 1e-9);
            }
        }
        // Five that vary are too few, however many do not.
        assert_eq!(Prior::fit(&family(&[1.0, 2.0, 1.0, 2.0, 1.0, 0.0, 0.0])), None);
    }

    #[test]
    fn a_million_times_as_noisy_is_no_other_family() {
        let variances = [0.1, 0.4, 1.0, 2.0, 7.0, 50.0];
        let one = Prior::fit(&family(&variances)).unwrap();
        let other = Prior::fit(&family(&variances.map(|v| v * 1e6))).unwrap();
        assert!((other.df / one.df - 1.0).abs() < 1e-6);
        assert!((other.variance / one.variance / 1e6 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn finds_the_prior_that_variances_were_drawn_from() {
        let mut rng = Rng::new(21);
        let mut chi = |df: u32| -> f64 { (0..df).map(|_| normal(&mut rng).powi(2)).sum() };
        // σ² = d0·s0²/χ²(d0) with d0 = 6 and s0² = 4; s² = σ²·χ²(3)/3.
        let drawn: Vec<f64> = (0..5000).map(|_| 6.0 * 4.0 / chi(6) * chi(3) / 3.0).collect();
        let prior = Prior::fit(&family(&drawn)).unwrap();
        assert!((4.5..8.0).contains(&prior.df), "{prior:?}");
        assert!((3.7..4.3).contains(&prior.variance), "{prior:?}");
    }
}

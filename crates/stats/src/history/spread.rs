//! How much the values of one build scatter, from its replicates, its neighbours and its family.

use super::Series;
use crate::moderate::{Family, Prior};
use crate::paired::LEAST_SD;
use crate::summary::NORMAL_MAD;

/// From so many builds on neighbours say how much values scatter: of fewer, most steps may be true changes.
pub(super) const FEWEST_BUILDS: usize = 8;

/// The efficiency of the median absolute deviation: Rousseeuw & Croux 1993, *Alternatives to the median
/// absolute deviation*, J. Am. Stat. Assoc. 88(424).
const EFFICIENCY: f64 = 0.37;

const LEAST: f64 = LEAST_SD * LEAST_SD;

/// The variance of a replicate around its build; `None` where there are no replicates.
///
/// The shared part of rounds was removed before, at the cost of `series.shared` degrees of freedom.
pub(super) fn within(series: &Series) -> Option<Variance> {
    let mut squares = 0.0;
    let mut free = 0.0;
    for logs in series.builds.iter().filter(|logs| !logs.is_empty()) {
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        squares += logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
        free += (logs.len() - 1) as f64;
    }
    let df = free - f64::from(series.shared);
    (df >= 1.0).then(|| Variance { value: (squares / df).max(LEAST), df })
}

/// The variance of a replicate that the steps between neighbours come to, if each build adds its own chance;
/// `None` with few builds. A few true steps do not matter to a median.
pub(super) fn between(means: &[f64], weights: &[f64]) -> Option<Variance> {
    if means.len() < FEWEST_BUILDS {
        return None;
    }
    let steps = means.windows(2).zip(weights.windows(2));
    let mut steps: Vec<f64> = steps
        .map(|(mean, weight)| {
            (mean[1] - mean[0]).abs() / (1.0 / weight[0] + 1.0 / weight[1]).sqrt()
        })
        .collect();
    steps.sort_unstable_by(f64::total_cmp);
    let median = steps.get(steps.len() / 2).copied()?;
    Some(Variance {
        value: (NORMAL_MAD * median).powi(2).max(LEAST),
        df: EFFICIENCY * steps.len() as f64,
    })
}

/// Around the level of its segment; `None` with few builds, or where too few of them are left to say.
pub(super) fn around_levels(means: &[f64], weights: &[f64], borders: &[usize]) -> Option<Variance> {
    let kept = weights.iter().filter(|weight| **weight > 0.0).count();
    let df = kept as f64 - (borders.len() + 1) as f64;
    if means.len() < FEWEST_BUILDS || df < 1.0 {
        return None;
    }
    let squares: f64 = segments(borders, means.len())
        .map(|(from, to)| {
            let (means, weights) = (&means[from..to], &weights[from..to]);
            let level = level(means, weights);
            let squares = means.iter().zip(weights);
            squares.map(|(mean, weight)| weight * (mean - level).powi(2)).sum::<f64>()
        })
        .sum();
    Some(Variance { value: (squares / df).max(LEAST), df })
}

/// The weighted mean; zero where nothing has a weight.
pub(super) fn level(means: &[f64], weights: &[f64]) -> f64 {
    let weight: f64 = weights.iter().sum();
    let sum: f64 = means.iter().zip(weights).map(|(mean, w)| mean * w).sum();
    if weight > 0.0 { sum / weight } else { 0.0 }
}

/// The stretches between borders, as (first, one past the last).
pub(super) fn segments(borders: &[usize], end: usize) -> impl Iterator<Item = (usize, usize)> {
    let from = std::iter::once(0).chain(borders.iter().copied());
    from.zip(borders.iter().copied().chain(std::iter::once(end)))
}

/// The larger of two: neither replicates nor neighbours may hide the other's evidence.
pub(super) fn larger(one: Option<Variance>, other: Option<Variance>) -> Option<Variance> {
    match (one, other) {
        (Some(one), Some(other)) if one.value < other.value => Some(other),
        (Some(one), _) => Some(one),
        (None, other) => other,
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variance {
    pub(super) value: f64,
    pub(super) df: f64,
}

/// The variance that a series of a family has before it is looked at; `None` for small families.
pub(super) fn fit(seen: &[Variance]) -> Option<Prior> {
    Prior::fit(&Family {
        variances: seen.iter().map(|one| (one.value, one.df)).collect(),
        cells: seen.len() as u32,
        df: seen.iter().map(|one| one.df).sum(),
    })
}

impl Variance {
    pub(super) fn at_least(self, value: f64) -> Self {
        Self { value: self.value.max(value), ..self }
    }

    pub(super) fn moderated(self, prior: Option<Prior>) -> Self {
        let Some(prior) = prior else { return self };
        let (value, added) = prior.moderate(self.value, self.df);
        Self { value, df: self.df + added }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicates_scatter_around_their_builds() {
        let series =
            Series { builds: vec![vec![1.0, 1.2], vec![2.0, 2.2], vec![3.0]], ..Series::default() };
        let found = within(&series).unwrap();
        assert!((found.value - 0.02).abs() < 1e-12, "{found:?}");
        assert!((found.df - 2.0).abs() < 1e-12);
        let shared = Series { shared: 1, ..series };
        assert!((within(&shared).unwrap().df - 1.0).abs() < 1e-12);
        assert_eq!(within(&Series::default()), None);
    }

    #[test]
    fn a_step_matters_to_neither_estimate() {
        let means: Vec<f64> =
            (0..20).map(|i| f64::from(i % 2) * 0.01 + if i < 12 { 0.0 } else { 5.0 }).collect();
        let weights = [1.0; 20];
        let neighbours = between(&means, &weights).unwrap().value.sqrt();
        assert!((neighbours - NORMAL_MAD * 0.01 / 2.0_f64.sqrt()).abs() < 1e-9);
        let levels = around_levels(&means, &weights, &[12]).unwrap();
        assert!((levels.value.sqrt() - 0.005).abs() < 0.000_5);
        assert!((levels.df - 18.0).abs() < 1e-12);
        assert_eq!(between(&means[..7], &weights[..7]), None);
        assert_eq!(around_levels(&means[..7], &weights[..7], &[]), None);
    }

    #[test]
    fn a_series_alone_keeps_its_variance_and_one_of_many_is_drawn_to_the_others() {
        let usual = Variance { value: 1.0, df: 3.0 };
        let wild = Variance { value: 9.0, ..usual };
        assert_eq!(wild.moderated(fit(&[wild; 3])), wild);
        let mut family = vec![usual; 20];
        family.push(wild);
        let drawn = wild.moderated(fit(&family));
        assert!(drawn.value < 5.0 && drawn.df > 3.0, "{drawn:?}");
    }
}

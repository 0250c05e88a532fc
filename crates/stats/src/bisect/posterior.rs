//! The probability of each place of a change.

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::ops::RangeInclusive;

use statrs::function::gamma::ln_gamma;

use super::Pair;
use crate::paired::{ratio_of, sum};
use crate::student::{CONFIDENCE, LEVEL, z_critical};
use crate::summary::{NORMAL_MAD, mean, median};

/// Before any pair, the probability that nothing changed.
const NO_CHANGE: f64 = 0.5;
/// Before any pair, the probability that two builds changed the metric, if any did.
const SEVERAL: f64 = 0.05;
/// Of two changes, the first takes the metric to this part of the whole difference.
const FIRST_PARTS: [f64; 3] = [-0.5, 0.5, 1.5];
/// Half of all changes are smaller than this, half are larger (Cauchy's distribution).
const USUAL_EFFECT: f64 = 0.05;
/// Standard deviation among builds of equal source: their code lies elsewhere in memory.
const BUILD_SD: f64 = 0.002;
/// Deviations count up to this many standard deviations as shared noise.
const FAR: f64 = 5.0;
/// Pairs never count as more precise than this.
const LEAST_SCALE: f64 = BUILD_SD / 2.0;
/// Gauss–Hermite quadrature of a normal distribution: distances in standard deviations, and their weights.
const NODES: [(f64, f64); 3] =
    [(-1.732_050_807_568_877_2, 1.0 / 6.0), (0.0, 2.0 / 3.0), (1.732_050_807_568_877_2, 1.0 / 6.0)];
/// Steps of half a standard error on each side of the last build's median.
const EFFECT_STEPS: i32 = 10;
/// Steps of a third of a power of two, from the scatter within builds.
const SCALE_STEPS: RangeInclusive<i32> = -6..=3;
/// Degrees of freedom of the noise: nearly normal; with tails in which no single pair decides; and heavier still, where
/// some trials are much slower than the others of their build.
const DF: [f64; 3] = [40.0, 6.0, 2.0];

/// What the pairs say about the change.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// The probability that nothing changed.
    pub none: f64,
    /// The probability that two builds changed the metric, if any did.
    pub several: f64,
    /// The most likely places of two changes; one alone where no build between the ends was measured.
    pub two: Vec<RangeInclusive<usize>>,
    /// The fewest neighbouring places that hold a single change with [`CONFIDENCE`]; all places if none do.
    pub range: RangeInclusive<usize>,
    /// The probability that a single change is in `range`.
    pub probability: f64,
    /// The difference between the ends.
    pub effect: Effect,
    /// The probability that a single change is at this place or before it.
    until: Vec<f64>,
}

/// The ratio of the last build to the first, and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
}

impl Posterior {
    /// `None` where nothing was measured or the pairs have no scatter to judge by.
    pub(super) fn of(available: &[bool], pairs: &[Pair]) -> Option<Self> {
        let grid = Grid::of(pairs)?;
        let sums = grid.sums();
        let builds = grid.places.last()?.place as f64;
        let widths = grid.places.iter().map(|measured| measured.width);
        let prior = (1.0 - NO_CHANGE) / builds;
        let none = sums.none + NO_CHANGE.ln();
        let single: Vec<f64> = sums.at.iter().map(|at| at + prior.ln()).collect();
        let one = single.iter().copied().fold(f64::NEG_INFINITY, log_add);
        let all = log_add(none, one);
        let mut until = vec![0.0];
        for (width, log) in widths.zip(&single) {
            let before = until.last().copied().unwrap_or(0.0);
            let share = (log - one).exp();
            until.extend((1..=width as usize).map(|step| before + share * step as f64 / width));
        }
        let change = (one - all).exp();
        let range = shortest(available, &until, CONFIDENCE / change);
        let combinations = FIRST_PARTS.len() as f64 * builds * (builds - 1.0) / 2.0;
        let two = sums.two + ((1.0 - NO_CHANGE) * SEVERAL / combinations).ln();
        let several = (two - log_add(one + (1.0 - SEVERAL).ln(), two)).exp();
        Some(Self {
            none: (none - all).exp(),
            several: if several.is_nan() { 0.0 } else { several },
            two: sums.best_two.1.iter().filter_map(|&knot| grid.range(knot)).collect(),
            probability: change * held(&until, &range),
            range,
            effect: Effect::of(&grid.effects, &sums.effects)?,
            until,
        })
    }

    /// How uncertain it is on which side of this place the change is; a quarter at most.
    pub(super) fn doubt(&self, place: usize) -> f64 {
        let until = self.until.get(place).copied().unwrap_or(1.0);
        until * (1.0 - until)
    }
}

/// Which part of `until` lies in these places.
fn held(until: &[f64], range: &RangeInclusive<usize>) -> f64 {
    let at = |place: usize| until.get(place).copied().unwrap_or(1.0);
    at(*range.end()) - at(range.start().saturating_sub(1))
}

/// The fewest neighbouring places that hold so much, among those that end at available builds and begin after one.
fn shortest(available: &[bool], until: &[f64], wanted: f64) -> RangeInclusive<usize> {
    let ends: Vec<usize> =
        (0..until.len()).filter(|place| available.get(*place) == Some(&true)).collect();
    let all = 1..=until.len().saturating_sub(1);
    let ranges = ends.iter().filter_map(|before| {
        let mut ranges = ends.iter().filter(|end| *end > before).map(|end| before + 1..=*end);
        ranges.find(|range| held(until, range) >= wanted)
    });
    // Of equally short ones the one that holds most.
    ranges
        .min_by(|a, b| {
            a.clone()
                .count()
                .cmp(&b.clone().count())
                .then(held(until, b).total_cmp(&held(until, a)))
        })
        .unwrap_or(all)
}

impl Effect {
    /// From the logarithms of the weights of these log ratios.
    fn of(effects: &[f64], logs: &[f64]) -> Option<Self> {
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
        let all = sum(&weights);
        let mean_of = |values: &mut dyn Iterator<Item = f64>| -> f64 {
            values.zip(&weights).map(|(value, weight)| value * weight).sum::<f64>() / all
        };
        let mean = mean_of(&mut effects.iter().copied());
        let sd = mean_of(&mut effects.iter().map(|effect| (effect - mean).powi(2))).sqrt();
        let half = z_critical(LEVEL / 2.0) * sd;
        mean.is_finite().then(|| Self {
            ratio: ratio_of(mean),
            low: ratio_of(mean - half),
            high: ratio_of(mean + half),
        })
    }
}

/// A place with pairs; a change at one of `width` places up to this one is seen from here on.
struct Measured<'a> {
    place: usize,
    width: f64,
    pairs: Vec<&'a Pair>,
}

impl Measured<'_> {
    fn logs(&self) -> Vec<f64> {
        self.pairs.iter().map(|pair| pair.log).collect()
    }
}

/// Over what the likelihood is summed: the effect, and the scale of the noise.
struct Grid<'a> {
    places: Vec<Measured<'a>>,
    scales: Vec<f64>,
    effects: Vec<f64>,
    /// Logarithms of the prior weights of the effects.
    priors: Vec<f64>,
    /// How much of a pair each pair counts: less where the pairs of a run share noise.
    weight: f64,
}

/// A distribution of the noise of pairs: Student's *t*.
#[derive(Clone, Copy)]
struct Noise {
    scale: f64,
    df: f64,
}

/// Logarithms of likelihoods, summed over a grid.
struct Sums {
    none: f64,
    /// A change that is first seen at each measured place.
    at: Vec<f64>,
    effects: Vec<f64>,
    two: f64,
    /// The most likely measured places of two changes.
    best_two: (f64, Vec<usize>),
}

impl<'a> Grid<'a> {
    fn of(pairs: &'a [Pair]) -> Option<Self> {
        let mut by_place: BTreeMap<usize, Vec<&Pair>> = BTreeMap::new();
        for pair in pairs.iter().filter(|pair| pair.place > 0) {
            by_place.entry(pair.place).or_default().push(pair);
        }
        let mut before = 0;
        let places = by_place.into_iter().map(|(place, pairs)| {
            let width = (place - std::mem::replace(&mut before, place)) as f64;
            Measured { place, width, pairs }
        });
        let places: Vec<Measured<'_>> = places.collect();
        let scale = scatter(&places)?.max(LEAST_SCALE);
        let last = places.last()?;
        let logs = last.logs();
        let (centre, step) = (median(&logs)?, scale / (logs.len() as f64).sqrt() / 2.0);
        let effects = (-EFFECT_STEPS..=EFFECT_STEPS).map(|k| centre + step * f64::from(k));
        let effects: Vec<f64> = effects.collect();
        let density =
            |effect: f64| 1.0 / (PI * USUAL_EFFECT * (1.0 + (effect / USUAL_EFFECT).powi(2)));
        let priors = effects.iter().map(|effect| (density(*effect) * step).ln()).collect();
        let scales =
            SCALE_STEPS.map(|k| (scale * 2.0_f64.powf(f64::from(k) / 3.0)).max(LEAST_SCALE));
        let weight = 1.0 / shared(&places, scale);
        Some(Self { places, scales: scales.collect(), effects, priors, weight })
    }

    /// The places at which a change is first seen at this measured place.
    fn range(&self, knot: usize) -> Option<RangeInclusive<usize>> {
        let Measured { place, width, .. } = self.places.get(knot)?;
        Some(place + 1 - *width as usize..=*place)
    }

    fn sums(&self) -> Sums {
        let nothing = f64::NEG_INFINITY;
        let mut sums = Sums {
            none: nothing,
            at: vec![nothing; self.places.len()],
            effects: vec![nothing; self.effects.len()],
            two: nothing,
            best_two: (nothing, Vec::new()),
        };
        let noises = self.scales.iter().flat_map(|&scale| DF.map(|df| Noise { scale, df }));
        for noise in noises {
            let before = self.until(0.0, noise);
            sums.none = log_add(sums.none, total(&before));
            for ((&effect, prior), of_effect) in
                self.effects.iter().zip(&self.priors).zip(0_usize..)
            {
                let after = self.until(effect, noise);
                let at = before.iter().zip(&after).map(|(b, a)| prior + b + total(&after) - a);
                for (place, log) in at.enumerate().take(self.places.len()) {
                    let log = log + self.places[place].width.ln();
                    sums.at[place] = log_add(sums.at[place], log);
                    sums.effects[of_effect] = log_add(sums.effects[of_effect], log);
                }
                for part in FIRST_PARTS {
                    let between = self.until(part * effect, noise);
                    self.add_two([&before, &between, &after], *prior, &mut sums);
                }
            }
        }
        sums
    }

    /// The logarithms of the likelihood of the pairs before each measured place, and of all, at one level.
    fn until(&self, level: f64, noise: Noise) -> Vec<f64> {
        let mut until = vec![0.0];
        for measured in &self.places {
            let before = total(&until);
            until.push(before + self.weight * likelihood(&measured.pairs, level, noise));
        }
        until
    }

    /// Two changes at different measured places, of which the second is at the last level.
    fn add_two(&self, [before, between, after]: [&[f64]; 3], prior: f64, sums: &mut Sums) {
        let mut first = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0);
        for (second, measured) in self.places.iter().enumerate() {
            let rest = prior + between[second] + total(after) - after[second] + measured.width.ln();
            sums.two = log_add(sums.two, first.0 + rest);
            if first.1 + rest > sums.best_two.0 {
                sums.best_two = (first.1 + rest, vec![first.2, second]);
            }
            let here = before[second] - between[second] + measured.width.ln();
            first.0 = log_add(first.0, here);
            if here > first.1 {
                (first.1, first.2) = (here, second);
            }
        }
    }
}

fn total(until: &[f64]) -> f64 {
    until.last().copied().unwrap_or(0.0)
}

/// The standard deviation of pairs within places, from the median of their deviations; `None` where no place has two.
fn scatter(places: &[Measured<'_>]) -> Option<f64> {
    let mut deviations = Vec::new();
    for logs in places.iter().map(Measured::logs).filter(|logs| logs.len() > 1) {
        let (centre, n) = (median(&logs)?, logs.len() as f64);
        deviations.extend(logs.iter().map(|log| (log - centre).abs() * (n / (n - 1.0)).sqrt()));
    }
    Some(median(&deviations)? * NORMAL_MAD)
}

/// The variance of the means of runs over what it would be if the pairs of a run shared no noise, at least 1: by so much
/// the likelihood of independent pairs is too sharp (Chandler and Bate, Biometrika 94, 2007). Deviations count up to
/// [`FAR`] times the scale, so that single slow trials do not look like shared noise.
fn shared(places: &[Measured<'_>], scale: f64) -> f64 {
    let by_run = |measured: &Measured<'_>| {
        let centre = median(&measured.logs()).unwrap_or(0.0);
        let mut runs: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for pair in &measured.pairs {
            let near = (pair.log - centre).clamp(-FAR * scale, FAR * scale);
            runs.entry(pair.run).or_default().push(near);
        }
        runs.into_values().collect::<Vec<_>>()
    };
    let runs: Vec<Vec<Vec<f64>>> = places.iter().map(by_run).collect();
    let of_pairs = variance_within(runs.iter().map(|of_place| of_place.concat()));
    let means = runs.iter().map(|of_place| of_place.iter().filter_map(|logs| mean(logs)).collect());
    let pairs: usize = places.iter().map(|place| place.pairs.len()).sum();
    let of_each = pairs as f64 / runs.iter().map(Vec::len).sum::<usize>().max(1) as f64;
    let ratio = variance_within(means).zip(of_pairs).map(|(means, pairs)| of_each * means / pairs);
    ratio.filter(|ratio| ratio.is_finite()).map_or(1.0, |ratio| ratio.max(1.0))
}

/// The variance within groups; `None` where no group has two values.
fn variance_within(groups: impl Iterator<Item = Vec<f64>>) -> Option<f64> {
    let of_group = |logs: Vec<f64>| {
        let mean = mean(&logs)?;
        let squares: Vec<f64> = logs.iter().map(|log| (log - mean).powi(2)).collect();
        Some((sum(&squares), logs.len() - 1))
    };
    let parts: Vec<(f64, usize)> = groups.filter_map(of_group).collect();
    let df: usize = parts.iter().map(|(_, df)| df).sum();
    (df > 0).then(|| parts.iter().map(|(squares, _)| squares).sum::<f64>() / df as f64)
}

/// The logarithm of the likelihood of the pairs of one build at this level, apart from a constant.
fn likelihood(pairs: &[&Pair], level: f64, Noise { scale, df }: Noise) -> f64 {
    let peak = ln_gamma(0.5 * (df + 1.0)) - ln_gamma(0.5 * df) - 0.5 * (df * PI).ln();
    let of_node = |(distance, weight): (f64, f64)| {
        let level = level + distance * BUILD_SD;
        let of_pair = pairs.iter().map(|pair| {
            let scale = scale.max(pair.error);
            let z = (pair.log - level) / scale;
            peak - scale.ln() - 0.5 * (df + 1.0) * (z * z / df).ln_1p()
        });
        of_pair.sum::<f64>() + weight.ln()
    };
    NODES.into_iter().map(of_node).fold(f64::NEG_INFINITY, log_add)
}

/// ln(eᵃ + eᵇ).
fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = (a.min(b), a.max(b));
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

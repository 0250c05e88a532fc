//! A series is divided as long as the parts certainly differ.

use std::collections::HashMap;

use super::energy::best_split;
use super::prior::Variance;
use super::spread::{around_levels, larger, level, segments, smaller};
use crate::moderate::Prior;
use crate::student::two_sided_p;

/// Values, of builds and replicates together, that the two sides of a border need.
const FEWEST_VALUES: f64 = 3.0;

/// Below this, t has a p-value over 0.05 whatever its degrees of freedom; it is taken for one, as computing it
/// for every pair of builds would take longer than all else.
const NEVER_CERTAIN: f64 = 1.9;

/// A series as it is divided: builds that stand apart have a weight of zero.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Mean logarithm of each build.
    pub(super) means: Vec<f64>,
    /// Replicates of each build.
    pub(super) weights: Vec<f64>,
    /// May the last build alone be a segment?
    pub(super) last_alone: bool,
}

/// What the test of a border takes for chance.
#[derive(Clone, Copy, Debug)]
pub(super) enum Chance {
    /// This variance of a replicate.
    Fixed(Variance),
    /// The scatter around the levels, that border among them, drawn towards `prior`; or that of the
    /// neighbours, if it is smaller: the one counts a step that was not taken yet, or a trend, for chance,
    /// the other many small steps. At least the scatter of the replicates.
    Around {
        /// Of the family.
        prior: Option<Prior>,
        /// Of the neighbours.
        neighbours: Option<Variance>,
        /// Of the replicates.
        replicates: Option<Variance>,
    },
}

impl Chance {
    /// For a line with these borders.
    pub(super) fn of(self, line: &Line, borders: &[usize]) -> Option<Variance> {
        match self {
            Self::Fixed(variance) => Some(variance),
            Self::Around {
                prior,
                neighbours,
                replicates,
            } => {
                let around = around_levels(&line.means, &line.weights, borders);
                let around = around.map(|v| v.moderated(prior));
                larger(replicates, smaller(neighbours, around))
            }
        }
    }
}

/// Two levels side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contrast {
    /// The logarithm of the right level over the left one.
    pub(super) log: f64,
    /// Its standard error.
    pub(super) error: f64,
    /// Degrees of freedom of that.
    pub(super) df: f64,
    /// Two-sided p-value, at most one: that of the t-test times the number of places at which the border
    /// could have been, so that having looked for it makes it no more certain (Bonferroni).
    pub(super) p: f64,
}

impl Line {
    /// The levels of `from..border` and `border..to`; `None` where one of them has no build.
    pub(super) fn contrast(
        &self,
        (from, border, to): (usize, usize, usize),
        chance: Variance,
    ) -> Option<Contrast> {
        let places = (from + 1..to).filter(|place| self.may_be(*place));
        let places = places.count().max(1) as f64;
        self.compare((from, border), (border, to), chance)
            .map(|one| Contrast {
                p: (one.p * places).min(1.0),
                ..one
            })
    }

    /// The levels of two stretches that were not looked for.
    pub(super) fn compare(
        &self,
        left: (usize, usize),
        right: (usize, usize),
        chance: Variance,
    ) -> Option<Contrast> {
        let of = |(from, to): (usize, usize)| {
            let (means, weights) = (&self.means[from..to], &self.weights[from..to]);
            let weight: f64 = weights.iter().sum();
            (weight > 0.0).then(|| (level(means, weights), weight))
        };
        let ((left, left_weight), (right, right_weight)) = (of(left)?, of(right)?);
        let error = (chance.value * (1.0 / left_weight + 1.0 / right_weight)).sqrt();
        let df = chance.df;
        let log = right - left;
        let t = log / error;
        let p = if t.abs() < NEVER_CERTAIN {
            1.0
        } else {
            two_sided_p(t, df)
        };
        Some(Contrast { log, error, df, p })
    }

    /// May a border stand there? Its first build must count, and the last build alone must have been measured
    /// beside another.
    fn may_be(&self, border: usize) -> bool {
        let last = self.weights.iter().rposition(|weight| *weight > 0.0);
        self.weights[border] > 0.0 && (self.last_alone || last.is_some_and(|last| border < last))
    }

    /// The best border within a stretch; none where it holds too few values.
    fn split(&self, (from, to): (usize, usize)) -> Option<usize> {
        let (means, weights) = (&self.means[from..to], &self.weights[from..to]);
        if weights.iter().sum::<f64>() < FEWEST_VALUES {
            return None;
        }
        let allowed = |place: usize| self.may_be(from + place);
        best_split(means, weights, allowed).map(|place| from + place)
    }
}

/// What dividing a line came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Divided {
    /// The first build of each new level, in order.
    pub(super) borders: Vec<usize>,
    /// The p-values of borders that were looked at and not taken.
    pub(super) refused: Vec<f64>,
}

/// The best splits that were found before: they depend on nothing but the stretch.
pub(super) type Splits = HashMap<(usize, usize), Option<usize>>;

/// Divides each stretch between `borders` at its best place, and the parts again, as long as p is at most
/// `limit`.
pub(super) fn divide(
    line: &Line,
    borders: &[usize],
    chance: Chance,
    limit: f64,
    splits: &mut Splits,
) -> Divided {
    let mut found = Divided {
        borders: borders.to_vec(),
        refused: Vec::new(),
    };
    let mut open: Vec<(usize, usize)> = segments(borders, line.means.len()).collect();
    while let Some((from, to)) = open.pop() {
        let split = splits
            .entry((from, to))
            .or_insert_with(|| line.split((from, to)));
        let Some(border) = *split else {
            continue;
        };
        let mut with = found.borders.clone();
        with.push(border);
        with.sort_unstable();
        let contrast = chance
            .of(line, &with)
            .and_then(|chance| line.contrast((from, border, to), chance));
        match contrast {
            Some(one) if one.p <= limit => {
                found.borders = with;
                open.extend([(from, border), (border, to)]);
            }
            Some(one) => found.refused.push(one.p),
            None => {}
        }
    }
    found
}

/// Takes borders out until the levels beside each left one differ certainly (p at most `limit`) and by more
/// than `margin`: always the one with the smallest step. Yields those left, each with its step.
pub(super) fn prune(
    line: &Line,
    borders: &[usize],
    chance: Chance,
    limit: f64,
    margin: f64,
) -> Vec<(usize, Contrast)> {
    let mut borders = borders.to_vec();
    loop {
        let Some(variance) = chance.of(line, &borders) else {
            return Vec::new();
        };
        let stretches: Vec<(usize, usize)> = segments(&borders, line.means.len()).collect();
        let steps: Vec<(usize, Contrast)> = stretches
            .windows(2)
            .filter_map(|pair| {
                let (from, border, to) = (pair[0].0, pair[1].0, pair[1].1);
                Some((border, line.contrast((from, border, to), variance)?))
            })
            .collect();
        let fails = |one: &Contrast| !(one.p <= limit && one.log.abs() > margin);
        let failing = steps.iter().filter(|(_, one)| fails(one));
        let weakest = failing.min_by(|a, b| a.1.log.abs().total_cmp(&b.1.log.abs()));
        match weakest.map(|(border, _)| *border) {
            Some(border) => borders.retain(|other| *other != border),
            None => return steps,
        }
    }
}

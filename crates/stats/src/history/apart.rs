//! Builds that stand apart: outliers, and a last build that nothing confirms yet.

use super::Standing;
use super::line::{Chance, Contrast, Line};
use super::spread::Variance;
use super::spread::segments;

/// Neighbours are alike if a build is this many times as far from each of them as they are from each other.
/// That they do not certainly differ is not enough: after a dip at the foot of a step they would not.
const ALIKE: f64 = 3.0;

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The largest p-value that counts as certain.
    pub(super) p: f64,
    /// The smallest difference of logarithms that matters.
    pub(super) margin: f64,
}

impl Limits {
    fn differ(self, one: Option<Contrast>) -> Option<f64> {
        one.filter(|c| c.p <= self.p && c.log.abs() > self.margin).map(|c| c.log)
    }
}

/// Takes out of the line each build that differs in the same direction from both its neighbours, where those
/// are alike, and a last build that differs from both before it and was not measured beside another.
pub(super) fn set_apart(
    line: &mut Line<'_>,
    standing: &mut [Standing],
    chance: Variance,
    limits: Limits,
) {
    let builds = line.means.len();
    for place in 1..builds.saturating_sub(1) {
        // A build beside one that stands apart already has no neighbour to be judged by.
        if (place - 1..=place + 1).any(|near| line.weights[near] <= 0.0) {
            continue;
        }
        let step = |a: usize, b: usize| limits.differ(line.compare((a, a + 1), (b, b + 1), chance));
        let across = (line.means[place + 1] - line.means[place - 1]).abs();
        let lone = step(place - 1, place).is_some_and(|before| {
            let after = step(place + 1, place);
            let alike = |far: f64| across * ALIKE <= far.abs();
            after.is_some_and(|after| {
                (before > 0.0) == (after > 0.0) && alike(before) && alike(after)
            })
        });
        if lone && step(place - 1, place + 1).is_none() {
            take_out(line, standing, place, Standing::Outlier);
        }
    }
    if builds < 3 || line.last_alone {
        return;
    }
    let last = builds - 1;
    let step = |from: usize| limits.differ(line.compare((from, from + 1), (last, builds), chance));
    let lone = step(last - 1)
        .is_some_and(|near| step(last - 2).is_some_and(|far| (near > 0.0) == (far > 0.0)));
    if lone {
        take_out(line, standing, last, Standing::Unconfirmed);
    }
}

/// Takes out each build that became a segment of its own between two levels that do not differ: one build
/// that comes and goes is an outlier, not two steps. Yields the borders that are left.
pub(super) fn between_alike(
    line: &mut Line<'_>,
    standing: &mut [Standing],
    borders: &[usize],
    chance: Chance,
    limits: Limits,
) -> Vec<usize> {
    let mut borders = borders.to_vec();
    loop {
        let Some(variance) = chance.of(line, &borders) else {
            return borders;
        };
        let stretches: Vec<(usize, usize)> = segments(&borders, line.means.len()).collect();
        let count = |(from, to): (usize, usize)| {
            line.weights[from..to].iter().filter(|w| **w > 0.0).count()
        };
        if let Some(first) = borders.first().copied()
            && count(stretches[0]) == 1
            && !line.first_alone
            && !line.is_usual(first)
        {
            take_out_all(line, standing, stretches[0]);
            borders.remove(0);
            continue;
        }
        let lone = stretches.windows(3).find(|three| {
            count(three[1]) == 1 && {
                let sides = line.compare(three[0], three[2], variance);
                let places = (three[2].1 - three[0].0) as f64;
                limits.differ(sides.map(|s| Contrast { p: s.p * places, ..s })).is_none()
            }
        });
        let Some((from, to)) = lone.map(|three| three[1]) else {
            return borders;
        };
        take_out_all(line, standing, (from, to));
        borders.retain(|border| *border != from && *border != to);
    }
}

fn take_out_all(line: &mut Line<'_>, standing: &mut [Standing], (from, to): (usize, usize)) {
    for place in from..to {
        if line.weights[place] > 0.0 {
            take_out(line, standing, place, Standing::Outlier);
        }
    }
}

fn take_out(line: &mut Line<'_>, standing: &mut [Standing], place: usize, why: Standing) {
    line.weights[place] = 0.0;
    standing[place] = why;
}

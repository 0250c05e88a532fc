//! A series is divided as long as the parts certainly differ. Builds that stand apart: outliers, and a last build that
//! nothing confirms yet.

use std::collections::HashMap;

use super::Standing;
use super::line::{Beside, Chance, Contrast, Line, Stretch};
use super::spread::{Variance, segments};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Divided {
    /// The first build of each new level, in order.
    pub(super) borders: Vec<usize>,
    /// The p-values of borders that were looked at and not taken.
    pub(super) refused: Vec<f64>,
}

/// Findings in earlier stretches: they depend only on the stretch and the weights.
#[derive(Default)]
pub(super) struct Searched {
    weights: Vec<f64>,
    splits: HashMap<Stretch, Option<usize>>,
    dips: HashMap<Stretch, Option<Dip>>,
}

/// The stretch within another that differs most from its surroundings, and the number of candidates.
type Dip = (Stretch, usize);

impl Searched {
    fn split(&mut self, line: &Line<'_>, stretch: Stretch) -> Option<usize> {
        *self.splits.entry(stretch).or_insert_with(|| line.split(stretch))
    }

    fn dip(&mut self, line: &Line<'_>, (from, to): Stretch) -> Option<Dip> {
        let search = || {
            let (means, weights) = (&line.means[from..to], &line.weights[from..to]);
            let found = most_unlike(means, weights, |place| line.may_be(from + place));
            found.map(|((begin, end), among)| ((from + begin, from + end), among))
        };
        *self.dips.entry((from, to)).or_insert_with(search)
    }
}

/// Divides each stretch between `borders` at its best place, and the parts again, while p is at most `limit`.
pub(super) fn divide(
    line: &Line<'_>,
    borders: &[usize],
    chance: Chance,
    limit: f64,
    searched: &mut Searched,
) -> Divided {
    // What was found before builds were set apart is forgotten.
    if searched.weights != line.weights {
        *searched = Searched { weights: line.weights.clone(), ..Searched::default() };
    }
    let mut found = Divided { borders: borders.to_vec(), refused: Vec::new() };
    let mut open: Vec<Stretch> = segments(borders, line.means.len()).collect();
    while let Some((from, to)) = open.pop() {
        let Some(border) = searched.split(line, (from, to)) else { continue };
        let with = joined(&found.borders, &[border]);
        let contrast =
            chance.of(line, &with).and_then(|chance| line.contrast((from, border, to), chance));
        match contrast {
            Some(one) if one.p <= limit => {
                found.borders = with;
                open.extend([(from, border), (border, to)]);
            }
            Some(one) => {
                let dip = searched.dip(line, (from, to));
                let stands =
                    |dip: &Dip| is_certain(line, &found.borders, (from, to), *dip, chance, limit);
                if let Some(((begin, end), _)) = dip.filter(stands) {
                    found.borders = joined(&found.borders, &[begin, end]);
                    open.extend([(from, begin), (begin, end), (end, to)]);
                } else {
                    found.refused.push(one.p);
                }
            }
            None => {}
        }
    }
    found
}

/// Do the builds of a dip certainly differ from all around them in the stretch, and more than one of them?
fn is_certain(
    line: &Line<'_>,
    borders: &[usize],
    stretch: Stretch,
    ((begin, end), among): Dip,
    chance: Chance,
    limit: f64,
) -> bool {
    let mut around = line.clone();
    around.weights[begin..end].fill(0.0);
    let variance = chance.of(line, &joined(borders, &[begin, end]));
    let sides = around.side(stretch).zip(line.side((begin, end)));
    let (Some(variance), Some((around, inside))) = (variance, sides) else { return false };
    let up = inside.level > around.level;
    let holds = |line: &Line<'_>| {
        let inside = line.side((begin, end));
        let one = inside.map(|inside| inside.against(&around, variance));
        one.is_some_and(|one| one.p * among as f64 <= limit)
    };
    // It must be certain both with and without its farthest build.
    let without = line.without_farthest((begin, end), up);
    holds(line) && without.is_some_and(|line| holds(&line))
}

fn joined(borders: &[usize], more: &[usize]) -> Vec<usize> {
    let mut all = [borders, more].concat();
    all.sort_unstable();
    all
}

/// Removes weak borders, the smallest step first, until the levels on both sides of each border differ by more than the
/// limits and than restarts do. Returns the remaining borders, each with its step.
pub(super) fn prune(
    line: &Line<'_>,
    mut borders: Vec<usize>,
    chance: Chance,
    limits: Limits,
) -> Vec<(usize, Contrast)> {
    loop {
        let Some(variance) = chance.of(line, &borders) else { return Vec::new() };
        let stretches: Vec<Stretch> = segments(&borders, line.means.len()).collect();
        let steps: Vec<(Beside, Contrast)> = stretches
            .windows(2)
            .filter_map(|pair| {
                let beside = (pair[0].0, pair[1].0, pair[1].1);
                Some((beside, line.contrast(beside, variance)?))
            })
            .collect();
        let failing = steps.iter().filter(|(beside, one)| {
            limits.differ(Some(*one)).is_none()
                || one.may_be_start()
                || line.rests_on_one(*beside, variance)
        });
        let weakest = failing.min_by(|a, b| a.1.log.abs().total_cmp(&b.1.log.abs()));
        let Some(weakest) = weakest.map(|((_, border, _), _)| *border) else {
            return steps.into_iter().map(|((_, border, _), one)| (border, one)).collect();
        };
        borders.retain(|other| *other != weakest);
    }
}

/// The stretch within `values` that differs most from its surroundings: its first place, and the one
/// after its last. Neither end is an end of `values`. With it, how many stretches there could be.
///
/// Levels on both sides of it are taken for one, so that a short dip in a long series stands out where
/// either border alone hardly moves a mean (Olshen et al. 2004, *Circular binary segmentation for the
/// analysis of array-based DNA copy number data*, Biostatistics 5(4)). A weight of zero leaves a value out.
pub(super) fn most_unlike(
    values: &[f64],
    weights: &[f64],
    may_be: impl Fn(usize) -> bool,
) -> Option<Dip> {
    let sums = running(values.iter().zip(weights).map(|(value, weight)| value * weight));
    let counts = running(weights.iter().copied());
    let (all, sum) = (*counts.last()?, *sums.last()?);
    let places: Vec<usize> = (1..values.len()).filter(|place| may_be(*place)).collect();
    let mut best: Option<(Stretch, f64)> = None;
    for (number, from) in places.iter().enumerate() {
        for to in &places[number + 1..] {
            let inside = counts[*to] - counts[*from];
            let around = all - inside;
            // How far the sum inside is from its share of all, in standard errors but for a factor.
            let off = (sums[*to] - sums[*from]) - sum * inside / all;
            let far = off * off / (inside * around);
            if far > best.map_or(0.0, |(_, most)| most) {
                best = Some(((*from, *to), far));
            }
        }
    }
    let stretches = places.len() * places.len().saturating_sub(1) / 2;
    best.map(|(stretch, _)| (stretch, stretches))
}

/// The sums of the first none, one, two … of these.
fn running(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let sums = values.scan(0.0, |sum, value| {
        *sum += value;
        Some(*sum)
    });
    std::iter::once(0.0).chain(sums).collect()
}

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
pub(super) fn set_apart(line: &mut Line<'_>, chance: Variance, limits: Limits) {
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
            line.take_out(place, Standing::Outlier);
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
        line.take_out(last, Standing::Unconfirmed);
    }
}

/// Takes out each build that became a segment of its own between two levels that do not differ: one build
/// that comes and goes is an outlier, not two steps. Yields the borders that are left.
pub(super) fn between_alike(
    line: &mut Line<'_>,
    mut borders: Vec<usize>,
    chance: Chance,
    limits: Limits,
) -> Vec<usize> {
    loop {
        let Some(variance) = chance.of(line, &borders) else { return borders };
        let stretches: Vec<Stretch> = segments(&borders, line.means.len()).collect();
        let count =
            |(from, to): Stretch| line.weights[from..to].iter().filter(|w| **w > 0.0).count();
        if let Some(first) = borders.first().copied()
            && count(stretches[0]) == 1
            && !line.first_alone
            && !line.is_usual(first)
        {
            line.take_out_all(stretches[0]);
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
        let Some((from, to)) = lone.map(|three| three[1]) else { return borders };
        line.take_out_all((from, to));
        borders.retain(|border| *border != from && *border != to);
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::tests::{CHANCE, line};
    use super::*;

    #[test]
    fn a_step_that_rests_on_one_build_is_taken_back_unless_others_step_there() {
        let chance = Chance::Fixed(CHANCE);
        let pruned = |line: &Line<'_>| {
            let steps = prune(line, vec![2, 4], chance, Limits { p: 0.05, margin: 0.0 });
            steps.into_iter().map(|(at, _)| at).collect::<Vec<_>>()
        };
        let mut wild = line(&[0.0, 0.0, 9.0, 0.5, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(pruned(&wild), [0_usize; 0]);
        wild.odds = vec![0.5; 8];
        assert_eq!(pruned(&wild), [2, 4]);
        assert_eq!(pruned(&line(&[0.0, 0.0, 9.0, 8.5, 0.0, 0.0, 0.0, 0.0])), [2, 4]);
    }

    #[test]
    fn a_dip_is_found_and_its_ends_are_where_they_may_be() {
        let mut values = [1.0; 12];
        values[5..7].fill(0.5);
        let found = |may_be: &dyn Fn(usize) -> bool| most_unlike(&values, &[1.0; 12], may_be);
        assert_eq!(found(&|_| true), Some(((5, 7), 55)));
        assert_eq!(found(&|place| place != 7), Some(((5, 8), 45)));
        assert_eq!(found(&|place| place == 7), None);
        assert_eq!(most_unlike(&[1.0; 12], &[1.0; 12], |_| true), None);
        assert_eq!(most_unlike(&[], &[], |_| true), None);
        assert_eq!(most_unlike(&values, &[0.0; 12], |_| true), None);
    }
}

//! Many builds in order: at which of them did a metric change its level?
//!
//! [`analyse`] looks at numbers only; [`history`] makes them from runs.

mod alike;
mod collect;
mod days;
mod divide;
mod line;
mod lines;
mod order;
mod spread;

pub use collect::{Part, history};
pub use days::Days;
pub use lines::{
    At, Copied, History, HistoryError, HistoryLine, HistoryOptions, HistoryPoint, Ratio, Replicate,
};

use self::divide::{Limits, Searched, between_alike, divide, prune, set_apart};
use self::line::{Chance, Line};
use self::spread::{FEWEST_BUILDS, Variance, around_levels, between, fit, larger, within};
use crate::fdr::adjust;
use crate::moderate::Prior;
use crate::options::USUAL_Q;
use crate::student::{CONFIDENCE, Quantiles};

/// The largest p-value worth dividing further for, having looked for the place; the family decides what stays.
const P: f64 = 0.05;

/// The largest p-value that is certain about a single build: that it stands apart, or that no step rests on it.
const P_APART: f64 = 0.01;

/// Passes over the family, each with the scatter and changes of the one before. A third hardly changes anything.
const PASSES: u32 = 2;

/// The largest share of false ones among the steps of a family of series of many builds. Series of fewer than
/// [`FEWEST_BUILDS`] have the evidence of a comparison, rounds, and are judged as one: by [`USUAL_Q`].
const Q: f64 = 0.05;

/// The logarithms of one metric of one step, build after build.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The replicates of each build, in order; every build has at least one, and all are finite.
    pub builds: Vec<Vec<f64>>,
    /// Degrees of freedom spent on removing shared parts of rounds and distances of days.
    pub shared: u32,
    /// Are all of one run, or of runs that builds link? If not, replicates say nothing of how much runs differ.
    pub is_linked: bool,
    /// Were the first build's replicates, and the last one's, measured beside those of another build?
    pub first_beside: bool,
    pub last_beside: bool,
    /// Steps up to this size do not matter, on the scale of logarithms.
    pub margin: f64,
    /// The least variance of a replicate, that of rounded values; zero for values with all their digits.
    pub rounded: f64,
    pub days: Days,
}

/// A build's role in its series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// One of those that make the levels.
    #[default]
    Level,
    /// It differs from both its neighbours, which are alike: it came and went, and is in no level.
    Outlier,
    /// The last build differs from those before it. Whether that lasts, the next build will show.
    Unconfirmed,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Place of the first build of the new level.
    pub at: usize,
    /// The new level over the one before it, and its 95 % interval.
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
    /// Two-sided p-value, with a bound for having looked for the place; `q_value`: adjusted for the family's other series.
    pub p_value: f64,
    pub q_value: f64,
    /// Does no run link the two levels? The change may then be that of the day.
    pub may_be_day: bool,
}

impl Change {
    pub fn confidence(&self) -> f64 {
        1.0 - self.q_value
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub changes: Vec<Change>,
    pub standing: Vec<Standing>,
    /// Variance of a replicate, its degrees of freedom; `None` where neither replicates nor neighbours tell.
    pub chance: Option<(f64, f64)>,
}

/// Finds the levels of each series of a family: the steps of one metric over the same builds.
///
/// The rules, all of `docs/history.md`:
/// - a value scatters as much as its replicates say, or as builds do, whichever is more; what few values
///   say of that is drawn towards what the family says;
/// - builds that stand apart from both neighbours are outliers, a last one that was measured alone waits for
///   the next;
/// - the rest is divided where the energy statistic is greatest as long as the parts differ: first by the
///   scatter of neighbours, which no step disturbs much, then by that around the levels found;
/// - where other series of the family change, a step needs less evidence;
/// - of these, what is not certain beside its final neighbours, rests on one build, does not matter, or is below the
///   effect of a restart with fewer than four starts, is taken back; last, false discoveries are controlled over the family.
pub fn analyse(family: &[Series]) -> Vec<Found> {
    let mut drafts: Vec<Draft<'_>> = family.iter().map(Draft::new).collect();
    let replicates = moderated(&drafts, Draft::within);
    let neighbours = moderated(&drafts, |draft| between(&draft.line.means, &draft.line.weights));
    let both = replicates.into_iter().zip(neighbours);
    for (draft, (replicates, neighbours)) in drafts.iter_mut().zip(both) {
        draft.replicates = replicates;
        draft.first_look(neighbours);
    }
    let mut prior = None;
    for _ in 0..PASSES {
        let around = |Draft { line, borders, .. }: &Draft<'_>| {
            around_levels(&line.means, &line.weights, borders)
        };
        prior = fit(&drafts.iter().filter_map(around).collect::<Vec<_>>());
        let crowd = Crowd::of(drafts.iter().map(|draft| &draft.borders));
        for draft in &mut drafts {
            draft.line.odds = crowd.odds(&draft.borders, draft.line.means.len());
            draft.look_again(prior);
        }
    }
    let limit = FamilyLimit::of(&drafts);
    let quantiles = Quantiles::default();
    drafts.into_iter().map(|draft| draft.finish(prior, &limit, &quantiles)).collect()
}

/// A variance of each series, drawn towards that of the family.
fn moderated<'a>(
    drafts: &[Draft<'a>],
    of: impl Fn(&Draft<'a>) -> Option<Variance>,
) -> Vec<Option<Variance>> {
    let each: Vec<Option<Variance>> = drafts.iter().map(of).collect();
    let prior = fit(&each.iter().flatten().copied().collect::<Vec<_>>());
    each.into_iter().map(|one| one.map(|v| v.moderated(prior))).collect()
}

struct Draft<'a> {
    series: &'a Series,
    line: Line<'a>,
    replicates: Option<Variance>,
    searched: Searched,
    borders: Vec<usize>,
    looks: Vec<f64>,
}

impl<'a> Draft<'a> {
    fn new(series: &'a Series) -> Self {
        let builds = series.builds.iter();
        let means = builds.clone().map(|logs| logs.iter().sum::<f64>() / logs.len().max(1) as f64);
        Self {
            line: Line {
                means: means.collect(),
                weights: builds.map(|logs| logs.len() as f64).collect(),
                standing: vec![Standing::Level; series.builds.len()],
                odds: vec![f64::INFINITY; series.builds.len()],
                first_alone: series.first_beside,
                last_alone: series.last_beside,
                days: &series.days,
            },
            series,
            replicates: None,
            searched: Searched::default(),
            borders: Vec::new(),
            looks: Vec::new(),
        }
    }

    const fn limits(&self, p: f64) -> Limits {
        Limits { p, margin: self.series.margin }
    }

    const fn chance(&self, prior: Option<Prior>) -> Chance {
        let rounded = self.series.rounded;
        Chance::Around { prior, replicates: self.replicates, rounded }
    }

    /// Nothing where no run links builds and these are too few for neighbours to tell how much they differ.
    fn within(&self) -> Option<Variance> {
        let tells = self.series.is_linked || self.series.builds.len() >= FEWEST_BUILDS;
        within(self.series).filter(|_| tells)
    }

    /// Sets builds apart and divides, by the scatter of replicates and neighbours.
    fn first_look(&mut self, neighbours: Option<Variance>) {
        let Some(chance) = larger(self.replicates, neighbours) else { return };
        let chance = chance.at_least(self.series.rounded);
        let limits = self.limits(P_APART);
        set_apart(&mut self.line, chance, limits);
        let fixed = Chance::Fixed(chance);
        self.borders = divide(&self.line, &[], fixed, P, &mut self.searched).borders;
    }

    /// Divides further and removes uncertain borders, by the scatter around the levels.
    fn look_again(&mut self, prior: Option<Prior>) {
        let (chance, limits) = (self.chance(prior), self.limits(P_APART));
        let divided = divide(&self.line, &self.borders, chance, P, &mut self.searched);
        let borders = between_alike(&mut self.line, divided.borders, chance, limits);
        let steps = prune(&self.line, borders, chance, self.limits(P));
        self.borders = steps.iter().map(|(border, _)| *border).collect();
        self.looks = steps.iter().map(|(_, one)| one.p).chain(divided.refused).collect();
    }

    fn finish(self, prior: Option<Prior>, limit: &FamilyLimit, quantiles: &Quantiles) -> Found {
        let (chance, limits) = (self.chance(prior), self.limits(limit.p));
        let steps = prune(&self.line, self.borders, chance, limits);
        let borders: Vec<usize> = steps.iter().map(|(border, _)| *border).collect();
        let changes = steps.into_iter().map(|(at, one)| {
            let half = quantiles.t_critical((1.0 - CONFIDENCE) / 2.0, one.df) * one.error;
            Change {
                at,
                ratio: one.log.exp(),
                low: (one.log - half).exp(),
                high: (one.log + half).exp(),
                p_value: one.p,
                q_value: limit.q_value(one.p),
                may_be_day: one.may_be_day,
            }
        });
        Found {
            changes: changes.collect(),
            chance: chance.of(&self.line, &borders).map(|variance| (variance.value, variance.df)),
            standing: self.line.standing,
        }
    }
}

/// The changes that are certain among all tests of a family.
struct FamilyLimit {
    p: f64,
    /// Each p-value with its q-value, by rising p.
    known: Vec<(f64, f64)>,
}

impl FamilyLimit {
    fn of(drafts: &[Draft<'_>]) -> Self {
        let looks: Vec<f64> = drafts.iter().flat_map(|d| d.looks.iter().copied()).collect();
        let mut known: Vec<(f64, f64)> = looks.iter().copied().zip(adjust(&looks)).collect();
        known.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let most_builds = drafts.iter().map(|draft| draft.series.builds.len()).max();
        let is_long = most_builds.is_some_and(|builds| builds >= FEWEST_BUILDS);
        let limit = if is_long { Q } else { USUAL_Q };
        let certain = known.iter().rev().find(|(_, q)| *q <= limit);
        Self { p: certain.map_or(0.0, |(p, _)| *p), known }
    }

    /// That of the next p-value, as the last pruning may change one a little.
    fn q_value(&self, p: f64) -> f64 {
        let place = self.known.partition_point(|(known, _)| *known < p);
        self.known.get(place).map_or(1.0, |(_, q)| *q)
    }
}

/// How many series of a family change at each build.
struct Crowd {
    series: usize,
    changed: Vec<usize>,
}

impl Crowd {
    fn of<'a>(family: impl Iterator<Item = &'a Vec<usize>>) -> Self {
        let (mut series, mut changed) = (0, Vec::new());
        for borders in family {
            series += 1;
            for border in borders {
                if changed.len() <= *border {
                    changed.resize(border + 1, 0);
                }
                changed[*border] += 1;
            }
        }
        Self { series, changed }
    }

    /// For each build the odds against a change there, as the series other than the one with
    /// these borders have it: those without over those with one.
    ///
    /// It begins with one change in a series, wherever, so that a family without any is no evidence
    /// against one. Weighing p-values by other data keeps the rate of false
    /// discoveries (Genovese, Roeder & Wasserman 2006, *False discovery control with p-value weighting*,
    /// Biometrika 93(3)).
    fn odds(&self, own: &[usize], builds: usize) -> Vec<f64> {
        let places = builds.saturating_sub(1) as f64;
        let at = |place: usize| {
            let all = self.changed.get(place).copied().unwrap_or(0);
            let with = all - usize::from(own.contains(&place));
            (self.series.saturating_sub(1 + with) as f64 + places) / (with as f64 + 1.0)
        };
        (0..builds).map(at).collect()
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod tests_of_crowd {
    use super::*;

    #[test]
    fn others_that_change_there_lower_the_odds_and_others_that_do_not_never_raise_the_price() {
        let family = [vec![1], vec![1, 3], vec![1], vec![], vec![]];
        let crowd = Crowd::of(family.iter());
        // Four others: two of them with the second one's border at 1, none with its border at 3.
        let odds = crowd.odds(&family[1], 5);
        assert_eq!(odds, [8.0, 6.0 / 3.0, 8.0, 8.0, 8.0]);
        assert_eq!(crowd.odds(&family[3], 5)[..2], [8.0, 5.0 / 4.0]);
        let alone = Crowd::of([vec![2]].iter());
        assert_eq!(alone.odds(&[2], 5), [4.0; 5]);
        assert!(Crowd::of([].iter()).odds(&[], 0).is_empty());
    }
}

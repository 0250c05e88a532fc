//! A series while it is divided into levels, its best division, and the test of two levels.

use super::days::{Days, Sums};
use super::spread::{Variance, around_levels, larger, level};
use super::{P_APART, Standing};
use crate::moderate::Prior;
use crate::student::{FEWEST_STARTS, two_sided_p};
use crate::verdict::{START_EFFECT, log_margin};

/// Values, of builds and replicates together, that the two sides of a border need.
const FEWEST_VALUES: f64 = 3.0;

/// Below this, t has a p-value over 0.05, which is taken for one: computing it for all pairs of builds would take long.
const NEVER_CERTAIN: f64 = 1.9;

/// The levels beside a border: where the left one begins, the border, where the right one ends.
pub(super) type Beside = (usize, usize, usize);

/// Builds from the first of these to before the second.
pub(super) type Stretch = (usize, usize);

/// A series as it is divided: builds that stand apart have a weight of zero.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    pub(super) means: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) standing: Vec<Standing>,
    /// The odds against a change at each build, as other series have it.
    pub(super) odds: Vec<f64>,
    /// May the first build alone be a level? May the last one?
    pub(super) first_alone: bool,
    pub(super) last_alone: bool,
    pub(super) days: &'a Days,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Chance {
    Fixed(Variance),
    /// Around the levels, that border among them, drawn towards `prior`; at least that of the replicates.
    Around {
        prior: Option<Prior>,
        replicates: Option<Variance>,
        /// The least variance of a replicate.
        rounded: f64,
    },
}

impl Chance {
    pub(super) fn of(self, line: &Line<'_>, borders: &[usize]) -> Option<Variance> {
        match self {
            Self::Fixed(variance) => Some(variance),
            Self::Around { prior, replicates, rounded } => {
                let around = around_levels(&line.means, &line.weights, borders);
                larger(replicates, around.map(|v| v.moderated(prior))).map(|v| v.at_least(rounded))
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contrast {
    /// The logarithm of the right level over the left one.
    pub(super) log: f64,
    pub(super) error: f64,
    pub(super) df: f64,
    /// Two-sided p-value, at most one: that of the t-test times the number of places at which the border
    /// could have been, so that having looked for it makes it no more certain (Bonferroni); or, if these
    /// are lower, times the odds against a change there.
    pub(super) p: f64,
    /// Does nothing link the days of the two levels?
    pub(super) may_be_day: bool,
    /// Replicates of the level with fewer, of those that `log` rests on; each is a new start of the server.
    pub(super) starts: f64,
}

impl Contrast {
    /// Is it below the effect of a restart, with too few starts to rule that out? `compare` has the same rule.
    pub(super) fn may_be_start(&self) -> bool {
        self.starts < f64::from(FEWEST_STARTS) && self.log.abs() < log_margin(START_EFFECT)
    }
}

pub(super) struct Side<'a> {
    pub(super) level: f64,
    pub(super) weight: f64,
    /// The same day by day; empty where there is one day.
    sums: Sums,
    days: &'a Days,
}

impl Side<'_> {
    /// By the days on which both were measured, else over linked days, else as the values are.
    pub(super) fn against(&self, right: &Self, chance: Variance) -> Contrast {
        let far = right.level - self.level;
        let plain = 1.0 / self.weight + 1.0 / right.weight;
        let fewer = self.weight.min(right.weight);
        let (log, spread, may_be_day, starts) = if self.days.is_one() {
            (far, plain, false, fewer)
        } else if let Some((log, spread, starts)) = Days::beside(&self.sums, &right.sums) {
            (log, spread, false, starts)
        } else {
            match self.days.across(&self.sums, &right.sums) {
                Some(spread) => (far, spread, false, fewer),
                None => (far, plain, true, fewer),
            }
        };
        let error = (chance.value * spread).sqrt();
        let df = chance.df;
        let t = log / error;
        let p = if t.abs() < NEVER_CERTAIN { 1.0 } else { two_sided_p(t, df) };
        Contrast { log, error, df, p, may_be_day, starts }
    }
}

impl<'a> Line<'a> {
    /// The levels of `from..border` and `border..to`; `None` where one of them has no build.
    pub(super) fn contrast(&self, beside: Beside, chance: Variance) -> Option<Contrast> {
        let (from, border, to) = beside;
        let places = (from + 1..to).filter(|place| self.may_be(*place)).count().max(1);
        let odds = self.odds[border].min(places as f64);
        self.compare((from, border), (border, to), chance)
            .map(|one| Contrast { p: (one.p * odds).min(1.0), ..one })
    }

    /// Do other series change there more often than anywhere?
    pub(super) fn is_usual(&self, border: usize) -> bool {
        self.odds[border] < (self.odds.len() - 1) as f64
    }

    /// The levels of two stretches that were not looked for.
    pub(super) fn compare(
        &self,
        left: Stretch,
        right: Stretch,
        chance: Variance,
    ) -> Option<Contrast> {
        Some(self.side(left)?.against(&self.side(right)?, chance))
    }

    pub(super) fn side(&self, (from, to): Stretch) -> Option<Side<'a>> {
        let (means, weights) = (&self.means[from..to], &self.weights[from..to]);
        let weight: f64 = weights.iter().sum();
        let counting = || (from..to).filter(|place| self.weights[*place] > 0.0);
        (weight > 0.0).then(|| Side {
            level: level(means, weights),
            weight,
            sums: if self.days.is_one() { Sums::new() } else { self.days.sums(counting()) },
            days: self.days,
        })
    }

    /// Is the step uncertain without a side's farthest build? Not asked of single builds, nor where others change.
    pub(super) fn rests_on_one(&self, (from, border, to): Beside, chance: Variance) -> bool {
        let certain = |line: &Self, up: bool| {
            let step = line.contrast((from, border, to), chance);
            step.is_some_and(|one| one.p <= P_APART && (one.log > 0.0) == up)
        };
        let Some(step) = self.compare((from, border), (border, to), chance) else { return false };
        let up = step.log > 0.0;
        let lower = self.without_farthest((from, border), !up);
        let upper = self.without_farthest((border, to), up);
        let mut without = lower.iter().chain(&upper);
        !self.is_usual(border) && without.any(|line| !certain(line, up))
    }

    /// The line without the highest build of a stretch, or the lowest; `None` where that is its only one.
    pub(super) fn without_farthest(&self, (from, to): Stretch, highest: bool) -> Option<Self> {
        let kept: Vec<usize> = (from..to).filter(|place| self.weights[*place] > 0.0).collect();
        let side = if highest { 1.0 } else { -1.0 };
        let reach = |place: &usize| side * self.means[*place];
        let farthest = kept.iter().max_by(|a, b| reach(a).total_cmp(&reach(b)))?;
        (kept.len() > 1).then(|| {
            let mut line = self.clone();
            line.weights[*farthest] = 0.0;
            line
        })
    }

    /// Leaves all builds of a stretch that count out of the levels.
    pub(super) fn take_out_all(&mut self, (from, to): Stretch) {
        for place in from..to {
            if self.weights[place] > 0.0 {
                self.take_out(place, Standing::Outlier);
            }
        }
    }

    pub(super) fn take_out(&mut self, place: usize, why: Standing) {
        self.weights[place] = 0.0;
        self.standing[place] = why;
    }

    /// Its first build must count, and the last build alone must have been measured beside another.
    pub(super) fn may_be(&self, border: usize) -> bool {
        let last = self.weights.iter().rposition(|weight| *weight > 0.0);
        self.weights[border] > 0.0 && (self.last_alone || last.is_some_and(|last| border < last))
    }

    /// The best border within a stretch; none where it holds too few values.
    pub(super) fn split(&self, (from, to): Stretch) -> Option<usize> {
        let (means, weights) = (&self.means[from..to], &self.weights[from..to]);
        if weights.iter().sum::<f64>() < FEWEST_VALUES {
            return None;
        }
        let allowed = |place: usize| self.may_be(from + place);
        best_split(means, weights, allowed).map(|place| from + place)
    }
}

/// The place that divides `values` best, among those that `may_be` allows: the first of the right part.
///
/// The statistic is that of Matteson & James 2014, *A nonparametric approach for multiple change point
/// analysis of multivariate data*, J. Am. Stat. Assoc. 109(505), with exponent 1 and each value weighted:
/// W(l)·W(r) / (W(l) + W(r)) · (2·E|X − Y| − E|X − X'| − E|Y − Y'|). A weight of zero leaves a value out.
pub(super) fn best_split(
    values: &[f64],
    weights: &[f64],
    may_be: impl Fn(usize) -> bool,
) -> Option<usize> {
    let all: f64 = weights.iter().sum();
    // Sums of w·w'·|x − x'| over ordered pairs: within the left part, within the right one, between them.
    let (mut left, mut between) = (0.0, 0.0);
    let mut right: f64 =
        (0..values.len()).map(|place| reach(values, weights, place).1).sum::<f64>() * 2.0;
    let mut weight = 0.0;
    let mut best: Option<(usize, f64)> = None;
    for place in 1..values.len() {
        let (before, after) = reach(values, weights, place - 1);
        left += 2.0 * before;
        right -= 2.0 * after;
        between += after - before;
        weight += weights[place - 1];
        let rest = all - weight;
        if !(weight > 0.0 && rest > 0.0 && may_be(place)) {
            continue;
        }
        let distance =
            2.0 * between / (weight * rest) - left / (weight * weight) - right / (rest * rest);
        let statistic = weight * rest / all * distance;
        if best.is_none_or(|(_, most)| statistic > most) {
            best = Some((place, statistic));
        }
    }
    best.map(|(place, _)| place)
}

/// The weighted distances of one value to those before it, and to those after it.
fn reach(values: &[f64], weights: &[f64], place: usize) -> (f64, f64) {
    let sum = |range: std::ops::Range<usize>| -> f64 {
        let others = values[range.clone()].iter().zip(&weights[range]);
        let far: f64 = others.map(|(value, weight)| weight * (value - values[place]).abs()).sum();
        far * weights[place]
    };
    (sum(0..place), sum(place + 1..values.len()))
}

#[cfg(test)]
pub(super) mod tests {
    use model::Rng;

    use super::*;

    static ONE_DAY: Days = Days::one();

    /// A line of single values.
    pub(in super::super) fn line(means: &[f64]) -> Line<'static> {
        Line {
            days: &ONE_DAY,
            means: means.to_vec(),
            weights: vec![1.0; means.len()],
            standing: vec![Standing::Level; means.len()],
            odds: vec![f64::INFINITY; means.len()],
            first_alone: false,
            last_alone: false,
        }
    }

    pub(in super::super) const CHANCE: Variance = Variance { value: 1.0, df: 40.0 };

    #[test]
    fn what_was_looked_for_counts_the_places_or_the_odds_of_the_others() {
        let mut line = line(&[0.0, 0.0, 0.0, 0.0, 4.0, 4.0, 4.0, 4.0]);
        // Borders before builds 1 to 6; the last build alone is not a level.
        let searched = line.contrast((0, 4, 8), CHANCE).unwrap();
        let alone = line.compare((0, 4), (4, 8), CHANCE).unwrap();
        assert!((searched.p / alone.p - 6.0).abs() < 1e-9);
        line.odds[4] = 0.5;
        let usual = line.contrast((0, 4, 8), CHANCE).unwrap();
        assert!((usual.p / alone.p - 0.5).abs() < 1e-9);
    }

    /// The statistic by its definition.
    fn by_the_book(values: &[f64], weights: &[f64], place: usize) -> f64 {
        let mean = |a: std::ops::Range<usize>, b: std::ops::Range<usize>| {
            let (mut sum, mut weight) = (0.0, 0.0);
            for i in a {
                for j in b.clone() {
                    sum += weights[i] * weights[j] * (values[i] - values[j]).abs();
                    weight += weights[i] * weights[j];
                }
            }
            sum / weight
        };
        let n = values.len();
        let (l, r): (f64, f64) = (weights[..place].iter().sum(), weights[place..].iter().sum());
        let distance =
            2.0 * mean(0..place, place..n) - mean(0..place, 0..place) - mean(place..n, place..n);
        l * r / (l + r) * distance
    }

    #[test]
    fn the_running_sums_agree_with_the_definition() {
        let mut rng = Rng::new(5);
        for n in 2..20 {
            let values: Vec<f64> = (0..n).map(|_| rng.unit()).collect();
            let weights: Vec<f64> = (0..n).map(|_| 1.0 + rng.below(4) as f64).collect();
            let found = best_split(&values, &weights, |_| true).unwrap();
            let most = (1..n).map(|place| by_the_book(&values, &weights, place));
            let most = most.fold(f64::MIN, f64::max);
            assert!((by_the_book(&values, &weights, found) - most).abs() < 1e-9, "{n}");
        }
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let values = [1.0, 1.1, 1.0, 1.1, 2.0, 2.1, 2.0];
        assert_eq!(best_split(&values, &[1.0; 7], |_| true), Some(4));
        assert_eq!(best_split(&values, &[1.0; 7], |place| place < 3), Some(2));
        assert_eq!(best_split(&values, &[1.0; 7], |_| false), None);
        assert_eq!(best_split(&[1.0], &[1.0], |_| true), None);
        assert_eq!(best_split(&[], &[], |_| true), None);
    }
}

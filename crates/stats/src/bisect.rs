//! Bisection under noise: which of many builds in order changed a metric.
//!
//! Every measurement is a [`Pair`]: the log ratio of one build and the first build, in one round. No pair passes or
//! fails. All of them together give each place a probability that the change happened there; see
//! `docs/statistics.md`, "Bisection".

mod posterior;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

pub use posterior::{Effect, Posterior};

use crate::student::CONFIDENCE;

/// Pairs of the last build before anything is estimated.
const FIRST_PAIRS: usize = 4;
/// After this many other pairs, the last build is measured again: it says how large the change is.
const ENDS_AGAIN: usize = 8;
/// One change does not explain the pairs if several have this probability.
const MISFIT: f64 = 0.9;

/// In so many runs both sides of a change are measured before it is named: noise that a run's pairs share may be as
/// large.
const RUNS_BESIDE: usize = 2;

/// The log ratio of a build and the first build, in one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The build's place in the order; the first build has 0.
    pub place: usize,
    pub log: f64,
    /// The standard error that the slices of the round give this log ratio; zero if there are none.
    pub error: f64,
    /// The run that it is from, by number: pairs of one run may share noise.
    pub run: usize,
}

/// Builds in order, and what has been measured of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Bisection {
    /// For each place, can its build be measured? The ends can.
    available: Vec<bool>,
    pairs: Vec<Pair>,
}

/// What to do next, or what was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Advice {
    Measure(usize),
    /// The ends do not differ.
    NoChange(Posterior),
    /// The change is at one of [`Posterior::range`]'s places, which no available build separates.
    Found(Posterior),
    /// One change does not explain the pairs.
    Several(Posterior),
}

impl Bisection {
    /// So many builds, of which none has been measured; at least two.
    pub fn new(builds: usize) -> Self {
        Self { available: vec![true; builds.max(2)], pairs: Vec::new() }
    }

    /// Adds a pair; one that is not finite says nothing and is left out.
    pub fn add(&mut self, pair: Pair) {
        if pair.log.is_finite() && self.available.get(pair.place).is_some() {
            self.pairs.push(pair);
        }
    }

    /// The build of this place cannot be measured.
    pub fn skip(&mut self, place: usize) {
        if let Some(available) = self.available.get_mut(place) {
            *available = false;
        }
    }

    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    fn last(&self) -> usize {
        self.available.len() - 1
    }

    /// What the pairs say so far; `None` before the last build has enough of them.
    pub fn posterior(&self) -> Option<Posterior> {
        let of_end = self.pairs.iter().filter(|pair| pair.place == self.last()).count();
        (of_end >= FIRST_PAIRS).then(|| Posterior::of(&self.available, &self.pairs))?
    }

    /// The pair that says most for its cost, or the end. `cost` is the time that a pair of a place takes.
    pub fn next(&self, cost: impl Fn(usize) -> f64) -> Advice {
        let Some(now) = self.posterior() else { return Advice::Measure(self.last()) };
        if now.none >= CONFIDENCE {
            return Advice::NoChange(now);
        }
        if now.none > 1.0 - CONFIDENCE {
            return Advice::Measure(self.last());
        }
        if now.several >= MISFIT {
            return Advice::Several(now);
        }
        let is_undivided = self.dividing(&now.range).next().is_none();
        if now.probability >= CONFIDENCE && is_undivided {
            let unconfirmed = self.beside(&now.range).find(|place| self.runs(*place) < RUNS_BESIDE);
            return unconfirmed.map_or(Advice::Found(now), Advice::Measure);
        }
        let since_end = self.pairs.iter().rev().take_while(|pair| pair.place != self.last());
        if since_end.count() >= ENDS_AGAIN {
            return Advice::Measure(self.last());
        }
        let gain = |place: usize| now.doubt(place) / cost(place);
        let all = 1..=self.last();
        let best = self.dividing(&all).max_by(|a, b| gain(*a).total_cmp(&gain(*b)));
        best.map_or(Advice::Found(now), Advice::Measure)
    }

    /// The last build before these places of the change, and the last of them; the first build needs no pair.
    fn beside(&self, range: &RangeInclusive<usize>) -> impl Iterator<Item = usize> {
        let before =
            (1..*range.start()).rev().find(|place| self.available.get(*place) == Some(&true));
        before.into_iter().chain([*range.end()])
    }

    fn runs(&self, place: usize) -> usize {
        let runs = self.pairs.iter().filter(|pair| pair.place == place).map(|pair| pair.run);
        runs.collect::<BTreeSet<_>>().len()
    }

    /// The places whose builds say on which side of them a change within `range` is.
    fn dividing(&self, range: &RangeInclusive<usize>) -> impl Iterator<Item = usize> {
        (*range.start()..*range.end()).filter(|place| self.available.get(*place) == Some(&true))
    }
}

#[cfg(test)]
mod tests;

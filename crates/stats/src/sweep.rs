//! One test at several client counts: where a candidate passes the base, and how a system scales.

use model::{Comparison, HostRounds, Verdict};

use crate::hosts::replicates;
use crate::paired::Paired;
use crate::student::CONFIDENCE;

/// On which side of 1 the ratio of candidate to base is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Certainly below, and by more than the margin.
    Below,
    Near,
    /// Certainly above, and by more than the margin.
    Above,
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SweepPoint {
    pub clients: u32,
    pub side: Side,
    /// Complete rounds: (round, ln candidate − ln base).
    pub rounds: Vec<(u32, f64)>,
}

impl SweepPoint {
    pub fn of(comparison: &Comparison) -> Option<Self> {
        let ratio =
            comparison.ratio.filter(|r| r.is_finite() && *r > 0.0 && comparison.clients > 0)?;
        let side = match comparison.verdict {
            Verdict::Regressed | Verdict::Improved if ratio < 1.0 => Side::Below,
            Verdict::Regressed | Verdict::Improved => Side::Above,
            Verdict::Unchanged => Side::Near,
            Verdict::Inconclusive(_) | Verdict::Incomparable(_) => Side::Unknown,
        };
        let usable = comparison.pairs.iter().filter(|(_, ratio)| ratio.is_finite() && *ratio > 0.0);
        Some(Self {
            clients: comparison.clients,
            side,
            rounds: usable.map(|(round, ratio)| (*round, ratio.ln())).collect(),
        })
    }

    /// ln of the client count: the scale on which places between counts are measured.
    fn place(&self) -> f64 {
        f64::from(self.clients).ln()
    }

    fn log(&self, round: u32) -> Option<f64> {
        self.rounds.iter().find(|(r, _)| *r == round).map(|(_, log)| *log)
    }

    /// Is the mean log ratio above zero? `None` without a round, or at exactly zero.
    fn is_above(&self, hosts: &[HostRounds]) -> Option<bool> {
        let mean = Paired::of(&replicates(hosts, &self.rounds))?.mean;
        (mean != 0.0).then_some(mean > 0.0)
    }

    /// The same, where it is certain.
    fn is_certainly_above(&self) -> Option<bool> {
        match self.side {
            Side::Below => Some(false),
            Side::Above => Some(true),
            Side::Near | Side::Unknown => None,
        }
    }
}

/// The candidate passes the base, or falls behind it, between two client counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    pub from: u32,
    pub to: u32,
    /// Does the ratio rise from below 1 to above it, as the clients become more?
    pub rises: bool,
    pub place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// The ratio is certainly on either side at the two counts, and every round crosses between them.
    Found {
        /// Clients at which it crosses: the geometric mean of the rounds' crossings.
        clients: f64,
        /// The 95 % interval of that, within the two counts; `None` with a single round.
        ends: Option<(f64, f64)>,
        rounds: u32,
    },
    /// The ratio is certainly on either side at the two counts, but not every round crosses between
    /// them, so that no place can be given. `rounds` are complete at all counts between.
    Between { crossing: u32, rounds: u32 },
    /// The ratio is certain at one count, and at the other its mean is beyond 1. `rounds` are complete at both.
    Inconclusive { crossing: u32, rounds: u32 },
}

/// Where the ratio of one candidate to the base passes 1 over the client counts of one test, by rising
/// counts; empty where it does not.
///
/// A crossing lies between two counts at which the verdicts are certain and opposite, with no certain
/// one between them. Its place is found in each round: linearly in ln(clients) between neighbouring
/// counts, as that is the scale on which counts of a sweep are chosen. Where a round goes forth and back
/// on undecided counts between the two, its place is the one that leaves as much of the way below 1 as
/// the round does. The rounds' places are then treated as any other measure of a round: mean ±
/// t(0.975, n−1)·s/√n, with both ends kept within the two counts. Where three or more of the run's `hosts` measured
/// the rounds, each host's mean takes the place of its rounds.
///
/// The sign of a mean alone makes no crossing: of two systems that are alike it is even odds at every
/// count. So on either side of the certain counts an opposite mean is inconclusive, and only if
/// it lasts to the end of the sweep; one that lies within the margin is not told at all.
pub fn crossings(points: &[SweepPoint], hosts: &[HostRounds]) -> Vec<Crossing> {
    let usable = points.iter().filter(|p| p.clients > 0 && !p.rounds.is_empty());
    let mut points: Vec<&SweepPoint> = usable.collect();
    points.sort_by_key(|p| p.clients);
    let certain: Vec<usize> =
        (0..points.len()).filter(|place| points[*place].is_certainly_above().is_some()).collect();
    let (Some(first), Some(last)) = (certain.first(), certain.last()) else { return Vec::new() };
    let before: Vec<&SweepPoint> = points[..=*first].iter().rev().copied().collect();
    let between = certain.windows(2).filter_map(|ends| {
        let (from, to) = (ends[0], ends[1]);
        let rises = points[to].is_certainly_above()?;
        (points[from].is_certainly_above()? != rises)
            .then(|| found(&points[from..=to], rises, hosts))
    });
    undecided(&before, hosts)
        .into_iter()
        .chain(between)
        .chain(undecided(&points[*last..], hosts))
        .collect()
}

/// The crossing on a stretch of counts whose two ends are certain and opposite.
fn found(stretch: &[&SweepPoint], rises: bool, hosts: &[HostRounds]) -> Crossing {
    let (from, to) = (stretch[0], stretch[stretch.len() - 1]);
    let rounds = complete(stretch);
    let place =
        |(round, logs): &(u32, Vec<f64>)| Some((*round, place_of_round(stretch, logs, rises)?));
    let places: Vec<(u32, f64)> = rounds.iter().filter_map(place).collect();
    let mean = Paired::of(&replicates(hosts, &places)).filter(|_| places.len() == rounds.len());
    let place = match mean {
        Some(mean) => Place::Found {
            clients: mean.ratio(),
            ends: mean.interval(CONFIDENCE).map(|(low, high)| {
                let within = |place: f64| place.clamp(from.place(), to.place()).exp();
                (within(low), within(high))
            }),
            rounds: rounds.len() as u32,
        },
        None => Place::Between { crossing: places.len() as u32, rounds: rounds.len() as u32 },
    };
    Crossing { from: from.clients, to: to.clients, rises, place }
}

/// Beyond a certain count, with which `outwards` begins: it goes on to the end of the sweep.
fn undecided(outwards: &[&SweepPoint], hosts: &[HostRounds]) -> Option<Crossing> {
    let inner = outwards.first()?.is_certainly_above()?;
    let opposite = |p: &&&SweepPoint| p.side == Side::Unknown && p.is_above(hosts) == Some(!inner);
    let lasting = outwards.iter().rev().take_while(opposite).count();
    if lasting == 0 {
        return None;
    }
    let far = outwards.len() - lasting;
    let (near, far) = (*outwards.get(far.checked_sub(1)?)?, *outwards.get(far)?);
    let (from, to) = if near.clients < far.clients { (near, far) } else { (far, near) };
    let rises = (near.clients < far.clients) != inner;
    let pair = [from, to];
    let rounds = complete(&pair);
    let crossing = rounds.iter().filter(|(_, logs)| place_of_round(&pair, logs, rises).is_some());
    Some(Crossing {
        from: from.clients,
        to: to.clients,
        rises,
        place: Place::Inconclusive {
            crossing: crossing.count() as u32,
            rounds: rounds.len() as u32,
        },
    })
}

/// The log ratios of each round that is complete at all these counts.
fn complete(stretch: &[&SweepPoint]) -> Vec<(u32, Vec<f64>)> {
    let rounds = stretch.first().map_or(&[][..], |p| p.rounds.as_slice());
    let at_all = |round: u32| stretch.iter().map(|p| p.log(round)).collect::<Option<Vec<f64>>>();
    rounds.iter().filter_map(|(round, _)| Some((*round, at_all(*round)?))).collect()
}

/// Where a round crosses, as ln(clients); `None` where its two ends are not on opposite sides of 1.
fn place_of_round(stretch: &[&SweepPoint], logs: &[f64], rises: bool) -> Option<f64> {
    let turn = if rises { 1.0 } else { -1.0 };
    let logs: Vec<f64> = logs.iter().map(|log| turn * log).collect();
    if !(*logs.first()? < 0.0 && *logs.last()? > 0.0) {
        return None;
    }
    let parts = stretch.windows(2).zip(logs.windows(2));
    let below: f64 =
        parts.map(|(p, log)| (p[1].place() - p[0].place()) * share_below(log[0], log[1])).sum();
    Some(stretch.first()?.place() + below)
}

/// The share of a straight line between two values that is below zero.
fn share_below(from: f64, to: f64) -> f64 {
    match (from < 0.0, to < 0.0) {
        (true, true) => 1.0,
        (false, false) => 0.0,
        (true, false) | (false, true) => from.min(to) / (from.min(to) - from.max(to)),
    }
}

/// How much more one system does at one client count than at another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleUp {
    /// Geometric mean over the rounds of the one throughput over the other.
    pub ratio: f64,
    /// The 95 % interval of that; `None` with a single round.
    pub ends: Option<(f64, f64)>,
    pub rounds: u32,
}

/// The throughput of a system at one client count over that at another, `from` the smaller; both are
/// (round, value). `None` where no round has both, or where a value is not positive.
///
/// Paired within the round as everything is: the two come from one trial, whose data, server start and
/// hour they share. Where three or more of the run's `hosts` measured the rounds, the interval counts hosts.
pub fn scale_up(from: &[(u32, f64)], to: &[(u32, f64)], hosts: &[HostRounds]) -> Option<ScaleUp> {
    let logs: Vec<(u32, f64)> = from
        .iter()
        .filter_map(|(round, value)| {
            let (_, other) = to.iter().find(|(r, _)| r == round)?;
            Some((*round, other.ln() - value.ln()))
        })
        .collect();
    let paired = Paired::of(&replicates(hosts, &logs))?;
    let ends = paired.interval(CONFIDENCE);
    Some(ScaleUp {
        ratio: paired.ratio(),
        ends: ends.map(|(low, high)| (low.exp(), high.exp())),
        rounds: logs.len() as u32,
    })
}

#[cfg(test)]
mod tests;

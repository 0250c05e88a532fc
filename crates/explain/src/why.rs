//! Where a system spends more than its base: layers and functions by CPU or instructions per operation, from profiled
//! rounds.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    FEWEST_ROUNDS, Nanos, Plan, Profile, ProfiledStep, Resource, StepId, StepRecord, System,
    TrialKey,
};
use serde::Serialize;
use stats::{CONFIDENCE, Paired, USUAL_Q};

use crate::layers::{Layers, UNCLASSIFIED};

/// Functions that are listed in any case: those that changed most.
const FUNCTIONS: usize = 15;
const MICROS: f64 = 1e3;

/// What an operation of a step takes, candidate against base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepWhy {
    /// With the number of clients where several steps have its name: `point-query ×8`.
    pub step: StepId,
    pub of: Resource,
    pub base: String,
    pub system: String,
    /// Profiled rounds that have both.
    pub rounds: u32,
    /// Time that a client spends on an operation. Of instructions, those of the server.
    pub time: WhyLine,
    /// CPU of the server, or the sleep of threads that serve clients: the sum of its layers.
    pub spent: WhyLine,
    /// It by layer; what adds most to the change comes first.
    pub layers: Vec<WhyLine>,
    /// The rest of the time. Of CPU: waits, the client, the way between.
    pub rest: WhyLine,
    /// It by function, without what it calls: those that changed most, and all that certainly changed.
    pub functions: Vec<WhyLine>,
    /// How far the samples can be trusted.
    pub of_base: Quality,
    pub of_system: Quality,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhyLine {
    pub name: String,
    /// Means over the rounds.
    pub base: f64,
    pub system: f64,
    /// Candidate less base, paired over the rounds, with its 95 % interval from two rounds on.
    pub change: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Adjusted for all lines of all steps; `None` with fewer than three rounds, and for what is not sampled.
    pub q_value: Option<f64>,
    /// How much of the change of the time it accounts for; `None` where the interval of that has zero in it.
    pub share: Option<f64>,
}

impl WhyLine {
    /// By the rule of verdicts.
    pub fn is_certain(&self) -> bool {
        self.q_value.is_some_and(|q| q <= USUAL_Q)
    }
}

/// Samples of a system in a step, over all rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quality {
    /// Stacks that were taken; instructions.
    pub samples: u64,
    /// Nanoseconds of sleep; zero of other resources.
    pub slept: u64,
    pub lost: u64,
    /// The share whose stack reaches the start of its thread.
    pub rooted: f64,
    /// The share that has a layer.
    pub classified: f64,
    /// How much fewer operations per second than in judged rounds, as a share; `None` without these.
    pub slowdown: Option<f64>,
}

/// Every system against the base, in every step that both have profiles of. `judged` are the other rounds' records.
pub fn why(
    plan: &Plan,
    judged: &[(TrialKey, StepRecord)],
    profiled: &[ProfiledStep],
) -> Vec<StepWhy> {
    let Some(base) = plan.system(&plan.base) else { return Vec::new() };
    let steps = profiled.iter().map(|one| (one.record.ordinal, one.profile.of));
    let steps: BTreeSet<(u32, Resource)> = steps.collect();
    let labels = labels(profiled);
    let candidates = || plan.systems.iter().filter(|system| system.name != base.name);
    let all = steps.into_iter().flat_map(|step| {
        let of_base = Spent::of(base, step, judged, profiled);
        let others = candidates().map(|one| (one, Spent::of(one, step, judged, profiled)));
        let named = (&labels[&step.0], step.1);
        let others =
            others.filter_map(|(one, spent)| compare(named, (base, &of_base), (one, &spent)));
        others.collect::<Vec<_>>()
    });
    let mut all: Vec<StepWhy> = all.collect();
    adjust(&mut all);
    for one in &mut all {
        let mut place = 0..;
        one.functions.retain(|line| place.next() < Some(FUNCTIONS) || line.is_certain());
    }
    all
}

/// The steps by ordinal: their names, with the number of clients where several steps have the name.
pub(crate) fn labels(profiled: &[ProfiledStep]) -> BTreeMap<u32, StepId> {
    let steps: BTreeMap<u32, &StepRecord> =
        profiled.iter().map(|one| (one.record.ordinal, &one.record)).collect();
    let has_several =
        |step: &StepId| steps.values().filter(|record| record.step == *step).count() > 1;
    let label = |record: &StepRecord| {
        if !has_several(&record.step) {
            return record.step.clone();
        }
        StepId::new(format!("{} ×{}", record.step, record.clients))
    };
    steps.iter().map(|(ordinal, record)| (*ordinal, label(record))).collect()
}

/// Turns p-values into those of many tests at once.
fn adjust(all: &mut [StepWhy]) {
    let lines = all.iter_mut().flat_map(|one| one.layers.iter_mut().chain(&mut one.functions));
    let mut tested: Vec<&mut f64> = lines.filter_map(|line| line.q_value.as_mut()).collect();
    let p_values: Vec<f64> = tested.iter().map(|p| **p).collect();
    for (value, adjusted) in tested.iter_mut().zip(stats::adjust(&p_values)) {
        **value = adjusted;
    }
}

struct Spent {
    rounds: BTreeMap<u32, Round>,
    quality: Quality,
}

#[derive(Default)]
struct Round {
    time: f64,
    spent: f64,
    /// What a sample stands for, which is how exact sums are.
    sample: f64,
    layers: BTreeMap<String, f64>,
    functions: BTreeMap<String, f64>,
}

impl Spent {
    fn of(
        system: &System,
        (ordinal, of): (u32, Resource),
        judged: &[(TrialKey, StepRecord)],
        profiled: &[ProfiledStep],
    ) -> Self {
        let mut layers = Layers::of(system.build.dbms);
        let own = profiled.iter().filter(|one| {
            one.trial.system == system.name
                && one.record.ordinal == ordinal
                && one.profile.of == of
                && one.record.subject_count() > 0
        });
        let rounds = own.clone().map(|one| (one.trial.round, Round::of(one, &mut layers)));
        let rounds: BTreeMap<u32, Round> = rounds.collect();
        let sum = |part: fn(&ProfiledStep) -> u64| own.clone().map(part).sum::<u64>();
        let all = sum(|one| one.profile.samples());
        let (spent, unclassified) = rounds.values().fold((0.0, 0.0), |(spent, rest), round| {
            (spent + round.spent, rest + round.layers.get(UNCLASSIFIED).unwrap_or(&0.0))
        });
        let rates = judged
            .iter()
            .filter(|(trial, record)| trial.system == system.name && record.ordinal == ordinal);
        // Under Valgrind the rate says nothing.
        let rates = rates.filter(|_| of != Resource::Instructions);
        let usual = median(rates.map(|(_, record)| rate(record)));
        let seen = median(own.clone().map(|one| rate(&one.record)));
        let quality = Quality {
            samples: sum(|one| taken(&one.profile)),
            slept: if of == Resource::Sleep { all } else { 0 },
            lost: sum(|one| one.profile.lost),
            rooted: sum(|one| one.profile.rooted()) as f64 / all.max(1) as f64,
            classified: if spent > 0.0 { 1.0 - unclassified / spent } else { 0.0 },
            slowdown: usual.zip(seen).map(|(usual, seen)| 1.0 - seen / usual),
        };
        Self { rounds, quality }
    }
}

impl Round {
    fn of(one: &ProfiledStep, layers: &mut Layers) -> Self {
        let (time, spent) = (time_of(one), spent_of(one));
        let sample = spent / taken(&one.profile).max(1) as f64;
        let mut round = Self { time, spent, sample, ..Self::default() };
        let each = of_each(one);
        for (stack, number) in &one.profile.stacks {
            let spent = *number as f64 * each;
            let (layer, function) = layers.layer_and_function(one.profile.of, stack);
            *round.layers.entry(layer.to_owned()).or_default() += spent;
            *round.functions.entry(function.to_owned()).or_default() += spent;
        }
        round
    }
}

/// Stacks that were taken; instructions.
fn taken(profile: &Profile) -> u64 {
    match profile.of {
        Resource::Sleep => profile.taken,
        Resource::Cpu | Resource::Instructions => profile.samples(),
    }
}

/// Of an operation, for a client. Of instructions, those of the server.
fn time_of(one: &ProfiledStep) -> f64 {
    match one.profile.of {
        Resource::Cpu | Resource::Sleep => {
            of_operation(one, one.record.window) * f64::from(one.record.clients)
        }
        Resource::Instructions => spent_of(one),
    }
}

/// Of an operation, by the server.
fn spent_of(one: &ProfiledStep) -> f64 {
    match one.profile.of {
        Resource::Cpu => of_operation(one, one.cpu()),
        Resource::Sleep => of_operation(one, Nanos(one.profile.samples())),
        Resource::Instructions => one.profile.samples() as f64 / one.record.subject_count() as f64,
    }
}

/// Microseconds of an operation.
fn of_operation(one: &ProfiledStep, time: Nanos) -> f64 {
    time.0 as f64 / MICROS / one.record.subject_count() as f64
}

/// What one of a profile's numbers stands for, in its unit per operation.
pub(crate) fn of_each(one: &ProfiledStep) -> f64 {
    spent_of(one) / one.profile.samples().max(1) as f64
}

fn rate(record: &StepRecord) -> f64 {
    record.subject_count() as f64 / record.window.as_secs_f64()
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.filter(|value| *value > 0.0 && value.is_finite()).collect();
    stats::median(&values)
}

fn compare(
    (step, of): (&StepId, Resource),
    base: (&System, &Spent),
    other: (&System, &Spent),
) -> Option<StepWhy> {
    let both: Vec<(&Round, &Round)> = base
        .1
        .rounds
        .iter()
        .filter_map(|(round, of_base)| Some((of_base, other.1.rounds.get(round)?)))
        .collect();
    let [of_time, of_spent, of_rest] = match of {
        Resource::Cpu => ["time of an operation", "CPU of the server", "not on the server's CPU"],
        Resource::Sleep => {
            ["time of an operation", "asleep (including waits for the client)", "awake"]
        }
        Resource::Instructions => {
            ["instructions of an operation", "instructions of the server", "other instructions"]
        }
    };
    let time = line(of_time, &both, |round| round.time, false)?;
    // There is nothing to share out of a change that may be none.
    let is_change = !time.low.zip(time.high).is_some_and(|(low, high)| low <= 0.0 && high >= 0.0);
    let share = |mut of: WhyLine| {
        of.share = Some(of.change / time.change).filter(|share| is_change && share.is_finite());
        of
    };
    let ranked = |parts: fn(&Round) -> &BTreeMap<String, f64>| {
        let rounds = both.iter().flat_map(|(a, b)| [*a, *b]);
        let names: BTreeSet<&String> = rounds.flat_map(|round| parts(round).keys()).collect();
        let value = |round: &Round, name: &str| parts(round).get(name).copied().unwrap_or(0.0);
        let lines = names
            .into_iter()
            .filter_map(|name| line(name, &both, |round| value(round, name), true));
        let mut lines: Vec<WhyLine> = lines.map(share).collect();
        // What goes the same way as the whole first.
        let weight = |line: &WhyLine| line.change * time.change.signum();
        lines.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        lines
    };
    let mut functions = ranked(|round| &round.functions);
    functions.sort_by(|a, b| b.change.abs().total_cmp(&a.change.abs()));
    Some(StepWhy {
        step: step.clone(),
        of,
        base: base.0.name.clone(),
        system: other.0.name.clone(),
        rounds: both.len() as u32,
        layers: ranked(|round| &round.layers),
        rest: share(line(of_rest, &both, |round| round.time - round.spent, false)?),
        spent: share(line(of_spent, &both, |round| round.spent, false)?),
        functions,
        of_base: base.1.quality,
        of_system: other.1.quality,
        time: share(time.clone()),
    })
}

/// `None` without rounds. Where values are counted in samples, rounds that agree better than chance lets counts do
/// are no evidence: their deviation is at least that of counts, whose variance is the count itself (Poisson).
fn line(
    name: &str,
    both: &[(&Round, &Round)],
    value: impl Fn(&Round) -> f64,
    is_sampled: bool,
) -> Option<WhyLine> {
    let changes: Vec<f64> = both.iter().map(|(a, b)| value(b) - value(a)).collect();
    let mut paired = Paired::of(&changes)?;
    let rounds = both.len() as f64;
    if is_sampled {
        let variance = |round: &Round| value(round) * round.sample;
        let chance = both.iter().map(|(a, b)| variance(a) + variance(b)).sum::<f64>() / rounds;
        paired.sd = paired.sd.map(|sd| sd.max(chance.sqrt()));
    }
    let interval = paired.interval(CONFIDENCE);
    let is_tested = is_sampled && paired.rounds >= FEWEST_ROUNDS;
    Some(WhyLine {
        name: name.to_owned(),
        base: both.iter().map(|(a, _)| value(a)).sum::<f64>() / rounds,
        system: both.iter().map(|(_, b)| value(b)).sum::<f64>() / rounds,
        change: paired.mean,
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
        q_value: paired.p_value().filter(|_| is_tested),
        share: None,
    })
}

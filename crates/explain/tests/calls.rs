//! What profiles call: simulated runs, with a slow-down in one of ten functions and without.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;

use explain::{StepWhy, WhyLine, why};
use model::{
    Counter, Counts, KindInterval, KindSpec, KindTotals, Nanos, Plan, Profile, ProfiledStep,
    Readings, StepId, StepRecord, Subject, TrialKey, mix,
};
use testkit::fixtures::plan;

/// Functions of SQLite, and thousandths of the CPU time that each takes; each in a layer of its own or not.
const FUNCTIONS: [(&str, u32); 10] = [
    ("sqlite3VdbeExec", 300),
    ("sqlite3BtreeIndexMoveto", 180),
    ("memcpy", 130),
    ("sqlite3VdbeSerialGet", 110),
    ("pcache1Fetch", 90),
    ("sqlite3GetToken", 70),
    ("sqlite3_step", 50),
    ("malloc", 40),
    ("do_syscall_64_[k]", 20),
    ("walFindFrame", 10),
];
const OPERATIONS: u64 = 100_000;
/// Seconds of a window, which one client fills with CPU time.
const SECONDS: f64 = 10.0;
const HERTZ: u32 = 199;
/// How much the CPU time of all functions scatters together from trial to trial, to each side.
const SCATTER: f64 = 0.02;

/// Numbers from a seed, between 0 and 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = mix(self.0, &[1]);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A step of a trial whose functions take so much, in thousandths of a window.
fn profiled(trial: TrialKey, weights: &[f64], numbers: &mut Numbers) -> ProfiledStep {
    let seconds = SECONDS * weights.iter().sum::<f64>() / 1e3
        * (1.0 + SCATTER * (2.0 * numbers.next() - 1.0));
    let mut stacks = BTreeMap::new();
    for _ in 0..(seconds * f64::from(HERTZ)) as u64 {
        let mut left = numbers.next() * weights.iter().sum::<f64>();
        let function = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        *stacks.entry(FUNCTIONS[function.unwrap_or(0)].0).or_default() += 1;
    }
    let stacks =
        stacks.into_iter().map(|(function, samples)| (format!("main;{function}"), samples));
    let nanos = Nanos((seconds * 1e9) as u64);
    let mut counters = Readings::default();
    counters.total(Counter::SERVER_CPU, nanos.0);
    let sums = KindInterval { ops: OPERATIONS, ..KindInterval::default() };
    let kind = KindTotals { spec: KindSpec::unscheduled("query"), sums, late: 0 };
    let record = StepRecord {
        step: StepId::new("q"),
        clients: 1,
        window: nanos,
        kinds: vec![kind],
        subject: Subject { kind: "query".to_owned(), counts: Counts::Operations },
        counters,
        ..StepRecord::default()
    };
    ProfiledStep {
        trial,
        record,
        profile: Profile { hertz: HERTZ, stacks: stacks.collect(), ..Profile::default() },
    }
}

/// The answer of a run of so many profiled rounds, in which this function makes the candidate slower by a share of all.
fn answer(seed: u64, rounds: u32, slowed: Option<(usize, f64)>) -> StepWhy {
    let mut numbers = Numbers(seed);
    let plan: Plan = plan(&["a", "b"], rounds);
    let weights = FUNCTIONS.map(|(_, weight)| f64::from(weight));
    let mut slower = weights;
    if let Some((function, share)) = slowed {
        slower[function] += share * 1e3;
    }
    let mut steps = Vec::new();
    for round in 1..=rounds {
        for (system, weights) in [("a", &weights), ("b", &slower)] {
            let trial = TrialKey { round, position: 1, system: system.to_owned() };
            steps.push(profiled(trial, weights, &mut numbers));
        }
    }
    why(&plan, &[], &steps).pop().unwrap()
}

#[test]
fn a_slowdown_of_3_percent_in_one_of_ten_functions_is_among_the_first_three_lines() {
    for rounds in [3] {
        let named = |function: usize| {
            let named = (0..20).filter(|seed| {
                let answer =
                    answer(mix(7, &[function as u64, *seed]), rounds, Some((function, 0.03)));
                let mut first = answer.functions.iter().take(3);
                first.any(|line| line.name == FUNCTIONS[function].0)
            });
            named.count()
        };
        for (function, (name, _)) in FUNCTIONS.iter().enumerate() {
            assert!(named(function) >= 18, "{name}, {rounds} rounds: {} of 20", named(function));
        }
    }
}

#[test]
fn between_two_of_the_same_nothing_is_called() {
    for rounds in [3, 6, 12] {
        let called = (0..100).filter(|seed| {
            let answer = answer(mix(11, &[*seed]), rounds, None);
            answer.functions.iter().chain(&answer.layers).any(WhyLine::is_certain)
        });
        let called = called.count();
        assert!(called <= 5, "{rounds} rounds: {called} of 100");
    }
}

#[test]
fn with_rounds_enough_a_slowdown_of_3_percent_is_certain() {
    let called = (0..20).filter(|seed| {
        let answer = answer(mix(13, &[*seed]), 12, Some((4, 0.03)));
        let line = answer.functions.iter().find(|line| line.name == FUNCTIONS[4].0).unwrap();
        line.is_certain() && line.change > 0.0
    });
    let called = called.count();
    assert!(called >= 18, "{called} of 20");
}

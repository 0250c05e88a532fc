//! Made-up measurements, for the examples that write large labs.

use std::error::Error;

use model::{
    Counter, Counts, Interval, KindInterval, KindSpec, KindTotals, Nanos, Outcome, Plan, Readings,
    Rng, Step, StepId, StepRecord, Subject, TrialKey,
};
use store::{Store, TrialId};
use testkit::fixtures;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

const NOW: &str = "2026-01-02T03:04:05Z";

/// An operation kind, and whether it follows a schedule.
pub(crate) type Kind = (&'static str, bool);

/// The steps of the Insert Benchmark.
pub(crate) const STEPS: [&str; 10] =
    ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"];

/// Writes a run of steps of so many seconds each: `write_step` writes one of a trial of the system that it is told.
pub(crate) fn write_run(
    store: &mut Store,
    plan: &Plan,
    (steps, seconds): (u32, u32),
    mut write_step: impl FnMut(&mut Store, TrialId, &str, u32) -> Result<()>,
) -> Result<()> {
    let run = store.create_run(plan, &fixtures::host(), "0.1.0", NOW)?;
    for trial in plan.trials() {
        let system = &plan.systems.get(trial.system).ok_or("no such system")?.name;
        let key = TrialKey { round: trial.round, position: trial.position, system: system.clone() };
        let id = store.begin_trial(&run, &key, NOW)?;
        for ordinal in 0..steps {
            write_step(store, id, system, ordinal)?;
        }
        let duration = Nanos::from_secs(u64::from(steps) * u64::from(seconds));
        store.finish_trials(&[(id, &Outcome::Completed, duration)])?;
    }
    store.finish_run(&run)?;
    Ok(())
}

/// A second of these kinds.
pub(crate) fn second(kinds: &[Kind], samples: u64, slowness: f64, rng: &mut Rng) -> Interval {
    let kinds = kinds.iter().map(|(_, scheduled)| kind(*scheduled, samples, slowness, rng));
    Interval {
        index: 0,
        start: Nanos(0),
        length: Nanos::SECOND,
        kinds: kinds.collect(),
        stalled: Nanos(0),
        readings: readings(rng, 1),
    }
}

/// What one kind does in a second: latencies around half a millisecond with a long tail, so many of them
/// recorded.
pub(crate) fn kind(scheduled: bool, samples: u64, slowness: f64, rng: &mut Rng) -> KindInterval {
    let ops = (1000.0 / slowness * (0.9 + 0.2 * rng.unit())) as u64;
    let mut kind = KindInterval { ops, rows: ops * 10, ..KindInterval::default() };
    for _ in 0..samples {
        let micros = 500.0 * slowness * (0.1 + rng.unit()) / (1.001 - rng.unit()).sqrt();
        let service = Nanos((micros * 1e3) as u64);
        kind.service.record(service);
        if scheduled {
            kind.response.get_or_insert_default().record(service + Nanos(rng.below(50_000)));
        }
    }
    kind
}

/// A step of these kinds.
pub(crate) fn step(name: &str, ordinal: u32, kinds: &[Kind]) -> Step {
    let kinds = kinds.iter();
    let kinds =
        kinds.map(|(name, scheduled)| KindSpec { name: (*name).into(), scheduled: *scheduled });
    let subject = Subject { kind: "insert".into(), counts: Counts::Rows };
    Step { kinds: kinds.collect(), ..Step::new(StepId::new(name), ordinal, 4, subject) }
}

/// The record of a step of these kinds, which did so much in all.
pub(crate) fn record(
    step: &str,
    ordinal: u32,
    seconds: u32,
    kinds: &[Kind],
    totals: Vec<KindInterval>,
) -> StepRecord {
    let about_rows = step.starts_with('l');
    let subject = if about_rows { "insert" } else { "query" };
    let counts = if about_rows { Counts::Rows } else { Counts::Operations };
    let subject = Subject { kind: subject.into(), counts };
    let planned = Step::new(StepId::new(step), ordinal, 4, subject);
    let kinds = kinds.iter().zip(totals);
    StepRecord {
        elapsed: Nanos::from_secs(u64::from(seconds) + 1),
        kinds: kinds
            .map(|((name, scheduled), sums)| KindTotals {
                spec: KindSpec { name: (*name).into(), scheduled: *scheduled },
                sums,
                late: 0,
            })
            .collect(),
        target_rate: (!about_rows).then_some(10_000),
        seconds_on_target: (!about_rows).then_some((seconds, seconds)),
        requested_rows: 10_000 * u64::from(seconds),
        counters: readings(&mut Rng::new(u64::from(ordinal)), u64::from(seconds)),
        ..StepRecord::of(&planned, Nanos::from_secs(seconds.into()))
    }
}

fn readings(rng: &mut Rng, seconds: u64) -> Readings {
    let mut readings = Readings::default();
    for id in [
        Counter::SERVER_CPU,
        Counter::SERVER_CS,
        Counter::SERVER_WRITTEN,
        Counter::CLIENT_CPU,
        Counter::HOST_CPU,
        Counter::HOST_CS,
        Counter::HOST_STEAL,
        Counter::DISK_READS,
        Counter::DISK_READ,
        Counter::DISK_WRITES,
        Counter::DISK_WRITTEN,
    ] {
        readings.total(id, seconds * (400_000_000 + rng.below(50_000_000)));
    }
    readings.level(Counter::SERVER_RSS, (1 << 30) + rng.below(1 << 20));
    readings
}

//! The store as its callers see it.

mod control;
mod journal;
mod kill;
mod many_steps;
mod merge;
mod openers;
mod profiles;
mod read_only;
mod round_trip;
mod slices;
mod stored;
mod streaming;
mod trouble;

use model::{
    Counts, Drift, Interval, KindInterval, KindSpec, KindTotals, Latency, Measurement, MetricId,
    Nanos, Outcome, Readings, RunId, Step, StepId, StepRecord, Subject, TrialKey, Unit,
};
use tempfile::TempDir;

use crate::load::below::histograms;
use crate::load::finished::finished_steps;
use crate::{StepRowId, Store, TrialId};
use testkit::fixtures;

const STARTED: &str = "2026-01-02T03:04:05Z";

/// A lab in a directory that goes away with it.
struct Lab {
    directory: TempDir,
    store: Store,
}

impl Lab {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&directory.path().join("lab.sqlite")).unwrap();
        Self { directory, store }
    }

    fn reopened(self) -> Self {
        let Self { directory, store } = self;
        drop(store);
        let store = Store::open(&directory.path().join("lab.sqlite")).unwrap();
        Self { directory, store }
    }

    fn run(&mut self, systems: &[&str], rounds: u32) -> RunId {
        let plan = fixtures::plan(systems, rounds);
        let host = fixtures::host();
        self.store.create_run(&plan, &host, "0.1.0", STARTED).unwrap()
    }

    fn trial(&mut self, run: &RunId, round: u32, system: &str) -> TrialId {
        self.store.begin_trial(run, &key(round, system), STARTED).unwrap()
    }

    fn step(&mut self, trial: TrialId, name: &str, ordinal: u32) -> StepRowId {
        self.store.begin_step(trial, &planned(name, ordinal, &["insert", "query"])).unwrap()
    }

    /// A trial that completed, with these steps of three seconds each.
    fn whole_trial(&mut self, run: &RunId, round: u32, system: &str, steps: &[&str]) {
        let trial = self.trial(run, round, system);
        for (ordinal, name) in (0..).zip(steps) {
            let step = self.step(trial, name, ordinal);
            for index in 0..3 {
                self.store.add_interval(step, &interval(index)).unwrap();
            }
            let record = record(name, ordinal);
            self.store.finish_step(step, &record, &[rate(f64::from(round))]).unwrap();
        }
        self.store.finish_trials(&[(trial, &Outcome::Completed, Nanos::from_secs(9))]).unwrap();
    }

    /// Intervals of the trial that is under way, in order.
    fn intervals(&self, run: &RunId) -> Vec<Interval> {
        let under_way = self.store.under_way(run, u32::MAX).unwrap();
        let mut intervals = under_way.unwrap().latest;
        intervals.reverse();
        intervals
    }

    /// The one record of a step of this name, with its histograms; its trial has an outcome.
    fn record(&self, step: &str) -> StepRecord {
        let state = &self.store.connection;
        let steps = finished_steps(state, 1).unwrap();
        let mut steps = steps.into_iter().filter(|found| found.name.0 == step);
        let mut found = steps.next().unwrap();
        assert!(steps.next().is_none(), "{step}");
        let mut histograms = histograms(state, &found).unwrap().into_iter().peekable();
        for KindTotals { spec, sums, .. } in &mut found.record.kinds {
            let service = histograms.next().unwrap();
            assert_eq!((&service.kind, service.is_response), (&spec.name, false));
            sums.service = service.latency;
            sums.response = histograms.next_if(|next| next.is_response).map(|next| next.latency);
        }
        found.record
    }

    /// An error's message, with the path of the lab taken out.
    fn told(&self, error: &crate::StoreError) -> String {
        let lab = self.directory.path().display().to_string();
        error.to_string().replace(&lab, "LAB")
    }
}

fn key(round: u32, system: &str) -> TrialKey {
    TrialKey { round, position: 1, system: system.into() }
}

fn failed() -> Outcome {
    Outcome::Failed {
        step: Some(StepId::new("l.i0")),
        reason: "the server died".into(),
        log_tail: vec!["signal 11".into()],
    }
}

fn rate(value: f64) -> Measurement {
    Measurement { metric: MetricId::new("rate"), unit: Unit::RowsPerSecond, value }
}

fn latency(micros: &[u64]) -> Latency {
    let mut latency = Latency::new();
    for us in micros {
        latency.record(Nanos(us * 1000));
    }
    latency
}

fn interval(index: u32) -> Interval {
    let mut readings = Readings::default();
    readings.total("server.cpu_ns", u64::from(index) * 1_000_000);
    readings.level("server.rss_bytes", 1 << 30);
    Interval {
        index,
        start: Nanos::from_secs(u64::from(index)),
        length: Nanos::SECOND,
        kinds: vec![
            KindInterval {
                ops: 3,
                rows: 150,
                errors: 1,
                retries: 2,
                service: latency(&[100, 200, 300]),
                response: Some(latency(&[110, 210, 310])),
            },
            KindInterval {
                ops: 2,
                rows: 20,
                service: latency(&[10, 20]),
                ..KindInterval::default()
            },
        ],
        stalled: Nanos(0),
        readings,
    }
}

/// A step of a plan with these kinds of operations.
fn planned(name: &str, ordinal: u32, kinds: &[&str]) -> Step {
    let subject = Subject { kind: "insert".to_owned(), counts: Counts::Rows };
    let kinds = kinds.iter().map(|kind| KindSpec::unscheduled(kind)).collect();
    Step { kinds, ..Step::new(StepId::new(name), ordinal, 1, subject) }
}

fn record(name: &str, ordinal: u32) -> StepRecord {
    let mut totals = [KindInterval::default(), KindInterval::default()];
    for index in 0..3 {
        for (total, kind) in totals.iter_mut().zip(&interval(index).kinds) {
            total.merge(kind);
        }
    }
    let kinds = ["insert", "query"].into_iter().zip(totals);
    StepRecord {
        clients: 4,
        elapsed: Nanos::from_secs(4),
        kinds: kinds
            .map(|(name, sums)| KindTotals {
                spec: KindSpec { name: name.into(), scheduled: sums.response.is_some() },
                sums,
                late: 1,
            })
            .collect(),
        target_rate: Some(100),
        seconds_on_target: Some((3, 3)),
        requested_rows: 450,
        drift: Some(Drift { rate: 0.9, server_cpu: Some(1.25) }),
        ..StepRecord::of(&planned(name, ordinal, &[]), Nanos::from_secs(3))
    }
}

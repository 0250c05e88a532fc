//! Runs made of numbers, for the tests of this crate.

use model::{
    Cell, Fact, MetricId, Nanos, Outcome, Provenance, RunData, SliceValue, StepId, TrialRecord,
    Unit,
};

/// A run of these systems, the first of them the base, without any value.
pub(crate) fn empty_run(systems: &[&str]) -> RunData {
    testkit::fixtures::run(testkit::fixtures::plan(systems, 4))
}

/// A run with one step and one metric; `rounds[r][i]` is the value of system i in round r + 1.
pub(crate) fn run_of<const N: usize>(
    systems: &[&str; N],
    metric: &str,
    rounds: &[[f64; N]],
) -> RunData {
    let mut data = empty_run(systems);
    for (round, values) in (1..).zip(rounds) {
        for (system, value) in systems.iter().zip(values) {
            data.cells.push(cell(round, system, "s0", metric, *value));
        }
    }
    data
}

/// One value. The number in the step's name is its ordinal.
pub(crate) fn cell(round: u32, system: &str, step: &str, metric: &str, value: f64) -> Cell {
    Cell {
        round,
        position: 1,
        system: system.into(),
        step: StepId::new(step),
        ordinal: step.trim_start_matches('s').parse().unwrap(),
        clients: 1,
        metric: MetricId::new(metric),
        unit: Unit::OpsPerSecond,
        value,
    }
}

/// The throughput of a slice.
pub(crate) fn slice(round: u32, system: &str, step: &str, pair: u32, value: f64) -> SliceValue {
    SliceValue {
        round,
        system: system.into(),
        step: StepId::new(step),
        metric: MetricId::new(MetricId::RATE),
        pair,
        value,
    }
}

/// A trial of the first round that completed, over this kind of connection.
pub(crate) fn trial(system: &str, tls: &str) -> TrialRecord {
    TrialRecord {
        round: 1,
        position: 1,
        system: system.into(),
        started: String::new(),
        duration: Nanos(1),
        outcome: Outcome::Completed,
        provenance: Provenance(vec![(Fact::Tls, tls.into())]),
    }
}

//! A plan as programs see it.

use std::collections::BTreeMap;

use model::{Bytes, Interleave, Nanos, Plan, Quarantine, Trial, WorkloadSpec};
use plan::Estimate;
use serde::Serialize;

/// An expanded plan as programs see it.
#[derive(Serialize)]
pub(super) struct Expanded<'a> {
    name: &'a str,
    workload: &'a WorkloadSpec,
    rounds: u32,
    seed: u64,
    base: &'a str,
    template: bool,
    disk_bytes: u64,
    seconds: f64,
    systems: Vec<Line<'a>>,
    trials: Vec<Turn<'a>>,
    first_look: Option<u32>,
    shortest_seconds: Option<f64>,
    interleave: &'static str,
    slice_ms: Option<u64>,
    quarantine: Option<Limits>,
    memory_bytes: u64,
    /// In per cent.
    margins: BTreeMap<&'a str, f64>,
    longest_seconds: Option<f64>,
}

/// The noise that a trial may meet.
#[derive(Serialize)]
struct Limits {
    steal_percent: f64,
    foreign_percent: f64,
    throttled_percent: f64,
    swapped_pages: u32,
    reruns: u32,
    major_faults: u32,
}

#[derive(Serialize)]
struct Line<'a> {
    system: &'a str,
    build: String,
    engine: &'static str,
    config: &'a str,
    control: bool,
    placement: String,
    settings: Vec<String>,
    disk_bytes: u64,
    seconds: f64,
    memory_bytes: u64,
}

#[derive(Serialize)]
struct Turn<'a> {
    index: usize,
    round: u32,
    position: u32,
    system: &'a str,
    seed: u64,
}

/// The plan with what it needs.
pub(super) fn expanded<'a>(plan: &'a Plan, estimate: &Estimate) -> Expanded<'a> {
    let disk = |name: &str| part(&estimate.systems, name).unwrap_or(Bytes(0)).0;
    let memory = |name: &str| part(&estimate.memory, name).unwrap_or(Bytes(0)).0;
    let time = |name: &str| {
        part(&estimate.parts, name)
            .unwrap_or(Nanos(0))
            .as_secs_f64()
    };
    let interleave = match plan.course.interleave {
        Interleave::Trials => ("trials", None),
        Interleave::Slices(length) => ("slices", Some(length.0 / Nanos::from_millis(1).0)),
    };
    Expanded {
        name: &plan.name,
        workload: &plan.workload,
        rounds: plan.rounds,
        seed: plan.seed,
        base: &plan.base,
        template: plan.template,
        disk_bytes: estimate.disk.0,
        seconds: estimate.time.as_secs_f64(),
        systems: plan
            .systems
            .iter()
            .map(|system| Line {
                system: &system.name,
                build: system.build.id(),
                engine: system.engine.name(),
                config: &system.config.name,
                control: system.control,
                placement: system.placement(),
                settings: system
                    .config
                    .settings
                    .iter()
                    .map(ToString::to_string)
                    .collect(),
                disk_bytes: disk(&system.name),
                seconds: time(&system.name),
                memory_bytes: memory(&system.name),
            })
            .collect(),
        trials: plan
            .trials()
            .into_iter()
            .zip(1..)
            .map(|(t, index)| turn(plan, &t, index))
            .collect(),
        first_look: plan.course.first_look,
        shortest_seconds: estimate.shortest.map(Nanos::as_secs_f64),
        interleave: interleave.0,
        slice_ms: interleave.1,
        quarantine: plan.course.quarantine.map(limits),
        memory_bytes: estimate.peak_memory.0,
        margins: plan
            .course
            .margins
            .iter()
            .map(|(metric, margin)| (metric.0.as_str(), margin.as_percent()))
            .collect(),
        longest_seconds: estimate.longest.map(Nanos::as_secs_f64),
    }
}

fn limits(limits: Quarantine) -> Limits {
    let percent = |permille: u32| f64::from(permille) / 10.0;
    Limits {
        steal_percent: percent(limits.steal_permille),
        foreign_percent: percent(limits.foreign_permille),
        throttled_percent: percent(limits.throttled_permille),
        swapped_pages: limits.swapped_pages,
        reruns: limits.reruns,
        major_faults: limits.major_faults,
    }
}

fn turn<'a>(plan: &'a Plan, trial: &Trial, index: usize) -> Turn<'a> {
    Turn {
        index,
        round: trial.round,
        position: trial.position,
        system: &plan.systems[trial.system].name,
        seed: trial.seed,
    }
}

fn part<T: Copy>(parts: &[(String, T)], name: &str) -> Option<T> {
    parts
        .iter()
        .find(|(part, _)| part == name)
        .map(|(_, value)| *value)
}

//! A plan as programs see it.

use std::collections::BTreeMap;

use model::{Bytes, Interleave, Nanos, Plan, Quarantine, System, Trial};
use plan::Estimate;
use report::object;
use serde::Serialize;

pub(super) fn expanded(plan: &Plan, estimate: &Estimate) -> impl Serialize {
    let millis = |length: Nanos| Some(length.0 / Nanos::from_millis(1).0);
    let (interleave, slice_ms) = match plan.course.interleave {
        Interleave::Trials => ("trials", None),
        Interleave::Slices(length) => ("slices", millis(length)),
        Interleave::Turns(length) => ("turns", millis(length)),
    };
    let margins = plan.course.margins.iter();
    let margins = margins.map(|(metric, margin)| (metric.0.clone(), margin.as_percent()));
    let trials = plan.trials().into_iter().zip(1..);
    object! {
        name: plan.name.clone(),
        workload: plan.workload.clone(),
        rounds: plan.rounds,
        seed: plan.seed,
        base: plan.base.clone(),
        template: plan.template,
        disk_bytes: estimate.disk.0,
        seconds: estimate.time.as_secs_f64(),
        systems: plan.systems.iter().map(|one| of_system(one, estimate)).collect::<Vec<_>>(),
        trials: trials.map(|(trial, index)| of_trial(plan, &trial, index)).collect::<Vec<_>>(),
        first_look: plan.course.first_look,
        shortest_seconds: estimate.shortest.map(Nanos::as_secs_f64),
        interleave: interleave,
        slice_ms: slice_ms,
        quarantine: plan.course.quarantine.map(limits),
        memory_bytes: estimate.peak_memory.0,
        margins: margins.collect::<BTreeMap<String, f64>>(),
        longest_seconds: estimate.longest.map(Nanos::as_secs_f64),
    }
}

fn limits(limits: Quarantine) -> impl Serialize {
    let percent = |permille: u32| f64::from(permille) / 10.0;
    object! {
        steal_percent: percent(limits.steal_permille),
        foreign_percent: percent(limits.foreign_permille),
        throttled_percent: percent(limits.throttled_permille),
        swapped_pages: limits.swapped_pages,
        reruns: limits.reruns,
        major_faults: limits.major_faults,
    }
}

fn of_system(system: &System, estimate: &Estimate) -> impl Serialize + use<> {
    object! {
        system: system.name.clone(),
        build: system.build.id(),
        engine: system.engine.name(),
        config: system.config.name.clone(),
        control: system.control,
        placement: system.placement(),
        settings: system.config.settings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        disk_bytes: part(&estimate.systems, &system.name).unwrap_or(Bytes(0)).0,
        seconds: part(&estimate.parts, &system.name).unwrap_or(Nanos(0)).as_secs_f64(),
        memory_bytes: part(&estimate.memory, &system.name).unwrap_or(Bytes(0)).0,
    }
}

fn of_trial(plan: &Plan, trial: &Trial, index: usize) -> impl Serialize + use<> {
    object! {
        index: index,
        round: trial.round,
        position: trial.position,
        system: plan.systems[trial.system].name.clone(),
        seed: trial.seed,
    }
}

fn part<T: Copy>(parts: &[(String, T)], name: &str) -> Option<T> {
    parts.iter().find(|(part, _)| part == name).map(|(_, value)| *value)
}

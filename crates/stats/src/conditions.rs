//! What must be equal before numbers are put beside each other.

use std::collections::BTreeSet;

use model::{Reason, RunData, RunInfo, SqlSpec, SqlWork, TrialRecord, WorkloadSpec};

/// A system of a run, by name.
pub(crate) type Of<'a> = (&'a RunData, &'a str);

/// Why the two systems must not be compared; `None` where they may.
///
/// What the plan asks for is what is compared. A difference that it does not ask for, such as a
/// server that would not encrypt though its neighbour did, spoils every number.
pub(crate) fn of_systems(base: Of<'_>, candidate: Of<'_>) -> Option<Reason> {
    let connection = |(data, name): Of<'_>| data.info.plan.system(name).map(|s| s.connection);
    if connection(base) != connection(candidate) {
        return None;
    }
    different("TLS", [base, candidate], tls)
        .or_else(|| different("transport", [base, candidate], transport))
}

/// Why numbers of the two runs must not be put beside each other; `None` where they may.
pub fn of_runs(base: &RunInfo, candidate: &RunInfo) -> Option<Reason> {
    let (here, there) = (&base.host, &candidate.host);
    let machine = |host: &model::Host| {
        let (cpus, memory) = (host.shape.cpus, host.shape.memory.0);
        format!("{}: {cpus} × {}, {memory} bytes", host.name, host.cpu_model)
    };
    of_names(base, candidate)
        .or_else(|| differ("host", machine(here), machine(there)))
        .or_else(|| {
            // Too long to be told, and `backslide show` has both.
            let same = same_work(base, candidate);
            (!same).then(|| Reason::Different {
                what: format!("the scale or the steps of {}", base.plan.workload.name()),
                base: base.id.0.clone(),
                candidate: candidate.id.0.clone(),
            })
        })
}

/// A reason where their workloads have different names; of imported runs that is what they were imported under.
fn of_names(base: &RunInfo, candidate: &RunInfo) -> Option<Reason> {
    let [left, right] = [base, candidate].map(|run| run.plan.workload.name());
    let remedy = if base.is_imported() && candidate.is_imported() {
        " (import both with the same --name)"
    } else {
        ""
    };
    (left != right).then(|| Reason::Different {
        what: "workload".to_owned(),
        base: left.to_owned(),
        candidate: format!("{right}{remedy}"),
    })
}

/// Have both runs the same scale and steps, as far as any value can show it?
///
/// Runs of earlier versions are stored with what bears on nothing: steps after the last result, and of
/// imported runs how long each step was measured.
fn same_work(base: &RunInfo, candidate: &RunInfo) -> bool {
    let (WorkloadSpec::Sql(left), WorkloadSpec::Sql(right)) =
        (&base.plan.workload, &candidate.plan.workload)
    else {
        return base.plan.workload == candidate.plan.workload;
    };
    let (mut left, mut right) = (up_to_last_result(left), up_to_last_result(right));
    if base.is_imported() && candidate.is_imported() {
        without_seconds(&mut left);
        without_seconds(&mut right);
        // A scale that one of them does not state is not another one.
        if left.tables.is_empty() || right.tables.is_empty() {
            left.tables.clear();
            right.tables.clear();
        }
    }
    left == right
}

/// What ran before a result bears on it, such as a warm-up; what ran after the last does not.
fn up_to_last_result(spec: &SqlSpec) -> SqlSpec {
    let mut spec = spec.clone();
    let mut steps = spec.steps.iter();
    let last = steps.rposition(|step| step.work.is_result());
    spec.steps.truncate(last.map_or(0, |last| last + 1));
    spec
}

/// Of imported steps, the record has how long they were measured.
fn without_seconds(spec: &mut SqlSpec) {
    for step in &mut spec.steps {
        if let SqlWork::Run(run) = &mut step.work {
            run.seconds = 0;
        }
    }
}

/// A reason where two things that must be equal are not.
pub(crate) fn differ(what: &str, base: String, candidate: String) -> Option<Reason> {
    (base != candidate).then(|| Reason::Different {
        what: what.to_owned(),
        base,
        candidate,
    })
}

/// A reason where what both say in their trials is not one and the same; none where one of them says
/// nothing.
fn different(
    what: &str,
    systems: [Of<'_>; 2],
    of: fn(&TrialRecord) -> Option<&str>,
) -> Option<Reason> {
    let [base, candidate] = systems.map(|system| said_by(system, of));
    let both_say = !base.is_empty() && !candidate.is_empty();
    (both_say && base.union(&candidate).count() > 1).then(|| Reason::Different {
        what: what.to_owned(),
        base: listed(base),
        candidate: listed(candidate),
    })
}

/// What a system says in its completed trials, which are those that have values.
fn said_by((data, system): Of<'_>, of: fn(&TrialRecord) -> Option<&str>) -> BTreeSet<&str> {
    let trials = data.trials.iter().filter(|trial| trial.system == system);
    let completed = trials.filter(|trial| trial.outcome.is_completed());
    completed.filter_map(of).collect()
}

fn listed(all: BTreeSet<&str>) -> String {
    all.into_iter().collect::<Vec<_>>().join(", ")
}

/// Versions encrypt differently, and that is theirs; whether they do is not.
fn tls(trial: &TrialRecord) -> Option<&str> {
    said(trial, "TLS").map(|tls| if tls == "off" { tls } else { "on" })
}

fn transport(trial: &TrialRecord) -> Option<&str> {
    said(trial, "transport")
}

/// What a trial says of itself under this name.
fn said<'a>(trial: &'a TrialRecord, name: &str) -> Option<&'a str> {
    let mut all = trial.provenance.iter();
    all.find(|(known, _)| known == name)
        .map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests;

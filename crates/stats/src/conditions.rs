//! Conditions for comparing numbers.

use std::collections::BTreeSet;

use model::{Fact, Reason, RunData, RunInfo, SqlSpec, Step, TrialRecord};

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
    let work = if base.is_imported() { "the imported results" } else { base.plan.workload.name() };
    of_names(base, candidate).or_else(|| of_hosts(base, candidate)).or_else(|| {
        // Too long to be told, and `backslide show` has both.
        (!same_work(base, candidate)).then(|| Reason::Different {
            what: format!("the scale or the steps of {work}"),
            base: base.id.0.clone(),
            candidate: candidate.id.0.clone(),
        })
    })
}

/// A reason if their hosts differ. Of those of imported runs only the CPUs may be known.
fn of_hosts(base: &RunInfo, candidate: &RunInfo) -> Option<Reason> {
    if base.is_imported() && candidate.is_imported() {
        let cpus = |run: &RunInfo| match run.host.shape.cpus {
            0 => "not known".to_owned(),
            cpus => cpus.to_string(),
        };
        return differ("number of CPUs (`import --cpus`)", cpus(base), cpus(candidate));
    }
    let machine = |run: &RunInfo| {
        let host = &run.host;
        let (cpus, memory) = (host.shape.cpus, host.shape.memory.0);
        format!("{}: {cpus} × {}, {memory} bytes", host.name, host.cpu_model)
    };
    differ("host", machine(base), machine(candidate))
}

/// A reason if their workloads have different names; imported runs have the name of their import.
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

/// As far as any value can show it: stored runs of earlier versions have steps after the last result.
fn same_work(base: &RunInfo, candidate: &RunInfo) -> bool {
    let (left, right) = (&base.plan.workload, &candidate.plan.workload);
    if let (Some(left), Some(right)) = (left.sql(), right.sql()) {
        return up_to_last_result(left) == up_to_last_result(right);
    }
    let (Some(left), Some(right)) = (left.imported(), right.imported()) else {
        return left == right;
    };
    // A scale that one of them does not state is not another one.
    let one_is_silent = left.scales.is_empty() || right.scales.is_empty();
    let steps = |run: &RunInfo| -> Vec<_> {
        let steps = run.plan.steps.iter();
        let known =
            |step: &Step| (step.id.clone(), step.test.clone(), step.group.clone(), step.clients);
        steps.map(known).collect()
    };
    left.compat == right.compat
        && (one_is_silent || left.scales == right.scales)
        && steps(base) == steps(candidate)
}

/// What ran before a result bears on it, such as a warm-up; what ran after the last does not.
fn up_to_last_result(spec: &SqlSpec) -> SqlSpec {
    let mut spec = spec.clone();
    let mut steps = spec.steps.iter();
    let last = steps.rposition(|step| step.work.is_result());
    spec.steps.truncate(last.map_or(0, |last| last + 1));
    spec
}

pub(crate) fn differ(what: &str, base: String, candidate: String) -> Option<Reason> {
    (base != candidate).then(|| Reason::Different { what: what.to_owned(), base, candidate })
}

/// `None` if one of them states nothing.
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

fn said_by((data, system): Of<'_>, of: fn(&TrialRecord) -> Option<&str>) -> BTreeSet<&str> {
    data.counted().filter(|trial| trial.system == system).filter_map(of).collect()
}

fn listed(all: BTreeSet<&str>) -> String {
    all.into_iter().collect::<Vec<_>>().join(", ")
}

/// Versions encrypt differently, and that is theirs; whether they do is not.
fn tls(trial: &TrialRecord) -> Option<&str> {
    trial.provenance.get(&Fact::Tls).map(|tls| if tls == "off" { tls } else { "on" })
}

fn transport(trial: &TrialRecord) -> Option<&str> {
    trial.provenance.get(&Fact::Transport)
}

#[cfg(test)]
mod tests;

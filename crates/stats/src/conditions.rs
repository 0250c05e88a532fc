//! What must be equal before numbers are put beside each other.

use model::{Reason, RunData, RunInfo, TrialRecord};

/// Why the two systems of a run must not be compared; `None` where they may.
///
/// What the plan asks for is what is compared. A difference that it does not ask for, such as a
/// server that would not encrypt though its neighbour did, spoils every number.
pub(crate) fn of_systems(data: &RunData, base: &str, candidate: &str) -> Option<Reason> {
    let connection = |name: &str| data.info.plan.system(name).map(|s| s.connection);
    if connection(base) != connection(candidate) {
        return None;
    }
    let tls = |trial: &TrialRecord| said(trial, "TLS").map(on_or_off);
    let transport = |trial: &TrialRecord| said(trial, "transport");
    different(data, [base, candidate], "TLS", &tls)
        .or_else(|| different(data, [base, candidate], "transport", &transport))
}

/// Why numbers of the two runs must not be put beside each other; `None` where they may.
pub fn of_runs(base: &RunInfo, candidate: &RunInfo) -> Option<Reason> {
    let (left, right) = (&base.plan.workload, &candidate.plan.workload);
    let (here, there) = (&base.host, &candidate.host);
    let differ = |what: &str, base: String, candidate: String| {
        (base != candidate).then(|| Reason::Different {
            what: what.to_owned(),
            base,
            candidate,
        })
    };
    let machine = |host: &model::Host| {
        let (cpus, memory) = (host.shape.cpus, host.shape.memory.0);
        format!("{}: {cpus} × {}, {memory} bytes", host.name, host.cpu_model)
    };
    differ("workload", left.name().to_owned(), right.name().to_owned())
        .or_else(|| differ("host", machine(here), machine(there)))
        .or_else(|| {
            // Too long to be told, and `backslide show` has both.
            let same = left == right;
            (!same).then(|| Reason::Different {
                what: format!("the scale or the steps of {}", left.name()),
                base: base.id.0.clone(),
                candidate: candidate.id.0.clone(),
            })
        })
}

/// A reason where the first trials of both that say something say different things.
fn different(
    data: &RunData,
    systems: [&str; 2],
    what: &str,
    of: &dyn Fn(&TrialRecord) -> Option<String>,
) -> Option<Reason> {
    let [base, candidate] = systems.map(|system| {
        let mut trials = data.trials.iter().filter(|trial| trial.system == system);
        trials.find_map(of)
    });
    let (base, candidate) = (base?, candidate?);
    (base != candidate).then(|| Reason::Different {
        what: what.to_owned(),
        base,
        candidate,
    })
}

/// What a trial says of itself under this name.
fn said(trial: &TrialRecord, name: &str) -> Option<String> {
    let mut all = trial.provenance.iter();
    all.find(|(known, _)| known == name)
        .map(|(_, value)| value.clone())
}

/// Versions encrypt differently, and that is theirs; whether they do is not.
fn on_or_off(tls: String) -> String {
    if tls == "off" { tls } else { "on".to_owned() }
}

#[cfg(test)]
mod tests {
    use model::{Nanos, Outcome};

    use super::*;
    use crate::fixture::empty_run;

    fn trial(system: &str, tls: &str) -> TrialRecord {
        TrialRecord {
            round: 1,
            position: 1,
            system: system.into(),
            started: String::new(),
            duration: Nanos(1),
            outcome: Outcome::Completed,
            provenance: vec![("TLS".into(), tls.into())],
        }
    }

    #[test]
    fn encryption_on_one_side_only_is_no_comparison() {
        let mut data = empty_run(&["a", "b"]);
        assert_eq!(of_systems(&data, "a", "b"), None);
        data.trials = vec![trial("a", "TLSv1.2"), trial("b", "TLSv1.3")];
        assert_eq!(of_systems(&data, "a", "b"), None);
        data.trials = vec![trial("a", "off"), trial("b", "TLSv1.3")];
        let reason = of_systems(&data, "a", "b").unwrap();
        assert_eq!(reason.to_string(), "TLS differs: off and on");
        // Where the plan asks for it, it is what is compared.
        data.info.plan.systems[1].connection.tls = true;
        assert_eq!(of_systems(&data, "a", "b"), None);
    }

    #[test]
    fn runs_of_another_host_or_workload_are_told() {
        let run = empty_run(&["a"]).info;
        assert_eq!(of_runs(&run, &run), None);
        let mut other = run.clone();
        other.host.name = "elsewhere".into();
        let told = of_runs(&run, &other).unwrap().to_string();
        assert!(told.starts_with("host differs: host: 2 × cpu"), "{told}");
        let mut larger = run.clone();
        if let model::WorkloadSpec::Insert(spec) = &mut larger.plan.workload {
            spec.rows = 2;
        }
        let told = of_runs(&run, &larger).unwrap().to_string();
        assert!(told.contains("scale"), "{told}");
    }
}

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
    let (left, right) = (&base.plan.workload, &candidate.plan.workload);
    let (here, there) = (&base.host, &candidate.host);
    let machine = |host: &model::Host| {
        let (cpus, memory) = (host.shape.cpus, host.shape.memory.0);
        format!("{}: {cpus} × {}, {memory} bytes", host.name, host.cpu_model)
    };
    differ("workload", left.name().to_owned(), right.name().to_owned())
        .or_else(|| differ("host", machine(here), machine(there)))
        .or_else(|| {
            // Too long to be told, and `backslide show` has both.
            let same = same_work(base, candidate);
            (!same).then(|| Reason::Different {
                what: format!("the scale or the steps of {}", left.name()),
                base: base.id.0.clone(),
                candidate: candidate.id.0.clone(),
            })
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
    let last = spec.steps.iter().rposition(|step| match &step.work {
        SqlWork::Load | SqlWork::Index => true,
        SqlWork::Settle(_) | SqlWork::Reset => false,
        SqlWork::Run(run) => run.measured,
    });
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
mod tests {
    use model::{
        BuildSource, ErrorRules, LoadMethod, LoadSpec, Nanos, Outcome, Settle, SqlPace, SqlRun,
        SqlStep, SqlTable, Statements, WarmUpEnd,
    };

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

    fn between(data: &RunData) -> Option<String> {
        of_systems((data, "a"), (data, "b")).map(|reason| reason.to_string())
    }

    #[test]
    fn encryption_on_one_side_only_is_no_comparison() {
        let mut data = empty_run(&["a", "b"]);
        assert_eq!(between(&data), None);
        data.trials = vec![trial("a", "TLSv1.2"), trial("b", "TLSv1.3")];
        assert_eq!(between(&data), None);
        data.trials = vec![trial("a", "off"), trial("b", "TLSv1.3")];
        assert_eq!(between(&data).unwrap(), "TLS differs: off and on");
        // Where the plan asks for it, it is what is compared.
        data.info.plan.systems[1].connection.tls = true;
        assert_eq!(between(&data), None);
    }

    #[test]
    fn every_trial_with_values_is_asked_what_it_spoke() {
        let mut data = empty_run(&["a", "b"]);
        data.trials = vec![
            trial("a", "TLSv1.3"),
            trial("b", "TLSv1.3"),
            trial("b", "off"),
        ];
        assert_eq!(between(&data).unwrap(), "TLS differs: on and off, on");
        data.trials.push(trial("a", "off"));
        assert_eq!(between(&data).unwrap(), "TLS differs: off, on and off, on");
        // A trial that is in no comparison does not count.
        for trial in &mut data.trials[2..] {
            trial.outcome = Outcome::Quarantined {
                reason: String::new(),
            };
        }
        assert_eq!(between(&data), None);
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

    fn run_step(id: &str, measured: bool, seconds: u32) -> SqlStep {
        SqlStep {
            id: id.into(),
            test: id.to_owned(),
            group: String::new(),
            clients: 1,
            work: SqlWork::Run(SqlRun {
                measured,
                seconds,
                warmup_seconds: 0,
                warmup_end: WarmUpEnd::Fixed,
                writes: false,
                whole: false,
                pace: SqlPace::Unlimited,
                operations: Vec::new(),
            }),
        }
    }

    fn table(rows: u64) -> SqlTable {
        SqlTable {
            name: "sbtest".to_owned(),
            numbered: false,
            copies: 1,
            rows,
            columns: Vec::new(),
            primary_key: Vec::new(),
            indexes: Vec::new(),
        }
    }

    fn sql_run(steps: Vec<SqlStep>, tables: Vec<SqlTable>) -> RunInfo {
        let mut run = empty_run(&["a"]).info;
        run.plan.workload = WorkloadSpec::Sql(SqlSpec {
            name: "micro".to_owned(),
            tables,
            load: LoadSpec {
                clients: 1,
                method: LoadMethod::Fastest,
                rows_per_commit: 1,
                indexes_first: false,
            },
            steps,
            statements: Statements::Usual,
            errors: ErrorRules::usual(),
            statement_timeout: 60,
            compat: false,
        });
        run
    }

    #[test]
    fn what_ran_after_the_last_result_does_not_matter() {
        let point = || run_step("point", true, 60);
        let warm = || run_step("warm", false, 60);
        let settle = SqlStep {
            work: SqlWork::Settle(Settle::Seconds(0)),
            ..run_step("settle", false, 0)
        };
        let now = sql_run(vec![warm(), point()], vec![table(1)]);
        let trailing = vec![warm(), point(), settle, warm()];
        let earlier = sql_run(trailing, vec![table(1)]);
        assert_eq!(of_runs(&earlier, &now), None);
        assert_eq!(of_runs(&now, &earlier), None);
        // What ran before it does.
        let cold = sql_run(vec![point()], vec![table(1)]);
        assert!(of_runs(&now, &cold).is_some());
        let scan = sql_run(vec![warm(), point(), run_step("scan", true, 60)], vec![table(1)]);
        assert!(of_runs(&now, &scan).is_some());
    }

    #[test]
    fn imported_runs_may_say_less_and_must_not_differ() {
        let imported = |seconds, tables| {
            let mut run = sql_run(vec![run_step("point", true, seconds)], tables);
            run.plan.systems[0].build.source = BuildSource::Imported("a.txt".into());
            run
        };
        let now = imported(0, vec![table(1_000)]);
        assert_eq!(of_runs(&imported(605, Vec::new()), &now), None);
        assert_eq!(of_runs(&now, &imported(605, Vec::new())), None);
        assert!(of_runs(&now, &imported(0, vec![table(2_000)])).is_some());
        // Of runs that were measured here both are known.
        let ours = |seconds, tables| sql_run(vec![run_step("point", true, seconds)], tables);
        let known = ours(60, vec![table(1_000)]);
        assert!(of_runs(&known, &ours(61, vec![table(1_000)])).is_some());
        assert!(of_runs(&known, &ours(60, Vec::new())).is_some());
        assert!(of_runs(&known, &imported(60, Vec::new())).is_some());
    }
}

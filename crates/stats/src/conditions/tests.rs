use model::{
    BuildSource, Outcome, Settle, SqlRun, SqlSpec, SqlStep, SqlTable, SqlWork, StepId, WorkloadSpec,
};
use testkit::fixtures::{empty_run, trial};

use super::*;

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
    data.trials = vec![trial("a", "TLSv1.3"), trial("b", "TLSv1.3"), trial("b", "off")];
    assert_eq!(between(&data).unwrap(), "TLS differs: on and off, on");
    data.trials.push(trial("a", "off"));
    assert_eq!(between(&data).unwrap(), "TLS differs: off, on and off, on");
    // A trial that is in no comparison does not count.
    for trial in &mut data.trials[2..] {
        trial.outcome = Outcome::Quarantined { reason: String::new() };
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
    if let WorkloadSpec::Insert(spec) = &mut larger.plan.workload {
        spec.rows = 2;
    }
    let told = of_runs(&run, &larger).unwrap().to_string();
    assert!(told.contains("scale"), "{told}");
}

fn run_step(id: &str, measured: bool, seconds: u32) -> SqlStep {
    SqlStep {
        id: StepId::new(id),
        test: id.to_owned(),
        group: String::new(),
        clients: 1,
        work: SqlWork::Run(SqlRun { measured, seconds, ..SqlRun::default() }),
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
    run.plan = run.plan.with_workload(WorkloadSpec::Sql(SqlSpec::usual("micro", tables, steps)));
    run
}

/// The same as an import, as earlier versions stored it.
fn imported(mut run: RunInfo) -> RunInfo {
    run.plan.systems[0].build.source = BuildSource::Imported("a.txt".into());
    run.plan.steps.clear();
    run.plan = run.plan.with_steps();
    run
}

#[test]
fn what_ran_after_the_last_result_does_not_matter() {
    let point = || run_step("point", true, 60);
    let warm = || run_step("warm", false, 60);
    let settle =
        SqlStep { work: SqlWork::Settle(Settle::Seconds(0)), ..run_step("settle", false, 0) };
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
    let import =
        |seconds, tables| imported(sql_run(vec![run_step("point", true, seconds)], tables));
    let now = import(0, vec![table(1_000)]);
    assert_eq!(of_runs(&import(605, Vec::new()), &now), None);
    assert_eq!(of_runs(&now, &import(605, Vec::new())), None);
    assert!(of_runs(&now, &import(0, vec![table(2_000)])).is_some());
    let mut on_eight = now.clone();
    on_eight.host.shape.cpus = 8;
    let told = of_runs(&now, &on_eight).unwrap().to_string();
    assert_eq!(told, "number of CPUs (`import --cpus`) differs: 2 and 8");
    // Of runs that were measured here both are known.
    let ours = |seconds, tables| sql_run(vec![run_step("point", true, seconds)], tables);
    let known = ours(60, vec![table(1_000)]);
    assert!(of_runs(&known, &ours(61, vec![table(1_000)])).is_some());
    assert!(of_runs(&known, &ours(60, Vec::new())).is_some());
    assert!(of_runs(&known, &import(60, Vec::new())).is_some());
}

#[test]
fn imports_of_different_names_are_told_what_to_do() {
    let named = |name: &str| {
        let mut run = imported(sql_run(vec![run_step("point", true, 0)], Vec::new()));
        if let WorkloadSpec::Imported(spec) = &mut run.plan.workload {
            name.clone_into(&mut spec.name);
        }
        run
    };
    let told = of_runs(&named("good"), &named("bom")).unwrap().to_string();
    assert_eq!(told, "workload differs: good and bom (import both with the same --name)");
}

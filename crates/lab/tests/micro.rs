//! Microbenchmarks from a plan to a report, on the embedded SQLite; and what can go wrong with them.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::time::{Duration, Instant};

use common::{Bench, compare, micro, sql, to_report, told};
use lab::{Ended, Providers};
use load::Stop;
use model::{Event, Outcome, Plan, RunData, RunId};
use testkit::{Fault, SpoiledProvider, Trouble, redact};

/// A test that reads, and nothing that warms up.
const POINTS: &str = r#"warm_ups = false, tests = ["point-query"]"#;
/// Two tests that read, in the workload's order.
const READS: &str = r#"warm_ups = false, tests = ["read-only_range=10", "point-query"]"#;
/// One that reads, one that writes.
const BOTH: &str = r#"warm_ups = false, tests = ["point-query", "update-index"]"#;
/// One that adds rows.
const INSERTS: &str = r#"warm_ups = false, tests = ["insert"]"#;

fn outcome<'a>(data: &'a RunData, system: &str) -> &'a Outcome {
    let trial = data.trials.iter().find(|trial| trial.system == system);
    &trial.unwrap().outcome
}

fn assert_all_completed(data: &RunData) {
    for trial in &data.trials {
        assert!(trial.outcome.is_completed(), "{}", told(&trial.outcome));
    }
}

/// Names of the steps that are results.
fn results(data: &RunData) -> Vec<&str> {
    data.steps.iter().map(|step| step.id.0.as_str()).collect()
}

#[test]
fn a_plan_becomes_a_report() {
    let mut bench = Bench::new();
    let plan = micro(2, BOTH);
    let run = bench.begin(&plan);
    let ended = bench.carry_out(&run, &Providers::default()).unwrap();
    let data = bench.load(&run);
    assert_all_completed(&data);
    assert_eq!(ended, Ended::Finished { failed: 0 });
    let steps = results(&data);
    for step in ["load", "point-query", "update-index"] {
        assert!(steps.contains(&step), "{steps:?}");
    }
    for step in &data.steps {
        let rate = |cell: &&model::Cell| cell.step == step.id && cell.metric.0 == "rate";
        let cells: Vec<_> = data.cells.iter().filter(rate).collect();
        assert_eq!(cells.len(), 4, "{}", step.id);
        assert!(cells.iter().all(|cell| cell.value > 0.0), "{}", step.id);
    }
    let comparisons = compare(&data);
    assert!(comparisons.iter().all(|c| c.ratio.is_some() && c.rounds == 2));
    let input = to_report(&data, &comparisons);
    let (markdown, html) =
        (report::Report::new(&input).markdown(), report::Report::new(&input).html());
    assert!(markdown.contains("point-query") && html.contains("update-index"));
    assert!(bench.instances().is_empty());
    loaded_alike(&bench, &run);
}

/// Both systems were loaded with the same rows in a round, and say so.
fn loaded_alike(bench: &Bench, run: &RunId) {
    let checks = |system| {
        let checks = bench.record(run, 1, system, "load").checks.into_iter();
        checks.map(|check| (check.what, check.actual)).collect::<Vec<_>>()
    };
    let good = checks("good");
    assert!(good.iter().any(|(what, _)| what.contains("checksum")), "{good:?}");
    assert_eq!(good, checks("bad"));
}

/// Runs `good` and a `bad` that has this fault; only `bad` fails. Returns how.
fn failure_of(fault: Fault, workload: &str) -> String {
    let mut bench = Bench::new();
    let run = bench.begin(&micro(1, workload));
    let provider = SpoiledProvider::default().with("bad", fault);
    let ended = bench.carry_out(&run, &provider).unwrap();
    let data = bench.load(&run);
    let good = outcome(&data, "good");
    assert!(good.is_completed(), "{}", told(good));
    assert_eq!(ended, Ended::Finished { failed: 1 });
    assert!(data.cells.iter().all(|cell| cell.system == "good"));
    assert!(bench.instances().is_empty());
    redact(&told(outcome(&data, "bad")))
}

#[test]
fn a_wrong_answer_fails_the_trial() {
    let fault = Fault::Statements {
        prefix: "SELECT c FROM",
        from: 50,
        times: 1,
        trouble: Trouble::Miscounts,
    };
    let told = failure_of(fault, POINTS);
    assert!(
        told.starts_with(
            "point-query: wrong answers: `select`: returned 0 rows, expected 1 (`SELECT c FROM sbtest"
        ) && told.contains("; answers that were wrong: expected 0 (tables last found right after `")
            && told.contains("`), found 1"),
        "{told}"
    );
}

#[test]
fn a_row_that_was_never_stored_fails_the_trial() {
    let lost = |from| Fault::Statements {
        prefix: "INSERT INTO sbtest",
        from,
        times: 1,
        trouble: Trouble::LosesRow,
    };
    // The first statement is one of the load.
    let told = failure_of(lost(1), INSERTS);
    assert!(told.starts_with("load: "), "{told}");
    // After at most 2,000 for the load come the test's own.
    let told = failure_of(lost(2_060), INSERTS);
    assert!(told.starts_with("insert: wrong answers: rows in sbtest"), "{told}");
}

#[test]
fn a_server_that_dies_fails_the_trial_at_once_though_clients_reconnect() {
    let begin = Instant::now();
    let fault = Fault::from("SELECT c FROM", 50, Trouble::Dies);
    let workload = format!("{POINTS}, errors = {{ reconnect_seconds = 600 }}");
    let told = failure_of(fault, &workload);
    assert!(begin.elapsed() < Duration::from_mins(1));
    assert!(told.starts_with("point-query: "), "{told}");
    assert!(told.ends_with("| spoiled: got signal 11"), "{told}");
}

#[test]
fn an_error_that_no_rule_knows_fails_the_trial() {
    let trouble =
        Trouble::Refuses { code: "SQLITE_CORRUPT", message: "database disk image is malformed" };
    let told = failure_of(Fault::from("SELECT c FROM", 50, trouble), POINTS);
    assert!(told.starts_with("point-query: ") && told.contains("SQLITE_CORRUPT"), "{told}");
}

#[test]
fn a_run_that_was_stopped_goes_on_where_it_was() {
    let mut bench = Bench::new();
    let run = bench.begin(&micro(1, READS));
    let stop = Stop::default();
    let asked = stop.clone();
    let provider = Providers::default();
    let mut trials = 0;
    let ended = bench.listen(&run, &provider, &stop, &mut |event| match event {
        Event::TrialStarted { .. } => trials += 1,
        Event::StepStarted { step } if trials == 2 && step.id.0 == "point-query" => {
            asked.ask();
        }
        _ => {}
    });
    assert_eq!(ended.unwrap(), Ended::Interrupted);
    let before = bench.load(&run);
    assert_eq!(before.trials.len(), 1);
    let ended = bench.carry_out(&run, &provider).unwrap();
    assert_eq!(ended, Ended::Finished { failed: 0 });
    let after = bench.load(&run);
    assert_eq!((after.trials.len(), &after.trials[0]), (2, &before.trials[0]));
}

/// A plan that loads each system once.
fn with_templates(workload: &str) -> Plan {
    Plan { template: true, ..micro(2, workload) }
}

/// Loads of templates and steps of trials, in order.
fn session(bench: &mut Bench, run: &RunId) -> (usize, Vec<String>) {
    let (mut loads, mut steps, mut in_trial) = (0, Vec::new(), false);
    let ended =
        bench.listen(run, &Providers::default(), &Stop::default(), &mut |event| match event {
            Event::TemplateStarted { .. } => loads += 1,
            Event::TrialStarted { .. } => in_trial = true,
            Event::StepFinished { record } if in_trial => steps.push(record.step.to_string()),
            _ => {}
        });
    let data = bench.load(run);
    assert_all_completed(&data);
    assert_eq!(ended.unwrap(), Ended::Finished { failed: 0 });
    (loads, steps)
}

#[test]
fn a_template_is_loaded_once_and_known_by_its_data_alone() {
    let mut bench = Bench::new();
    let plan = with_templates(BOTH);
    let run = bench.begin(&plan);
    let (loads, steps) = session(&mut bench, &run);
    assert_eq!(loads, 2);
    assert!(!steps.iter().any(|step| step == "load"), "{steps:?}");
    let tests = steps.iter().filter(|step| *step == "update-index");
    assert_eq!(tests.count(), 4, "{steps:?}");

    // Other tests on the same data.
    let run = bench.begin(&with_templates(READS));
    assert_eq!(session(&mut bench, &run).0, 0);
    // Other data.
    let mut other = plan;
    sql(&mut other, |spec| spec.tables[0].rows += 1);
    let run = bench.begin(&other);
    assert_eq!(session(&mut bench, &run).0, 2);
}

#[test]
fn fresh_tests_begin_with_the_data_of_the_first() {
    let mut bench = Bench::new();
    let workload = r#"warm_ups = false, fresh = true, tests = ["delete", "insert"]"#;
    let plan = micro(1, workload);
    let run = bench.begin(&plan);
    let mut rows = Vec::new();
    let ended = bench.listen(&run, &Providers::default(), &Stop::default(), &mut |event| {
        if let Event::StepFinished { record } = event {
            for check in &record.checks {
                if check.what.starts_with("rows in") {
                    rows.push((record.step.to_string(), check.actual.clone()));
                }
            }
        }
    });
    assert_all_completed(&bench.load(&run));
    assert_eq!(ended.unwrap(), Ended::Finished { failed: 0 });
    let of = |step: &str| -> Vec<&str> {
        let of_step = rows.iter().filter(|(name, _)| name.starts_with(step));
        of_step.map(|(_, rows)| rows.as_str()).collect()
    };
    assert!(of("delete").iter().any(|rows| *rows != "1000"), "{rows:?}");
    // Between the two they were loaded again.
    let after = of("insert");
    let added = |rows: &&str| rows.parse::<u64>().unwrap() >= 1_000;
    assert!(!after.is_empty() && after.iter().all(added), "{rows:?}");
}

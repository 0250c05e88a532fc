//! Everything that can be wrong with a system: its trial fails with the reason, all others complete.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::time::Duration;

use common::{ALL_STEPS, Bench, LOAD_ONLY, RANGES, compare, plan, to_report, told};
use lab::Ended;
use load::Stop;
use model::{Event, Latency, Nanos, Outcome, RunData, RunId, Verdict};
use testkit::{FakeProvider, Fault, Trouble, redact};

fn carry_out(fault: Fault, workload: &str) -> (Bench, RunId, Ended) {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(1, workload));
    let provider = FakeProvider::default().with("bad", fault);
    let ended = bench.carry_out(&run, &provider).unwrap();
    (bench, run, ended)
}

/// Runs `good` and a `bad` that has this fault. Checks that only `bad` fails, that nothing is said
/// of it, and that the report tells why; returns what is told.
fn failure_of(fault: Fault, workload: &str) -> String {
    let (bench, run, ended) = carry_out(fault, workload);
    assert_eq!(ended, Ended::Finished { failed: 1 });
    assert!(bench.instances().is_empty());
    let data = bench.load(&run);
    let outcome = |system| {
        let trial = data.trials.iter().find(|t| t.system == system).unwrap();
        &trial.outcome
    };
    assert!(outcome("good").is_completed());
    assert!(data.cells.iter().all(|cell| cell.system == "good"));
    check_comparisons(&data, outcome("bad"));
    check_report(&data, outcome("bad"));
    redact(&told(outcome("bad")))
}

fn check_comparisons(data: &RunData, outcome: &Outcome) {
    let Outcome::Failed { reason, .. } = outcome else {
        panic!("it did not fail");
    };
    let comparisons = compare(data);
    assert!(!comparisons.is_empty());
    for comparison in comparisons {
        let verdict = comparison.verdict;
        assert!(matches!(verdict, Verdict::Incomparable(_)), "{verdict:?}");
        let why = format!("no complete round: bad failed: {reason}");
        assert_eq!(verdict.reason(), why);
    }
}

fn check_report(data: &RunData, outcome: &Outcome) {
    let comparisons = compare(data);
    let markdown = report::Report::new(&to_report(data, &comparisons)).markdown();
    let markdown = markdown.replace('\\', "");
    let Outcome::Failed { reason, .. } = outcome else {
        panic!("it did not fail");
    };
    let said = format!("bad, round 1: {reason}");
    assert!(markdown.contains(&said), "{said} is not in: {markdown}");
}

#[test]
fn a_system_that_never_gets_ready() {
    insta::assert_snapshot!(failure_of(Fault::NeverReady, LOAD_ONLY), @"
    outside the steps: fake did not answer within TIME
      | fake: cannot allocate the buffer pool
    ");
}

#[test]
fn a_refused_login() {
    insta::assert_snapshot!(failure_of(Fault::RefusesLogin, LOAD_ONLY), @"
    l.i0: create tables: fake refused the login of user `root`: access denied
      | fake: ready for connections
    ");
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_step() {
    let fault = Fault::from("INSERT", 3, Trouble::Dies);
    insta::assert_snapshot!(failure_of(fault, LOAD_ONLY), @"
    l.i0: insert 1: connection lost: the server closed the connection
      | fake: ready for connections
      | fake: got signal 11
    ");
}

#[test]
fn a_server_that_dies_as_it_builds_an_index() {
    let fault = Fault::from("CREATE INDEX", 3, Trouble::Dies);
    insta::assert_snapshot!(failure_of(fault, LOAD_ONLY), @"
    l.x: create index 1: connection lost: the server closed the connection
      | fake: ready for connections
      | fake: got signal 11
    ");
}

#[test]
fn a_server_that_hangs() {
    let fault = Fault::from("DELETE", 2, Trouble::Hangs);
    insta::assert_snapshot!(failure_of(fault, LOAD_ONLY), @"
    l.i1: delete 1: no answer within TIME (to `DELETE FROM pi1 WHERE tr`)
      | fake: ready for connections
    ");
}

#[test]
fn a_row_that_is_lost() {
    let fault =
        Fault::Statements { prefix: "INSERT", from: 5, times: 1, trouble: Trouble::LosesRow };
    let told = failure_of(fault, LOAD_ONLY);
    let expected = "l.i1: wrong answers: rows in pi1: expected 2100, found 2099; rows of pi1 in the order of \
                    their keys, as inserted: expected 2100 rows, found ";
    assert!(told.trim_start().starts_with(expected), "{told}");
}

#[test]
fn a_wrong_count_of_rows() {
    let fault =
        Fault::Statements { prefix: "INSERT", from: 5, times: 1, trouble: Trouble::Miscounts };
    insta::assert_snapshot!(failure_of(fault, LOAD_ONLY), @"
    l.i0: wrong answers: statements with a wrong answer: expected 0, found 1; rows inserted: expected 2000, found 1999
      | fake: ready for connections
    ");
}

#[test]
fn rows_in_the_wrong_order() {
    let fault = Fault::Statements {
        prefix: "SELECT productid",
        from: 1,
        times: 1,
        trouble: Trouble::Unordered,
    };
    let told = failure_of(fault, RANGES);
    let expected = "qr100: wrong answers: statements with a wrong answer: expected 0, found 1";
    assert!(told.trim_start().starts_with(expected), "{told}");
}

#[test]
fn a_deadlock_that_never_ends() {
    let trouble =
        Trouble::Refuses { code: "1213", message: "Deadlock found when trying to get lock" };
    insta::assert_snapshot!(failure_of(Fault::from("INSERT", 4, trouble), LOAD_ONLY), @"
    l.i0: insert 1: given up after 1000 tries; last error 1213: Deadlock found when trying to get lock (in `INSERT INTO pi1 (dateand`)
      | fake: ready for connections
    ");
}

#[test]
fn a_full_disk_of_the_server() {
    let trouble = Trouble::Refuses { code: "1114", message: "The table 'pi1' is full" };
    insta::assert_snapshot!(failure_of(Fault::from("INSERT", 4, trouble), LOAD_ONLY), @"
    l.i0: insert 1: error 1114: The table 'pi1' is full (in `INSERT INTO pi1 (dateand`)
      | fake: ready for connections
    ");
}

#[test]
fn a_system_that_cannot_be_closed_is_told_and_keeps_its_results() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(1, LOAD_ONLY));
    let provider = FakeProvider::default().with("bad", Fault::CloseFails);
    let mut warnings = Vec::new();
    let ended = bench.listen(&run, &provider, &Stop::default(), &mut |event| {
        if let Event::Warning { text } = event {
            warnings.push(text.clone());
        }
    });
    assert_eq!(ended.unwrap(), Ended::Finished { failed: 0 });
    let wanted = "bad: fake did not stop within 1s and was killed";
    assert!(warnings.iter().any(|text| text == wanted), "{warnings:?}");
}

#[test]
fn a_system_that_is_no_longer_what_it_was_starts_nothing() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(1, LOAD_ONLY));
    let provider = FakeProvider::default().with("bad", Fault::Changed { from: 1 });
    let error = bench.carry_out(&run, &provider).unwrap_err();
    insta::assert_snapshot!(error, @"`bad` cannot be measured: it is `fake 2.0` now, the run began with `fake 1.0`: restore that build or begin a new run");
    assert!(provider.diary().lines().is_empty());
}

#[test]
fn a_system_that_changes_during_the_run() {
    // Each of the two is checked before the first trial.
    insta::assert_snapshot!(failure_of(Fault::Changed { from: 3 }, LOAD_ONLY), @"outside the steps: it is `fake 2.0` now, the run began with `fake 1.0`: restore that build or begin a new run");
}

#[test]
fn a_storm_of_deadlocks_that_ends_is_counted_apart() {
    let fault = Fault::Statements {
        prefix: "INSERT",
        from: 2,
        times: 50,
        trouble: Trouble::Refuses {
            code: "1213",
            message: "Deadlock found when trying to get lock",
        },
    };
    let (bench, run, ended) = carry_out(fault, LOAD_ONLY);
    assert_eq!(ended, Ended::Finished { failed: 0 });
    let record = |system| bench.record(&run, 1, system, "l.i0");
    let bad = record("bad");
    let insert = bad.kind("insert").unwrap();
    let sums = &insert.sums;
    assert_eq!((sums.ops, sums.rows, sums.errors, sums.retries), (20, 2_000, 0, 50));
    assert_eq!(service_of_bad(&bench, &run, "l.i0", "insert").count(), 20);
    let error = &bad.errors[0];
    assert_eq!((error.code.as_str(), error.count, error.retried), ("1213", 50, true));
    assert!(record("good").errors.is_empty());
}

#[test]
fn a_slow_system_is_slow_in_its_numbers_only() {
    let slow = Duration::from_millis(3);
    let fault = Fault::from("SELECT transactionid", 1, Trouble::Slow(slow));
    let (bench, run, ended) = carry_out(fault, ALL_STEPS);
    assert_eq!(ended, Ended::Finished { failed: 0 });
    let service = service_of_bad(&bench, &run, "qp100", "query");
    // The histogram has three digits.
    assert!(service.quantile(0.0).unwrap() >= Nanos(2_990_000));
    assert!(service.count() > 0);
}

/// Service times of a kind of a step of `bad` in the first round, as the store has them.
fn service_of_bad(bench: &Bench, run: &RunId, step: &str, kind: &str) -> Latency {
    let histograms = bench.load(run).histograms.into_iter();
    let mut of_kind = histograms.filter(|one| {
        let of = (one.round, one.system.as_str(), one.step.0.as_str(), one.kind.as_str());
        of == (1, "bad", step, kind) && !one.is_response
    });
    of_kind.next().unwrap().latency
}

#[test]
fn the_log_of_a_failed_trial_is_kept_beside_the_results() {
    let faults = [Fault::from("INSERT", 3, Trouble::Dies), Fault::NeverReady, Fault::CloseFails];
    for fault in faults {
        let (bench, _, _) = carry_out(fault, LOAD_ONLY);
        let logs = std::fs::read_dir(bench.lab.root().join("logs")).unwrap();
        let logs: Vec<_> = logs.map(|entry| entry.unwrap().path()).collect();
        assert_eq!(logs.len(), 1, "{logs:?}");
        let text = std::fs::read_to_string(&logs[0]).unwrap();
        assert!(text.starts_with("fake: "), "{text}");
    }
}

#[test]
fn a_core_is_kept_and_the_reason_says_where_it_is_now() {
    let dies = Fault::from("INSERT", 3, Trouble::Dies);
    for (fault, template) in [
        (dies, false),
        (Fault::NeverReady, false),
        (dies, true),
        (Fault::NeverReady, true),
        (Fault::CloseFails, true),
    ] {
        let mut bench = Bench::new();
        let plan = model::Plan { template, ..plan(1, ALL_STEPS) };
        let run = bench.begin(&plan);
        let provider = FakeProvider::default().with("bad", fault).with("bad", Fault::LeavesCore);
        bench.carry_out(&run, &provider).unwrap();
        let data = bench.load(&run);
        let bad = data.trials.iter().find(|t| t.system == "bad").unwrap();
        let reason = told(&bad.outcome);
        let (_, place) = reason.split_once("kept: ").unwrap();
        let place = place.lines().next().unwrap();
        assert!(place.starts_with(&bench.lab.root().join("logs").display().to_string()));
        assert_eq!(std::fs::read_to_string(place).unwrap(), "memory");
        let instances = bench.lab.instances().display().to_string();
        assert!(!reason.contains(&instances), "{reason}");
        assert!(bench.instances().is_empty(), "{fault:?} {template}");
    }
}

#[test]
fn a_core_of_a_server_that_does_not_stop_is_kept_too() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(1, LOAD_ONLY));
    let provider =
        FakeProvider::default().with("bad", Fault::CloseFails).with("bad", Fault::LeavesCore);
    let mut warnings = String::new();
    let ended = bench.listen(&run, &provider, &Stop::default(), &mut |event| {
        if let Event::Warning { text } = event {
            warnings.push_str(text);
        }
    });
    assert_eq!(ended.unwrap(), Ended::Finished { failed: 0 });
    let (_, place) = warnings.split_once("kept: ").unwrap();
    assert_eq!(std::fs::read_to_string(place).unwrap(), "memory");
}

#[test]
fn what_killed_processes_left_is_removed_and_other_files_stay() {
    let bench = Bench::new();
    let left = ["r1-2-3", "r1-0-1", "try-4711", "explain-4711-a"];
    let others = ["r1", "rx-1-2", "try-x", "notes"];
    for name in left.iter().chain(&others) {
        std::fs::create_dir_all(bench.lab.instances().join(name)).unwrap();
    }
    let claim = bench.lab.claim_instances().unwrap();
    assert!(claim.swept.is_empty());
    let mut there = bench.instances();
    there.sort();
    assert_eq!(there, ["notes", "r1", "rx-1-2", "try-x"]);
}

//! What is said of the controls of runs.

use model::FalseAlarms;

use super::*;
use crate::StoreError;

/// A run of two rounds whose last system is a control where that is said.
fn run(lab: &mut Lab, has_control: bool) -> RunId {
    let mut plan = fixtures::plan(&["a", "b", "c"], 2);
    plan.systems[2].control = has_control;
    let host = fixtures::host();
    let store = &mut lab.store;
    store.create_run(&plan, &host, "0.1.0", STARTED).unwrap()
}

#[test]
fn finished_runs_wait_to_be_counted() {
    let mut lab = Lab::new();
    let with = run(&mut lab, true);
    let without = run(&mut lab, false);
    let unfinished = run(&mut lab, true);
    assert!(lab.store.uncounted_runs().unwrap().is_empty());
    for run in [&with, &without] {
        lab.store.finish_run(run).unwrap();
    }
    // Whether it has a control is not looked at here: each has to be kept once.
    let uncounted = lab.store.uncounted_runs().unwrap();
    assert_eq!(uncounted, [with.clone(), without.clone()]);
    lab.store.keep_control(&with, 10, 1).unwrap();
    lab.store.keep_control(&without, 0, 0).unwrap();
    assert!(lab.store.uncounted_runs().unwrap().is_empty());
    lab.store.finish_run(&unfinished).unwrap();
    assert_eq!(lab.store.uncounted_runs().unwrap(), [unfinished]);
}

#[test]
fn a_damaged_run_waits_like_the_others() {
    let mut lab = Lab::new();
    let runs = [run(&mut lab, true), run(&mut lab, true)];
    for run in &runs {
        lab.store.finish_run(run).unwrap();
    }
    lab.store.connection.execute("UPDATE run SET plan = '{' WHERE id = 1", []).unwrap();
    assert!(lab.store.run_info(&runs[0]).is_err());
    assert_eq!(lab.store.uncounted_runs().unwrap(), runs);
}

#[test]
fn false_alarms_are_summed_up_over_the_runs_in_which_there_could_be_any() {
    let mut lab = Lab::new();
    assert_eq!(lab.store.false_alarms().unwrap(), FalseAlarms::default());
    for (cells, changed) in [(100, 1), (0, 0), (50, 2)] {
        let run = run(&mut lab, true);
        lab.store.keep_control(&run, cells, changed).unwrap();
    }
    // Counted again, it replaces what was there.
    lab.store.keep_control(&RunId("r1".into()), 120, 3).unwrap();
    let lab = lab.reopened();
    let expected = FalseAlarms { runs: 2, cells: 170, changed: 5 };
    assert_eq!(lab.store.false_alarms().unwrap(), expected);
}

#[test]
fn a_control_of_no_run_is_refused() {
    let mut lab = Lab::new();
    let error = lab.store.keep_control(&RunId("r7".into()), 1, 0);
    assert!(matches!(error, Err(StoreError::UnknownRun { .. })));
}

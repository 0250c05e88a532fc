//! Runs and trials: what is begun, finished, begun again and listed.

use model::{
    Capture, IntervalNumbers, Moment, Provenance, RunState, SliceSeries, StepId, StepPlace,
};

use super::*;
use crate::error::Result;
use crate::{StoreError, Want};

#[test]
fn ids_count_up_and_are_never_used_again() {
    let mut lab = Lab::new();
    assert_eq!(lab.store.latest_run().unwrap(), None);
    assert!(lab.store.runs().unwrap().is_empty());
    assert_eq!(lab.run(&["a"], 1).0, "r1");
    assert_eq!(lab.run(&["a"], 1).0, "r2");
    lab.store.connection.execute("DELETE FROM run WHERE id = 2", []).unwrap();
    assert_eq!(lab.run(&["a"], 1).0, "r3");
    let mut lab = lab.reopened();
    assert_eq!(lab.store.latest_run().unwrap(), Some(RunId("r3".into())));
    assert_eq!(lab.run(&["a"], 1).0, "r4");
}

#[test]
fn only_a_run_without_trials_is_discarded() {
    let mut lab = Lab::new();
    let begun = lab.run(&["a"], 1);
    lab.store.begin_trial(&begun, &key(1, "a"), STARTED).unwrap();
    assert!(!lab.store.discard_run(&begun).unwrap());
    let refused = lab.run(&["a"], 1);
    assert!(lab.store.discard_run(&refused).unwrap());
    assert_eq!(lab.store.latest_run().unwrap(), Some(begun));
    assert!(lab.store.discard_run(&refused).is_err());
    // Its id stays its own.
    assert_eq!(lab.run(&["a"], 1).0, "r3");
}

#[test]
fn an_unknown_run_is_said_to_be_unknown() {
    let mut lab = Lab::new();
    let known = lab.run(&["a"], 1);
    assert_eq!(lab.store.run_info(&known).unwrap().id, known);
    for id in ["r2", "1", "r01", "r+1", "r", "", "r-1", "r1 ", "R1", "r99999999999999999999"] {
        let error = lab.store.run_info(&RunId(id.into())).unwrap_err();
        assert!(matches!(error, StoreError::UnknownRun { .. }), "{id}");
    }
    let nowhere = RunId("r7".into());
    let error = lab.store.load(&nowhere, Want::default()).unwrap_err();
    insta::assert_snapshot!(lab.told(&error), @"LAB/lab.sqlite has no run r7; `backslide list` prints the available runs");
    assert!(lab.store.begin_trial(&nowhere, &key(1, "a"), STARTED).is_err());
    assert!(lab.store.journal(&nowhere).is_err());
    assert!(lab.store.finish_run(&nowhere).is_err());
}

#[test]
fn a_run_keeps_what_it_was_begun_with() {
    let mut lab = Lab::new();
    let odd = ["it's \"quoted\"; DROP TABLE run; --", "größer/速い/🦥", "percent % and _"];
    let run = lab.run(&odd, 3);
    for system in odd {
        lab.whole_trial(&run, 1, system, &["l.i0 'x'", "größe"]);
    }
    let lab = lab.reopened();
    let info = lab.store.run_info(&run).unwrap();
    assert_eq!(info.plan, fixtures::plan(&odd, 3));
    assert_eq!(info.host, fixtures::host());
    assert_eq!((info.backslide.as_str(), info.started.as_str()), ("0.1.0", STARTED));
    let data = lab.store.load(&run, Want::default()).unwrap();
    let systems: Vec<&str> = data.trials.iter().map(|t| t.system.as_str()).collect();
    assert_eq!(systems, odd);
    assert_eq!(data.steps[1].id.0, "größe");
    let mut found = 0;
    let count = |place: &StepPlace, _: &IntervalNumbers| -> Result<(), StoreError> {
        found += u32::from(place.trial.system == odd[0] && place.step.0 == "l.i0 'x'");
        Ok(())
    };
    lab.store.each_interval(&run, count).unwrap();
    assert_eq!(found, 3);
}

#[test]
fn the_journal_lists_outcomes_in_the_order_in_which_they_came() {
    let mut lab = Lab::new();
    let run = lab.run(&["a", "b"], 2);
    lab.whole_trial(&run, 1, "b", &["l.i0"]);
    let second = lab.trial(&run, 1, "a");
    lab.store.finish_trials(&[(second, &failed(), Nanos(5))]).unwrap();
    let under_way = lab.trial(&run, 2, "a");
    lab.step(under_way, "l.i0", 0);
    let journal = lab.store.journal(&run).unwrap();
    assert_eq!(journal, [(key(1, "b"), Outcome::Completed), (key(1, "a"), failed())]);
    let runs = lab.store.runs().unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!((runs[0].completed, runs[0].failed, runs[0].total), (1, 1, 4));
    assert_eq!(runs[0].info.state, RunState::Unfinished);
    lab.store.finish_run(&run).unwrap();
    assert_eq!(lab.store.run_info(&run).unwrap().state, RunState::Finished);
}

#[test]
fn a_clock_that_goes_backward_changes_times_only() {
    let whole = |clock: [String; 5]| {
        let mut lab = Lab::new();
        let (plan, host) = (fixtures::plan(&["a"], 3), fixtures::host());
        let first = lab.store.create_run(&plan, &host, "0.1.0", &clock[0]).unwrap();
        for (round, started) in (1..).zip(&clock[1..4]) {
            let trial = lab.store.begin_trial(&first, &key(round, "a"), started).unwrap();
            let step = lab.step(trial, "l.i0", 0);
            let rate = rate(f64::from(round));
            lab.store.finish_step(step, &record("l.i0", 0), &[rate]).unwrap();
            lab.store.finish_trials(&[(trial, &Outcome::Completed, Nanos(5))]).unwrap();
        }
        let second = lab.store.create_run(&plan, &host, "0.1.0", &clock[4]).unwrap();
        let lab = lab.reopened();
        assert_eq!(lab.store.latest_run().unwrap(), Some(second));
        let listed = lab.store.runs().unwrap().into_iter().map(|run| run.info.id);
        let mut data = lab.store.load(&first, Want::default()).unwrap();
        data.info.started.clear();
        data.trials.iter_mut().for_each(|trial| trial.started.clear());
        (listed.collect::<Vec<_>>(), lab.store.journal(&first).unwrap(), format!("{data:?}"))
    };
    let at = |seconds: [u32; 5]| whole(seconds.map(|s| format!("2026-01-01T00:00:0{s}Z")));
    assert_eq!(at([5, 4, 2, 3, 1]), at([1, 2, 3, 4, 5]));
}

#[test]
fn a_quarantined_trial_is_kept_and_its_numbers_are_not_loaded() {
    let mut lab = Lab::new();
    let run = lab.run(&["a", "b"], 1);
    lab.whole_trial(&run, 1, "b", &["l.i0"]);
    lab.whole_trial(&run, 1, "a", &["l.i0"]);
    let quarantined = disturb(&mut lab, &run, 2);
    let runs = lab.store.runs().unwrap();
    assert_eq!((runs[0].completed, runs[0].failed, runs[0].quarantined), (2, 0, 1));
    let data = lab.store.load(&run, Want::default()).unwrap();
    assert_eq!(data.trials[2].outcome, quarantined);
    assert!(data.cells.iter().all(|cell| cell.round == 1));
    assert_eq!(streamed(&lab, &run), [(1, "b".to_owned()), (1, "a".to_owned())]);
    assert_eq!(lab.record("l.x"), record("l.x", 0));
}

#[test]
fn where_no_round_was_quiet_the_numbers_of_quarantined_trials_are_loaded() {
    let mut lab = Lab::new();
    let run = lab.run(&["a", "b"], 1);
    lab.whole_trial(&run, 1, "b", &["l.i0"]);
    disturb(&mut lab, &run, 1);
    // Its round may still run again.
    assert!(!lab.store.load(&run, Want::default()).unwrap().counts_disturbed());
    lab.store.finish_run(&run).unwrap();
    let data = lab.store.load(&run, Want::default()).unwrap();
    assert!(data.counts_disturbed());
    assert!(data.cells.iter().any(|cell| cell.system == "a"));
    assert_eq!(streamed(&lab, &run), [(1, "b".to_owned()), (1, "a".to_owned())]);
}

/// A trial of `a` that is quarantined.
fn disturb(lab: &mut Lab, run: &RunId, round: u32) -> Outcome {
    let trial = lab.trial(run, round, "a");
    let step = lab.step(trial, "l.x", 0);
    lab.store.finish_step(step, &record("l.x", 0), &[rate(1.0)]).unwrap();
    let quarantined = Outcome::Quarantined { reason: "l.x: noise".into() };
    lab.store.finish_trials(&[(trial, &quarantined, Nanos(5))]).unwrap();
    quarantined
}

/// The trials that have cells where these are read piece by piece.
fn streamed(lab: &Lab, run: &RunId) -> Vec<(u32, String)> {
    let mut trials: Vec<(u32, String)> = Vec::new();
    lab.store
        .each_cell(run, |cell| {
            let trial = (cell.round, cell.system.clone());
            if !trials.contains(&trial) {
                trials.push(trial);
            }
            Ok::<(), StoreError>(())
        })
        .unwrap();
    trials
}

#[test]
fn a_run_that_ended_early_has_no_more_trials_to_come() {
    let mut lab = Lab::new();
    let mut plan = fixtures::plan(&["a"], 4);
    // Decided at a look, or given up.
    for (place, first_look) in [Some(2), None].into_iter().enumerate() {
        plan.course.first_look = first_look;
        let run = lab.store.create_run(&plan, &fixtures::host(), "0.1.0", STARTED).unwrap();
        lab.whole_trial(&run, 1, "a", &["l.i0"]);
        lab.whole_trial(&run, 2, "a", &["l.i0"]);
        assert_eq!(lab.store.runs().unwrap()[place].total, 4);
        lab.store.finish_run(&run).unwrap();
        assert_eq!(lab.store.runs().unwrap()[place].total, 2);
    }
}

/// Rows of each table that a trial has a part in.
fn rows(lab: &Lab) -> Vec<i64> {
    let tables = [
        "trial",
        "step",
        "interval",
        "interval_detail",
        "histogram",
        "measurement",
        "capture",
        "slice",
    ];
    let count = |table: &&str| {
        let sql = format!("SELECT count(*) FROM {table}");
        let connection = &lab.store.connection;
        connection.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    tables.iter().map(count).collect()
}

#[test]
fn a_half_done_trial_is_forgotten_when_it_is_begun_again() {
    let mut lab = Lab::new();
    let run = lab.run(&["a", "b"], 1);
    lab.whole_trial(&run, 1, "b", &["l.i0"]);
    let capture =
        Capture { name: "status".into(), columns: vec!["x".into()], rows: vec![vec![None]] };
    let slices = [SliceSeries { metric: MetricId::new("rate"), values: vec![1.0] }];
    let step_id = StepId::new("l.i0");
    let before = rows(&lab);
    let trial = lab.trial(&run, 1, "a");
    lab.store.add_capture(trial, &step_id, Moment::Before, &capture).unwrap();
    let step = lab.step(trial, "l.i0", 0);
    lab.store.add_interval(step, &interval(0)).unwrap();
    lab.store.add_slices(step, &slices).unwrap();
    lab.store.finish_step(step, &record("l.i0", 0), &[rate(1.0)]).unwrap();
    lab.step(trial, "l.x", 1);
    assert!(rows(&lab).iter().zip(&before).all(|(now, then)| now > then));

    let again = lab.trial(&run, 1, "a");
    assert_ne!(again, trial);
    let mut expected = before;
    expected[0] += 1;
    assert_eq!(rows(&lab), expected);

    // Whoever still writes to the forgotten one is told.
    let error = lab.store.add_interval(step, &interval(1)).unwrap_err();
    insta::assert_snapshot!(lab.told(&error), @"LAB/lab.sqlite no longer has the step that is being written; is the same run going on in another process?");
    let gone = |result: Result<()>| matches!(result, Err(StoreError::Gone { .. }));
    assert!(gone(lab.store.finish_step(step, &record("l.i0", 0), &[])));
    assert!(gone(lab.store.add_slices(step, &slices)));
    assert!(gone(lab.store.finish_trials(&[(trial, &Outcome::Completed, Nanos(1))])));
    assert!(gone(lab.store.set_provenance(trial, &Provenance::default())));
    assert!(gone(lab.store.add_capture(trial, &step_id, Moment::After, &capture)));
    assert!(gone(lab.store.begin_step(trial, &planned("l.i0", 0, &[])).map(drop)));
    assert_eq!(rows(&lab), expected);
}

#[test]
fn a_trial_with_an_outcome_is_not_done_again() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    lab.whole_trial(&run, 1, "a", &["l.i0"]);
    let error = lab.store.begin_trial(&run, &key(1, "a"), STARTED).unwrap_err();
    insta::assert_snapshot!(lab.told(&error), @"the trial of a in round 1 of run r1 is over already");
    assert_eq!(lab.store.journal(&run).unwrap().len(), 1);
}

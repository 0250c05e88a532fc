//! Stacks of steps in profiled rounds.

use model::Profile;

use super::*;
use crate::{StoreError, Want};

fn profile() -> Profile {
    let stacks = vec![("main;run".to_owned(), 3), ("[cut];read_[k]".to_owned(), 1)];
    Profile { hertz: 199, lost: 2, stacks, ..Profile::default() }
}

#[test]
fn profiles_are_read_back_and_stay_apart_from_measurements() {
    let mut lab = Lab::new();
    let run = lab.run(&["a", "b"], 1);
    let mut ended = Vec::new();
    for system in ["a", "b"] {
        let trial = lab.trial(&run, 2, system);
        let step = lab.step(trial, "point-query", 0);
        lab.store.add_profile(step, &profile()).unwrap();
        lab.store.finish_step(step, &record("point-query", 0), &[rate(1.0)]).unwrap();
        ended.push(trial);
    }
    let took = Nanos::from_secs(9);
    let outcomes = [(ended[0], &Outcome::Profiled, took), (ended[1], &failed(), took)];
    lab.store.finish_trials(&outcomes).unwrap();
    // Not that of the trial that failed.
    let [one] = lab.store.profiles(&run).unwrap().try_into().unwrap();
    assert_eq!((one.trial.round, one.trial.system.as_str()), (2, "a"));
    assert_eq!((one.profile, one.record.step), (profile(), StepId::new("point-query")));
    let data = lab.store.load(&run, Want::default()).unwrap();
    assert!(data.cells.is_empty() && data.notes.is_empty());
    let summary = &lab.store.runs().unwrap()[0];
    assert_eq!((summary.completed, summary.failed), (1, 1));
}

#[test]
fn a_step_that_is_gone_takes_no_profile() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    let trial = lab.trial(&run, 1, "a");
    let step = lab.step(trial, "point-query", 0);
    // The same trial begun elsewhere.
    lab.trial(&run, 1, "a");
    let error = lab.store.add_profile(step, &profile()).unwrap_err();
    assert!(matches!(error, StoreError::Gone { .. }));
}

//! Slices of steps, and trials that get their outcomes together.

use model::SliceSeries;

use super::*;
use crate::{StoreError, Want};

fn series(metric: &str, values: &[f64]) -> SliceSeries {
    SliceSeries { metric: MetricId::new(metric), values: values.to_vec() }
}

/// A trial that has such a step and no outcome yet.
fn under_way(lab: &mut Lab, run: &RunId, system: &str, slices: &[SliceSeries]) -> TrialId {
    let trial = lab.trial(run, 1, system);
    let step = lab.step(trial, "point-query", 0);
    lab.store.add_slices(step, slices).unwrap();
    lab.store.finish_step(step, &record("point-query", 0), &[rate(1.0)]).unwrap();
    trial
}

#[test]
fn slices_of_completed_trials_are_loaded_in_the_order_of_time() {
    let mut lab = Lab::new();
    let run = lab.run(&["a", "b"], 1);
    // In the second slice nothing ended.
    let slices = [series("rate", &[3.0, f64::NAN, 2.0]), series("cpu/o", &[0.1])];
    let a = under_way(&mut lab, &run, "a", &slices);
    let b = under_way(&mut lab, &run, "b", &slices);
    let took = Nanos::from_secs(9);
    lab.store.finish_trials(&[(a, &Outcome::Completed, took), (b, &failed(), took)]).unwrap();
    let data = lab.store.load(&run, Want::default()).unwrap();
    let loaded: Vec<(&str, u32, f64)> = data
        .slices
        .iter()
        .map(|slice| (slice.metric.0.as_str(), slice.pair, slice.value))
        .collect();
    assert_eq!(loaded, [("cpu/o", 0, 0.1), ("rate", 0, 3.0), ("rate", 2, 2.0)]);
    let first = &data.slices[0];
    assert_eq!((first.round, first.system.as_str()), (1, "a"));
    assert_eq!(first.step, StepId::new("point-query"));
}

#[test]
fn trials_get_their_outcomes_together_or_none_does() {
    let mut lab = Lab::new();
    let run = lab.run(&["a", "b"], 1);
    let a = lab.trial(&run, 1, "a");
    let b = lab.trial(&run, 1, "b");
    // The same trial begun elsewhere: this one is gone.
    lab.trial(&run, 1, "b");
    let completed = &Outcome::Completed;
    let ended = [(a, completed, Nanos(1)), (b, completed, Nanos(1))];
    let error = lab.store.finish_trials(&ended).unwrap_err();
    assert!(matches!(error, StoreError::Gone { .. }));
    assert!(lab.store.journal(&run).unwrap().is_empty());
}

#[test]
fn damaged_slices_are_told_with_their_step() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    let trial = under_way(&mut lab, &run, "a", &[series("rate", &[1.0])]);
    lab.store.finish_trials(&[(trial, &Outcome::Completed, Nanos(1))]).unwrap();
    lab.store.connection.execute("UPDATE slice SET series = x'0102'", []).unwrap();
    let error = lab.store.load(&run, Want::default()).unwrap_err();
    let told = lab.told(&error);
    assert!(told.contains("the slices of step point-query of a, round 1"), "{told}");
}

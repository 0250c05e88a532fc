//! From runs to histories.

use model::{BuildSource, RunData, RunId, StepId, Unit};
use testkit::fixtures::run_of;

use super::super::*;
use crate::Selection;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn rounds() -> [[f64; 4]; 4] {
    // What a round shares, up to 20 %, is taken out; `c` and `d` are 10 % slower.
    let shared: [f64; 4] = [1.0, 1.2, 0.9, 1.1];
    let chance = [0.001, -0.002, 0.0015, -0.0005];
    let value = |round: usize, system: usize| {
        let level = if system < 2 { 1000.0 } else { 900.0 };
        level * shared[round] * (1.0 + chance[(round + system) % 4])
    };
    std::array::from_fn(|round| std::array::from_fn(|system| value(round, system)))
}

#[test]
fn the_systems_of_a_plan_are_a_history() {
    let data = run_of(&NAMES, "rate", &rounds());
    let part = Part { data: &data, systems: NAMES.to_vec() };
    let found = history(&[part], &HistoryOptions::default()).unwrap();
    assert_eq!(found.builds.len(), 4);
    let [line] = found.lines.as_slice() else {
        panic!("one step, one metric");
    };
    assert!(line.is_tested());
    let [change] = line.changes.as_slice() else {
        panic!("one step: {:?}", line.changes);
    };
    assert_eq!(change.at, 2);
    assert!((change.ratio - 0.9).abs() < 0.002, "{change:?}");
    let last = line.points[3].as_ref().unwrap();
    assert_eq!(last.rounds.len(), 4);
    assert!((last.to_base.unwrap().ratio - 0.9).abs() < 0.004);
    let (low, high) = last.to_previous.unwrap().ends.unwrap();
    assert!(low < 1.0 && 1.0 < high);
    assert!(line.points[0].as_ref().unwrap().to_base.is_none());
}

#[test]
fn values_without_a_logarithm_and_absent_systems_leave_gaps() {
    let mut values = rounds();
    for round in &mut values {
        round[1] = 0.0;
    }
    let data = run_of(&NAMES, "rate", &values);
    let part = Part { data: &data, systems: vec!["a", "b", "c", "d"] };
    let found = history(&[part], &HistoryOptions::default()).unwrap();
    let line = &found.lines[0];
    assert!(line.points[1].is_none());
    assert_eq!(line.zeros, [1]);
    assert!(!line.ends_at_zero());
    assert_eq!(line.changes.iter().map(|c| c.at).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_last_build_of_zeros_is_told_from_one_that_was_not_measured() {
    let mut values = rounds();
    for round in &mut values {
        round[3] = 0.0;
    }
    let zero = run_of(&NAMES, "rate", &values);
    let line = |data: &RunData| {
        let part = Part { data, systems: NAMES.to_vec() };
        let mut found = history(&[part], &HistoryOptions::default()).unwrap();
        found.lines.remove(0)
    };
    let fallen = line(&zero);
    assert_eq!(fallen.zeros, [3]);
    assert!(fallen.ends_at_zero());
    assert!(fallen.points[3].is_none());
    // One round that has more is a point of the series.
    let mut partly = zero.clone();
    for cell in partly.cells.iter_mut().filter(|cell| cell.round == 2) {
        cell.value = 700.0;
    }
    let partly = line(&partly);
    assert!(partly.zeros.is_empty() && partly.points[3].is_some());
    let mut absent = zero.clone();
    absent.cells.retain(|cell| cell.system != "d");
    assert!(!line(&absent).ends_at_zero());
    // There was nothing before.
    let mut nothing = zero;
    for cell in &mut nothing.cells {
        cell.value = 0.0;
    }
    let nothing = line(&nothing);
    assert_eq!((nothing.zeros.len(), nothing.ends_at_zero()), (4, false));
}

#[test]
fn values_in_another_unit_are_another_line() {
    let mut data = run_of(&NAMES, "rate", &rounds());
    for cell in data.cells.iter_mut().filter(|cell| cell.system.as_str() > "b") {
        cell.unit = Unit::RowsPerSecond;
    }
    let part = Part { data: &data, systems: NAMES.to_vec() };
    let found = history(&[part], &HistoryOptions::default()).unwrap();
    let shape: Vec<_> = found
        .lines
        .iter()
        .map(|line| {
            let places = line.points.iter().map(Option::is_some);
            (line.unit, places.collect::<Vec<bool>>())
        })
        .collect();
    assert_eq!(
        shape,
        [
            (Unit::OpsPerSecond, vec![true, true, false, false]),
            (Unit::RowsPerSecond, vec![false, false, true, true]),
        ]
    );
    assert!(found.lines.iter().all(|line| line.changes.is_empty()));
}

#[test]
fn a_wrong_question_says_what_would_be_right() {
    let data = run_of(&NAMES, "rate", &rounds());
    let mut other = data.clone();
    other.info.id = RunId("r2".into());
    other.info.host.cpu_model = "another".into();
    let part = |systems: &[&'static str]| Part { data: &data, systems: systems.to_vec() };
    let message = |parts: &[Part<'_>], options: &HistoryOptions| {
        history(parts, options).unwrap_err().to_string()
    };
    let usual = HistoryOptions::default();
    assert_eq!(
        message(&[part(&["a"])], &usual),
        "a history needs at least two builds, not 1; name more runs, or a run of several systems (runs of one version are one build)"
    );
    let unlike = Part { data: &other, systems: vec!["a"] };
    let unlike = message(&[part(&["a"]), unlike], &usual);
    assert!(unlike.starts_with("r1 and r2 cannot be in one history: "), "{unlike}");
    let mut set = data.clone();
    set.info.id = RunId("r2".into());
    set.info.plan.systems[0].config.name = "other".into();
    let set = Part { data: &set, systems: vec!["a"] };
    assert_eq!(
        message(&[part(&["a"]), set], &usual),
        "a of r1 and a of r2 cannot be in one history: config differs: default and other; name runs that are alike"
    );
    let step = HistoryOptions { step: Some(StepId::new("l.i9")), ..HistoryOptions::default() };
    assert_eq!(
        message(&[part(&["a", "b"])], &step),
        "these runs have no step `l.i9`; their steps are s0"
    );
    let margin = HistoryOptions { min_effect: Some(-1.0), ..HistoryOptions::default() };
    assert!(message(&[part(&["a", "b"])], &margin).contains("fraction"));
}

/// Rounds that say 2 and 3 are 2 ± ½ and 3 ± ½, however often they say it.
#[test]
fn rounded_values_are_no_surer_than_their_last_digit() {
    let mut data = run_of(&["a-1", "a-2"], "w/o", &[[2.0, 3.0]; 3]);
    let of = |data: &RunData| {
        let metrics = Selection::All;
        let options = HistoryOptions { metrics, ..HistoryOptions::default() };
        history(&[Part { data, systems: vec!["a-1", "a-2"] }], &options).unwrap().lines.remove(0)
    };
    assert_eq!(of(&data).changes.len(), 1);
    for system in &mut data.info.plan.systems {
        system.build.source = BuildSource::Imported("table.csv".into());
    }
    let line = of(&data);
    assert_eq!(line.changes, []);
    let error = line.points[1].as_ref().unwrap().error.unwrap();
    // ½ of 3 has a standard error of 1/√12; the value with the coarser digit, 2, decides for both.
    assert!((error - 0.5 / 3.0_f64.sqrt() / 2.0).abs() < 1e-9, "{error}");
}

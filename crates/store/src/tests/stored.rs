//! What earlier versions stored still opens: plans that list no steps, records with notes of any word.

use model::{NoteKind, RunInfo, StepClass, StepTask};

use super::*;

/// A run with this plan, as an earlier version stored it.
fn run_of(plan: &str) -> RunInfo {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    let stored = lab.store.connection.execute("UPDATE run SET plan = ?1", [plan]);
    assert_eq!(stored.unwrap(), 1);
    lab.store.run_info(&run).unwrap()
}

fn steps(info: &RunInfo) -> Vec<(&str, StepClass)> {
    info.plan.steps.iter().map(|step| (step.id.0.as_str(), step.class)).collect()
}

#[test]
fn the_steps_of_an_insert_benchmark_follow_from_its_workload() {
    let info = run_of(include_str!("stored/insert.json"));
    let (load, write) = (StepClass::Loading, StepClass::Writing);
    let expected = [
        ("l.i0", load),
        ("l.x", load),
        ("l.i1", load),
        ("l.i2", load),
        ("settle", load),
        ("qr100", write),
        ("qp100", write),
        ("qr500", write),
        ("qp500", write),
        ("qr1000", write),
        ("qp1000", write),
    ];
    assert_eq!(steps(&info), expected);
    assert_eq!(info.plan.steps[7].target_rate, Some(500));
    assert_eq!(info.plan.steps[4].task, StepTask::Settle);
}

#[test]
fn those_of_terminals_too() {
    let info = run_of(include_str!("stored/tpcc.json"));
    let names: Vec<&str> = steps(&info).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["load", "index", "check.load", "settle", "h1", "h2", "h3", "check"]);
    assert_eq!(info.plan.steps[4].clients, 2);
    assert!(info.plan.has_loading());
}

#[test]
fn an_import_that_was_kept_as_statements_is_one_of_its_own_kind() {
    let info = run_of(include_str!("stored/imported.json"));
    let spec = info.plan.workload.imported().unwrap();
    assert_eq!(spec.name, "imp-raw");
    let scales: Vec<(&str, u64)> =
        spec.scales.iter().map(|scale| (scale.test.as_str(), scale.rows)).collect();
    assert_eq!(scales, [("hot-points_range=100", 50_000_000), ("scan_range=100", 50_000_000)]);
    let write = StepClass::Writing;
    assert_eq!(steps(&info), [("hot-points_range=100", write), ("scan_range=100", write)]);
    assert_eq!(info.plan.steps[0].group, "point");
}

#[test]
fn a_record_keeps_notes_of_any_word() {
    let stored = include_str!("stored/record.json");
    let record: StepRecord = serde_json::from_str(stored).unwrap();
    let (first, second) = (&record.notes[0], &record.notes[1]);
    assert_eq!((&first.what, first.text.as_str()), (&NoteKind::ConnectionsLost, "2"));
    assert_eq!(second.what.word(), "conditions of old");
    assert_eq!(record.kinds[0].spec.name, "new-order");
    assert!(record.kinds[0].sums.ops > 0 && record.tpcc.is_some());
    let again: serde_json::Value = serde_json::to_value(&record).unwrap();
    assert_eq!(again, serde_json::from_str::<serde_json::Value>(stored).unwrap());
}

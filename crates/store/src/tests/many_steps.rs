//! A run of many steps is read by several threads; what they read is the same.

use model::SliceSeries;

use super::*;
use crate::load::finished::finished_steps;
use crate::load::readers::{MANY, read_beside};
use crate::{StoreError, Want};

const EVERYTHING: Want = Want { series: true, histograms: true };

/// Enough steps for several threads, of which the last has fewer than the others.
const STEPS: usize = MANY + 2;

/// A run of so many, the first and the last in slices.
fn many_steps(lab: &mut Lab) -> RunId {
    // For hundreds of steps that are finished one by one.
    let connection = &lab.store.connection;
    connection.pragma_update(None, "synchronous", "OFF").unwrap();
    let names: Vec<String> = (0..STEPS / 2).map(|number| format!("s{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let run = lab.run(&["a", "b"], 1);
    lab.whole_trial(&run, 1, "b", &names);
    lab.whole_trial(&run, 1, "a", &names);
    for step in [1, STEPS as i64] {
        let slices = SliceSeries { metric: MetricId::new("rate"), values: vec![step as f64] };
        lab.store.add_slices(StepRowId(step), &[slices]).unwrap();
    }
    run
}

#[test]
fn several_threads_read_what_one_reads_in_its_order() {
    let mut lab = Lab::new();
    let run = many_steps(&mut lab);
    let data = lab.store.load(&run, EVERYTHING).unwrap();
    let mut cells = Vec::new();
    let taken = lab.store.each_cell(&run, |cell| {
        cells.push(cell);
        Ok::<(), StoreError>(())
    });
    taken.unwrap();
    assert_eq!(data.cells, cells);
    let mut histograms = Vec::new();
    let taken = lab.store.each_histogram(&run, |_, histogram| {
        histograms.push(histogram);
        Ok::<(), StoreError>(())
    });
    taken.unwrap();
    assert_eq!(data.histograms, histograms);
    let series = data.series.iter();
    let series: Vec<_> = series.map(|one| (&one.system, &one.step, one.spans.len())).collect();
    let of_cells = cells.iter().map(|cell| (&cell.system, &cell.step, 3));
    assert_eq!(series, of_cells.collect::<Vec<_>>());
    let slices: Vec<f64> = data.slices.iter().map(|slice| slice.value).collect();
    assert_eq!(slices, [1.0, STEPS as f64]);
    let none = lab.store.load(&run, Want::default()).unwrap();
    assert_eq!((none.cells, none.series.len()), (data.cells, 0));
}

#[test]
fn the_other_connection_finds_the_steps_and_no_others() {
    let mut lab = Lab::new();
    many_steps(&mut lab);
    let steps = finished_steps(&lab.store.connection, 1).unwrap();
    let steps: Vec<_> = steps.iter().collect();
    let read = |lab: &Lab| read_beside(lab.store.path(), &steps, EVERYTHING).unwrap();
    assert!(read(&lab).is_some());
    // Steps of another lab have the same numbers.
    let mut other = Lab::new();
    let run = other.run(&["a", "b"], 1);
    let names: Vec<&str> = steps.iter().map(|step| step.name.0.as_str()).collect();
    other.whole_trial(&run, 1, "b", &names);
    assert!(read(&other).is_none());
}

#[test]
fn where_the_file_is_no_longer_there_one_thread_reads_all() {
    let mut lab = Lab::new();
    let run = many_steps(&mut lab);
    let expected = lab.store.load(&run, EVERYTHING).unwrap();
    let elsewhere = lab.directory.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    for name in ["lab.sqlite", "lab.sqlite-wal", "lab.sqlite-shm"] {
        std::fs::rename(lab.directory.path().join(name), elsewhere.join(name)).unwrap();
    }
    assert_eq!(lab.store.load(&run, EVERYTHING).unwrap(), expected);
    // Nor where another one is in its place, in which the steps are not.
    let other = Store::open(&lab.directory.path().join("lab.sqlite")).unwrap();
    assert_eq!(lab.store.load(&run, EVERYTHING).unwrap(), expected);
    drop(other);
}

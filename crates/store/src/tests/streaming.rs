//! What is read piece by piece is what a whole load holds.

use super::*;
use crate::{StoreError, Want};

fn two_trials(lab: &mut Lab) -> RunId {
    let run = lab.run(&["a", "b"], 2);
    lab.whole_trial(&run, 1, "b", &["l.i0", "qr100"]);
    lab.whole_trial(&run, 1, "a", &["l.i0", "qr100"]);
    let under_way = lab.trial(&run, 2, "b");
    let step = lab.step(under_way, "l.i0", 0);
    lab.store.add_interval(step, &interval(0)).unwrap();
    run
}

#[test]
fn measurements_and_histograms_are_those_of_the_whole() {
    let mut lab = Lab::new();
    let run = two_trials(&mut lab);
    let want = Want { series: true, histograms: true };
    let data = lab.store.load(&run, want).unwrap();
    let mut cells = Vec::new();
    let mut take = |cell| {
        cells.push(cell);
        Ok::<(), StoreError>(())
    };
    lab.store.each_cell(&run, &mut take).unwrap();
    assert_eq!(cells, data.cells);
    let mut histograms = Vec::new();
    let taken = lab.store.each_histogram(&run, |place, histogram| {
        assert_eq!(place.trial.system, histogram.system);
        histograms.push(histogram);
        Ok::<(), StoreError>(())
    });
    taken.unwrap();
    assert_eq!(histograms, data.histograms);
    let (info, trials) = lab.store.outline(&run).unwrap();
    assert_eq!((info, trials), (data.info, data.trials));
}

#[test]
fn the_numbers_of_an_interval_are_those_beside_its_histograms() {
    let mut lab = Lab::new();
    let run = two_trials(&mut lab);
    let mut with = Vec::new();
    let taken = lab.store.each_second(&run, |place, second| {
        let ops: Vec<u64> = second.kinds.iter().map(|kind| kind.ops).collect();
        let p99 = second.kinds.iter().map(|kind| kind.service.quantile(0.99));
        let p99: Vec<Nanos> = p99.map(Option::unwrap_or_default).collect();
        with.push((place.clone(), second.index, second.start, ops, p99));
        Ok::<(), StoreError>(())
    });
    taken.unwrap();
    let mut without = Vec::new();
    let taken = lab.store.each_interval(&run, |place, interval| {
        let ops: Vec<u64> = interval.kinds.iter().map(|kind| kind.ops).collect();
        let p99: Vec<Nanos> = interval.kinds.iter().map(|kind| kind.p99).collect();
        without.push((place.clone(), interval.index, interval.start, ops, p99));
        Ok::<(), StoreError>(())
    });
    taken.unwrap();
    assert_eq!(with, without);
    // Two trials of two steps of three seconds.
    assert_eq!(with.len(), 12);
}

#[test]
fn an_error_of_the_taker_ends_the_reading() {
    let mut lab = Lab::new();
    let run = two_trials(&mut lab);
    let mut taken = 0;
    let ended = lab.store.each_cell(&run, |_| {
        taken += 1;
        Err(StoreError::Gone { path: "elsewhere".into(), what: "trial" })
    });
    assert!(matches!(ended, Err(StoreError::Gone { .. })));
    assert_eq!(taken, 1);
}

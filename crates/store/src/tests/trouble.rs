//! A full disk, a second process, damage: what is said, and that nothing is lost.

use std::time::Duration;

use rusqlite::Connection;

use super::*;
use crate::{StoreError, Want};

fn pages(lab: &Lab, limit: i64) {
    lab.store
        .connection
        .pragma_update_and_check(None, "max_page_count", limit, |_| Ok(()))
        .unwrap();
}

#[test]
fn a_full_disk_is_called_one_and_loses_nothing() {
    let mut lab = Lab::new();
    let run = lab.run(&["a", "b"], 1);
    lab.whole_trial(&run, 1, "a", &["l.i0"]);
    let trial = lab.trial(&run, 1, "b");
    let step = lab.step(trial, "l.i0", 0);
    let used: i64 =
        lab.store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    pages(&lab, used + 5);
    let mut kept = 0;
    let error = loop {
        match lab.store.add_interval(step, &interval(kept)) {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
        assert!(kept < 10_000, "the limit of pages does not hold");
    };
    assert!(kept > 0);
    insta::assert_snapshot!(lab.told(&error), @"the disk that holds LAB/lab.sqlite is full, saving an interval failed; make room");
    let kept_intervals = |lab: &Lab| lab.intervals(&run).len() as u32;
    assert_eq!(kept_intervals(&lab), kept);
    assert_eq!(lab.store.load(&run, Want::default()).unwrap().cells.len(), 1);
    // With room again it goes on where it stopped.
    pages(&lab, 1 << 20);
    lab.store.add_interval(step, &interval(kept)).unwrap();
    assert_eq!(kept_intervals(&lab.reopened()), kept + 1);
}

#[test]
fn a_second_writer_is_waited_for_and_then_named() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    let other = Connection::open(lab.store.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    lab.store.connection.busy_timeout(Duration::from_millis(20)).unwrap();
    let error = lab.store.begin_trial(&run, &key(1, "a"), STARTED).unwrap_err();
    insta::assert_snapshot!(lab.told(&error), @"LAB/lab.sqlite is locked by another process, beginning a trial failed; wait for it, or end it");
    // Readers do not wait for it, and it does not wait for them.
    assert_eq!(lab.store.runs().unwrap().len(), 1);
    other.execute_batch("COMMIT").unwrap();
    lab.trial(&run, 1, "a");
}

#[test]
fn two_processes_may_have_the_lab_open() {
    let mut lab = Lab::new();
    let reader = Store::open(lab.store.path()).unwrap();
    let run = lab.run(&["a"], 1);
    lab.whole_trial(&run, 1, "a", &["l.i0"]);
    assert_eq!(reader.load(&run, Want::default()).unwrap().cells.len(), 1);
}

#[test]
fn damage_is_named_by_its_place() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    lab.whole_trial(&run, 1, "a", &["l.i0", "qr100"]);
    let all = Want { series: true, histograms: true };
    let told = |lab: &Lab, sql: &str| {
        lab.store.connection.execute_batch(sql).unwrap();
        lab.told(&lab.store.load(&run, all).unwrap_err())
    };
    insta::assert_snapshot!(
        told(&lab, "UPDATE histogram SET latency = x'00' WHERE step = 2 AND kind = 1"),
        @"LAB/lab.sqlite is damaged: histogram of `query` in step qr100 of a, round 1: a stored latency histogram is damaged: incomplete deflate stream; restore it from a copy, or use another lab directory"
    );
    insta::assert_snapshot!(
        told(&lab, "UPDATE interval SET numbers = x'01' WHERE step = 2 AND number = 1"),
        @"LAB/lab.sqlite is damaged: an interval of step qr100 of a, round 1: it ends too early; restore it from a copy, or use another lab directory"
    );
    insta::assert_snapshot!(
        told(&lab, "UPDATE measurement SET unit = 'furlongs' WHERE step = 1"),
        @"LAB/lab.sqlite is damaged: measurement of step l.i0 of a, round 1: unknown unit `furlongs`; restore it from a copy, or use another lab directory"
    );
    insta::assert_snapshot!(told(&lab, "UPDATE step SET record = '{}' WHERE id = 1"), @"LAB/lab.sqlite is damaged: step l.i0 of a, round 1: missing field `step` at line 1 column 2; restore it from a copy, or use another lab directory");
    insta::assert_snapshot!(told(&lab, "UPDATE run SET plan = '[]'"), @"LAB/lab.sqlite is damaged: plan of run r1: invalid length 0, expected struct Plan with 10 elements at line 1 column 2; restore it from a copy, or use another lab directory");
}

#[test]
fn a_file_cut_short_is_damage_and_not_a_panic() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    lab.whole_trial(&run, 1, "a", &["l.i0", "l.x", "l.i1"]);
    let Lab { directory, store } = lab;
    let path = store.path().to_owned();
    drop(store);
    let whole = std::fs::read(&path).unwrap();
    for length in [whole.len() / 2, 5000, 4096, 100, 10] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let wants = Want { series: true, histograms: true };
        let outcome = Store::open(&path).and_then(|store| store.load(&run, wants));
        let error = outcome.expect_err("half a file must not look whole");
        assert!(
            matches!(error, StoreError::Damaged { .. } | StoreError::NotALab { .. }),
            "{length}: {error:?}"
        );
    }
    drop(directory);
}

#[test]
fn garbage_in_the_middle_of_the_file_is_found() {
    let mut lab = Lab::new();
    let run = lab.run(&["a"], 1);
    lab.whole_trial(&run, 1, "a", &["l.i0"]);
    let Lab { directory, store } = lab.reopened();
    store.check().unwrap();
    drop(store);
    let path = directory.path().join("lab.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    // The first page stays, so that the file opens.
    bytes[4096..].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let error = Store::open_to_read(&path).and_then(|store| store.check()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

//! What comes before a measured window: a warm-up that ends with its rate, and a settle phase that waits for
//! what is left to do.

use model::{SqlRun, WarmUpEnd};
use testkit::databases::Database;

use crate::spec::{key, point, run, settle, single, spec, step};
use crate::trial::Trial;

#[test]
fn a_warm_up_that_never_gets_steady_ends_with_its_time_and_says_so() {
    let steady = SqlRun {
        // Too few windows to see anything.
        warmup_seconds: 2,
        warmup_end: WarmUpEnd::Steady,
        whole: false,
        ..run(vec![single(point(), key())])
    };
    let spec = spec(vec![step("point", 2, steady)]);
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    let done = trial.step(&database.target());
    assert_eq!(done.result.window, model::Nanos::SECOND);
    let notes = done.notes("not steady");
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("after "), "{notes:?}");
    assert!(notes[0].ends_with(" operations"), "{notes:?}");
    assert!(done.notes("warmed up").is_empty());
}

#[test]
fn a_settle_phase_tells_what_is_left() {
    let spec = spec(vec![settle()]);
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    let done = trial.step(&database.target());
    let notes = done.notes("left over");
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("WAL frames 0 after "), "{notes:?}");
    assert!(done.notes("not drained").is_empty());
    assert!(done.notes("settle").is_empty());
}

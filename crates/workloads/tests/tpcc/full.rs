//! A database that may not grow any further, as on a full disk.

use std::time::{Duration, Instant};

use load::StepError;
use testkit::databases::{Backend, number};

use crate::beginning::beginning_with;
use crate::spec::spec;
use crate::trial::Trial;

/// Pages by which the file may still grow: some orders.
const PAGES: i64 = 20;
/// Half as long as a session waits for a lock that a terminal would leave behind when it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// The step fails at once, with the terminal and the server's own words; what it leaves is sound.
pub(crate) fn on(backend: &Backend) {
    let mut spec = spec(1, 4);
    // It fails long before.
    spec.seconds = 60;
    let target = backend.database();
    let mut trial = Trial::loaded(&spec, &target);
    let most = number(&target, "PRAGMA page_count") + PAGES;
    let small = beginning_with(&target, format!("PRAGMA max_page_count = {most}"));
    let began = Instant::now();
    let error = trial.attempt(&small).unwrap_err();
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    assert!(matches!(error, StepError::Session { .. }), "{error}");
    let said = error.to_string();
    assert!(said.starts_with("terminal ") && said.contains("`: error SQLITE_FULL: "), "{said}");
    trial.step(&target);
}

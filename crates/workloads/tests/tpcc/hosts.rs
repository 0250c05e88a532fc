//! Terminals that are divided among processes.

use testkit::databases::Backend;

use crate::shares::with_hosts;
use crate::spec::spec;
use crate::trial::{Trial, ops};

#[test]
fn what_terminals_of_two_processes_committed_is_in_the_database() {
    let backend = Backend::sqlite();
    let spec = spec(2, 3);
    let target = backend.database();
    let mut trial = Trial::loaded(&spec, &target);
    let run = trial.step(&with_hosts(&target, 2));
    let facts = run.tpcc.unwrap();
    assert!(facts.committed > 0 && facts.committed == facts.counted, "{facts:?}");
    assert!(ops(&run, "payment") > 0 && facts.audit.payments > 0);
    // Compares rows with the receipts of both.
    let check = trial.step(&target);
    assert!(check.checks.iter().any(|check| check.what.contains("terminals saw committed")));
}

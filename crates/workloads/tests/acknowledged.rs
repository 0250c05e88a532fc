//! The log of acknowledged commits against SQLite: what is there is found, and what is taken away is missed.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::PathBuf;
use std::sync::Arc;

use drivers::Connector;
use load::{Blind, Stop, Target};
use model::{Dialect, LoadSpec, Settle, TpccCardinality, TpccSpec};
use tempfile::TempDir;
use workloads::{LoggedRun, Present, Survived};

const SEED: u64 = 20_261_122;

/// Two small warehouses, four terminals for a second.
fn spec() -> TpccSpec {
    let load = LoadSpec { rows_per_commit: 1_000, indexes_first: true, ..LoadSpec::usual(1) };
    let usual = TpccSpec::usual(2, load).with_few_indexes();
    TpccSpec {
        cardinality: TpccCardinality { items: 200, customers: 30 },
        settle: Settle::Seconds(0),
        clients: 4,
        steps: 1,
        seconds: 1,
        warmup_seconds: 0,
        statement_timeout: 60,
        ..usual
    }
}

/// A loaded database on which terminals ran, and the log of what was acknowledged to them.
struct Used {
    directory: TempDir,
    spec: TpccSpec,
    connector: Arc<dyn Connector>,
    before: Option<Present>,
}

impl Used {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let connector = testkit::databases::sqlite(directory.path().join("tpcc.sqlite"));
        let mut used = Self { directory, spec: spec(), connector, before: None };
        used.load();
        used.before = Some(Present::read(&used.target()).unwrap());
        used.run();
        used
    }

    fn target(&self) -> Target {
        testkit::databases::target(Arc::clone(&self.connector), Dialect::Sqlite)
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("acknowledged.log")
    }

    fn load(&self) {
        let mut workload = workloads::workload(&self.spec.clone().into(), SEED);
        for step in self.spec.trial_steps().iter().filter(|step| step.loads) {
            let target = self.target();
            let result = workload.run(step.ordinal as usize, &target, &Stop::default(), &mut Blind);
            let checks = result.unwrap().checks;
            assert!(checks.iter().all(|check| check.holds), "{checks:?}");
        }
    }

    fn run(&self) {
        let run = LoggedRun {
            spec: &self.spec,
            number: 1,
            seed: SEED + 1,
            rows_seed: SEED,
            log: &self.log(),
        };
        workloads::run_logged(&run, &self.target(), &Stop::default()).unwrap();
    }

    /// Runs a statement that changes exactly one row.
    fn spoil(&self, sql: &str) {
        let mut session = self.connector.connect().unwrap();
        assert_eq!(session.execute(sql).unwrap().affected, 1, "{sql}");
    }

    /// What is found now; once.
    fn survived(&mut self) -> Survived {
        let before = self.before.take().unwrap();
        workloads::survived(&self.log(), before, &self.target()).unwrap()
    }

    /// How many conditions do not hold now.
    fn broken(&self) -> usize {
        let stop = Stop::default();
        let checks = workloads::check_conditions(&self.spec, SEED, &self.target(), &stop).unwrap();
        checks.iter().filter(|check| !check.holds).count()
    }
}

/// The condition for the newest order of the first district.
const NEWEST: &str = "o_w_id = 1 AND o_d_id = 1 AND o_id = \
                      (SELECT MAX(o_id) FROM orders WHERE o_w_id = 1 AND o_d_id = 1)";

#[test]
fn all_that_was_acknowledged_is_there_and_nothing_else() {
    let mut used = Used::new();
    let found = used.survived();
    assert!(found.orders > 0 && found.payments > 0, "{found:?}");
    let expected =
        Survived { orders: found.orders, payments: found.payments, ..Survived::default() };
    assert_eq!(found, expected);
    assert_eq!(used.broken(), 0);
}

#[test]
fn an_acknowledged_order_and_payment_that_are_deleted_are_missed() {
    let mut used = Used::new();
    used.spoil(&format!("DELETE FROM orders WHERE {NEWEST}"));
    used.spoil("DELETE FROM history WHERE rowid = (SELECT MAX(rowid) FROM history)");
    let found = used.survived();
    assert_eq!((found.missing, found.shown.len()), (2, 2), "{found:?}");
    let told: Vec<&str> = found.shown.iter().map(|one| one.what.as_str()).collect();
    let told = told.join("; ");
    assert!(told.contains("of district 1 of warehouse 1"), "{told}");
    assert!(told.contains("payment of "), "{told}");
    let first = found.shown.iter().map(|one| one.at).min();
    assert_eq!(found.oldest, first);
    assert_eq!((found.vanished, found.unacknowledged), (0, 0));
    assert!(used.broken() > 0);
}

#[test]
fn a_row_that_nobody_was_told_of_and_one_of_the_load_that_is_gone_are_counted() {
    let mut used = Used::new();
    used.spoil(&format!("UPDATE orders SET o_id = 100000 WHERE {NEWEST}"));
    used.spoil("DELETE FROM history WHERE rowid = (SELECT MIN(rowid) FROM history)");
    let found = used.survived();
    assert_eq!((found.missing, found.vanished, found.unacknowledged), (1, 1, 1), "{found:?}");
}

#[test]
fn a_log_that_is_there_already_is_not_written_over() {
    let used = Used::new();
    let run = LoggedRun {
        spec: &used.spec,
        number: 2,
        seed: SEED + 2,
        rows_seed: SEED,
        log: &used.log(),
    };
    let error = workloads::run_logged(&run, &used.target(), &Stop::default()).unwrap_err();
    assert!(error.to_string().starts_with("cannot create "), "{error}");
}

//! Terminals in a step, on small databases.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use drivers::{
    Connector, Done, Param, ParamType, Row, Session, SessionError, SessionInfo, StatementId,
};
use model::{Arrivals, ErrorRules, StepRecord, TpccMix, TpccPace, TpccSpec};

use crate::tpcc::loading::Setting;
use crate::tpcc::run::RunStep;
use crate::tpcc::scale;
use crate::tpcc::transactions::tests::fixture::{Database, ROWS, target};
use load::engine::{Blind, Stop};
use load::{Share, StepError};

/// A second of three terminals.
fn spec() -> TpccSpec {
    TpccSpec { clients: 3, seconds: 1, ..scale::tests::spec() }
}

fn step(spec: &TpccSpec, connector: &Arc<dyn Connector>) -> Result<StepRecord, StepError> {
    let (target, stop) = (target(connector), Stop::default());
    let at = &Setting { spec, rows_seed: ROWS, target: &target, stop: &stop };
    let step = RunStep { at, number: 1, seed: 7, share: Share::whole(spec.clients), log: None };
    step.run(&mut Blind).map(|(result, _)| result)
}

/// A step that must succeed, and whose checks must hold.
fn passed(spec: &TpccSpec, database: &Database) -> StepRecord {
    let result = step(spec, &database.connector).unwrap();
    let failed: Vec<_> = result.checks.iter().filter(|check| !check.holds).collect();
    assert!(failed.is_empty(), "{failed:?} {:?}", result.notes);
    let facts = result.tpcc.unwrap();
    assert_eq!(facts.committed, facts.counted);
    assert!(facts.committed > 0, "{facts:?}");
    result
}

#[test]
fn terminals_without_waits_do_as_much_as_they_can() {
    let spec = TpccSpec { warmup_seconds: 1, ..spec() };
    let database = Database::loaded(&spec);
    let result = passed(&spec, &database);
    let facts = result.tpcc.unwrap();
    let ops: Vec<u64> = result.kinds.iter().map(|kind| kind.sums.ops).collect();
    assert_eq!(ops.len(), 6);
    assert!(ops[..5].iter().all(|ops| *ops > 0), "{ops:?}");
    // The warm-up's are in the facts, not in the window.
    assert!(facts.committed > ops[0] - ops[5]);
    let queued = database.number("SELECT COUNT(*) FROM new_order");
    assert_eq!(facts.backlog, queued as u64);
    assert_eq!(facts.limits_millis, spec.limits_millis);
    // On the same, growing database.
    passed(&spec, &database);
}

#[test]
fn terminals_with_waits_do_no_more_than_their_times_allow() {
    let spec = TpccSpec { pace: TpccPace::Wait { percent: 1 }, ..spec() };
    let result = passed(&spec, &Database::loaded(&spec));
    let ops: u64 = result.kinds[..5].iter().map(|kind| kind.sums.ops).sum();
    // Three terminals, a cycle of 0.2 s.
    assert!((3..=40).contains(&ops), "{ops}");
}

#[test]
fn transactions_may_arrive_by_themselves() {
    let spec = TpccSpec {
        pace: TpccPace::Rate { per_second: 50, arrivals: Arrivals::Even, queue: 1000 },
        ..spec()
    };
    let result = passed(&spec, &Database::loaded(&spec));
    let open_loop = result.open_loop.unwrap();
    assert_eq!((open_loop.per_second, open_loop.arrived), (50, 50));
    assert!(result.kinds[0].sums.response.is_some());
}

#[test]
fn a_rate_that_keeps_five_limits_is_looked_for() {
    // No transaction can keep these.
    let spec = TpccSpec {
        pace: TpccPace::Ramp { from: 2, arrivals: Arrivals::Even, queue: 100, attempt_seconds: 1 },
        limits_millis: [0; 5],
        ..spec()
    };
    let result = step(&spec, &Database::loaded(&spec).connector).unwrap();
    assert!(result.checks.iter().all(|check| check.holds), "{:?}", result.checks);
    let tried = result.notes.iter().filter(|note| note.what == model::NoteKind::Ramp);
    let tried: Vec<&str> = tried.map(|note| note.text.as_str()).collect();
    assert_eq!(tried.len(), 2, "{tried:?}");
    assert!(tried[0].starts_with("2/s: new-order p90 "), "{tried:?}");
    assert!(tried[1].starts_with("1/s: new-order p90 "), "{tried:?}");
    let open_loop = result.open_loop.unwrap();
    assert_eq!((open_loop.highest_rate, open_loop.per_second), (Some(0), 2));
}

#[test]
fn another_database_is_refused() {
    let loaded = spec();
    let database = Database::loaded(&loaded);
    let more = TpccSpec { warehouses: 3, ..loaded };
    let error = step(&more, &database.connector).unwrap_err().to_string();
    assert!(error.contains("warehouses"), "{error}");
}

/// Loses the connection at one COMMIT: that which begins when the counter is at zero.
struct Cutting {
    inner: Arc<dyn Connector>,
    left: Arc<AtomicI64>,
    /// Is the transaction committed before?
    commits: bool,
}

impl Connector for Cutting {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::new(CutSession {
            inner: self.inner.connect()?,
            left: Arc::clone(&self.left),
            commits: self.commits,
            commit: None,
            is_lost: false,
        }))
    }
}

struct CutSession {
    inner: Box<dyn Session>,
    left: Arc<AtomicI64>,
    commits: bool,
    /// Id of the prepared COMMIT.
    commit: Option<StatementId>,
    is_lost: bool,
}

fn lost() -> SessionError {
    SessionError::Lost { cause: "cut".to_owned() }
}

impl Session for CutSession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        if self.is_lost {
            return Err(lost());
        }
        self.inner.query(sql, each)
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId, SessionError> {
        let id = self.inner.prepare(sql, types)?;
        if sql == "COMMIT" {
            self.commit = Some(id);
        }
        Ok(id)
    }

    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        if self.is_lost {
            return Err(lost());
        }
        let is_commit = self.commit == Some(statement);
        if is_commit && self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            self.is_lost = true;
            let last = if self.commits { "COMMIT" } else { "ROLLBACK" };
            self.inner.execute(last)?;
            return Err(lost());
        }
        self.inner.execute_prepared(statement, params, each)
    }

    fn info(&self) -> &SessionInfo {
        self.inner.info()
    }
}

#[test]
fn a_lost_answer_to_a_commit_is_neither_counted_nor_held_against_anybody() {
    for commits in [false, true] {
        let plain = spec();
        let spec = TpccSpec {
            mix: TpccMix::Weights([1, 0, 0, 0, 0]),
            errors: ErrorRules { reconnect_seconds: 10, ..plain.errors.clone() },
            ..plain
        };
        let database = Database::loaded(&spec);
        let cutting: Arc<dyn Connector> = Arc::new(Cutting {
            inner: Arc::clone(&database.connector),
            left: Arc::new(AtomicI64::new(5)),
            commits,
        });
        let result = step(&spec, &cutting).unwrap();
        assert!(result.checks.iter().all(|check| check.holds), "{:?}", result.checks);
        let facts = result.tpcc.unwrap();
        assert_eq!(facts.counted - facts.committed, u64::from(commits));
        let notes: Vec<&str> = result.notes.iter().map(|note| note.what.word()).collect();
        assert_eq!(notes, ["connections lost", "new-orders with unknown outcome"]);
        assert_eq!(result.errors.len(), 1);
    }
}

#[test]
fn without_time_to_connect_again_a_lost_connection_fails_the_step() {
    let spec = spec();
    let database = Database::loaded(&spec);
    let cutting: Arc<dyn Connector> = Arc::new(Cutting {
        inner: Arc::clone(&database.connector),
        left: Arc::new(AtomicI64::new(3)),
        commits: true,
    });
    let error = step(&spec, &cutting).unwrap_err();
    assert!(matches!(error, StepError::Session { .. }), "{error}");
}

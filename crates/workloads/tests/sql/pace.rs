//! Open loops, and the highest rate that they can keep.

use std::sync::Arc;
use std::time::Duration;

use drivers::SessionError;
use model::{Arrivals, Dialect, Nanos, OpenLoop, SqlPace, SqlRun, SqlSpec};
use testkit::databases::{Database, target};

use crate::faulty::{Call, Faulty, Outcome};
use crate::spec::{key, point, run, single, spec, step};
use crate::trial::{Done, Trial};

fn paced(clients: u32, seconds: u32, pace: SqlPace) -> SqlSpec {
    let run = SqlRun { seconds, whole: false, pace, ..run(vec![single(point(), key())]) };
    spec(vec![step("point", clients, run)])
}

const fn rate(per_second: u64, arrivals: Arrivals, queue: u32) -> SqlPace {
    SqlPace::Rate { per_second, arrivals, queue }
}

/// Runs the step; each query takes at least so long.
fn run_slowly(spec: &SqlSpec, so_long: Duration) -> Done {
    let database = Database::default();
    let mut trial = Trial::loaded(spec, &database);
    if so_long.is_zero() {
        return trial.step(&database.target());
    }
    let slow = SlowConnector { inner: Arc::clone(&database.connector), so_long };
    trial.step(&target(Arc::new(slow), Dialect::Sqlite))
}

fn outcome(done: &Done) -> OpenLoop {
    done.result.open_loop.unwrap()
}

#[test]
fn operations_arrive_at_their_rate_and_response_counts_from_then() {
    let spec = paced(2, 2, rate(200, Arrivals::Even, 100));
    let done = run_slowly(&spec, Duration::ZERO);
    let expected = OpenLoop { per_second: 200, arrived: 400, ..outcome(&done) };
    assert_eq!(outcome(&done), expected);
    assert!(outcome(&done).is_sustained());
    let kind = &done.result.kinds[0];
    assert!(kind.spec.scheduled);
    // Those that a stall leaves open at the end are bounded above.
    assert!(kind.sums.ops >= 300, "{}", kind.sums.ops);
    let response = kind.sums.response.as_ref().unwrap();
    assert_eq!(response.count(), kind.sums.service.count());
    assert!(done.notes("rate not sustained").is_empty());
}

#[test]
fn every_arrival_is_accounted_for_where_clients_are_idle() {
    let spec = paced(2, 1, rate(2_000, Arrivals::Poisson, 100_000));
    let done = run_slowly(&spec, Duration::ZERO);
    let OpenLoop { arrived, shed, waiting, .. } = outcome(&done);
    let ended = done.ops("point") + done.late("point");
    assert_eq!(arrived, ended + shed + waiting);
}

#[test]
fn a_rate_that_cannot_be_sustained_sheds_and_says_so() {
    // One client that does at most 200 a second.
    let spec = paced(1, 1, rate(5_000, Arrivals::Poisson, 50));
    let done = run_slowly(&spec, Duration::from_millis(5));
    let outcome = outcome(&done);
    let ops = done.ops("point");
    assert!(ops > 20 && ops <= 200, "{ops}");
    assert!(outcome.shed > 4_000 && outcome.waiting >= 48, "{outcome:?}");
    assert_eq!(outcome.arrived, ops + done.late("point") + outcome.shed + outcome.waiting);
    let notes = done.notes("rate not sustained");
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("5,000/s asked, "), "{notes:?}");
    assert!(notes[0].ends_with(&format!(" shed, {} waiting", outcome.waiting)), "{notes:?}");
    // Those that were served had waited behind fifty others.
    let kind = &done.result.kinds[0].sums;
    let response = kind.response.as_ref().unwrap();
    let (service, response) = (kind.service.mean().unwrap(), response.mean().unwrap());
    assert!(response > Nanos(10 * service.0), "{response} {service}");
}

#[test]
fn the_warm_up_of_an_open_loop_leaves_no_arrivals_behind() {
    let mut spec = paced(1, 1, rate(300, Arrivals::Even, 1_000));
    if let model::SqlWork::Run(run) = &mut spec.steps[1].work {
        run.warmup_seconds = 1;
    }
    // At most 100 a second: the queue is long when the warm-up ends.
    let done = run_slowly(&spec, Duration::from_millis(10));
    assert_eq!(outcome(&done).arrived, 300);
}

#[test]
fn a_ramp_finds_the_highest_rate_within_the_limit() {
    let ramp = SqlPace::Ramp {
        from: 50,
        arrivals: Arrivals::Even,
        queue: 1_000,
        permille: 900,
        limit_micros: 100_000,
        attempt_seconds: 1,
    };
    // One client that does a little less than 200 a second.
    let done = run_slowly(&paced(1, 1, ramp), Duration::from_millis(5));
    let outcome = outcome(&done);
    let highest = outcome.highest_rate.unwrap();
    assert!((60..=260).contains(&highest), "{highest}");
    assert_eq!(outcome.per_second, highest);
    let attempts = done.notes("ramp");
    assert!(attempts.len() >= 3, "{attempts:?}");
    assert!(attempts[0].starts_with("50/s: p90 "), "{attempts:?}");
    assert!(attempts[0].ends_with(", kept"), "{attempts:?}");
    assert!(attempts.iter().any(|text| !text.ends_with(", kept")));
}

#[test]
fn a_ramp_that_keeps_the_limit_nowhere_measures_at_its_first_rate() {
    let ramp = SqlPace::Ramp {
        from: 20,
        arrivals: Arrivals::Even,
        queue: 1_000,
        permille: 990,
        limit_micros: 1_000,
        attempt_seconds: 1,
    };
    let done = run_slowly(&paced(1, 1, ramp), Duration::from_millis(5));
    let outcome = outcome(&done);
    assert_eq!((outcome.highest_rate, outcome.per_second), (Some(0), 20));
    assert!(done.ops("point") > 0);
}

#[test]
fn errors_of_an_open_loop_are_no_operations() {
    let mut asked = 0;
    let spec = paced(1, 1, rate(100, Arrivals::Even, 10));
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    let faulty = Faulty::new(
        Arc::clone(&database.connector),
        Box::new(move |call| match call {
            Call::Run(_) => {
                asked += 1;
                if asked % 2 == 0 {
                    let said = "UNIQUE (extended code 2067)";
                    Outcome::Fail(crate::faulty::server("SQLITE_CONSTRAINT", said))
                } else {
                    Outcome::Pass
                }
            }
            Call::Connect | Call::Prepare(_) => Outcome::Pass,
        }),
    );
    let mut target = target(Arc::new(faulty), Dialect::Sqlite);
    target.patient = Arc::clone(&database.connector);
    let done = trial.step(&target);
    let errors = done.errors("SQLITE_CONSTRAINT", false);
    assert!(errors >= 40, "{errors}");
    assert_eq!(outcome(&done).arrived, 100);
    assert!(done.ops("point") <= 60);
}

/// Sessions whose prepared statements take their time.
struct SlowConnector {
    inner: Arc<dyn drivers::Connector>,
    so_long: Duration,
}

struct SlowSession {
    inner: Box<dyn drivers::Session>,
    so_long: Duration,
}

impl drivers::Connector for SlowConnector {
    fn connect(&self) -> Result<Box<dyn drivers::Session>, SessionError> {
        Ok(Box::new(SlowSession { inner: self.inner.connect()?, so_long: self.so_long }))
    }
}

impl drivers::Session for SlowSession {
    fn query(
        &mut self,
        sql: &str,
        each: &mut dyn FnMut(&dyn drivers::Row),
    ) -> Result<drivers::Done, SessionError> {
        self.inner.query(sql, each)
    }

    fn prepare(
        &mut self,
        sql: &str,
        types: &[drivers::ParamType],
    ) -> Result<drivers::StatementId, SessionError> {
        self.inner.prepare(sql, types)
    }

    fn execute_prepared(
        &mut self,
        statement: drivers::StatementId,
        params: &[drivers::Param<'_>],
        each: &mut dyn FnMut(&dyn drivers::Row),
    ) -> Result<drivers::Done, SessionError> {
        std::thread::sleep(self.so_long);
        self.inner.execute_prepared(statement, params, each)
    }

    fn info(&self) -> &drivers::SessionInfo {
        self.inner.info()
    }
}

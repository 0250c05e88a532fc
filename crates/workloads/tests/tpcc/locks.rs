//! Somebody keeps a row for longer than a session may wait for it.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use drivers::Session;
use load::{Observer, StepError, Target};
use model::{Dialect, Edge, Interval, Isolation, StepRecord, TpccForm, TpccMix, TpccSpec};
use testkit::databases::Backend;

use crate::beginning::beginning_with;
use crate::spec::spec;
use crate::trial::{Trial, ops};

/// Terminals.
const CLIENTS: u32 = 4;
/// Seconds of the window in which the row is kept: longer than a session waits.
const KEPT: u32 = 2;
/// Longer than any step here, and shorter than the window of one that must end before.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn on(backend: &Backend) {
    let forms: &[TpccForm] = if backend.is_server() {
        &[TpccForm::Single, TpccForm::Batched, TpccForm::Procedures]
    } else {
        &[TpccForm::Single, TpccForm::Batched]
    };
    for form in forms {
        a_row_is_let_go(backend, *form);
    }
    a_row_is_kept_to_the_end(backend);
    a_row_is_kept_for_more_tries_than_there_may_be(backend);
}

fn spec_of(backend: &Backend) -> TpccSpec {
    TpccSpec {
        isolation: backend.is_server().then_some(Isolation::ReadCommitted),
        // Payments need the row, and the others do not lock each other out for good.
        mix: TpccMix::Weights([1, 9, 0, 0, 0]),
        ..spec(1, CLIENTS)
    }
}

/// The same database for terminals that wait for a second, or with SQLite some of one.
fn impatient(target: &Target) -> Target {
    let sql = match target.dialect {
        Dialect::Mysql => "SET SESSION innodb_lock_wait_timeout = 1",
        Dialect::Postgres => "SET lock_timeout = '1s'",
        Dialect::Sqlite => "PRAGMA busy_timeout = 200",
    };
    beginning_with(target, sql)
}

/// What a session is told that has waited for long enough.
const fn code(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Mysql => "1205",
        Dialect::Postgres => "55P03",
        Dialect::Sqlite => "SQLITE_BUSY",
    }
}

/// Keeps the row of the warehouse, with SQLite the whole file, for some seconds of the window.
struct Holder {
    session: Box<dyn Session>,
}

impl Holder {
    fn of(target: &Target) -> Self {
        let mut session = target.connector.connect().unwrap();
        let statements: &[&str] = match target.dialect {
            Dialect::Mysql | Dialect::Postgres => {
                &["BEGIN", "SELECT w_id FROM warehouse WHERE w_id = 1 FOR UPDATE"]
            }
            Dialect::Sqlite => &["BEGIN IMMEDIATE"],
        };
        for sql in statements {
            session.execute(sql).unwrap();
        }
        Self { session }
    }

    fn let_go(&mut self) {
        self.session.execute("ROLLBACK").unwrap();
    }
}

impl Observer for Holder {
    fn edge(&mut self, _: Edge) {}

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        if interval.index + 1 == KEPT {
            self.let_go();
        }
        ControlFlow::Continue(())
    }
}

/// Terminals are told that they waited in vain, count it, try again until they succeed, and everything holds.
fn a_row_is_let_go(backend: &Backend, form: TpccForm) {
    eprintln!("holds: a row that is let go, {form:?}");
    let spec = TpccSpec { form, seconds: 2 * KEPT, ..spec_of(backend) };
    let target = backend.database();
    let mut trial = Trial::loaded(&spec, &target);
    let mut holder = Holder::of(&target);
    let run = trial.watched(&impatient(&target), &mut holder);
    assert!(ops(&run, "payment") > 0);
    only_waits_failed(&run, target.dialect);
    trial.step(&target);
}

/// The step ends at its time all the same, and what did not happen is in no number.
fn a_row_is_kept_to_the_end(backend: &Backend) {
    eprintln!("holds: a row that is kept to the end");
    let spec = TpccSpec { seconds: KEPT, ..spec_of(backend) };
    let target = backend.database();
    let mut trial = Trial::loaded(&spec, &target);
    let mut holder = Holder::of(&target);
    let began = Instant::now();
    let run = trial.step(&impatient(&target));
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    assert_eq!(ops(&run, "payment"), 0);
    only_waits_failed(&run, target.dialect);
    holder.let_go();
    trial.step(&target);
}

/// The step fails with the terminal, the tries and the server's own words; what it leaves is sound.
fn a_row_is_kept_for_more_tries_than_there_may_be(backend: &Backend) {
    eprintln!("holds: a row that is kept for too long");
    let mut spec = TpccSpec { seconds: 2 * PATIENCE.as_secs() as u32, ..spec_of(backend) };
    spec.errors.tries = 2;
    let target = backend.database();
    let mut trial = Trial::loaded(&spec, &target);
    let mut holder = Holder::of(&target);
    let began = Instant::now();
    let error = trial.attempt(&impatient(&target)).unwrap_err();
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    assert!(matches!(error, StepError::TooManyRetries { tries: 2, .. }), "{error}");
    let (said, code) = (error.to_string(), code(target.dialect));
    let why = format!(": given up after 2 tries; last error {code}: ");
    assert!(said.starts_with("terminal ") && said.contains(&why), "{said}");
    holder.let_go();
    trial.step(&target);
}

/// Waits were given up, and each was for a transaction that was tried again; nothing else was given up.
fn only_waits_failed(run: &StepRecord, dialect: Dialect) {
    let errors = &run.errors;
    let waits = errors.iter().filter(|error| error.code == code(dialect));
    assert!(waits.map(|error| error.count).sum::<u64>() > 0, "{errors:?}");
    assert!(errors.iter().all(|error| error.retried), "{errors:?}");
}

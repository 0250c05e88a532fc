//! Sessions that their server ends, and a server that is restarted.

use std::ops::ControlFlow;
use std::time::Instant;

use drivers::Session;
use load::{Observer, Target};
use model::{Dialect, Edge, Interval, Isolation, Nanos, NoteKind, StepRecord, TpccSpec};
use testkit::databases::Backend;

use crate::spec::spec;
use crate::trial::{Trial, ops};

/// Terminals.
const CLIENTS: u32 = 4;

/// What can happen to terminals of a server, who then connect again.
pub(crate) fn on(backend: &Backend) {
    sessions_are_cut(backend);
    the_server_is_restarted(backend);
}

fn spec_of(seconds: u32) -> TpccSpec {
    let mut spec = spec(1, CLIENTS);
    spec.isolation = Some(Isolation::ReadCommitted);
    spec.errors.reconnect_seconds = 60;
    spec.seconds = seconds;
    spec
}

/// Ends all sessions of the database but its own after the first second.
struct Killer {
    session: Box<dyn Session>,
    dialect: Dialect,
    killed: u32,
}

impl Killer {
    fn of(target: &Target) -> Self {
        Self { session: target.connector.connect().unwrap(), dialect: target.dialect, killed: 0 }
    }

    fn kill(&mut self) {
        let others = match self.dialect {
            Dialect::Mysql => {
                "SELECT id FROM information_schema.processlist \
                 WHERE db = DATABASE() AND id <> CONNECTION_ID()"
            }
            Dialect::Postgres => {
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() \
                 AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            }
            Dialect::Sqlite => unreachable!("it has no server"),
        };
        let mut ids: Vec<i64> = Vec::new();
        self.session.query(others, &mut |row| ids.extend(row.value(0).as_int())).unwrap();
        for id in ids {
            let sql = match self.dialect {
                Dialect::Mysql | Dialect::Sqlite => format!("KILL {id}"),
                Dialect::Postgres => format!("SELECT pg_terminate_backend({id})"),
            };
            self.session.execute(&sql).unwrap();
            self.killed += 1;
        }
    }
}

impl Observer for Killer {
    fn edge(&mut self, _: Edge) {}

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        if interval.index == 0 {
            self.kill();
        }
        ControlFlow::Continue(())
    }
}

/// Each terminal loses its session once, in the middle of whatever it does, and everything holds.
fn sessions_are_cut(backend: &Backend) {
    eprintln!("holds: sessions are cut");
    let target = backend.database();
    let mut trial = Trial::loaded(&spec_of(3), &target);
    let mut killer = Killer::of(&target);
    let run = trial.watched(&target, &mut killer);
    assert_eq!(killer.killed, CLIENTS);
    let told = lost(&run);
    assert!(told.starts_with("4; the longest was away for "), "{told}");
    trial.step(&target);
}

/// Restarts the server after the first second, and counts what is done when it is there again.
struct Restarter<'a> {
    backend: &'a Backend,
    opened: Instant,
    /// When it was there again, since the opening.
    back: Nanos,
    done_after: u64,
}

impl Observer for Restarter<'_> {
    fn edge(&mut self, edge: Edge) {
        if edge == Edge::Open {
            self.opened = Instant::now();
        }
    }

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        if interval.index == 0 {
            self.backend.restart();
            self.back = Nanos::from(self.opened.elapsed());
        } else if interval.start >= self.back {
            self.done_after += interval.kinds.iter().map(|kind| kind.ops).sum::<u64>();
        }
        ControlFlow::Continue(())
    }
}

/// Terminals go on when it is there again, and everything holds.
fn the_server_is_restarted(backend: &Backend) {
    eprintln!("holds: the server is restarted");
    let target = backend.database();
    let mut trial = Trial::loaded(&spec_of(15), &target);
    let mut restarter =
        Restarter { backend, opened: Instant::now(), back: Nanos(0), done_after: 0 };
    let run = trial.watched(&target, &mut restarter);
    assert!(restarter.done_after > 0 && ops(&run, "new-order") > 0);
    lost(&run);
    trial.step(&target);
}

/// What is told of the connections that were lost. Transactions that failed with them are counted.
fn lost(run: &StepRecord) -> String {
    let failed = run.errors.iter().filter(|error| !error.retried);
    let failed: u64 = failed.map(|error| error.count).sum();
    assert!(failed >= u64::from(CLIENTS), "{failed} {:?}", run.errors);
    let note = run.notes.iter().find(|note| note.what == NoteKind::ConnectionsLost);
    note.unwrap().text.clone()
}

//! What clients do about errors, wrong answers and lost connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use drivers::{Done, SessionError};
use load::{StepError, Target};
use model::{Dialect, Draw, SqlOperation, SqlRun, SqlSpec};
use testkit::databases::{Database, target};

use crate::faulty::{Call, Faulty, Hook, Outcome, lost, server};
use crate::spec::{
    COPIES, ROWS, add_one, delete_key, draw, insert_key, int, key, only, operation, point, run,
    single, spec, step,
};
use crate::trial::{self, Trial, sum};

/// One step of these operations by two clients.
fn one_step(operations: Vec<SqlOperation>) -> SqlSpec {
    spec(vec![step("work", 2, run(operations))])
}

/// A database that is loaded, and the trial on it.
fn loaded(spec: &SqlSpec) -> (Database, Trial) {
    let database = Database::default();
    let trial = Trial::loaded(spec, &database);
    (database, trial)
}

/// The database behind a connector that fails as `hook` says.
fn faulty(database: &Database, hook: Hook) -> (Arc<Faulty>, Target) {
    let faulty = Arc::new(Faulty::new(Arc::clone(&database.connector), hook));
    let mut target = target(Arc::<Faulty>::clone(&faulty), Dialect::Sqlite);
    // What is checked beside the clients is none of theirs.
    target.patient = Arc::clone(&database.connector);
    (faulty, target)
}

/// Fails each `nth` statement that begins with `what`.
fn each_nth(nth: u64, what: &'static str, error: fn() -> SessionError) -> Hook {
    let mut count = 0;
    Box::new(move |call| match call {
        Call::Run(sql) if sql.starts_with(what) => {
            count += 1;
            if u64::is_multiple_of(count, nth) { Outcome::Fail(error()) } else { Outcome::Pass }
        }
        Call::Run(_) | Call::Connect | Call::Prepare(_) => Outcome::Pass,
    })
}

fn deadlock() -> SessionError {
    server("1213", "Deadlock found")
}

fn duplicate() -> SessionError {
    server("SQLITE_CONSTRAINT", "UNIQUE (extended code 1555)")
}

#[test]
fn a_transaction_that_deadlocks_is_repeated_with_the_same_values_after_a_rollback() {
    let spec = one_step(vec![operation("add", true, key(), vec![add_one(), point()])]);
    let (database, mut trial) = loaded(&spec);
    let (faulty, target) = faulty(&database, each_nth(5, "UPDATE", deadlock));
    let done = trial.step(&target);
    let retries = done.errors("1213", true);
    assert!(retries > 0);
    assert_eq!(done.errors("1213", false), 0);
    assert_eq!(done.result.kinds[0].sums.retries, retries);
    // Nothing was done twice, and nothing is missing.
    assert_eq!(sum(&database, "SUM(k)"), done.ops("add") as i64);
    let mut seen = 0;
    for session in 0..2 {
        let log = faulty.log_of(session);
        for (place, sql) in log.iter().enumerate() {
            if sql == "ROLLBACK" {
                seen += 1;
                assert_eq!(log[place + 1], "BEGIN IMMEDIATE");
                assert_eq!(log[place + 2], log[place - 1]);
            }
        }
    }
    assert_eq!(seen, retries);
}

#[test]
fn statements_without_a_transaction_are_repeated_one_by_one() {
    let pair = operation("pair", false, key(), vec![add_one(), point()]);
    let spec = one_step(vec![pair]);
    let (database, mut trial) = loaded(&spec);
    let (faulty, target) = faulty(&database, each_nth(3, "SELECT", deadlock));
    let done = trial.step(&target);
    assert!(done.errors("1213", true) > 0);
    // What had succeeded was not sent again, and there was nothing to roll back.
    assert_eq!(sum(&database, "SUM(k)"), done.ops("pair") as i64);
    assert!(!faulty.log().iter().any(|sql| sql == "ROLLBACK"));
}

#[test]
fn an_operation_that_never_succeeds_fails_the_step() {
    let mut spec = one_step(vec![single(add_one(), key())]);
    spec.errors.tries = 7;
    let (database, mut trial) = loaded(&spec);
    let (_, target) = faulty(&database, each_nth(1, "UPDATE", deadlock));
    let error = trial.attempt(&target).unwrap_err();
    assert!(matches!(error, StepError::TooManyRetries { tries: 7, .. }));
    let said = error.to_string();
    assert!(said.starts_with("client "), "{said}");
    assert!(said.contains("at `add`: given up after 7 tries; last error 1213"), "{said}");
}

#[test]
fn a_client_that_fails_ends_its_transaction_so_that_nobody_waits_for_its_locks() {
    let both = operation("both", true, key(), vec![add_one(), point()]);
    let mut spec = one_step(vec![both]);
    spec.errors.tries = 1;
    for error in [deadlock, || server("1146", "no table")] {
        let (database, mut trial) = loaded(&spec);
        let (faulty, target) = faulty(&database, each_nth(10, "SELECT c", error));
        let began = Instant::now();
        trial.attempt(&target).unwrap_err();
        // A session waits a minute for a lock.
        assert!(began.elapsed() < Duration::from_secs(30));
        assert!(faulty.log().iter().any(|sql| sql == "ROLLBACK"));
    }
}

#[test]
fn duplicate_keys_are_counted_and_the_rows_are_still_right() {
    // Half of the keys are there already, more and more of the others too.
    let any = vec![draw("id", 1, int(1, 2 * ROWS as i64))];
    let insert = operation("insert", true, any.clone(), vec![insert_key()]);
    let spec = one_step(vec![insert, single(delete_key(), any)]);
    let (database, mut trial) = loaded(&spec);
    let done = trial.step(&database.target());
    let ignored = done.errors("SQLITE_CONSTRAINT", false);
    assert!(ignored > 0 && done.ops("insert") > 0);
    assert_eq!(done.result.kinds[1].sums.errors, ignored);
    assert_eq!(done.result.kinds[0].sums.errors, ignored);
    assert_eq!(done.checked_rows(), COPIES as usize);
}

#[test]
fn what_was_rolled_back_is_not_accounted_for() {
    let insert = || vec![draw("id", 1, Draw::Next)];
    // The row is inserted, then the transaction fails for good.
    let both = operation("both", true, insert(), vec![insert_key(), point()]);
    let spec = one_step(vec![both]);
    let (database, mut trial) = loaded(&spec);
    let (_, target) = faulty(&database, each_nth(4, "SELECT c", duplicate));
    let done = trial.step(&target);
    assert!(done.errors("SQLITE_CONSTRAINT", false) > 0);
    let rows = i64::from(COPIES) * ROWS as i64 + done.ops("both") as i64;
    assert_eq!(sum(&database, "COUNT(*)"), rows);
}

#[test]
fn rows_that_the_server_only_said_it_inserted_are_missed() {
    let next = vec![draw("id", 1, Draw::Next)];
    let spec = one_step(vec![single(insert_key(), next)]);
    let (database, mut trial) = loaded(&spec);
    let mut inserts = 0;
    let hook: Hook = Box::new(move |call| match call {
        Call::Run(sql) if sql.starts_with("INSERT INTO sbtest1") => {
            inserts += 1;
            if inserts == 3 {
                Outcome::Lie(Done { affected: 1, ..Done::default() })
            } else {
                Outcome::Pass
            }
        }
        Call::Run(_) | Call::Connect | Call::Prepare(_) => Outcome::Pass,
    });
    let (_, target) = faulty(&database, hook);
    let done = trial.attempt(&target).unwrap();
    let failed: Vec<&str> = done.failed().iter().map(|check| check.what.as_str()).collect();
    assert_eq!(failed, ["rows in sbtest1"]);
}

#[test]
fn wrong_answers_are_counted_and_the_first_are_told() {
    let mut two = point();
    two.name = "pair".to_owned();
    let spec = one_step(vec![operation("o", false, only(17), vec![point(), two])]);
    let (database, mut trial) = loaded(&spec);
    let mut asked = 0;
    let hook: Hook = Box::new(move |call| match call {
        Call::Run(_) => {
            asked += 1;
            if asked % 10 == 0 { Outcome::Lie(Done::default()) } else { Outcome::Pass }
        }
        Call::Connect | Call::Prepare(_) => Outcome::Pass,
    });
    let (faulty, target) = faulty(&database, hook);
    let done = trial.attempt(&target).unwrap();
    let failed = done.failed();
    assert_eq!(failed[0].what, "answers that were wrong");
    assert_eq!(failed[0].expected, "0 (tables last found right after `load`)");
    assert_eq!(failed[0].actual, (faulty.log().len() / 10).to_string());
    let told = done.notes("wrong answer");
    assert_eq!(told.len(), 5);
    let table =
        |n| format!("returned 0 rows, expected 1 (`SELECT c FROM sbtest{n} WHERE id = 17`)");
    assert!(told.iter().all(|text| text.ends_with(&table(1)) || text.ends_with(&table(2))));
    assert!(told[0].starts_with("`point`") || told[0].starts_with("`pair`"));
}

#[test]
fn lists_are_compared_with_their_distinct_values() {
    let text = "SELECT id FROM {} WHERE id IN (:0)";
    let points = crate::spec::select("points", text, model::Expect::Distinct(0));
    // Twenty draws of nineteen are never all different.
    let ids = || vec![draw("ids", 20, int(1, 19))];
    let of = |rows: u64| {
        let spec = one_step(vec![single(points.clone(), ids())]);
        let (database, mut trial) = loaded(&spec);
        let (_, target) = faulty(
            &database,
            Box::new(move |call| match call {
                Call::Run(_) if rows > 0 => Outcome::Lie(Done { rows, affected: 0, columns: 1 }),
                Call::Run(_) | Call::Connect | Call::Prepare(_) => Outcome::Pass,
            }),
        );
        let done = trial.attempt(&target).unwrap();
        let wrong: u64 = done.result.checks[0].actual.parse().unwrap();
        (wrong, done.ops("points"))
    };
    assert_eq!(of(0).0, 0);
    // One of 64 is looked at.
    let (wrong, ops) = of(20);
    assert!(wrong >= ops / 64 && wrong <= ops / 64 + 2, "{wrong} of {ops}");
}

/// A server that is away for a while, once, some time after the first statement.
fn away(after: Duration, so_long: Duration) -> Hook {
    let mut began: Option<Instant> = None;
    Box::new(move |call| {
        let since = match call {
            Call::Run(_) => *began.get_or_insert_with(Instant::now),
            Call::Connect | Call::Prepare(_) => match began {
                Some(began) => began,
                None => return Outcome::Pass,
            },
        };
        let age = since.elapsed();
        if age < after || age >= after + so_long {
            return Outcome::Pass;
        }
        Outcome::Fail(match call {
            Call::Connect => {
                SessionError::Connect { address: "here".to_owned(), cause: "refused".to_owned() }
            }
            Call::Run(_) | Call::Prepare(_) => lost(),
        })
    })
}

/// A lost session stays lost, the others notice when they use theirs.
#[test]
fn a_restarted_server_leaves_a_gap_and_the_clients_go_on() {
    let mut spec = spec(vec![step(
        "point",
        2,
        SqlRun {
            seconds: 5,
            whole: false,
            ..run(vec![single(point(), key()), single(add_one(), key())])
        },
    )]);
    spec.errors.reconnect_seconds = 30;
    let (database, mut trial) = loaded(&spec);
    let hook = away(Duration::from_millis(300), Duration::from_millis(1_800));
    let (faulty, target) = faulty(&database, hook);
    let done = trial.step(&target);
    let ops: Vec<u64> = done.seconds.iter().map(|kinds| kinds[0]).collect();
    assert_eq!(ops.len(), 5);
    assert!(ops[0] > 0 && ops[1] == 0 && ops[4] > 0, "{ops:?}");
    assert_eq!(done.result.kinds[0].sums.errors, 2);
    assert_eq!(done.errors("lost", false), 2);
    assert_eq!(faulty.sessions(), 4);
    let notes = done.notes("connections lost");
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("2; the longest was away for "), "{notes:?}");
    // The time away is in no operation.
    let longest = done.result.kinds[0].sums.service.max();
    assert!(longest < model::Nanos::SECOND, "{longest}");
}

#[test]
fn rows_are_not_checked_when_an_answer_was_lost() {
    let next = vec![draw("id", 1, Draw::Next)];
    let mut spec = one_step(vec![single(insert_key(), next)]);
    spec.errors.reconnect_seconds = 5;
    let (database, mut trial) = loaded(&spec);
    let (_, target) = faulty(&database, each_nth(50, "INSERT", lost));
    let done = trial.step(&target);
    assert!(done.errors("lost", false) > 0);
    assert_eq!(done.checked_rows(), 0);
    assert_eq!(done.notes("rows not counted").len(), 1);
}

#[test]
fn a_server_that_lets_clients_in_and_cuts_them_off_again_is_not_stormed() {
    let mut spec = one_step(vec![single(point(), key())]);
    spec.errors.reconnect_seconds = 30;
    let (database, mut trial) = loaded(&spec);
    let mut began: Option<Instant> = None;
    let hook: Hook = Box::new(move |call| match call {
        Call::Connect => Outcome::Pass,
        Call::Prepare(_) if began.is_none() => Outcome::Pass,
        Call::Prepare(_) | Call::Run(_) => {
            let since = began.get_or_insert_with(Instant::now);
            if since.elapsed() < Duration::from_millis(400) {
                Outcome::Fail(lost())
            } else {
                Outcome::Pass
            }
        }
    });
    let (faulty, target) = faulty(&database, hook);
    let done = trial.step(&target);
    assert_eq!(done.errors("lost", false), 2);
    // Two to begin with, then one in a tenth of a second for each client.
    assert!((4..20).contains(&faulty.sessions()), "{}", faulty.sessions());
}

#[test]
fn a_connection_that_is_lost_while_the_load_is_read_back_is_opened_again() {
    let mut spec = spec(Vec::new());
    let read_back = |spec: &SqlSpec| {
        let database = Database::default();
        let mut reads = 0;
        let hook: Hook = Box::new(move |call| match call {
            Call::Run(sql) if sql.starts_with("SELECT id,k,c") => {
                reads += 1;
                if reads == 1 { Outcome::Fail(lost()) } else { Outcome::Pass }
            }
            Call::Run(_) | Call::Connect | Call::Prepare(_) => Outcome::Pass,
        });
        let (faulty, mut target) = faulty(&database, hook);
        target.patient = Arc::<Faulty>::clone(&faulty);
        let attempt = Trial::new(spec, trial::SEED).attempt(&target);
        (attempt, faulty.sessions())
    };
    let (attempt, _) = read_back(&spec);
    let said = attempt.unwrap_err().to_string();
    assert!(said.contains("connection lost"), "{said}");
    spec.errors.reconnect_seconds = 5;
    let (attempt, sessions) = read_back(&spec);
    let done = attempt.unwrap();
    assert!(done.failed().is_empty(), "{:?}", done.failed());
    // One makes the tables, two load, one counts, two read back and one of them again.
    assert_eq!(sessions, 7);
}

#[test]
fn a_step_in_which_nothing_ends_is_no_result() {
    let step_of = |measured| {
        let run = SqlRun { measured, ..run(vec![single(insert_key(), only(1))]) };
        spec(vec![step("work", 2, run)])
    };
    let spec = step_of(true);
    let (database, mut trial) = loaded(&spec);
    let done = trial.attempt(&database.target()).unwrap();
    let failed = done.failed();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].what, "`insert` that ended within the window");
    let errors = done.errors("SQLITE_CONSTRAINT", false);
    let told = format!("none; {errors} failed, 0 late");
    assert!(errors > 0 && failed[0].actual == told, "{failed:?}");
    // What only warms caches has no rate.
    let spec = step_of(false);
    let (database, mut trial) = loaded(&spec);
    trial.step(&database.target());
}

#[test]
fn a_lost_connection_fails_the_step_where_nobody_reconnects() {
    let spec = one_step(vec![operation("both", true, key(), vec![point(), add_one()])]);
    let (database, mut trial) = loaded(&spec);
    let (_, target) = faulty(&database, each_nth(20, "UPDATE", lost));
    let said = trial.attempt(&target).unwrap_err().to_string();
    assert!(said.ends_with(", at `add` of `both`: connection lost: the test cut it"), "{said}");
}

#[test]
fn a_server_that_stays_away_fails_the_step_after_the_limit() {
    let mut spec = one_step(vec![single(point(), key())]);
    spec.errors.reconnect_seconds = 1;
    let (database, mut trial) = loaded(&spec);
    let hook = away(Duration::from_millis(50), Duration::from_mins(1));
    let (_, target) = faulty(&database, hook);
    let said = trial.attempt(&target).unwrap_err().to_string();
    assert!(said.contains(", connecting again: cannot connect to here: refused"), "{said}");
}

#[test]
fn any_other_error_names_client_code_and_statement() {
    let spec = one_step(vec![single(point(), key())]);
    let (database, mut trial) = loaded(&spec);
    let (_, target) = faulty(&database, each_nth(30, "SELECT", || server("1146", "no table")));
    let said = trial.attempt(&target).unwrap_err().to_string();
    assert!(said.starts_with("client "), "{said}");
    assert!(said.contains(", at `point`: error 1146: no table"), "{said}");
}

#[test]
fn a_malformed_reply_fails_the_step_though_clients_reconnect() {
    let mut spec = one_step(vec![single(point(), key())]);
    spec.errors.reconnect_seconds = 30;
    let (database, mut trial) = loaded(&spec);
    let malformed = || SessionError::Protocol { what: "a row is cut".to_owned() };
    let (faulty, target) = faulty(&database, each_nth(30, "SELECT", malformed));
    let said = trial.attempt(&target).unwrap_err().to_string();
    assert!(
        said.starts_with("client ") && said.ends_with(", at `point`: protocol error: a row is cut"),
        "{said}"
    );
    assert_eq!(faulty.sessions(), 2, "nobody connected again");
}

#[test]
fn what_the_server_cannot_prepare_is_sent_as_text() {
    let spec = one_step(vec![operation("o", true, key(), vec![point(), add_one()])]);
    let (database, mut trial) = loaded(&spec);
    let hook: Hook = Box::new(|call| match call {
        Call::Prepare(sql) if sql.starts_with("SELECT") || sql.starts_with("BEGIN") => {
            Outcome::Fail(server("1295", "not in the prepared protocol"))
        }
        Call::Prepare(_) | Call::Connect | Call::Run(_) => Outcome::Pass,
    });
    let (faulty, target) = faulty(&database, hook);
    let done = trial.step(&target);
    assert_eq!(done.ops("point"), done.ops("o"));
    let notes = done.notes("sent as text");
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("`point`: error 1295"), "{notes:?}");
    assert!(faulty.log().iter().any(|sql| sql.starts_with("SELECT c FROM sbtest1 WHERE id = ")));
}

#[test]
fn a_statement_that_is_refused_is_named_before_anything_runs() {
    let mut broken = point();
    broken.name = "broken".to_owned();
    broken.text = crate::spec::select("", "SELECT nothing FROM {}", model::Expect::Any).text;
    let spec = one_step(vec![operation("o", false, key(), vec![point(), broken])]);
    let (database, mut trial) = loaded(&spec);
    let said = trial.attempt(&database.target()).unwrap_err().to_string();
    assert!(said.starts_with("client 1, preparing `broken`: error SQLITE_ERROR"), "{said}");
}

#[test]
fn sixty_four_clients_on_one_row_all_get_their_turn() {
    let mut add = operation("add", true, only(1), vec![add_one()]);
    add.blocks[0].choice = model::TableChoice::ByClient;
    let mut spec = spec(vec![step("storm", 64, run(vec![add]))]);
    spec.tables[0].copies = 1;
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    let done = trial.step(&database.target());
    let added = database.number("SELECT SUM(k) FROM sbtest1");
    assert_eq!(added as u64, done.ops("add"));
    assert!(added >= 64);
}

#[test]
fn a_storm_of_deadlocks_ends_with_every_operation_done_once() {
    let mut spec =
        spec(vec![step("storm", 64, run(vec![operation("add", true, only(1), vec![add_one()])]))]);
    spec.errors.tries = 1_000;
    let (database, mut trial) = loaded(&spec);
    let deadlocks = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&deadlocks);
    let mut calls = 0;
    let hook: Hook = Box::new(move |call| match call {
        Call::Run(sql) if sql.starts_with("UPDATE") => {
            calls += 1;
            // Six of seven.
            if calls % 7 == 0 {
                Outcome::Pass
            } else {
                counted.fetch_add(1, Ordering::Relaxed);
                Outcome::Fail(deadlock())
            }
        }
        Call::Run(_) | Call::Connect | Call::Prepare(_) => Outcome::Pass,
    });
    let (_, target) = faulty(&database, hook);
    let done = trial.step(&target);
    assert_eq!(done.errors("1213", true), deadlocks.load(Ordering::Relaxed));
    assert_eq!(sum(&database, "SUM(k)"), done.ops("add") as i64);
}

#[test]
fn a_step_that_is_stopped_ends() {
    let spec = one_step(vec![single(point(), key())]);
    let (database, _) = loaded(&spec);
    let mut workload = workloads::workload(&model::WorkloadSpec::Sql(spec), trial::SEED);
    let stop = load::Stop::default();
    stop.ask();
    let mut seen = trial::Seen::default();
    let result = workload.run(1, &database.target(), &stop, &mut seen);
    assert!(matches!(result, Err(StepError::Interrupted)));
}

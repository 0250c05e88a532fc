//! Steps whose clients are divided among processes.

use model::{Arrivals, Draw, Expect, SqlPace, SqlRun};
use testkit::databases::Database;

use crate::shares::with_hosts;
use crate::spec::{
    COPIES, ROWS, add_one, delete_key, draw, insert_key, key, point, run, select, single, spec,
    step,
};
use crate::trial::{Trial, sum};

#[test]
fn what_processes_did_is_known_as_if_one_had_done_it() {
    let new_key = || vec![draw("id", 1, Draw::Next)];
    let spec = spec(vec![
        step("point", 3, run(vec![single(point(), key())])),
        step("update", 3, run(vec![single(add_one(), key())])),
        step("insert", 3, run(vec![single(insert_key(), new_key())])),
        step("delete", 1, run(vec![single(delete_key(), key())])),
        step("insert", 2, run(vec![single(insert_key(), new_key())])),
    ]);
    let database = Database::default();
    let target = with_hosts(&database.target(), 2);
    let mut trial = Trial::loaded(&spec, &database);
    let (ops, touched) = trial.step(&target).sums("point");
    assert!(ops > 0 && touched == ops);
    let added = trial.step(&target).ops("add");
    assert_eq!(sum(&database, "SUM(k)"), added as i64);
    let inserted = trial.step(&target).ops("insert");
    let (_, deleted) = trial.step(&target).sums("delete");
    assert!(inserted > 0 && deleted > 0);
    let more = trial.step(&target);
    assert!(more.checked_rows() > 0, "rows are counted, and the count holds");
    let rows = u64::from(COPIES) * ROWS + inserted - deleted + more.ops("insert");
    assert_eq!(sum(&database, "COUNT(*)"), rows as i64);
}

#[test]
fn wrong_answers_of_any_process_are_told() {
    let wrong = select("wrong", "SELECT id FROM {} WHERE id = :0", Expect::Rows(7, 7));
    let spec = spec(vec![step("wrong", 2, run(vec![single(wrong, key())]))]);
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    let done = trial.attempt(&with_hosts(&database.target(), 2)).unwrap();
    let [check] = done.failed()[..] else { panic!("{:?}", done.result.checks) };
    assert_eq!(check.actual, done.ops("wrong").to_string());
    assert!(done.notes("wrong answer")[0].contains("returned 1 row, expected 7"));
}

#[test]
fn operations_that_arrive_are_divided_too() {
    let pace = SqlPace::Rate { per_second: 500, arrivals: Arrivals::Poisson, queue: 1_000 };
    let run = run(vec![single(point(), key())]);
    let paced = SqlRun { seconds: 1, whole: false, pace, ..run };
    let spec = spec(vec![step("point", 3, paced)]);
    let arrived = |hosts| {
        let database = Database::default();
        let mut trial = Trial::loaded(&spec, &database);
        let target = database.target();
        let target = if hosts == 0 { target } else { with_hosts(&target, hosts) };
        let open_loop = trial.step(&target).result.open_loop.unwrap();
        (open_loop.per_second, open_loop.arrived)
    };
    let whole = arrived(0);
    assert_eq!([arrived(2), arrived(3)], [whole; 2]);
}

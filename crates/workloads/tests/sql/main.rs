//! The workload of SQL statements against SQLite, without a lab around it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod damage;
mod errors;
mod faulty;
mod hosts;
mod limits;
mod pace;
mod phases;
#[path = "../common/shares.rs"]
mod shares;
mod spec;
mod trial;

use std::sync::Arc;

use model::{
    Counts, Draw, Expect, SqlRun, SqlStep, SqlWork, Statements, TableChoice, Verb, WorkloadSpec,
};
use testkit::databases::{Database, target};

use self::faulty::Faulty;
use self::spec::{
    COPIES, ROWS, add_one, change, delete_key, draw, errand, insert_key, int, key, operation,
    point, run, select, settle, single, spec, step,
};
use self::trial::{SEED, Trial, sum};

/// A range and its ends.
fn range(add: i64) -> Vec<model::SqlDraw> {
    vec![draw("id", 1, int(1, ROWS as i64 - add)), draw("end", 1, Draw::Plus { of: 0, add })]
}

/// Ten point selects and a range in a transaction.
fn read_only() -> model::SqlOperation {
    let mut read_only = operation("read-only", true, key(), vec![point()]);
    read_only.blocks[0].repeat = 10;
    let text = "SELECT SUM(id) FROM {} WHERE id BETWEEN :0 AND :1";
    let sum = select("sum", text, Expect::Rows(1, 1));
    let ranges = operation("", false, range(99), vec![sum]);
    read_only.blocks.extend(ranges.blocks);
    read_only
}

#[test]
fn every_step_does_what_its_name_says() {
    let mut scan = select("scan", "SELECT * FROM {} WHERE LENGTH(c) < 0", Expect::Rows(0, 0));
    scan.scans = true;
    scan.always_text = true;
    let points = select("points", "SELECT id FROM {} WHERE id IN (:0)", Expect::Distinct(0));
    let ids = vec![draw("ids", 10, int(1, ROWS as i64))];
    let text = "SELECT id, c FROM {} WHERE id BETWEEN :0 AND :1";
    let between = select("range", text, Expect::Rows(100, 100));
    let new_key = vec![draw("id", 1, Draw::Next)];
    let spec = spec(vec![
        errand("index", SqlWork::Index),
        settle(),
        step("point", 1, run(vec![single(point(), key())])),
        step("points", 1, run(vec![single(points, ids)])),
        step("range", 1, run(vec![single(between, range(99))])),
        step("read-only", 2, run(vec![read_only()])),
        step("scan", 1, run(vec![single(scan, Vec::new())])),
        step("update", 2, run(vec![single(add_one(), key())])),
        step("delete", 2, run(vec![single(delete_key(), key())])),
        step("insert", 2, run(vec![single(insert_key(), new_key)])),
        errand("reset", SqlWork::Reset),
        step("again", 1, run(vec![single(point(), key())])),
    ]);
    let database = Database::default();
    let target = database.target();
    let mut trial = Trial::new(&spec, SEED);
    let rows = u64::from(COPIES) * ROWS;
    assert_eq!(trial.step(&target).sums("insert").1, rows);
    assert_eq!(trial.step(&target).sums("create_index"), (u64::from(COPIES), rows));
    assert!(trial.step(&target).result.open_loop.is_none());
    let (ops, touched) = trial.step(&target).sums("point");
    assert!(ops > 0 && touched == ops);
    let (ops, touched) = trial.step(&target).sums("points");
    assert!(touched > 5 * ops && touched <= 10 * ops);
    let (ops, touched) = trial.step(&target).sums("range");
    assert_eq!(touched, 100 * ops);
    let read_only = trial.step(&target);
    let ops = read_only.ops("read-only");
    assert_eq!(read_only.sums("read-only").1, 11 * ops);
    let parts = ["begin", "point", "sum", "commit"].map(|kind| read_only.ops(kind));
    assert_eq!(parts, [ops, 10 * ops, ops, ops]);
    let (ops, touched) = trial.step(&target).sums("scan");
    assert_eq!(touched, ROWS * ops);
    let added = trial.step(&target).ops("add");
    assert_eq!(sum(&database, "SUM(k)"), added as i64);
    let (_, deleted) = trial.step(&target).sums("delete");
    assert!(deleted > 0);
    assert_eq!(sum(&database, "COUNT(*)"), (rows - deleted) as i64);
    let (ops, inserted) = trial.step(&target).sums("insert");
    assert_eq!(ops, inserted);
    assert_eq!(sum(&database, "COUNT(*)"), (rows - deleted + inserted) as i64);
    trial.step(&target);
    assert_eq!(sum(&database, "COUNT(*)"), rows as i64);
    assert_eq!(sum(&database, "SUM(k)"), 0);
    assert!(trial.step(&target).ops("point") > 0);
}

#[test]
fn operations_come_by_weight_and_are_counted_together() {
    let mut rare = single(add_one(), key());
    let mut often = read_only();
    (rare.weight, often.weight) = (10, 90);
    let spec = spec(vec![step("mix", 3, run(vec![rare, often]))]);
    let outline = &WorkloadSpec::Sql(spec.clone()).steps()[1];
    let kinds: Vec<&str> = outline.kinds.iter().map(|kind| kind.name.as_str()).collect();
    assert_eq!(kinds, ["operation", "add", "read-only", "begin", "point", "sum", "commit"]);
    assert_eq!((outline.subject.kind.as_str(), outline.clients), ("operation", 3));
    assert_eq!(outline.subject.counts, Counts::Operations);
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    let done = trial.step(&database.target());
    let (rare, often) = (done.ops("add"), done.ops("read-only"));
    assert_eq!(done.ops("operation"), rare + often);
    let share = rare as f64 / (rare + often) as f64;
    assert!((0.05..0.15).contains(&share), "{rare} of {}", rare + often);
    assert_eq!(done.ops("commit"), often);
    assert_eq!(sum(&database, "SUM(k)"), rare as i64);
}

/// What the clients of a step executed, each for itself.
fn executed(statements: Statements, seed: u64, always_text: bool) -> [Vec<String>; 2] {
    let values = vec![
        draw("id", 1, int(1, ROWS as i64)),
        draw("c", 1, Draw::Template("#@-'\\@".to_owned())),
        draw("ids", 3, int(1, 50)),
    ];
    let text = "UPDATE {} SET c = :1, k = 7 WHERE id = :0 OR id IN (:2)";
    let mut write = change(Verb::Update, "write", text, Expect::Any);
    write.always_text = always_text;
    let mut spec =
        spec(vec![step("mix", 2, run(vec![operation("o", true, values, vec![write, point()])]))]);
    spec.statements = statements;
    let database = Database::default();
    Trial::loaded(&spec, &database);
    let faulty = Arc::new(Faulty::recording(Arc::clone(&database.connector)));
    let mut trial = Trial::new(&spec, seed);
    trial.skip_loading();
    trial.step(&target(Arc::<Faulty>::clone(&faulty), model::Dialect::Sqlite));
    [0, 1].map(|session| {
        let log = faulty.log_of(session);
        log.iter().take(40).map(|sql| sql.replace("''", "'")).collect()
    })
}

/// As far as both came, they are the same: on a busy machine one client may keep another from the lock.
fn begin_alike(some: &[Vec<String>; 2], others: &[Vec<String>; 2]) {
    for (some, others) in some.iter().zip(others) {
        let both = some.len().min(others.len());
        assert!(both >= 3, "{some:?} {others:?}");
        assert_eq!(some[..both], others[..both]);
    }
}

#[test]
fn prepared_statements_and_texts_send_the_same_values() {
    let prepared = executed(Statements::Prepared, SEED, false);
    assert_eq!(prepared[0][0], "BEGIN IMMEDIATE");
    assert!(prepared[0][1].starts_with("UPDATE sbtest"));
    begin_alike(&executed(Statements::Text, SEED, false), &prepared);
    begin_alike(&executed(Statements::Prepared, SEED, true), &prepared);
    // Each client has values of its own, and each seed.
    assert_ne!(prepared[0][..3], prepared[1][..3]);
    let others = executed(Statements::Prepared, SEED + 1, false);
    assert_ne!(others[0][..3], prepared[0][..3]);
}

#[test]
fn a_client_may_keep_to_a_table_of_its_own() {
    let mut own = single(add_one(), key());
    own.blocks[0].choice = TableChoice::ByClient;
    let spec = spec(vec![step("own", 2, run(vec![own]))]);
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    let faulty = Arc::new(Faulty::recording(Arc::clone(&database.connector)));
    trial.step(&target(Arc::<Faulty>::clone(&faulty), model::Dialect::Sqlite));
    for (session, table) in [(0, "UPDATE sbtest1 "), (1, "UPDATE sbtest2 ")] {
        let log = faulty.log_of(session);
        assert!(!log.is_empty() && log.iter().all(|sql| sql.starts_with(table)));
    }
}

#[test]
fn what_is_changed_in_the_warm_up_is_accounted_for_and_not_recorded() {
    let new_key = || vec![draw("id", 1, Draw::Next)];
    let spec = spec(vec![step(
        "insert",
        2,
        SqlRun { warmup_seconds: 1, whole: false, ..run(vec![single(insert_key(), new_key())]) },
    )]);
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    // The check of the number of rows holds, or this fails.
    let done = trial.step(&database.target());
    assert_eq!(done.result.window, model::Nanos::SECOND);
    let inserted = sum(&database, "COUNT(*)") as u64 - u64::from(COPIES) * ROWS;
    let recorded = done.ops("insert") + done.late("insert");
    assert!(recorded < inserted && recorded > inserted / 10, "{recorded} {inserted}");
}

#[test]
fn rows_are_not_checked_after_a_statement_that_cannot_be_accounted_for() {
    let text = "INSERT OR REPLACE INTO {} (id, k, c) VALUES (:0, 1, '')";
    let other = change(Verb::Other, "replace", text, Expect::Rows(1, 1));
    let spec = spec(vec![
        step("replace", 1, run(vec![single(other, vec![draw("id", 1, int(1, 600))])])),
        step("delete", 1, run(vec![single(delete_key(), key())])),
        errand("reset", SqlWork::Reset),
        step("again", 1, run(vec![single(delete_key(), key())])),
    ]);
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    let target = database.target();
    let mut counted = || {
        let done = trial.step(&target);
        (done.checked_rows(), done.notes("rows not counted").len())
    };
    assert_eq!([counted(), counted()], [(0, 1), (0, 1)]);
    counted();
    assert_eq!(counted(), (COPIES as usize, 0));
}

#[test]
fn deletes_of_an_emptied_table_are_noted() {
    let empty = change(Verb::Delete, "empty", "DELETE FROM {}", Expect::Any);
    let every = vec![draw("id", 1, int(1, 1))];
    let spec = spec(vec![
        step("add", 1, run(vec![single(add_one(), key())])),
        step("empty", 1, run(vec![single(empty, every)])),
        step("delete", 1, run(vec![single(delete_key(), key())])),
    ]);
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    let target = database.target();
    let noted = |done: &trial::Done| done.notes("no rows found").join("; ");
    assert_eq!(noted(&trial.step(&target)), "");
    trial.step(&target);
    let done = trial.step(&target);
    assert_eq!(done.sums("delete").1, 0);
    let begins = format!("at most 0.0 % of {} `delete` changed a row", done.ops("delete"));
    assert!(noted(&done).starts_with(&begins), "{}", noted(&done));
}

#[test]
fn steps_that_add_or_remove_nothing_count_no_rows_except_the_last() {
    let spec = spec(vec![
        step("point", 1, run(vec![single(point(), key())])),
        step("update", 1, run(vec![single(add_one(), key())])),
    ]);
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    let mut counted = || trial.step(&database.target()).checked_rows();
    assert_eq!([counted(), counted()], [0, COPIES as usize]);
}

#[test]
fn a_trial_goes_on_where_another_one_loaded() {
    let spec = spec(vec![
        errand("index", SqlWork::Index),
        settle(),
        step("point", 1, run(vec![single(point(), key())])),
    ]);
    let database = Database::default();
    let target = database.target();
    let sql = || workloads::workload(&WorkloadSpec::Sql(spec.clone()), SEED);
    let mut loader = sql();
    let steps = WorkloadSpec::Sql(spec.clone()).steps();
    assert_eq!(steps.iter().filter(|step| step.loads).count(), 3);
    for index in 0..3 {
        let mut seen = trial::Seen::default();
        loader.run(index, &target, &load::Stop::default(), &mut seen).unwrap();
    }
    let state = loader.state(&target).unwrap();
    let mut rest = workloads::workload(&WorkloadSpec::Sql(spec.clone()), SEED + 1);
    rest.restore(&state).unwrap();
    let steps = WorkloadSpec::Sql(spec.clone()).steps_on_clone();
    let names: Vec<&str> = steps.iter().map(|step| step.id.0.as_str()).collect();
    assert_eq!(names, ["warm", "point"]);
    let mut trial = Trial::of(rest, steps);
    assert!(trial.step(&target).sums("scan").1 >= u64::from(COPIES) * ROWS);
    assert!(trial.step(&target).ops("point") > 0);
}

#[test]
fn a_pipelined_operation_is_recorded_as_one() {
    let spec = spec(vec![step("read-only", 2, run(vec![read_only()]))]);
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    let faulty = Arc::new(Faulty::recording(Arc::clone(&database.connector)));
    let mut target = target(Arc::<Faulty>::clone(&faulty), model::Dialect::Sqlite);
    target.connection.pipeline = true;
    let done = trial.step(&target);
    let ops = done.ops("read-only");
    assert_eq!(faulty.pipelined() as u64, ops);
    assert_eq!(done.sums("read-only").1, 11 * ops);
    assert_eq!(done.ops("point"), 0);
    assert!(done.notes("not pipelined").is_empty());
}

#[test]
fn what_cannot_be_pipelined_is_sent_one_by_one_and_noted() {
    let mut text = read_only();
    text.blocks[0].statements[0].always_text = true;
    let pair = operation("pair", false, key(), vec![add_one(), point()]);
    let steps: Vec<SqlStep> =
        vec![step("text", 1, run(vec![text])), step("pair", 1, run(vec![pair]))];
    let spec = spec(steps);
    let database = Database::default();
    let mut trial = Trial::loaded(&spec, &database);
    let mut target = database.target();
    target.connection.pipeline = true;
    let notes = |done: &trial::Done| done.notes("not pipelined").join("; ");
    let done = trial.step(&target);
    assert!(done.ops("point") > 0);
    assert_eq!(notes(&done), "`read-only` is sent statement by statement: `point` is not prepared");
    assert_eq!(
        notes(&trial.step(&target)),
        "`pair` is sent statement by statement: an error in the middle would leave a part of its changes"
    );
}

//! The Insert Benchmark without a lab around it: on SQLite, and on the MariaDB and PostgreSQL of this machine.
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of a test fail like the test, and say why it was skipped"
)]

#[path = "common/shares.rs"]
mod shares;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;

use load::{Observer, StepError, Stop, Target, Workload};
use model::{
    Dbms, Edge, InsertSpec, Interval, Nanos, Pacing, QueryKind, Settle, Statements, Step, StepId,
    StepRecord, Tables, WorkloadSpec,
};
use shares::with_hosts;
use testkit::databases::{Backend, Database};

const SEED: u64 = 20_261_121;
/// Rows that a client loads in `l.i0`, and those that `l.x` begins with.
const LOADED: u64 = 2_000 + 100;

/// The original's parameters, sizes for a test.
fn spec() -> InsertSpec {
    InsertSpec {
        rows: 2_000,
        i1_rows: 400,
        i2_rows: 100,
        rates: vec![100],
        query_seconds: 1,
        settle: Settle::Seconds(0),
        statement_timeout: 60,
        steps: ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100"].map(StepId::new).to_vec(),
        ..InsertSpec::usual()
    }
}

/// The steps without a rate: milliseconds.
fn load_only() -> InsertSpec {
    InsertSpec { steps: ["l.i0", "l.x", "l.i1", "l.i2"].map(StepId::new).to_vec(), ..spec() }
}

fn count(database: &Database, table: &str) -> u64 {
    database.number(&format!("SELECT COUNT(*) FROM {table}")) as u64
}

/// A sum over all rows without their keys: the same for the same rows in any order.
fn checksum(database: &Database, table: &str) -> u64 {
    let columns = "dateandtime, cashregisterid, customerid, productid, price, data";
    let mut sum = 0u64;
    let mut session = database.connector.connect().unwrap();
    session
        .query(&format!("SELECT {columns} FROM {table}"), &mut |row| {
            let mut hasher = DefaultHasher::new();
            for column in 0..row.len() {
                row.value(column).to_text().hash(&mut hasher);
            }
            sum = sum.wrapping_add(hasher.finish());
        })
        .unwrap();
    sum
}

/// Counts what it is told.
#[derive(Default)]
struct Seen {
    edges: Vec<Edge>,
    ops: Vec<u64>,
}

impl Observer for Seen {
    fn edge(&mut self, edge: Edge) {
        self.edges.push(edge);
    }

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        self.ops.resize(interval.kinds.len(), 0);
        for (sum, kind) in self.ops.iter_mut().zip(&interval.kinds) {
            *sum += kind.ops;
        }
        ControlFlow::Continue(())
    }
}

/// All steps of a workload, done.
struct Done {
    database: Database,
    steps: Vec<(Step, StepRecord)>,
}

impl Done {
    fn step(&self, name: &str) -> &StepRecord {
        let step = self.steps.iter().find(|(o, _)| o.id.0 == name).unwrap();
        &step.1
    }

    /// Operations and rows of a kind in a step.
    fn sums(&self, step: &str, kind: &str) -> (u64, u64) {
        let kinds = &self.step(step).kinds;
        let kind = kinds.iter().find(|k| k.spec.name == kind).unwrap();
        (kind.sums.ops, kind.sums.rows)
    }
}

/// Runs every step; each must see its two edges, store all of its operations and hold its checks.
fn done(spec: &InsertSpec, seed: u64) -> Done {
    done_on(spec, seed, Target::clone)
}

/// As [`done`], on what this makes of the database's target.
fn done_on(spec: &InsertSpec, seed: u64, target: impl Fn(&Target) -> Target) -> Done {
    let database = Database::default();
    let mut workload = workload(spec, seed);
    let steps = run(&mut *workload, steps(spec), &target(&database.target()));
    Done { database, steps }
}

fn workload(spec: &InsertSpec, seed: u64) -> Box<dyn Workload> {
    workloads::workload(&WorkloadSpec::Insert(spec.clone()), seed)
}

fn steps(spec: &InsertSpec) -> Vec<Step> {
    WorkloadSpec::Insert(spec.clone()).steps()
}

fn on_clone(spec: &InsertSpec) -> Vec<Step> {
    WorkloadSpec::Insert(spec.clone()).steps_on_clone()
}

fn loading(spec: &InsertSpec) -> Vec<Step> {
    steps(spec).into_iter().filter(|step| step.loads).collect()
}

fn run(workload: &mut dyn Workload, steps: Vec<Step>, target: &Target) -> Vec<(Step, StepRecord)> {
    let steps = steps.into_iter().map(|step| {
        let mut seen = Seen::default();
        let result = workload.run(step.ordinal as usize, target, &Stop::default(), &mut seen);
        let result = result.unwrap_or_else(|error| panic!("{}: {error}", step.id)).of_step(&step);
        assert_eq!(seen.edges, [Edge::Open, Edge::Close]);
        let totals = result.kinds.iter().map(|kind| kind.sums.ops);
        assert_eq!(seen.ops, totals.collect::<Vec<_>>(), "{}", step.id);
        for check in &result.checks {
            assert!(check.holds, "{}: {check:?}", step.id);
        }
        (step, result)
    });
    steps.collect()
}

fn error_of(spec: &InsertSpec) -> StepError {
    let database = Database::default();
    let mut workload = workload(spec, SEED);
    let mut seen = Seen::default();
    let result = workload.run(0, &database.target(), &Stop::default(), &mut seen);
    result.unwrap_err()
}

#[test]
fn every_step_does_what_its_name_says() {
    let done = done(&spec(), SEED);
    let names: Vec<&str> = done.steps.iter().map(|(o, _)| o.id.0.as_str()).collect();
    assert_eq!(names, ["l.i0", "l.x", "l.i1", "l.i2", "settle", "qr100", "qp100"]);
    assert_eq!(done.sums("l.i0", "insert"), (20, 2_000));
    assert_eq!(done.sums("l.x", "create_index"), (3, LOADED));
    assert_eq!(done.sums("l.i1", "insert"), (8, 400));
    assert_eq!(done.sums("l.i1", "delete"), (8, 400));
    assert_eq!(done.sums("l.i2", "insert"), (20, 100));
    assert_eq!(done.sums("l.i2", "delete"), (20, 100));
    for step in ["qr100", "qp100"] {
        let (queries, rows) = done.sums(step, "query");
        assert!(queries > 0 && rows <= queries * 10, "{step}");
    }
    // Every delete was of the oldest rows: what is left are the newest.
    let table = &done.database;
    assert_eq!(count(table, "pi1"), LOADED);
    assert_eq!(table.number("SELECT MIN(transactionid) FROM pi1"), 400 + 100 + 100 + 100 + 1);
    let indexes = "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'pi1'";
    assert_eq!(table.number(indexes), 3);
}

#[test]
fn a_query_returns_rows_that_are_there() {
    let spec = InsertSpec { deletes: false, ..spec() };
    let done = done(&spec, SEED);
    // Nothing is deleted, so each of ten keys is found; one that is asked for twice comes once.
    let (queries, rows) = done.sums("qp100", "query");
    assert!(rows > queries * 9, "{rows} rows of {queries} queries");
}

#[test]
fn the_same_seed_makes_the_same_table() {
    let content = |seed| checksum(&done(&load_only(), seed).database, "pi1");
    assert_eq!(content(SEED), content(SEED));
    assert_ne!(content(SEED), content(SEED + 1));
}

#[test]
fn writers_in_query_steps_are_part_of_the_same_table() {
    let content = || checksum(&done(&spec(), SEED).database, "pi1");
    assert_eq!(content(), content());
}

#[test]
fn prepared_statements_write_and_read_the_same() {
    let of = |statements| {
        let spec = InsertSpec { writes: statements, reads: statements, ..spec() };
        done(&spec, SEED)
    };
    let (text, prepared) = (of(Statements::Text), of(Statements::Prepared));
    assert_eq!(checksum(&text.database, "pi1"), checksum(&prepared.database, "pi1"));
    for step in ["qr100", "qp100"] {
        assert!(text.sums(step, "query").1 > 0 && prepared.sums(step, "query").1 > 0);
    }
}

#[test]
fn three_clients_with_tables_of_their_own() {
    let spec = InsertSpec { clients: 3, ..spec() };
    let done = done(&spec, SEED);
    let database = &done.database;
    let tables = ["pi1", "pi2", "pi3"];
    assert!(tables.iter().all(|table| count(database, table) == LOADED));
    let sums = tables.map(|table| checksum(database, table));
    assert!(sums[0] != sums[1] && sums[1] != sums[2] && sums[0] != sums[2]);
    assert_eq!(done.sums("l.i0", "insert").1, 3 * 2_000);
    assert_eq!(done.sums("l.i1", "delete").1, 3 * 400);
    assert_eq!(done.sums("qr100", "insert").1, 3 * 100);
    assert_eq!(done.step("qr100").target_rate, Some(300));
}

#[test]
fn three_clients_in_one_table() {
    let spec = InsertSpec { clients: 3, tables: Tables::Shared, deletes: false, ..spec() };
    let first = done(&spec, SEED);
    let database = &first.database;
    let tables = "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table' AND name LIKE 'pi%'";
    assert_eq!(database.number(tables), 1);
    // One client inserts the rows that `l.x` begins with, all insert those of the other steps.
    let rows = 3 * (2_000 + 400 + 100 + 100 + 100) + 100;
    assert_eq!(count(database, "pi1"), rows);
    // In which order they came is up to the machine, what came is not.
    let second = done(&spec, SEED);
    assert_eq!(checksum(database, "pi1"), checksum(&second.database, "pi1"));
}

#[test]
fn what_processes_did_is_known_as_if_one_had_done_it() {
    let own = InsertSpec { clients: 3, query_sessions: 2, htap_seconds: 1, ..spec() };
    let shared = InsertSpec { tables: Tables::Shared, deletes: false, ..own.clone() };
    for spec in [own, shared] {
        let whole = done(&spec, SEED);
        let divided = done_on(&spec, SEED, |target| with_hosts(target, 2));
        for table in ["pi1", "pi2", "pi3"].iter().take(if spec.deletes { 3 } else { 1 }) {
            let [rows, others] = [&whole, &divided].map(|done| checksum(&done.database, table));
            assert_eq!(rows, others, "{table}");
        }
        for ((step, record), (_, other)) in whole.steps.iter().zip(&divided.steps) {
            assert_eq!(record.requested_rows, other.requested_rows, "{}", step.id);
            // Which answers are sampled differs; which tables they are from does not.
            let checked = |record: &StepRecord| {
                let what = record.checks.iter().map(|check| check.what.split(" in ").next());
                what.map(|what| what.unwrap().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(checked(record), checked(other), "{}", step.id);
            for kind in ["insert", "delete", "create_index"] {
                let sums = |record: &StepRecord| {
                    let totals = record.kind(kind).map(|kind| kind.sums.clone());
                    totals.map(|sums| (sums.ops, sums.rows))
                };
                assert_eq!(sums(record), sums(other), "{}: {kind}", step.id);
            }
        }
        assert!(divided.sums("qp100", "long").0 >= 3 && divided.sums("qr100", "query").1 > 0);
    }
}

#[test]
fn damage_to_the_rows_of_any_process_is_found() {
    let spec = InsertSpec { clients: 2, ..spec() };
    let told = |statements: &[&str]| {
        told_on(&with_hosts(&Database::default().target(), 2), &spec, statements)
    };
    assert_eq!(told(&[]), []);
    let of_product = told(&["UPDATE pi2 SET productid = (productid + 1) % 10000"]);
    let few = told(&["DELETE FROM pi2 WHERE transactionid > 520"]);
    for (told, step, wanted) in [
        (&of_product, "qr100", "sampled answers from pi2: expected 0, found "),
        (&of_product, "qp100", "sampled answers from pi2: expected 0, found "),
        (&of_product, "qp100", "rows of pi2 in the order of their keys, as inserted: expected "),
        (&few, "qr100", "statements with a wrong answer: expected 0, found "),
        (&few, "qp100", "rows in pi2: expected "),
    ] {
        let is_told = told.iter().any(|(s, text)| s == step && text.contains(wanted));
        assert!(is_told, "{step} does not say `{wanted}`: {told:#?}");
    }
    assert!(of_product.iter().all(|(_, text)| text.contains("pi2")), "{of_product:#?}");
}

#[test]
fn partitions_are_refused_where_there_are_none() {
    let spec = InsertSpec { partitions: 4, ..spec() };
    let error = error_of(&spec);
    assert!(matches!(error, StepError::Unsupported(_)), "{error}");
    assert_eq!(
        error.to_string(),
        "this database has no partitioned tables: leave out `partitions` = 4"
    );
}

#[test]
fn a_rate_is_held_to_the_row() {
    let spec = InsertSpec {
        rates: vec![100, 1000],
        queries: vec![QueryKind::Range],
        query_seconds: 2,
        steps: ["l.i0", "l.x", "qr100", "qr1000"].map(StepId::new).to_vec(),
        ..spec()
    };
    let done = done(&spec, SEED);
    for (step, rate) in [("qr100", 100), ("qr1000", 1000)] {
        assert_eq!(done.sums(step, "insert").1, 2 * rate);
        assert_eq!(done.sums(step, "delete").1, 2 * rate);
        let result = done.step(step);
        assert_eq!(result.target_rate, Some(rate));
        assert_eq!(result.requested_rows, 2 * rate);
        // A window that ends before the last period would show a higher rate than was asked for.
        assert!(result.window >= Nanos::from_secs(2));
        let insert = &result.kinds[1];
        assert!(insert.spec.scheduled);
        let response = insert.sums.response.as_ref().unwrap();
        assert_eq!(response.count(), insert.sums.service.count());
    }
}

#[test]
fn the_original_writes_in_bursts_without_a_schedule() {
    let spec = InsertSpec {
        compat: true,
        pacing: Pacing::Burst,
        query_seconds: 3,
        queries: vec![QueryKind::Range],
        steps: ["l.i0", "l.x", "qr100"].map(StepId::new).to_vec(),
        ..spec()
    };
    let done = done(&spec, SEED);
    assert_eq!(done.sums("qr100", "insert"), (6, 300));
    let queries = done.step("qr100");
    // Three bursts, nearly a second between any two; the third ends the step.
    assert!(queries.window >= Nanos::from_millis(1_900));
    let insert = &queries.kinds[1];
    assert!(!insert.spec.scheduled && insert.sums.response.is_none());
}

#[test]
fn a_long_transaction_is_held_beside_the_steps() {
    let spec = InsertSpec { htap_seconds: 1, ..spec() };
    let done = done(&spec, SEED);
    for step in ["l.i1", "qr100", "qp100"] {
        assert!(done.sums(step, "long").0 > 0, "{step}");
    }
    // It ended with its step: a transaction that is still open would keep the log from being reset.
    assert_eq!(done.database.number("PRAGMA wal_checkpoint(TRUNCATE)"), 0);
    assert_eq!(count(&done.database, "pi1"), LOADED);
}

/// A database that the loading steps filled, and what is kept of them.
fn loaded(spec: &InsertSpec) -> (Database, String) {
    let database = Database::default();
    let mut loader = workload(spec, SEED);
    let target = database.target();
    run(&mut *loader, loading(spec), &target);
    (database, loader.state(&target).unwrap())
}

#[test]
fn a_trial_goes_on_where_another_one_loaded() {
    let spec = InsertSpec { clients: 2, ..spec() };
    let (database, state) = loaded(&spec);
    let mut rest = workload(&spec, SEED);
    rest.restore(&state).unwrap();
    let steps = run(&mut *rest, on_clone(&spec), &database.target());
    let names: Vec<&str> = steps.iter().map(|(o, _)| o.id.0.as_str()).collect();
    assert_eq!(names, ["warm", "qr100", "qp100"]);
    assert!(steps.iter().all(|(o, _)| o.measured == (o.id.0 != "warm")));
    // Each table by itself and by its three indexes, and the two ends of its keys.
    let warm = &steps[0].1;
    assert_eq!(warm.kinds[0].sums.ops, 2 * 6);
    assert_eq!(warm.kinds[0].sums.rows, 2 * (4 * LOADED + 2));
    assert_eq!(warm.checks.len(), 1 + 2 * 6);
    // With the same seed the rows are those of a trial that loaded for itself.
    let whole = done(&spec, SEED).database;
    for table in ["pi1", "pi2"] {
        assert_eq!(checksum(&database, table), checksum(&whole, table));
    }
}

#[test]
fn a_trial_with_another_seed_has_the_loaded_rows_and_others_of_its_own() {
    let (database, state) = loaded(&spec());
    let before = checksum(&database, "pi1");
    let mut rest = workload(&spec(), SEED + 1);
    rest.restore(&state).unwrap();
    run(&mut *rest, on_clone(&spec())[..1].to_vec(), &database.target());
    assert_eq!(checksum(&database, "pi1"), before, "the warm phase writes nothing");
    for index in 1..3 {
        let mut seen = Seen::default();
        rest.run(index, &database.target(), &Stop::default(), &mut seen).unwrap();
    }
    assert_ne!(checksum(&database, "pi1"), checksum(&done(&spec(), SEED).database, "pi1"));
}

#[test]
fn what_is_not_what_was_loaded_is_told_before_anything_is_measured() {
    let (database, state) = loaded(&spec());
    let mut session = database.connector.connect().unwrap();
    let lowest = "DELETE FROM pi1 WHERE transactionid = (SELECT MIN(transactionid) FROM pi1)";
    session.execute(lowest).unwrap();
    let mut rest = workload(&spec(), SEED);
    rest.restore(&state).unwrap();
    let mut seen = Seen::default();
    let warm = rest.run(0, &database.target(), &Stop::default(), &mut seen);
    let wrong: Vec<String> = warm
        .unwrap()
        .checks
        .iter()
        .filter(|check| !check.holds)
        .map(|c| format!("{}: expected {}, found {}", c.what, c.expected, c.actual))
        .collect();
    let expected = [
        "MIN(transactionid) of pi1: expected 501, found 502",
        "rows in pi1: expected 2100, found 2099",
        "rows in index 1 of pi1: expected 2100, found 2099",
        "rows in index 2 of pi1: expected 2100, found 2099",
        "rows in index 3 of pi1: expected 2100, found 2099",
    ];
    assert_eq!(wrong, expected);
}

#[test]
fn without_a_query_step_nothing_is_worth_keeping() {
    assert_eq!(loading(&load_only()).len(), 0);
    assert_eq!(loading(&spec()).len(), 5);
}

/// What somebody did to the rows before the query steps: in words, the statements, and what the steps then
/// say, by name.
type Damage = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

/// Rows 501 to 2600 are there, and the first 200 of them are deleted by the end.
const DAMAGES: [Damage; 8] = [
    (
        "five rows have changed places with five others",
        &[
            "UPDATE pi1 SET transactionid = -transactionid WHERE transactionid BETWEEN 1001 AND 1005",
            "UPDATE pi1 SET transactionid = transactionid - 1000 \
             WHERE transactionid BETWEEN 2001 AND 2005",
            "UPDATE pi1 SET transactionid = 1000 - transactionid WHERE transactionid < 0",
        ],
        &[(
            "qp100",
            "rows of pi1 in the order of their keys, as inserted: expected 2100 rows, found 10 of 2100 \
             differ; the first: transactionid 1001 has (2026-01-01 00:00:00, ",
        )],
    ),
    (
        "two neighbours have changed places",
        &[
            "UPDATE pi1 SET transactionid = -1 WHERE transactionid = 1501",
            "UPDATE pi1 SET transactionid = 1501 WHERE transactionid = 1502",
            "UPDATE pi1 SET transactionid = 1502 WHERE transactionid = -1",
        ],
        &[("qp100", "found 2 of 2100 differ; the first: transactionid 1501 has (")],
    ),
    (
        "a column of an index is one higher",
        &["UPDATE pi1 SET price = price + 1 WHERE transactionid = 1500"],
        &[("qp100", "found 1 of 2100 differ; the first: transactionid 1500 has (")],
    ),
    (
        "a row is replaced by another one with its key",
        &[
            "DELETE FROM pi1 WHERE transactionid = 1500",
            "INSERT INTO pi1 VALUES (1500, '2026-01-01 00:00:00', 1, 2, 3, 4, 'aaaaaaaaaa')",
        ],
        &[(
            "qp100",
            "transactionid 1500 has (2026-01-01 00:00:00, 1, 2, 3, 4, aaaaaaaaaa), expected row 1500 of \
             client 1 (2026-01-01 00:00:00, ",
        )],
    ),
    (
        "a row is gone, and a copy of another one is in the table",
        &[
            "INSERT INTO pi1 (dateandtime, cashregisterid, customerid, productid, price, data) \
             SELECT dateandtime, cashregisterid, customerid, productid, price, data FROM pi1 \
             WHERE transactionid = 1400",
            "DELETE FROM pi1 WHERE transactionid = 1500",
        ],
        &[("qp100", "differ; the first: transactionid 1501 has (")],
    ),
    (
        "all data is overwritten",
        &["UPDATE pi1 SET data = 'x'"],
        &[
            ("qp100", "sampled answers from pi1: expected 0, found 1; the first: transactionid "),
            ("qp100", "differ; the first: transactionid 701 has ("),
        ],
    ),
    (
        "all rows are of another product",
        &["UPDATE pi1 SET productid = (productid + 1) % 10000"],
        &[
            ("qr100", "sampled answers from pi1: expected 0, found "),
            ("qp100", "sampled answers from pi1: expected 0, found "),
        ],
    ),
    (
        "a date is another one",
        &["UPDATE pi1 SET dateandtime = '2026-01-01 00:00:01' WHERE transactionid = 1500"],
        &[("qp100", "transactionid 1500 has (2026-01-01 00:00:01, ")],
    ),
];

#[test]
fn damage_behind_the_workload_is_found() {
    for (name, statements, wanted) in DAMAGES {
        let told = told_of(&spec(), statements);
        for (step, wanted) in wanted {
            let is_told = told.iter().any(|(s, text)| s == step && text.contains(wanted));
            assert!(is_told, "{name}: {step} does not say `{wanted}`: {told:#?}");
        }
    }
}

#[test]
fn damage_in_a_table_of_several_clients_is_found() {
    let spec = InsertSpec { clients: 3, tables: Tables::Shared, deletes: false, ..spec() };
    assert!(told_of(&spec, &[]).is_empty());
    for (_, statements, _) in DAMAGES.iter().take(1) {
        let told = told_of(&spec, statements);
        let wanted = "rows of pi1 in the order of their keys, as inserted";
        assert!(told.iter().any(|(_, text)| text.starts_with(wanted)), "{told:#?}");
    }
}

#[test]
fn on_mariadb_rows_hold_and_swapped_ones_are_found() {
    on_a_server(Dbms::Mariadb);
}

#[test]
fn on_postgres_rows_hold_and_swapped_ones_are_found() {
    on_a_server(Dbms::Postgres);
}

/// The keys of a server have gaps: PostgreSQL gives each session a range of its own.
fn on_a_server(dbms: Dbms) {
    let Some(backend) = Backend::server(dbms) else {
        return;
    };
    let shared = InsertSpec { clients: 2, tables: Tables::Shared, deletes: false, ..spec() };
    let prepared =
        InsertSpec { writes: Statements::Prepared, reads: Statements::Prepared, ..spec() };
    for spec in [spec(), shared, prepared] {
        let target = backend.database();
        assert_eq!(told_on(&target, &spec, &[]), []);
    }
    let target = backend.database();
    let swap = [
        "UPDATE pi1 SET transactionid = -transactionid WHERE transactionid BETWEEN 1001 AND 1005",
        "UPDATE pi1 SET transactionid = transactionid - 800 \
         WHERE transactionid BETWEEN 1801 AND 1805",
        "UPDATE pi1 SET transactionid = 800 - transactionid WHERE transactionid < 0",
    ];
    let told = told_on(&target, &spec(), &swap);
    let is_found = |(step, text): &(String, String)| {
        step == "qp100" && text.contains("found 10 of 2100 differ; the first: transactionid 1001 ")
    };
    assert!(told.iter().any(is_found), "{told:#?}");
}

/// What the query steps say on SQLite.
fn told_of(spec: &InsertSpec, statements: &[&str]) -> Vec<(String, String)> {
    told_on(&Database::default().target(), spec, statements)
}

/// What the query steps say does not hold, with the name of the step, after somebody ran `statements`.
fn told_on(target: &Target, spec: &InsertSpec, statements: &[&str]) -> Vec<(String, String)> {
    let mut workload = workload(spec, SEED);
    run(&mut *workload, loading(spec), target);
    for statement in statements {
        target.connector.connect().unwrap().execute(statement).unwrap();
    }
    let mut told = Vec::new();
    for step in steps(spec).into_iter().filter(|step| !step.loads) {
        let result =
            workload.run(step.ordinal as usize, target, &Stop::default(), &mut Seen::default());
        let failed = result.unwrap().checks.into_iter().filter(|check| !check.holds);
        told.extend(failed.map(|c| {
            let text = format!("{}: expected {}, found {}", c.what, c.expected, c.actual);
            (step.id.0.clone(), text)
        }));
    }
    told
}

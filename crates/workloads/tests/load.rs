//! Loading of tables that a workload of SQL statements describes, against SQLite, without a lab around it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use drivers::{
    Connector, Done, Param, ParamType, Row, Session, SessionError, SessionInfo, StatementId,
};
use load::{Observer, StepError, Stop, Target, Workload};
use model::{
    Check, ColumnKind, Distribution, Draw, Edge, ErrorRules, Interval, LoadMethod, LoadSpec,
    Settle, SqlColumn, SqlIndex, SqlSpec, SqlStep, SqlTable, SqlWork, Statements, StepId,
    StepRecord, WorkloadSpec,
};
use testkit::databases::Database;

const SEED: u64 = 20_261_121;

fn column(name: &str, kind: ColumnKind, value: Draw) -> SqlColumn {
    SqlColumn { name: name.to_owned(), kind, auto: name == "id", value }
}

fn index(name: &str, columns: &[&str]) -> SqlIndex {
    SqlIndex {
        name: name.to_owned(),
        columns: columns.iter().map(|c| (*c).to_owned()).collect(),
        unique: false,
    }
}

/// The field's table, twice.
fn sbtest(rows: u64) -> SqlTable {
    let digits = |groups: usize| Draw::Template(vec!["###########"; groups].join("-"));
    let k = Draw::Int { low: 1, high: rows.max(1) as i64, by: Distribution::Uniform };
    SqlTable {
        name: "sbtest".to_owned(),
        numbered: true,
        copies: 2,
        rows,
        columns: vec![
            column("id", ColumnKind::Int, Draw::Row),
            column("k", ColumnKind::Int, k),
            column("c", ColumnKind::Char(120), digits(10)),
            column("pad", ColumnKind::Char(60), digits(5)),
        ],
        primary_key: vec!["id".to_owned()],
        indexes: vec![index("k", &["k"])],
    }
}

/// A table with a column of each kind and with text that means something in some format; no column has
/// the numbers of its rows.
fn kinds(rows: u64) -> SqlTable {
    let template = || Draw::Template("it's \\N, \"@#\"\t\n\r\\".to_owned());
    let cents = Draw::Decimal { low: -5_000, high: 5_000, scale: 2 };
    let times = Draw::Datetime { low: 0, high: 1_800_000_000 };
    SqlTable {
        name: "kinds".to_owned(),
        numbered: false,
        copies: 1,
        rows,
        columns: vec![
            column("a", ColumnKind::Bigint, Draw::Cycle(1 << 40)),
            column("v", ColumnKind::Varchar(40), template()),
            column("t", ColumnKind::Text, Draw::Text { min: 0, max: 300 }),
            column("d", ColumnKind::Decimal(10, 2), cents),
            column("at", ColumnKind::Datetime, times),
        ],
        primary_key: vec!["a".to_owned()],
        indexes: vec![index("kinds_at", &["at", "d"]), index("kinds_v", &["v"])],
    }
}

fn spec(tables: Vec<SqlTable>, works: Vec<SqlWork>) -> SqlSpec {
    let step = |(number, work): (usize, SqlWork)| {
        let name = format!("step{number}");
        SqlStep { id: StepId::new(&name), test: name, group: String::new(), clients: 1, work }
    };
    let steps = works.into_iter().enumerate().map(step);
    SqlSpec {
        load: LoadSpec { rows_per_commit: 100, ..LoadSpec::usual(1) },
        statements: Statements::Usual,
        errors: ErrorRules { reconnect_seconds: 5, ..ErrorRules::usual() },
        statement_timeout: 60,
        ..SqlSpec::usual("test", tables, steps.collect())
    }
}

/// Every row of the tables in the order of their first column.
fn content(database: &Database, spec: &SqlSpec) -> String {
    let mut session = database.connector.connect().unwrap();
    let mut text = String::new();
    for table in &spec.tables {
        for copy in 0..table.copies {
            let sql = format!("SELECT * FROM {} ORDER BY 1", table.name_of(copy));
            session
                .query(&sql, &mut |row| {
                    for column in 0..row.len() {
                        write!(text, "{:?} ", row.value(column).to_text()).unwrap();
                    }
                    text.push('\n');
                })
                .unwrap();
        }
    }
    text
}

fn indexes(database: &Database) -> Vec<String> {
    let mut names = Vec::new();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY 1";
    let mut session = database.connector.connect().unwrap();
    session.query(sql, &mut |row| names.extend(row.value(0).to_text())).unwrap();
    names
}

/// Does something to a database when a window closes, before anything is checked.
struct Meddler<'a> {
    database: &'a Database,
    sql: &'a str,
}

impl Observer for Meddler<'_> {
    fn edge(&mut self, edge: Edge) {
        if edge == Edge::Close && !self.sql.is_empty() {
            self.database.execute(self.sql);
        }
    }

    fn interval(&mut self, _: Interval) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn workload(spec: &SqlSpec) -> Box<dyn Workload> {
    workloads::workload(&WorkloadSpec::Sql(spec.clone()), SEED)
}

fn run(
    workload: &mut dyn Workload,
    index: usize,
    database: &Database,
    target: &Target,
    meddling: &str,
) -> Result<StepRecord, StepError> {
    let mut meddler = Meddler { database, sql: meddling };
    workload.run(index, target, &Stop::default(), &mut meddler)
}

/// Runs every step; all checks must hold.
fn done(spec: &SqlSpec) -> (Database, Vec<StepRecord>) {
    let database = Database::default();
    let mut workload = workload(spec);
    let target = database.target();
    let steps = (0..spec.steps.len()).map(|index| {
        let result = run(&mut *workload, index, &database, &target, "").unwrap();
        assert_eq!(wrong(&result.checks), [""; 0]);
        result
    });
    let steps = steps.collect();
    (database, steps)
}

fn wrong(checks: &[Check]) -> Vec<String> {
    let wrong = checks.iter().filter(|check| !check.holds);
    wrong.map(|c| format!("{}: expected {}, found {}", c.what, c.expected, c.actual)).collect()
}

/// Operations and rows of the kind with this place.
fn sums(result: &StepRecord, kind: usize) -> (u64, u64) {
    let sums = &result.kinds[kind].sums;
    (sums.ops, sums.rows)
}

#[test]
fn the_rows_are_the_same_whoever_loads_them_and_how() {
    let tables = vec![sbtest(1_000), kinds(333)];
    let base = spec(tables, vec![SqlWork::Load]);
    let content = |clients, method, rows_per_commit, indexes_first| {
        let spec = SqlSpec {
            load: LoadSpec { clients, method, rows_per_commit, indexes_first },
            ..base.clone()
        };
        let (database, steps) = done(&spec);
        assert_eq!(sums(&steps[0], 0).1, 2_333);
        assert_eq!(indexes(&database).len(), if indexes_first { 4 } else { 0 });
        content(&database, &spec)
    };
    let one = content(1, LoadMethod::Fastest, 100, false);
    assert_eq!(one.lines().count(), 2_333);
    for (clients, method, rows_per_commit, indexes_first) in [
        (2, LoadMethod::Fastest, 100, false),
        (7, LoadMethod::Fastest, 33, false),
        (1, LoadMethod::Insert, 100, false),
        (2, LoadMethod::Insert, 1_000_000, true),
        (7, LoadMethod::Insert, 1, false),
        (3, LoadMethod::Fastest, 1_000_000, true),
    ] {
        let other = content(clients, method, rows_per_commit, indexes_first);
        assert!(one == other, "{clients} clients, {method:?}, {rows_per_commit}");
    }
}

#[test]
fn tables_of_every_size_are_loaded_whole() {
    for rows in [0, 1, 2, 3, 4, 7] {
        for method in [LoadMethod::Fastest, LoadMethod::Insert] {
            let mut spec = spec(vec![sbtest(rows), kinds(rows)], vec![SqlWork::Load]);
            spec.load.method = method;
            spec.load.rows_per_commit = 3;
            spec.load.clients = 4;
            let (database, _) = done(&spec);
            let lines = content(&database, &spec).lines().count() as u64;
            assert_eq!(lines, 3 * rows);
        }
    }
}

#[test]
fn each_statement_is_an_operation() {
    let of = |method| {
        let mut spec = spec(vec![sbtest(2_000)], vec![SqlWork::Load]);
        spec.load.method = method;
        spec.load.rows_per_commit = 1_000;
        let (_, steps) = done(&spec);
        sums(&steps[0], 0)
    };
    assert_eq!(of(LoadMethod::Fastest), (40, 4_000));
    // A row is some 200 characters long: four chunks, each shorter than a statement may be.
    assert_eq!(of(LoadMethod::Insert), (4, 4_000));
}

#[test]
fn a_long_chunk_is_several_statements_of_one_transaction() {
    let mut spec = spec(vec![sbtest(6_000)], vec![SqlWork::Load]);
    spec.load.method = LoadMethod::Insert;
    spec.load.rows_per_commit = 6_000;
    let (_, steps) = done(&spec);
    assert_eq!(sums(&steps[0], 0), (6, 12_000));
}

#[test]
fn indexes_are_built_after_the_load() {
    let works = vec![SqlWork::Load, SqlWork::Index, SqlWork::Settle(Settle::Seconds(0))];
    let (database, steps) = done(&spec(vec![sbtest(500), kinds(50)], works));
    assert_eq!(indexes(&database), ["k_1", "k_2", "kinds_at_1", "kinds_v_1"]);
    // Four indexes; the rows of each copy count once.
    assert_eq!(sums(&steps[1], 0), (4, 1_050));
}

#[test]
fn one_changed_character_is_found() {
    let spec = spec(vec![sbtest(500), kinds(50)], vec![SqlWork::Load]);
    for (meddling, expected) in [
        ("UPDATE sbtest2 SET c = substr(c, 1, 118) || 'x' WHERE id = 77", "checksum of sbtest2"),
        ("UPDATE kinds SET v = v || ' ' WHERE a = 7", "checksum of kinds"),
        ("UPDATE kinds SET d = d + 0.01 WHERE a = 7", "checksum of kinds"),
        ("UPDATE sbtest1 SET k = k + 1 WHERE id = 1", "checksum of sbtest1"),
        (
            "UPDATE sbtest1 SET pad = (SELECT pad FROM sbtest2 WHERE id = 3) WHERE id = 3",
            "checksum of sbtest1",
        ),
    ] {
        let database = Database::default();
        let target = database.target();
        let result = run(&mut *workload(&spec), 0, &database, &target, meddling).unwrap();
        let wrong = wrong(&result.checks);
        assert_eq!(wrong.len(), 1, "{meddling}: {wrong:?}");
        assert!(wrong[0].starts_with(expected), "{wrong:?}");
    }
}

#[test]
fn rows_that_are_missing_or_too_many_are_found() {
    let spec = spec(vec![sbtest(500)], vec![SqlWork::Load]);
    let found = |meddling| {
        let database = Database::default();
        let target = database.target();
        let result = run(&mut *workload(&spec), 0, &database, &target, meddling).unwrap();
        wrong(&result.checks)
    };
    let missing = found("DELETE FROM sbtest1 WHERE id = 500");
    assert_eq!(missing[0], "rows in sbtest1: expected 500, found 499");
    assert!(
        missing[1].contains("found")
            && missing[1].contains("of 499 rows; the first that differs: sbtest1, id 1 to 500")
    );
    let more = found("INSERT INTO sbtest2 (k) VALUES (5)");
    assert_eq!(more[0], "rows in sbtest2: expected 500, found 501");
    assert_eq!(more.len(), 2, "the row is beyond the last number, and read all the same");
}

#[test]
fn a_table_that_exists_is_refused_at_once() {
    let database = Database::default();
    database.execute("CREATE TABLE sbtest2 (x INTEGER)");
    database.execute("INSERT INTO sbtest2 VALUES (1), (2), (3)");
    let spec = spec(vec![sbtest(10)], vec![SqlWork::Load]);
    let error = run(&mut *workload(&spec), 0, &database, &database.target(), "").unwrap_err();
    assert_eq!(
        error.to_string(),
        "table sbtest2 exists already and has 3 rows, and would be loaded; drop it \
         (DROP TABLE sbtest2) or give another database"
    );
    assert!(indexes(&database).is_empty(), "nothing was made");
}

#[test]
fn bulk_loads_are_refused_where_there_are_none() {
    let mut spec = spec(vec![sbtest(10)], vec![SqlWork::Load]);
    spec.load.method = LoadMethod::Bulk;
    let database = Database::default();
    let error = run(&mut *workload(&spec), 0, &database, &database.target(), "").unwrap_err();
    assert!(matches!(error, StepError::Unsupported(_)), "{error}");
}

#[test]
fn a_reset_makes_the_first_data_again() {
    for indexes_first in [false, true] {
        let mut works = vec![SqlWork::Load, SqlWork::Index, SqlWork::Reset];
        if indexes_first {
            works.remove(1);
        }
        let mut spec = spec(vec![sbtest(500), kinds(100)], works);
        spec.load.clients = 3;
        spec.load.indexes_first = indexes_first;
        let database = Database::default();
        let target = database.target();
        let mut workload = workload(&spec);
        let last = spec.steps.len() - 1;
        for index in 0..last {
            run(&mut *workload, index, &database, &target, "").unwrap();
        }
        let (rows, before) = (content(&database, &spec), indexes(&database));
        assert_eq!(before.len(), 4);
        database.execute("DELETE FROM sbtest1 WHERE id % 3 = 0");
        database.execute("INSERT INTO sbtest1 (k) VALUES (5)");
        database.execute("DROP TABLE sbtest2");
        database.execute("UPDATE kinds SET t = 'changed'");
        let reset = run(&mut *workload, last, &database, &target, "").unwrap();
        assert_eq!(wrong(&reset.checks), [""; 0]);
        assert!(!reset.checks.is_empty());
        assert!(rows == content(&database, &spec));
        assert_eq!(before, indexes(&database));
        assert_eq!(sums(&reset, 0).1, 1_100);
        assert_eq!(sums(&reset, 1).0, if indexes_first { 0 } else { 4 });
    }
}

/// Loads and keeps the state, for a trial with another seed.
fn restored(spec: &SqlSpec) -> (Database, Box<dyn Workload>) {
    let database = Database::default();
    let target = database.target();
    let mut loader = workload(spec);
    let steps = WorkloadSpec::Sql(spec.clone()).steps();
    for index in 0..steps.iter().filter(|step| step.loads).count() {
        run(&mut *loader, index, &database, &target, "").unwrap();
    }
    let state = loader.state(&target).unwrap();
    let mut rest = workloads::workload(&WorkloadSpec::Sql(spec.clone()), SEED + 1);
    rest.restore(&state).unwrap();
    (database, rest)
}

fn reset_after_load() -> SqlSpec {
    let works = vec![SqlWork::Load, SqlWork::Index, SqlWork::Reset];
    spec(vec![sbtest(500), kinds(100)], works)
}

#[test]
fn what_was_restored_is_read_and_compared() {
    let spec = reset_after_load();
    let (database, mut rest) = restored(&spec);
    let target = database.target();
    let before = content(&database, &spec);
    let scan = run(&mut *rest, 0, &database, &target, "").unwrap();
    assert_eq!(wrong(&scan.checks), [""; 0]);
    // Three copies and their four indexes.
    assert_eq!(sums(&scan, 0), (3 + 4, 1_100 + 2 * 500 + 2 * 100));
    // The rows of a reset are those that were loaded, though this trial has another seed.
    let reset = run(&mut *rest, 1, &database, &target, "").unwrap();
    assert_eq!(wrong(&reset.checks), [""; 0]);
    assert!(before == content(&database, &spec));
}

#[test]
fn what_is_not_what_was_loaded_is_told_after_a_restore() {
    let spec = reset_after_load();
    let (database, mut rest) = restored(&spec);
    database.execute("UPDATE sbtest2 SET c = '' WHERE id = 400");
    database.execute("DELETE FROM kinds WHERE a = 3");
    let scan = run(&mut *rest, 0, &database, &database.target(), "").unwrap();
    let what: Vec<&str> =
        scan.checks.iter().filter(|check| !check.holds).map(|check| check.what.as_str()).collect();
    assert_eq!(
        what,
        [
            "checksum of sbtest2",
            "checksum of kinds",
            "rows in index kinds_at_1 of kinds",
            "rows in index kinds_v_1 of kinds",
        ]
    );
}

/// When a connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// Before the statement came to the server.
    Before,
    /// After the server did it.
    After,
}

/// Opens sessions of which one loses its connection at a certain call.
struct Flaky {
    inner: Arc<dyn Connector>,
    calls: Arc<AtomicU64>,
    at: u64,
    loss: Loss,
    /// Done by somebody else when the connection is lost.
    then: &'static str,
}

struct FlakySession {
    /// `None` when the connection is lost.
    session: Option<Box<dyn Session>>,
    inner: Arc<dyn Connector>,
    calls: Arc<AtomicU64>,
    at: u64,
    loss: Loss,
    then: &'static str,
    info: SessionInfo,
}

impl Connector for Flaky {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        let session = self.inner.connect()?;
        Ok(Box::new(FlakySession {
            info: session.info().clone(),
            session: Some(session),
            inner: Arc::clone(&self.inner),
            calls: Arc::clone(&self.calls),
            at: self.at,
            loss: self.loss,
            then: self.then,
        }))
    }
}

impl FlakySession {
    fn call<T>(
        &mut self,
        act: impl FnOnce(&mut dyn Session) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        let lost = || SessionError::Lost { cause: "as the test wants".to_owned() };
        let session = self.session.as_mut().ok_or_else(lost)?;
        let breaks = self.calls.fetch_add(1, Ordering::Relaxed) == self.at;
        if !breaks {
            return act(&mut **session);
        }
        if self.loss == Loss::After {
            act(&mut **session)?;
        }
        self.session = None;
        if !self.then.is_empty() {
            self.inner.connect()?.execute(self.then)?;
        }
        Err(lost())
    }
}

impl Session for FlakySession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        self.call(|session| session.query(sql, each))
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId, SessionError> {
        self.call(|session| session.prepare(sql, types))
    }

    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        self.call(|session| session.execute_prepared(statement, params, each))
    }

    fn info(&self) -> &SessionInfo {
        &self.info
    }
}

/// Loads over connections of which one is lost at call `at`; how many calls there were.
fn load_with_loss(
    spec: &SqlSpec,
    at: u64,
    loss: Loss,
    then: &'static str,
) -> (Database, Result<StepRecord, StepError>, u64) {
    let database = Database::default();
    let calls = Arc::new(AtomicU64::new(0));
    let target = Target {
        connector: Arc::new(Flaky {
            inner: Arc::clone(&database.connector),
            calls: Arc::clone(&calls),
            at,
            loss,
            then,
        }),
        ..database.target()
    };
    let result = run(&mut *workload(spec), 0, &database, &target, "");
    let calls = calls.load(Ordering::Relaxed);
    (database, result, calls)
}

#[test]
fn a_load_goes_on_after_a_lost_connection() {
    for (method, clients) in
        [(LoadMethod::Fastest, 1), (LoadMethod::Insert, 1), (LoadMethod::Insert, 3)]
    {
        // By prepared statements of 100 rows a chunk takes three.
        let (rows, rows_per_commit) = match method {
            LoadMethod::Fastest => (450, 250),
            LoadMethod::Bulk | LoadMethod::Insert => (12, 5),
        };
        let mut spec = spec(vec![sbtest(rows)], vec![SqlWork::Load]);
        spec.load.rows_per_commit = rows_per_commit;
        spec.load.method = method;
        spec.load.clients = clients;
        let (expected, _) = done(&spec);
        let (_, _, calls) = load_with_loss(&spec, u64::MAX, Loss::Before, "");
        assert!(calls >= 6, "{calls}");
        for at in 0..calls {
            for loss in [Loss::Before, Loss::After] {
                let (database, result, _) = load_with_loss(&spec, at, loss, "");
                let result = result.unwrap();
                assert_eq!(wrong(&result.checks), [""; 0]);
                assert!(content(&expected, &spec) == content(&database, &spec));
                // What was rolled back is in no number, what was committed is in one.
                assert_eq!(sums(&result, 0).1, 2 * rows, "{method:?} {at} {loss:?}");
                assert_eq!(result.kinds[0].sums.retries, 1);
            }
        }
    }
}

#[test]
fn a_chunk_that_is_partly_there_is_an_error() {
    let mut spec = spec(vec![sbtest(12)], vec![SqlWork::Load]);
    spec.load.rows_per_commit = 5;
    spec.load.method = LoadMethod::Insert;
    let somebody = "INSERT INTO sbtest1 (id) VALUES (7)";
    let (_, result, _) = load_with_loss(&spec, 1, Loss::Before, somebody);
    assert_eq!(
        result.unwrap_err().to_string(),
        "sbtest1, id 6 to 10, one transaction: 1 of 5 exist after the connection was lost; \
         check that the engine has transactions and that nothing else writes"
    );
}

#[test]
fn without_numbers_a_lost_connection_ends_the_load() {
    let mut spec = spec(vec![kinds(12)], vec![SqlWork::Load]);
    spec.load.rows_per_commit = 5;
    spec.load.method = LoadMethod::Insert;
    let (_, result, _) = load_with_loss(&spec, 1, Loss::Before, "");
    let error = result.unwrap_err().to_string();
    assert!(error.contains("during the load of kinds, rows 6 to 10, and no column"), "{error}");
}

#[test]
fn without_patience_a_lost_connection_ends_the_load() {
    let mut spec = spec(vec![sbtest(12)], vec![SqlWork::Load]);
    spec.errors.reconnect_seconds = 0;
    let (_, result, _) = load_with_loss(&spec, 1, Loss::Before, "");
    assert!(matches!(result.unwrap_err(), StepError::Session { .. }));
}

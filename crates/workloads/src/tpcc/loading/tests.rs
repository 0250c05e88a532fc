mod reading;

use std::sync::{Arc, Mutex};

use drivers::{
    Connector, Done, Param, ParamType, Row, Session, SessionError, SessionInfo, StatementId,
};
use model::{LoadMethod, TpccIndexes};

use super::super::scale::tests::spec;
use super::*;
use crate::tpcc::transactions::tests::fixture::{Database, target};
use load::engine::Blind;

const SEED: u64 = 20_261_121;

fn load(spec: &TpccSpec, rows_seed: u64, target: &Target) -> Result<StepRecord, StepError> {
    Setting { spec, rows_seed, target, stop: &Stop::default() }.load(&mut Blind)
}

/// The checks of all rows.
fn read(spec: &TpccSpec, target: &Target) -> Result<Vec<Check>, StepError> {
    Setting { spec, rows_seed: SEED, target, stop: &Stop::default() }.checks()
}

/// Fails unless all rows are there as they must be.
fn assert_loaded(spec: &TpccSpec, target: &Target) {
    let checks = read(spec, target).unwrap();
    let failed: Vec<_> = checks.iter().filter(|check| !check.holds).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(checks.len(), 9 + 8, "a checksum and a count, but for history");
}

#[test]
fn every_method_loads_the_same_rows() {
    for (method, rows_per_commit, clients) in [
        (LoadMethod::Fastest, 100, 2),
        (LoadMethod::Fastest, 10_000, 1),
        (LoadMethod::Insert, 7, 3),
    ] {
        let mut spec = spec();
        spec.load.method = method;
        spec.load.rows_per_commit = rows_per_commit;
        spec.load.clients = clients;
        let database = Database::new();
        let result = load(&spec, SEED, &database.target()).unwrap();
        let rows = result.kinds[0].sums.rows;
        assert_eq!(rows, result.requested_rows);
        assert!(result.notes.iter().any(|note| note.text.starts_with("stock: 100 rows in ")));
        assert_loaded(&spec, &database.target());
    }
}

#[test]
fn a_method_that_there_is_not_is_refused() {
    let mut spec = spec();
    spec.load.method = LoadMethod::Bulk;
    let error = load(&spec, SEED, &Database::new().target()).unwrap_err();
    assert!(error.to_string().contains("`fastest` or `insert`"), "{error}");
}

#[test]
fn a_load_of_nothing_makes_nothing() {
    let database = Database::new();
    let mut spec = spec();
    spec.warehouses = 0;
    let error = load(&spec, SEED, &database.target()).unwrap_err();
    assert!(error.to_string().contains("0 warehouses"), "{error}");
    spec.warehouses = 1;
    load(&spec, SEED, &database.target()).unwrap();
}

#[test]
fn tables_that_exist_are_not_loaded_into() {
    let database = Database::new();
    let message = || load(&spec(), SEED, &database.target()).unwrap_err().to_string();
    database.execute("CREATE TABLE Orders (id INTEGER)");
    assert_eq!(
        message(),
        "the database has tables of a load that did not end, or of somebody else: drop its tables (DROP \
         TABLE orders) or give another database"
    );
    database.execute("DROP TABLE Orders");
    load(&spec(), SEED, &database.target()).unwrap();
    let message = message();
    assert!(
        message
            .starts_with("the database was loaded before: drop its tables (DROP TABLE tpcc_meta; ")
    );
    let drops = message.split(['(', ')']).nth(1).unwrap();
    drops.split("; ").for_each(|sql| database.execute(sql));
    load(&spec(), SEED, &database.target()).unwrap();
}

#[test]
fn another_database_is_refused() {
    let database = Database::new();
    let target = database.target();
    let refused = |spec: &TpccSpec, seed| {
        let mut session = target.connector.connect().unwrap();
        let refused = meta::refuse_other(&mut *session, spec, seed);
        refused.err().map(|error| error.to_string())
    };
    let message = refused(&spec(), SEED).unwrap();
    assert!(message.contains("the database has no complete load"), "{message}");
    load(&spec(), SEED, &target).unwrap();
    assert_eq!(refused(&spec(), SEED), None);
    let mut larger = spec();
    larger.warehouses = 3;
    let message = refused(&larger, SEED).unwrap();
    assert!(message.contains("it has warehouses 2; the plan has warehouses 3"), "{message}");
    assert!(refused(&spec(), 1).unwrap().contains("seed 20261121"));
    database.execute("DELETE FROM warehouse WHERE w_id = 2");
    let message = refused(&spec(), SEED).unwrap();
    assert!(message.contains("warehouse has 1 rows where 2 were loaded"), "{message}");
    database.execute("DELETE FROM tpcc_meta");
    assert!(refused(&spec(), SEED).is_some());
}

#[test]
fn a_changed_row_is_found() {
    for (sql, check) in [
        ("UPDATE stock SET s_quantity = s_quantity + 1 WHERE s_i_id = 50", "checksum of stock"),
        ("UPDATE orders SET o_carrier_id = 0 WHERE o_id = 30", "checksum of orders"),
        ("DELETE FROM history WHERE h_c_id = 1 AND h_c_d_id = 10", "checksum of history"),
        ("INSERT INTO new_order VALUES (3, 1, 1)", "rows in new_order"),
    ] {
        let database = Database::new();
        load(&spec(), SEED, &database.target()).unwrap();
        database.execute(sql);
        let checks = read(&spec(), &database.target());
        let failed = checks.unwrap().into_iter().filter(|check| !check.holds);
        let failed: Vec<String> = failed.map(|check| check.what).collect();
        assert_eq!(failed, [check]);
    }
}

#[test]
fn indexes_come_before_or_after_the_rows() {
    for indexes_first in [false, true] {
        let mut spec = spec();
        spec.load.indexes_first = indexes_first;
        spec.schema.indexes = TpccIndexes::Percona;
        spec.schema.history_key = true;
        let database = Database::new();
        let (target, stop) = (database.target(), Stop::default());
        load(&spec, SEED, &target).unwrap();
        let at = Setting { spec: &spec, rows_seed: SEED, target: &target, stop: &stop };
        let built = at.index(&mut Blind).unwrap();
        let sums = &built.kinds[0].sums;
        // Customers, orders, stock, lines.
        let rows = 600 + 600 + 100 + 6000;
        let expected = if indexes_first { (0, 0) } else { (4, rows) };
        assert_eq!((sums.ops, sums.rows), expected);
        at.settle(&mut Blind).unwrap();
        let warm = at.warm(&mut Blind).unwrap();
        assert!(warm.checks.iter().all(|check| check.holds), "{:?}", warm.checks);
        assert_eq!(warm.checks.len(), 9 + 8 + 4);
    }
}

/// What becomes of a COMMIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is done, and its answer lost.
    Done,
    /// The connection is lost before it arrives.
    Lost,
    /// It fails, and may succeed when the transaction is repeated.
    Busy,
}

/// Lets one COMMIT in three meet its fate.
struct Unreliable {
    inner: Arc<dyn Connector>,
    fate: Fate,
    commits: Arc<Mutex<u32>>,
}

impl Connector for Unreliable {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::new(UnreliableSession {
            inner: self.inner.connect()?,
            fate: self.fate,
            commits: Arc::clone(&self.commits),
        }))
    }
}

struct UnreliableSession {
    inner: Box<dyn Session>,
    fate: Fate,
    commits: Arc<Mutex<u32>>,
}

impl Session for UnreliableSession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        let is_hit = sql == "COMMIT" && {
            let mut commits = self.commits.lock().unwrap();
            *commits += 1;
            (*commits).is_multiple_of(3)
        };
        let lost = || SessionError::Lost { cause: "test".to_owned() };
        match self.fate {
            Fate::Done if is_hit => {
                self.inner.query(sql, each)?;
                Err(lost())
            }
            Fate::Lost if is_hit => Err(lost()),
            Fate::Busy if is_hit => Err(SessionError::Server {
                code: "SQLITE_BUSY".to_owned(),
                state: Box::default(),
                message: "database is locked".to_owned(),
                statement: sql.to_owned(),
            }),
            Fate::Done | Fate::Lost | Fate::Busy => self.inner.query(sql, each),
        }
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId, SessionError> {
        self.inner.prepare(sql, types)
    }

    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        self.inner.execute_prepared(statement, params, each)
    }

    fn info(&self) -> &SessionInfo {
        self.inner.info()
    }
}

#[test]
fn a_batch_is_loaded_once_whatever_becomes_of_its_commit() {
    for fate in [Fate::Done, Fate::Lost, Fate::Busy] {
        let database = Database::new();
        let unreliable: Arc<dyn Connector> = Arc::new(Unreliable {
            inner: Arc::clone(&database.connector),
            fate,
            commits: Arc::default(),
        });
        let mut spec = spec();
        spec.load.clients = 1;
        spec.errors.reconnect_seconds = 10;
        let result = load(&spec, SEED, &target(&unreliable)).unwrap();
        assert!(!result.errors.is_empty(), "{fate:?}");
        assert_eq!(result.kinds[0].sums.rows, result.requested_rows);
        assert_loaded(&spec, &database.target());
    }
}

#[test]
fn a_load_that_fails_is_not_taken_for_one_that_ended() {
    let database = Database::new();
    let unreliable: Arc<dyn Connector> = Arc::new(Unreliable {
        inner: Arc::clone(&database.connector),
        fate: Fate::Lost,
        commits: Arc::default(),
    });
    let error = load(&spec(), SEED, &target(&unreliable)).unwrap_err();
    assert!(matches!(error, StepError::Session { .. }), "{error}");
    let mut session = database.connector.connect().unwrap();
    assert!(meta::refuse_other(&mut *session, &spec(), SEED).is_err());
    let again = load(&spec(), SEED, &database.target()).unwrap_err();
    assert!(again.to_string().contains("a load that did not end"), "{again}");
}

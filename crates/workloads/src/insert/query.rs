//! The query sessions, and the long transaction that may be held beside them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use drivers::{Done, Param, ParamType, Row, Session, SessionError, StatementId};
use model::{Dialect, Nanos, Rng};

use super::rows::{PRICES, PRODUCTS, REGISTERS};
use super::samples::{Point, Range, Sampler, Samples, entry};
use super::sql::{self, ByName};
use data::statements::push_placeholder;
use load::worker::{Worker, Wrong, number};
use load::{Client, ClientContext, StepError};

/// Domains of the leading columns of `sql::INDEXES`, in their order.
const DOMAINS: [u64; 3] = [PRODUCTS, REGISTERS, PRICES];

/// Asks short ranges of the secondary indexes until the step is over.
pub(super) struct RangeQueries {
    worker: Worker,
    kind: usize,
    rng: Rng,
    limit: u64,
    table_rows: u64,
    wrong: Arc<Wrong>,
    statements: Vec<RangeStatement>,
    sql: String,
    sampler: Sampler<Range>,
    samples: Arc<Mutex<Samples>>,
}

enum RangeStatement {
    Text(String, String),
    Prepared(StatementId),
}

/// How queries reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    Text,
    /// Prepared by the protocol, with binary 64-bit parameters.
    Prepared,
    /// `PREPARE` and `execute` as texts, with 32-bit parameters.
    ByName,
}

/// What both kinds of query sessions need.
pub(super) struct QuerySetup<'a> {
    pub(super) dialect: Dialect,
    pub(super) table: &'a str,
    pub(super) kind: usize,
    pub(super) rng: Rng,
    pub(super) rows_per_query: u32,
    pub(super) reads: Reads,
    pub(super) wrong: Arc<Wrong>,
    /// Rows that the table has, about: inserts and deletes go in step.
    pub(super) table_rows: u64,
    pub(super) samples: (Arc<Mutex<Samples>>, u32),
}

/// A range that must hold this many times its limit cannot come back short by chance.
const SURELY: u64 = 10;

impl RangeQueries {
    /// A session that uses the first `indexes` secondary indexes.
    pub(super) fn new(
        mut worker: Worker,
        setup: QuerySetup<'_>,
        indexes: u32,
    ) -> Result<Self, StepError> {
        let QuerySetup {
            dialect,
            table,
            kind,
            rng,
            rows_per_query: limit,
            reads,
            wrong,
            table_rows,
            samples: (samples, sessions),
        } = setup;
        let mut statements = Vec::new();
        for index in 0..(indexes as usize).min(DOMAINS.len()) {
            let mut key = String::new();
            push_placeholder(&mut key, dialect, 1);
            statements.push(match reads {
                Reads::Prepared => {
                    let sql = sql::range_query(dialect, table, index, &key, limit);
                    RangeStatement::Prepared(prepare(&mut worker, &sql, &[ParamType::Int])?)
                }
                Reads::Text => {
                    let sql = sql::range_query(dialect, table, index, "\0", limit);
                    let (before, after) = sql.split_once('\0').unwrap_or((&sql, ""));
                    RangeStatement::Text(before.to_owned(), after.to_owned())
                }
                Reads::ByName => {
                    let named = ByName::range(table, index, limit);
                    worker.run(&named.prepare)?;
                    RangeStatement::Text(named.head, ")".to_owned())
                }
            });
        }
        Ok(Self {
            worker,
            kind,
            rng,
            limit: u64::from(limit),
            table_rows,
            wrong,
            statements,
            sql: String::new(),
            sampler: Sampler::new(sessions),
            samples,
        })
    }
}

impl Client for RangeQueries {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        while !context.is_over() {
            let index = self.rng.below(self.statements.len() as u64) as usize;
            let key = self.rng.below(DOMAINS[index]) as i64;
            let statement = &self.statements[index];
            if let RangeStatement::Text(before, after) = statement {
                self.sql.clear();
                self.sql.push_str(before);
                self.sql.push_str(itoa::Buffer::new().format(key));
                self.sql.push_str(after);
            }
            // The lowest value of the first column that may come back.
            let lowest = key + i64::from(sql::is_exclusive(index));
            let mut last = lowest;
            let mut ordered = true;
            let sql = &self.sql;
            let is_kept = self.sampler.is_due();
            let mut kept = Vec::new();
            let rows = self.worker.operate(context, self.kind, None, |session| {
                (last, ordered) = (lowest, true);
                kept.clear();
                let mut check = |row: &dyn Row| {
                    let value = row.value(0).as_int().unwrap_or(i64::MIN);
                    ordered &= value >= last;
                    last = value;
                };
                let mut keep = |row: &dyn Row| {
                    check(row);
                    kept.push(entry(row));
                };
                let done = if is_kept {
                    statement.send(session, sql, key, &mut keep)?
                } else {
                    statement.send(session, sql, key, &mut check)?
                };
                Ok(done.rows)
            })?;
            let Some(rows) = rows else { break };
            let full = self.is_surely_full(index, lowest);
            let counts = rows == self.limit || (rows < self.limit && !full);
            self.wrong.unless(ordered && counts);
            if is_kept {
                self.sampler.keep(Range { index, lowest, is_full: rows == self.limit, rows: kept });
            }
        }
        self.sampler.end(&self.samples);
        Ok(())
    }
}

impl RangeStatement {
    /// Sends the query with this key; `sql` is its text where it is not prepared.
    #[inline]
    fn send(
        &self,
        session: &mut dyn Session,
        sql: &str,
        key: i64,
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        match self {
            Self::Text(..) => session.query(sql, each),
            Self::Prepared(id) => session.execute_prepared(*id, &[Param::Int(key)], each),
        }
    }
}

impl RangeQueries {
    /// Must a range from `lowest` hold as many rows as its limit? Values are uniform, so with ten
    /// times as many expected, fewer than the limit do not happen by chance.
    fn is_surely_full(&self, index: usize, lowest: i64) -> bool {
        let domain = DOMAINS[index];
        let left = domain.saturating_sub(lowest.unsigned_abs());
        let expected = u128::from(self.table_rows) * u128::from(left) / u128::from(domain);
        expected >= u128::from(SURELY * self.limit)
    }
}

/// Asks for lists of keys between the lowest that is left and the highest, until the step is over.
pub(super) struct PointQueries {
    worker: Worker,
    kind: usize,
    max_kind: usize,
    rng: Rng,
    wrong: Arc<Wrong>,
    prepared: Option<StatementId>,
    head: String,
    max: String,
    max_refresh: u32,
    lo: Arc<AtomicU64>,
    keys: Vec<Param<'static>>,
    sorted: Vec<i64>,
    sql: String,
    sampler: Sampler<Vec<Point>>,
    samples: Arc<Mutex<Samples>>,
}

impl PointQueries {
    /// A session; `lo` is kept up to date by the deleter.
    pub(super) fn new(
        mut worker: Worker,
        setup: QuerySetup<'_>,
        max_kind: usize,
        max_refresh: u32,
        lo: Arc<AtomicU64>,
    ) -> Result<Self, StepError> {
        let QuerySetup {
            dialect,
            table,
            kind,
            rng,
            rows_per_query,
            reads,
            wrong,
            table_rows: _,
            samples: (samples, sessions),
        } = setup;
        let mut head = sql::point_head(table);
        let mut prepared = None;
        match reads {
            Reads::Text => {}
            Reads::Prepared => {
                let sql = sql::point_prepared(dialect, table, rows_per_query);
                let types = vec![ParamType::Int; rows_per_query as usize];
                prepared = Some(prepare(&mut worker, &sql, &types)?);
            }
            Reads::ByName => {
                let named = ByName::point(table, rows_per_query);
                worker.run(&named.prepare)?;
                head = named.head;
            }
        }
        Ok(Self {
            worker,
            kind,
            max_kind,
            rng,
            wrong,
            prepared,
            head,
            max: format!("SELECT MAX(transactionid) FROM {table}"),
            max_refresh: max_refresh.max(1),
            lo,
            keys: vec![Param::Int(0); rows_per_query as usize],
            sorted: Vec::with_capacity(rows_per_query as usize),
            sql: String::new(),
            sampler: Sampler::new(sessions),
            samples,
        })
    }

    fn choose_keys(&mut self, hi: u64) {
        let lo = self.lo.load(Ordering::Relaxed);
        let span = hi.saturating_sub(lo).max(1);
        self.sorted.clear();
        for key in &mut self.keys {
            let number = (lo + self.rng.below(span)) as i64;
            *key = Param::Int(number);
            self.sorted.push(number);
        }
        if self.prepared.is_none() {
            let mut digits = itoa::Buffer::new();
            self.sql.clear();
            self.sql.push_str(&self.head);
            for key in &self.sorted {
                self.sql.push_str(digits.format(*key));
                self.sql.push(',');
            }
            self.sql.pop();
            self.sql.push(')');
        }
        self.sorted.sort_unstable();
    }
}

impl Client for PointQueries {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let mut hi = 0;
        let mut asked = 0u32;
        while !context.is_over() {
            if asked.is_multiple_of(self.max_refresh) {
                let max = &self.max;
                let found = &mut hi;
                let looked = self.worker.operate(context, self.max_kind, None, |session| {
                    *found = number(session, max)?;
                    Ok(1)
                })?;
                if looked.is_none() {
                    break;
                }
            }
            asked = asked.wrapping_add(1);
            self.choose_keys(hi);
            let (keys, sql, prepared) = (&self.keys, &self.sql, self.prepared);
            let sorted = &self.sorted;
            let mut known = true;
            let is_kept = self.sampler.is_due();
            let mut kept = Vec::new();
            let rows = self.worker.operate(context, self.kind, None, |session| {
                known = true;
                kept.clear();
                let mut check = |row: &dyn Row| {
                    let id = row.value(0).as_int();
                    known &= id.is_some_and(|id| sorted.binary_search(&id).is_ok());
                };
                let mut keep = |row: &dyn Row| {
                    check(row);
                    kept.push(Point::of(row));
                };
                let each: &mut dyn FnMut(&dyn Row) = if is_kept { &mut keep } else { &mut check };
                let done = match prepared {
                    None => session.query(sql, each)?,
                    Some(id) => session.execute_prepared(id, keys, each)?,
                };
                Ok(done.rows)
            })?;
            let Some(rows) = rows else { break };
            self.wrong.unless(known && rows <= keys.len() as u64);
            if is_kept {
                self.sampler.keep(kept);
            }
        }
        self.sampler.end(&self.samples);
        Ok(())
    }
}

/// Holds a transaction open beside the step: begins, reads a row, waits, commits, again.
pub(super) struct LongTransaction {
    pub(super) worker: Worker,
    pub(super) kind: usize,
    pub(super) table: String,
    pub(super) seconds: u32,
}

impl Client for LongTransaction {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let read = format!("SELECT transactionid FROM {} LIMIT 1", self.table);
        while !context.is_over() {
            let until = context.recorder.clock().now() + Nanos::from_secs(u64::from(self.seconds));
            self.worker.run("BEGIN")?;
            self.worker.operate(context, self.kind, None, |s| Ok(s.execute(&read)?.rows))?;
            context.wait_until(until);
            self.worker.run("COMMIT")?;
        }
        Ok(())
    }
}

fn prepare(worker: &mut Worker, sql: &str, types: &[ParamType]) -> Result<StatementId, StepError> {
    let prepared: Result<StatementId, SessionError> = worker.session.prepare(sql, types);
    prepared.map_err(|source| StepError::Session { client: worker.name.clone(), source })
}

//! The query sessions, and the long transaction that may be held beside them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use drivers::{Param, ParamType, Row, StatementId};
use model::{Dialect, Nanos, Rng};

use super::rows::{PRICES, PRODUCTS, REGISTERS};
use super::samples::{Point, Range, Sampler, Samples, entry};
use super::sql;
use data::push_placeholder;
use load::worker::number;
use load::{Client, ClientContext, Result, Worker, Wrong, lock};

/// Domains of the leading columns of `sql::INDEXES`, in their order.
const DOMAINS: [u64; 3] = [PRODUCTS, REGISTERS, PRICES];

pub(super) struct QuerySession {
    pub(super) worker: Worker,
    pub(super) dialect: Dialect,
    pub(super) table: String,
    pub(super) kind: usize,
    pub(super) rng: Rng,
    /// Rows that a query asks for.
    pub(super) limit: u32,
    pub(super) reads: Reads,
    pub(super) wrong: Arc<Wrong>,
    /// Rows that the table has, about: inserts and deletes go in step.
    pub(super) table_rows: u64,
    /// Query sessions of the table.
    pub(super) of_table: u32,
    pub(super) samples: Arc<Mutex<Samples>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    Text,
    /// Prepared by the protocol, with binary 64-bit parameters.
    Prepared,
    /// `PREPARE` and `execute` as texts, with 32-bit parameters.
    ByName,
}

/// Asks short ranges of the secondary indexes until the step is over.
pub(super) struct RangeQueries {
    session: QuerySession,
    statements: Vec<RangeStatement>,
    sql: String,
    sampler: Sampler<Range>,
}

enum RangeStatement {
    Text(String, String),
    Prepared(StatementId),
}

/// A range that must hold this many times its limit cannot come back short by chance.
const SURELY: u64 = 10;

impl RangeQueries {
    /// A session that uses the first `indexes` secondary indexes.
    pub(super) fn new(mut session: QuerySession, indexes: u32) -> Result<Self> {
        let QuerySession { worker, dialect, table, limit, reads, .. } = &mut session;
        let mut statements = Vec::new();
        for index in 0..(indexes as usize).min(DOMAINS.len()) {
            let query = |key: &str| sql::range_query(*dialect, table, index, key, *limit);
            statements.push(match *reads {
                Reads::Prepared => {
                    let mut key = String::new();
                    push_placeholder(&mut key, *dialect, 1);
                    let id = worker.prepare(&query(&key), &[ParamType::Int])?;
                    RangeStatement::Prepared(id)
                }
                Reads::Text => {
                    let sql = query("\0");
                    let (before, after) = sql.split_once('\0').unwrap_or((&sql, ""));
                    RangeStatement::Text(before.to_owned(), after.to_owned())
                }
                Reads::ByName => {
                    let (prepare, head) = sql::range_by_name(table, index, *limit);
                    worker.run(&prepare)?;
                    RangeStatement::Text(head, ")".to_owned())
                }
            });
        }
        let sampler = Sampler::new(session.of_table);
        Ok(Self { session, statements, sql: String::new(), sampler })
    }

    /// Must a range from `lowest` hold as many rows as its limit? Values are uniform, so with ten
    /// times as many expected, fewer than the limit do not happen by chance.
    fn is_surely_full(&self, index: usize, lowest: i64) -> bool {
        let domain = DOMAINS[index];
        let left = domain.saturating_sub(lowest.unsigned_abs());
        let rows = u128::from(self.session.table_rows);
        let expected = rows * u128::from(left) / u128::from(domain);
        expected >= u128::from(SURELY * u64::from(self.session.limit))
    }
}

impl Client for RangeQueries {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        while !context.is_over() {
            let rng = &mut self.session.rng;
            let index = rng.below(self.statements.len() as u64) as usize;
            let key = rng.below(DOMAINS[index]) as i64;
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
            let rows =
                self.session.worker.operate(context, self.session.kind, None, |session| {
                    (last, ordered) = (lowest, true);
                    kept.clear();
                    let each = &mut |row: &dyn Row| {
                        let value = row.value(0).as_int().unwrap_or(i64::MIN);
                        ordered &= value >= last;
                        last = value;
                        if is_kept {
                            kept.push(entry(row));
                        }
                    };
                    let done = match statement {
                        RangeStatement::Text(..) => session.query(sql, each)?,
                        RangeStatement::Prepared(id) => {
                            session.execute_prepared(*id, &[Param::Int(key)], each)?
                        }
                    };
                    Ok(done.rows)
                })?;
            let Some(rows) = rows else { break };
            let full = self.is_surely_full(index, lowest);
            let limit = u64::from(self.session.limit);
            let counts = rows == limit || (rows < limit && !full);
            self.session.wrong.unless(ordered && counts);
            if is_kept {
                self.sampler.keep(Range { index, lowest, is_full: rows == limit, rows: kept });
            }
        }
        lock(&self.session.samples).ranges.append(&mut self.sampler.kept);
        Ok(())
    }
}

/// Asks for lists of keys between the lowest that is left and the highest, until the step is over.
pub(super) struct PointQueries {
    session: QuerySession,
    /// The kind of the queries for the highest key, and how many others come between two of them.
    max_kind: usize,
    max_refresh: u32,
    max: String,
    prepared: Option<StatementId>,
    head: String,
    lo: Arc<AtomicU64>,
    keys: Vec<Param<'static>>,
    sorted: Vec<i64>,
    sql: String,
    sampler: Sampler<Vec<Point>>,
}

impl PointQueries {
    /// A session; `lo` is kept up to date by the deleter.
    pub(super) fn new(
        mut session: QuerySession,
        (max_kind, max_refresh): (usize, u32),
        lo: Arc<AtomicU64>,
    ) -> Result<Self> {
        let QuerySession { worker, dialect, table, limit, reads, .. } = &mut session;
        let keys = *limit as usize;
        let mut head = format!("{}(", sql::point_head(table));
        let mut prepared = None;
        match *reads {
            Reads::Text => {}
            Reads::Prepared => {
                let sql = sql::point_prepared(*dialect, table, *limit);
                prepared = Some(worker.prepare(&sql, &vec![ParamType::Int; keys])?);
            }
            Reads::ByName => {
                let (prepare, by_name) = sql::point_by_name(table, *limit);
                worker.run(&prepare)?;
                head = by_name;
            }
        }
        Ok(Self {
            max_kind,
            max_refresh: max_refresh.max(1),
            max: format!("SELECT MAX(transactionid) FROM {table}"),
            prepared,
            head,
            lo,
            keys: vec![Param::Int(0); keys],
            sorted: Vec::with_capacity(keys),
            sql: String::new(),
            sampler: Sampler::new(session.of_table),
            session,
        })
    }

    fn choose_keys(&mut self, hi: u64) {
        let lo = self.lo.load(Ordering::Relaxed);
        let span = hi.saturating_sub(lo).max(1);
        self.sorted.clear();
        for key in &mut self.keys {
            let number = (lo + self.session.rng.below(span)) as i64;
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
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        let mut hi = 0;
        let mut asked = 0u32;
        while !context.is_over() {
            if asked.is_multiple_of(self.max_refresh) {
                let max = &self.max;
                let found = &mut hi;
                let looked =
                    self.session.worker.operate(context, self.max_kind, None, |session| {
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
            let rows =
                self.session.worker.operate(context, self.session.kind, None, |session| {
                    known = true;
                    kept.clear();
                    let each = &mut |row: &dyn Row| {
                        let id = row.value(0).as_int();
                        known &= id.is_some_and(|id| sorted.binary_search(&id).is_ok());
                        if is_kept {
                            kept.push(Point::of(row));
                        }
                    };
                    let done = match prepared {
                        None => session.query(sql, each)?,
                        Some(id) => session.execute_prepared(id, keys, each)?,
                    };
                    Ok(done.rows)
                })?;
            let Some(rows) = rows else { break };
            self.session.wrong.unless(known && rows <= keys.len() as u64);
            if is_kept {
                self.sampler.keep(kept);
            }
        }
        lock(&self.session.samples).points.append(&mut self.sampler.kept);
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
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
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

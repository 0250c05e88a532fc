//! The inserter and the deleter of a client, and what keeps them in step.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use drivers::{Param, Session, SessionError, StatementId};
use model::{Dialect, Nanos};

use super::rows::{Date, Rows};
use super::sql;
use load::worker::number;
use load::{Client, ClientContext, NAP, Result, Schedule, Worker, Wrong, lock};

/// Inserter and deleter may be `ahead` statements ahead of each other, no more.
#[derive(Debug)]
pub(super) struct Coupling {
    ahead: u64,
    /// Statements that each side has done.
    done: Mutex<[u64; 2]>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Insert,
    Delete,
}

impl Coupling {
    pub(super) fn new(ahead: u32) -> Self {
        Self { ahead: u64::from(ahead.max(1)), done: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits until `side` may do its next statement; false when the step is over before that.
    fn wait(&self, side: Side, context: &ClientContext<'_>) -> bool {
        let mut done = lock(&self.done);
        loop {
            let (mine, theirs) = (done[side as usize], done[1 - side as usize]);
            if mine < theirs + self.ahead {
                return true;
            }
            if context.is_over() {
                return false;
            }
            let _rest = context.rest();
            let waited = self.changed.wait_timeout(done, NAP);
            done = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn advance(&self, side: Side) {
        lock(&self.done)[side as usize] += 1;
        self.changed.notify_one();
    }
}

/// What a paced writer keeps to.
#[derive(Clone, Debug)]
pub(super) enum Pacer {
    /// Each statement at its own time.
    Even(Schedule),
    /// As the original: so many statements at the start of each second; lost time is not made up for.
    Burst { size: u64, since: Nanos },
}

/// A second that is this old is over for the original.
const NEARLY_A_SECOND: Nanos = Nanos::from_millis(950);

impl Pacer {
    /// Waits until statement `n` may be sent; false when the step is over before that.
    fn wait(&mut self, n: u64, context: &ClientContext<'_>) -> bool {
        match self {
            Self::Even(schedule) => context.wait_until(schedule.due(n)),
            Self::Burst { size, since } => {
                if !n.is_multiple_of(*size) {
                    return !context.is_over();
                }
                let age = context.recorder.clock().now().saturating_sub(*since);
                let goes_on = age >= NEARLY_A_SECOND || context.wait_until(*since + Nanos::SECOND);
                *since = context.recorder.clock().now();
                goes_on
            }
        }
    }
}

/// When a writer sends its statements.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) statements: u64,
    pub(super) rows_per_commit: u32,
    pub(super) pacer: Option<Pacer>,
    pub(super) coupling: Option<Arc<Coupling>>,
}

impl Turn {
    /// Waits for statement `n`: for the other side, then for the pacer. False when the step is over before.
    fn wait(&mut self, n: u64, side: Side, context: &ClientContext<'_>) -> bool {
        !context.is_over()
            && self.coupling.as_ref().is_none_or(|coupling| coupling.wait(side, context))
            && self.pacer.as_mut().is_none_or(|pacer| pacer.wait(n, context))
    }

    /// Waits for the end of the schedule, so that the window holds whole periods.
    fn finish(&self, context: &ClientContext<'_>) {
        if let Some(Pacer::Even(schedule)) = &self.pacer {
            context.wait_until(schedule.end(self.statements));
        }
    }
}

/// Sends a fixed number of statements, and knows what they did.
pub(super) struct Writer {
    pub(super) worker: Worker,
    pub(super) turn: Turn,
    pub(super) kind: usize,
    pub(super) wrong: Arc<Wrong>,
    /// Rows that the server said it inserted, or deleted.
    pub(super) written: Arc<AtomicU64>,
}

impl Writer {
    /// Sends statement `n` when its time has come; false when the step was over before it succeeded.
    fn send(
        &mut self,
        n: u64,
        side: Side,
        context: &mut ClientContext<'_>,
        act: impl FnMut(&mut dyn Session) -> Result<u64, SessionError>,
    ) -> Result<bool> {
        if !self.turn.wait(n, side, context) {
            return Ok(false);
        }
        let intended = match &self.turn.pacer {
            Some(Pacer::Even(schedule)) => Some(schedule.due(n)),
            Some(Pacer::Burst { .. }) | None => None,
        };
        let Some(rows) = self.worker.operate(context, self.kind, intended, act)? else {
            return Ok(false);
        };
        self.wrong.unless(rows == u64::from(self.turn.rows_per_commit));
        self.written.fetch_add(rows, Ordering::Relaxed);
        if let Some(coupling) = &self.turn.coupling {
            coupling.advance(side);
        }
        Ok(true)
    }
}

pub(super) struct Inserter {
    pub(super) writer: Writer,
    pub(super) rows: Rows,
    pub(super) first_row: u64,
    pub(super) statement: InsertStatement,
}

pub(super) enum InsertStatement {
    Text { sql: String, head: usize },
    Prepared(StatementId),
}

impl Client for Inserter {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        let mut batch = Batch::default();
        let rows = self.writer.turn.rows_per_commit;
        for n in 0..self.writer.turn.statements {
            let first = self.first_row + n * u64::from(rows);
            // The statement is built before its time comes: building is no part of its latency.
            batch.build(&mut self.statement, &mut self.rows, first, rows);
            let params = batch.params();
            let statement = &self.statement;
            let sent = self.writer.send(n, Side::Insert, context, |session| {
                let done = match statement {
                    InsertStatement::Text { sql, .. } => session.execute(sql)?,
                    InsertStatement::Prepared(id) => {
                        session.execute_prepared(*id, &params, &mut |_| ())?
                    }
                };
                Ok(done.affected)
            })?;
            if !sent {
                break;
            }
        }
        self.writer.turn.finish(context);
        Ok(())
    }
}

/// Builds the indexes of a table, after some inserts, as the original does.
pub(super) struct IndexBuilder {
    pub(super) worker: Worker,
    pub(super) kind: usize,
    pub(super) statements: Vec<String>,
    /// Rows that the table has; counted once, whatever the number of indexes.
    pub(super) rows: u64,
    pub(super) first: Inserter,
}

impl Client for IndexBuilder {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        self.first.run(context)?;
        self.worker.build_indexes(context, self.kind, &self.statements, self.rows)
    }
}

/// The rows of one statement, ready to send.
#[derive(Default)]
struct Batch {
    date: Date,
    /// All `data` values, one after the other.
    arena: String,
    /// The four integers and the place of `data` in the arena.
    rows: Vec<([i64; 4], std::ops::Range<usize>)>,
}

impl Batch {
    fn build(&mut self, statement: &mut InsertStatement, rows: &mut Rows, first: u64, count: u32) {
        let date = self.date.of(first);
        self.rows.clear();
        self.arena.clear();
        match statement {
            InsertStatement::Text { sql, head } => {
                sql.truncate(*head);
                rows.append(sql, date, first..first + u64::from(count));
            }
            InsertStatement::Prepared(_) => {
                for n in first..first + u64::from(count) {
                    let row = rows.row(n);
                    let from = self.arena.len();
                    self.arena.push_str(row.data);
                    let ints = [row.cashregister, row.customer, row.product, row.price];
                    self.rows.push((ints.map(|i| i as i64), from..self.arena.len()));
                }
            }
        }
    }

    /// The parameters of a prepared statement, borrowed from the batch; none for text.
    fn params(&self) -> Vec<Param<'_>> {
        let mut params = Vec::with_capacity(self.rows.len() * 6);
        for (ints, data) in &self.rows {
            params.push(Param::Text(self.date.text()));
            params.extend(ints.map(Param::Int));
            params.push(Param::Text(&self.arena[data.clone()]));
        }
        params
    }
}

/// Deletes as many rows as its inserter inserts, from the low end of the table.
pub(super) struct Deleter {
    pub(super) writer: Writer,
    /// Looks for MIN(pk) on a connection of its own.
    pub(super) scout: Worker,
    pub(super) min_kind: usize,
    pub(super) dialect: Dialect,
    pub(super) table: String,
    pub(super) min_resync: u32,
    pub(super) prepared: Option<StatementId>,
    /// The lowest key that is not deleted yet, for the point queries.
    pub(super) lo: Arc<AtomicU64>,
}

impl Client for Deleter {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        let min = format!("SELECT MIN(transactionid) FROM {}", self.table);
        let rows = self.writer.turn.rows_per_commit;
        let mut sql = String::new();
        let mut lo = 0;
        for n in 0..self.writer.turn.statements {
            let resync = n == 0 || (self.min_resync > 0 && n % u64::from(self.min_resync) == 0);
            if resync {
                // Its result is a bound, not rows touched.
                let found = &mut lo;
                self.scout.operate(context, self.min_kind, None, |session| {
                    *found = number(session, &min)?;
                    Ok(1)
                })?;
            }
            if self.prepared.is_none() {
                let mut digits = itoa::Buffer::new();
                sql.clear();
                sql.push_str(&sql::delete(self.dialect, &self.table, digits.format(lo), rows));
            }
            let prepared = self.prepared;
            let sent = self.writer.send(n, Side::Delete, context, |session| {
                let done = match prepared {
                    None => session.execute(&sql)?,
                    Some(id) => {
                        session.execute_prepared(id, &[Param::Int(lo as i64)], &mut |_| ())?
                    }
                };
                Ok(done.affected)
            })?;
            if !sent {
                break;
            }
            lo += u64::from(rows);
            self.lo.store(lo, Ordering::Relaxed);
        }
        self.writer.turn.finish(context);
        Ok(())
    }
}

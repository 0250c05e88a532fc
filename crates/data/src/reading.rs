//! Reads tables back and compares what they hold with what was loaded.
//!
//! Batches of rows are handed out to several clients. After a load each batch is compared with the rows
//! that its source makes. After a restore everything is read once, each index too, so that the caches
//! hold what fits, as they do after a load; it is compared with what the loading process remembered. At the
//! end of a trial and before tables are made anew, each row is compared with what the steps so far allow.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use drivers::{Session, SessionError};
use model::{Check, Dialect, ErrorRules, SqlSpec};

use crate::checksum::{RowHash, Sum};
use crate::judge::{Judge, Seen};
use crate::row_counts::check;
use crate::rows::SqlRows;
use crate::schema::{self, TableCopy, rows_of};
use crate::sink::Cells;
use crate::source::Source;
use crate::statements;
use crate::table::{Batch, Table};
use load::worker::number;
use load::{
    Client, ClientContext, Clients, Reaction, Recovery, Result, StepError, Stop, Target, Worker,
    bounded, lock, unseen,
};

/// Answers that were checked by clients.
pub type Found = Arc<Mutex<Vec<Check>>>;

pub fn taken<T>(found: &Mutex<Vec<T>>) -> Vec<T> {
    std::mem::take(&mut *lock(found))
}

/// Rows that one query returns, about.
pub const RANGE: u32 = 20_000;

/// Rows in all that are compared after a load, about: of larger ones a sample is.
const SAMPLE: u64 = 5_000_000;

/// The same at the end of a trial, where nothing is measured any more.
const SAMPLE_AT_END: u64 = 50_000_000;

pub struct ReadWork<S> {
    pub source: S,
    pub tables: Vec<Table>,
    pub against: Against,
    /// Of how many batches of a table one is read.
    pub every: u64,
    pub with_indexes: bool,
    /// Are the rows of each table counted, first of all, so that those are found which belong to no batch?
    pub with_counts: bool,
    pub clients: u32,
    pub errors: ErrorRules,
}

pub enum Against {
    /// With the rows as the source makes them.
    Source,
    /// With what each table held when it was loaded.
    Loaded(Vec<Sum>),
    /// With what is known of the rows of each SQL table; nothing is read of a table without.
    Known(Vec<Option<Judge>>, Vec<TableCopy>),
}

struct Reading<S> {
    work: ReadWork<S>,
    dialect: Dialect,
    jobs: Vec<Job>,
    next: AtomicUsize,
    /// By table.
    tallies: Vec<Mutex<Tally>>,
    left: AtomicUsize,
    found: Found,
    recovery: Recovery,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Job {
    /// The rows of some batches of a table that meet a condition: of one, or of all where the primary key does not
    /// lead to batches. Where no column groups the rows, the first and the last batch of a table have no bound
    /// there, so that what is beyond is found.
    Rows(usize, Range<u64>, Option<String>),
    /// Counts the rows of a table, or of one of its indexes.
    Count(usize, Option<usize>),
}

#[derive(Debug, Default)]
struct Tally {
    expected: Sum,
    actual: Sum,
    /// The first batch that differs.
    differs: Option<(([u32; 2], u64), String)>,
    /// Rows that were judged one by one.
    seen: Seen,
    missing: Vec<String>,
    counts: Vec<Check>,
}

impl ReadWork<SqlRows> {
    /// By as many sessions as load: each row once, of many of them a sample.
    pub fn of_sql(spec: &SqlSpec, seed: u64, target: &Target, against: Against) -> Result<Self> {
        let sample = match against {
            Against::Source | Against::Loaded(_) => SAMPLE,
            Against::Known(..) => SAMPLE_AT_END,
        };
        Ok(Self {
            source: SqlRows::new(&spec.tables, seed),
            tables: schema::tables(&spec.tables, target.dialect, target.engine)?,
            against,
            every: rows_of(&spec.tables).div_ceil(sample).max(1),
            with_indexes: false,
            with_counts: false,
            clients: spec.load.clients,
            errors: spec.errors.clone(),
        })
    }
}

impl<S: Source> ReadWork<S> {
    /// Connects the clients that read; the last one to end leaves the checks in `found`.
    pub fn clients(self, target: &Target, found: &Found) -> Result<Clients> {
        let count = self.clients.max(1);
        let expected = |table: usize| match &self.against {
            Against::Source | Against::Known(..) => Sum::default(),
            Against::Loaded(sums) => sums.get(table).copied().unwrap_or_default(),
        };
        let tally = |table| Tally { expected: expected(table), ..Tally::default() };
        let reading = Arc::new(Reading {
            dialect: target.dialect,
            jobs: self.jobs(),
            next: AtomicUsize::new(0),
            tallies: (0..self.tables.len()).map(|table| Mutex::new(tally(table))).collect(),
            left: AtomicUsize::new(count as usize),
            found: Arc::clone(found),
            recovery: Recovery::new(&self.errors, target.dialect, &target.patient),
            work: self,
        });
        let clients = (1..=count).map(|number| {
            let name = format!("read {number}");
            let reader = Reader {
                worker: Worker::connect(&*target.patient, name.clone())?,
                is_told: false,
                reading: Arc::clone(&reading),
            };
            Ok(bounded(name, reader))
        });
        clients.collect()
    }

    /// Reads everything; nobody looks at its rate.
    pub fn checks(self, target: &Target, stop: &Stop) -> Result<Vec<Check>> {
        let found = Found::default();
        unseen("scan", self.clients(target, &found)?, stop)?;
        Ok(taken(&found))
    }

    fn jobs(&self) -> Vec<Job> {
        let (mut first, mut jobs) = (Vec::new(), Vec::new());
        for (table, described) in self.tables.iter().enumerate() {
            if described.is_in_order() {
                self.push_batches(table, &mut jobs);
                first.extend(self.with_counts.then_some(Job::Count(table, None)));
            }
            let others = if self.with_counts { &mut first } else { &mut jobs };
            if !described.is_in_order() {
                others.push(Job::Rows(table, 0..self.source.batches(table, RANGE), None));
            }
            if self.with_indexes {
                let indexes = 0..described.indexes.len();
                others.extend(indexes.map(|index| Job::Count(table, Some(index))));
            }
        }
        first.append(&mut jobs);
        first
    }

    /// The batches of a table: of `every` the first, and the last one, with which what is beyond is seen.
    fn push_batches(&self, table: usize, jobs: &mut Vec<Job>) {
        let described = &self.tables[table];
        let (count, every) = (self.source.batches(table, RANGE).max(1), self.every);
        let sampled = (0..count).step_by(every as usize);
        let last = (every > 1 && (count - 1) % every != 0).then_some(count - 1);
        for number in sampled.chain(last) {
            let batch = self.source.batch(table, RANGE, number);
            let Batch { first, last, .. } = batch;
            let column = described.number.as_deref().unwrap_or_default();
            let is_grouped = !described.group.is_empty();
            let condition = match (number == 0, number == count - 1) {
                (true, true) if !is_grouped => None,
                (true, false) if !is_grouped => Some(format!("{column} <= {last}")),
                (false, true) if !is_grouped => Some(format!("{column} >= {first}")),
                _ => described.condition(&batch),
            };
            jobs.push(Job::Rows(table, number..number + 1, condition));
        }
    }

    fn judge(&self, table: usize) -> Option<(&Judge, &TableCopy)> {
        let Against::Known(judges, copies) = &self.against else { return None };
        let copy = &copies[table];
        Some((judges.get(copy.table)?.as_ref()?, copy))
    }
}

impl<S: Source> Reading<S> {
    /// Some batches of a table have this sum.
    fn count(&self, table: usize, batches: Range<u64>, actual: Sum) {
        let ReadWork { source, tables, against, .. } = &self.work;
        let (described, first) = (&tables[table], batches.start);
        let mut expected = Sum::default();
        if let Against::Source = against {
            let forms = described.forms();
            for number in batches {
                expected.add(source.sum(&source.batch(table, RANGE, number), &forms));
            }
        }
        let mut tally = lock(&self.tallies[table]);
        tally.actual.add(actual);
        tally.expected.add(expected);
        if matches!(against, Against::Source) && described.is_in_order() && expected != actual {
            let batch = source.batch(table, RANGE, first);
            let differs = ((batch.group, batch.first), described.place(&batch));
            tally.differs = tally.differs.take().into_iter().chain([differs]).min();
        }
    }

    /// What was found of a table's rows, one by one.
    fn judged(&self, table: usize, sample: &str, tally: &Tally) -> Check {
        let Seen { rows, wrong, first, .. } = &tally.seen;
        let mut actual = format!("{} of {rows} rows right", rows - wrong);
        for what in first.iter().map(ToString::to_string) {
            actual = format!("{actual}; {what}");
        }
        if let [missing, others @ ..] = tally.missing.as_slice() {
            let more = match others.len() {
                0 => String::new(),
                more => format!(" (and {more} more such ranges)"),
            };
            actual = format!("{actual}; {missing}{more}");
        }
        Check {
            what: format!("contents of {}{sample}", self.work.tables[table].name),
            expected: "rows as the seed and the clients' statements say".to_owned(),
            actual,
            holds: *wrong == 0 && tally.missing.is_empty(),
        }
    }

    fn leave_checks(&self) {
        let ReadWork { tables, every, against, .. } = &self.work;
        let mut checks = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            let mut tally = lock(&self.tallies[index]);
            let sample = if *every > 1 && table.is_in_order() {
                format!(" (one in {every} ranges of {RANGE} rows)")
            } else {
                String::new()
            };
            if let Against::Known(..) = against {
                let is_known = self.work.judge(index).is_some();
                checks.extend(is_known.then(|| self.judged(index, &sample, &tally)));
                continue;
            }
            let differs = match &tally.differs {
                Some((_, place)) => format!("; the first that differs: {place}"),
                None => String::new(),
            };
            checks.push(Check {
                what: format!("checksum of {}{sample}", table.name),
                expected: tally.expected.to_string(),
                actual: format!("{}{differs}", tally.actual),
                holds: tally.actual == tally.expected && tally.differs.is_none(),
            });
            tally.counts.sort_unstable_by(|a, b| a.what.cmp(&b.what));
            checks.append(&mut tally.counts);
        }
        lock(&self.found).append(&mut checks);
    }
}

struct Reader<S> {
    worker: Worker,
    /// Was its session told what it must know before it reads?
    is_told: bool,
    reading: Arc<Reading<S>>,
}

impl<S: Source> Client for Reader<S> {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        let reading = Arc::clone(&self.reading);
        while !context.is_over()
            && let Some(job) = reading.jobs.get(reading.next.fetch_add(1, Ordering::Relaxed))
        {
            match job {
                Job::Rows(table, batches, condition) => {
                    self.read_rows(*table, batches, condition.as_deref(), context)?;
                }
                Job::Count(table, index) => self.read_count(*table, *index, context)?,
            }
        }
        let is_last = reading.left.fetch_sub(1, Ordering::AcqRel) == 1;
        // What was not read because the step is over is no wrong answer.
        if is_last && !context.is_over() {
            reading.leave_checks();
        }
        Ok(())
    }
}

impl<S: Source> Reader<S> {
    /// Reads the rows of some batches and adds them up, or judges each where they are known one by one.
    fn read_rows(
        &mut self,
        table: usize,
        batches: &Range<u64>,
        condition: Option<&str>,
        context: &mut ClientContext<'_>,
    ) -> Result {
        let reading = Arc::clone(&self.reading);
        let work = &reading.work;
        let judge = work.judge(table);
        if judge.is_none() && matches!(work.against, Against::Known(..)) {
            return Ok(());
        }
        let forms = work.tables[table].forms();
        let sql = work.tables[table].read(reading.dialect, condition);
        let mut cells = Cells::new(reading.dialect);
        let (mut sum, mut seen) = (Sum::default(), Seen::default());
        let read = self.ask(context, |session| {
            (sum, seen) = Default::default();
            session.query(&sql, &mut |row| match judge {
                Some((judge, copy)) => seen.row(judge, judge.see(copy.number, row, &mut cells)),
                None => sum.add_row(RowHash::of_row(&forms, row, 0)),
            })?;
            Ok(sum.rows + seen.rows)
        })?;
        match judge {
            _ if read.is_none() => {}
            None => reading.count(table, batches.clone(), sum),
            Some((judge, copy)) => {
                let size = u64::from(RANGE);
                let (first, last) = (batches.start * size + 1, copy.rows.min(batches.end * size));
                let is_complete = judge.fates.is_complete();
                let misfit = is_complete.then(|| seen.misfit(first, last)).flatten();
                let mut tally = lock(&reading.tallies[table]);
                tally.seen.add(seen);
                tally.missing.extend(misfit);
            }
        }
        Ok(())
    }

    /// Counts the rows of a table, or of one of its indexes by reading all of it.
    fn read_count(
        &mut self,
        table: usize,
        index: Option<usize>,
        context: &mut ClientContext<'_>,
    ) -> Result {
        let reading = Arc::clone(&self.reading);
        let described = &reading.work.tables[table];
        let (name, nothing): (_, &[&str]) = (&described.name, &[]);
        let (what, sql, (before, after)) = match index.map(|index| &described.indexes[index]) {
            None => {
                let sql = format!("SELECT COUNT(*) FROM {name}");
                (format!("rows in {name}"), sql, (nothing, nothing))
            }
            Some(index) => {
                let sql = described.count_index(reading.dialect, index);
                let around = statements::around_index(reading.dialect);
                (format!("rows in index {} of {name}", index.name), sql, around)
            }
        };
        let mut found = 0;
        let read = self.ask(context, |session| {
            for sql in before {
                session.execute(sql)?;
            }
            found = number(session, &sql)?;
            for sql in after {
                session.execute(sql)?;
            }
            Ok(found)
        })?;
        if read.is_some() {
            let counted = check(what, reading.work.source.total(table), found);
            lock(&reading.tallies[table]).counts.push(counted);
        }
        Ok(())
    }

    /// Asks a query, an operation of the step; how many rows it read, `None` when the step was over before
    /// that was known. It is asked again in another session where the connection was lost.
    fn ask(
        &mut self,
        context: &mut ClientContext<'_>,
        mut query: impl FnMut(&mut dyn Session) -> Result<u64, SessionError>,
    ) -> Result<Option<u64>> {
        let reading = &*self.reading;
        for tries in 1.. {
            let asked = self.worker.operate(context, 0, None, |session| {
                if !self.is_told {
                    for sql in statements::before_reading(reading.dialect) {
                        session.execute(sql)?;
                    }
                    self.is_told = true;
                }
                query(session)
            });
            let is_lost = matches!(&asked, Err(StepError::Session { source, .. })
                if reading.recovery.rules.reaction(source) == Reaction::Reconnect);
            if !is_lost || tries >= reading.recovery.rules.tries() {
                return asked;
            }
            let session =
                reading.recovery.session(context).map_err(|source| StepError::Session {
                    client: format!("{}, connecting again", self.worker.name),
                    source,
                })?;
            let Some(session) = session else { break };
            self.worker.session = session;
            self.is_told = false;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use model::{Engine, SqlTable};

    use super::schema::tests::{kinds, sbtest, spec};
    use super::*;

    const ROWS: u64 = RANGE as u64;

    fn jobs(table: SqlTable, every: u64, with_indexes: bool) -> Vec<Job> {
        let tables = [table];
        let work = ReadWork {
            source: SqlRows::new(&tables, 1),
            tables: schema::tables(&tables, Dialect::Sqlite, Engine::Btree).unwrap(),
            against: Against::Source,
            every,
            with_indexes,
            with_counts: false,
            clients: 1,
            errors: spec().errors,
        };
        work.jobs()
    }

    fn ranges(rows: u64, every: u64) -> Vec<(u64, u64)> {
        let table = SqlTable { copies: 1, rows, ..sbtest() };
        let source = SqlRows::new(std::slice::from_ref(&table), 1);
        let range = |job: Job| match job {
            Job::Rows(0, batches, _) if batches.end == batches.start + 1 => {
                let Batch { first, last, .. } = source.batch(0, RANGE, batches.start);
                (first, last)
            }
            Job::Rows(..) | Job::Count(..) => panic!("{job:?}"),
        };
        jobs(table, every, false).into_iter().map(range).collect()
    }

    #[test]
    fn every_row_is_in_one_range() {
        for rows in [1, ROWS - 1, ROWS, ROWS + 1, 10 * ROWS + 3] {
            let mut next = 1;
            for (first, last) in ranges(rows, 1) {
                assert_eq!(first, next);
                assert!(last >= first && last - first < ROWS);
                next = last + 1;
            }
            assert_eq!(next, rows + 1);
        }
        assert_eq!(ranges(0, 1), [(1, 0)]);
    }

    #[test]
    fn a_sample_has_the_first_range_and_every_nth_after_it() {
        let firsts: Vec<u64> = ranges(7 * ROWS, 3).iter().map(|(first, _)| *first).collect();
        assert_eq!(firsts, [1, 3 * ROWS + 1, 6 * ROWS + 1]);
    }

    #[test]
    fn rows_that_are_in_no_order_are_read_at_once() {
        let table =
            SqlTable { copies: 1, primary_key: vec!["k".to_owned()], rows: 3 * ROWS, ..sbtest() };
        assert_eq!(jobs(table, 2, false), [Job::Rows(0, 0..3, None)]);
        assert_eq!(jobs(kinds(), 1, true).len(), 2);
    }

    #[test]
    fn the_ends_of_a_table_have_no_bound() {
        let conditions: Vec<Option<String>> =
            jobs(SqlTable { copies: 1, rows: 3 * ROWS, ..sbtest() }, 1, false)
                .into_iter()
                .map(|job| match job {
                    Job::Rows(_, _, condition) => condition,
                    Job::Count(..) => panic!("{job:?}"),
                })
                .collect();
        let expected = ["id <= 20000", "id BETWEEN 20001 AND 40000", "id >= 40001"];
        assert_eq!(conditions, expected.map(|condition| Some(condition.to_owned())));
    }
}

//! Reads tables back and compares what they hold with what was loaded.
//!
//! Ranges of rows are handed out to several clients. After a load each range is compared with the rows
//! that the generator makes. After a restore everything is read once, each index too, so that the caches
//! hold what fits, as they do after a load; it is compared with what the loading process remembered. At the
//! end of a trial and before tables are made anew, each row is compared with what the steps so far allow.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use drivers::{Connector, Session, SessionError};
use model::{Check, Dialect, KindSpec, Nanos, SqlSpec, SqlTable};

use super::checksum::{Form, Sum};
use super::judge::{Judge, Seen};
use super::ledger::{Ledger, check};
use super::load::{TableCopy, copies};
use super::rows::Rows;
use super::schema;
use super::state::Loaded;
use crate::engine::{Blind, End, StepSetup, Stop, run};
use crate::errors::{Reaction, Rules};
use crate::reconnect::reconnect;
use crate::workload::settle::{Clients, bounded};
use crate::workload::worker::{Worker, number};
use crate::{Client, ClientContext, StepError, Target};

/// Answers that were checked by clients.
pub(super) type Found = Arc<Mutex<Vec<Check>>>;

/// Rows that one query returns.
const RANGE: u64 = 20_000;

/// Rows in all that are compared after a load, about: of larger ones a sample is.
const SAMPLE: u64 = 5_000_000;

/// The same at the end of a trial, where nothing is measured any more.
const SAMPLE_AT_END: u64 = 50_000_000;

/// What all readers share.
struct Reading {
    dialect: Dialect,
    tables: Vec<SqlTable>,
    copies: Vec<TableCopy>,
    against: Against,
    jobs: Vec<Job>,
    /// The next job that nobody does.
    next: AtomicUsize,
    /// Of how many ranges one is read.
    every: u64,
    /// What was found in each copy.
    tallies: Vec<Mutex<Tally>>,
    /// Clients that are not done.
    left: AtomicUsize,
    found: Found,
    rules: Rules,
    connector: Arc<dyn Connector>,
    /// How long a client that lost its connection tries to connect again.
    patience: Duration,
}

/// With what tables are compared.
enum Against {
    /// With the rows of each table as the generator makes them.
    Generator(Vec<Rows>),
    /// With what each copy held when it was loaded.
    Loaded(Vec<Sum>),
    /// With what is known of the rows of each table; nothing is read of a table without.
    Known(Vec<Option<Judge>>),
}

/// What one query reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Job {
    copy: usize,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// The rows with these numbers; of the first and the last range also what is beyond, which must not
    /// be there.
    Rows { first: u64, last: u64 },
    /// The index with this place in its table.
    Index(usize),
}

#[derive(Debug, Default)]
struct Tally {
    expected: Sum,
    actual: Sum,
    /// The first range that differed.
    differs: Option<(u64, u64)>,
    /// Rows that were judged one by one.
    seen: Seen,
    /// Ranges in which rows were missing.
    missing: Vec<String>,
    indexes: Vec<Check>,
}

/// Connects the clients that read everything once: as many as load. Their operation kind, the first of the
/// step, is a query that reads a range of rows or an index. The last one to end leaves the checks in
/// `found`.
pub(super) fn clients_of_reading(
    spec: &SqlSpec,
    target: &Target,
    loaded: &Loaded,
    found: &Found,
) -> Result<Clients, StepError> {
    connect(
        Reading::new(spec, target, Against::Loaded(loaded.sums()), found),
        spec,
    )
}

/// Counts the rows of all tables and compares what is in them with what `seed` makes of them, by as many
/// sessions as load: each row once, of more than some millions of them a sample.
pub(super) fn checks_after_load(
    spec: &SqlSpec,
    seed: u64,
    target: &Target,
    ledger: &Ledger,
    stop: &Stop,
) -> Result<Vec<Check>, StepError> {
    let mut checks = ledger.check(spec, target)?;
    let tables = spec.tables.iter().enumerate();
    let rows = tables
        .map(|(index, table)| Rows::new(table, index, seed))
        .collect();
    checks.append(&mut read_all(spec, target, Against::Generator(rows), stop)?);
    Ok(checks)
}

/// Reads the tables that a judge knows, and compares each row with what is known of it: each row once, of
/// more than some tens of millions a sample.
pub(super) fn checks_of_contents(
    spec: &SqlSpec,
    target: &Target,
    judges: Vec<Option<Judge>>,
    stop: &Stop,
) -> Result<Vec<Check>, StepError> {
    read_all(spec, target, Against::Known(judges), stop)
}

fn read_all(
    spec: &SqlSpec,
    target: &Target,
    against: Against,
    stop: &Stop,
) -> Result<Vec<Check>, StepError> {
    let found = Found::default();
    let setup = StepSetup {
        kinds: vec![KindSpec {
            name: "scan".to_owned(),
            scheduled: false,
        }],
        clients: connect(Reading::new(spec, target, against, &found), spec)?,
        pace: None,
        end: End::AllDone { limit: None },
        warmup: Nanos(0),
    };
    // It is no result: nobody looks at its rate.
    run(setup, stop, &mut Blind)?;
    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut *found))
}

fn connect(reading: Reading, spec: &SqlSpec) -> Result<Clients, StepError> {
    let reading = Arc::new(reading);
    let clients = (1..=spec.load.clients.max(1)).map(|number| {
        let name = format!("read {number}");
        let reader = Reader {
            worker: Worker::connect(&*reading.connector, name.clone())?,
            is_told: false,
            reading: Arc::clone(&reading),
        };
        Ok(bounded(name, reader))
    });
    clients.collect()
}

impl Reading {
    fn new(spec: &SqlSpec, target: &Target, against: Against, found: &Found) -> Self {
        let copies = copies(&spec.tables);
        let all = copies.iter().map(|copy| copy.rows).sum::<u64>();
        let (every, with_indexes) = match against {
            Against::Generator(_) => (all.div_ceil(SAMPLE).max(1), false),
            Against::Loaded(_) => (1, true),
            Against::Known(_) => (all.div_ceil(SAMPLE_AT_END).max(1), false),
        };
        let expected = |copy: usize| match &against {
            Against::Generator(_) | Against::Known(_) => Sum::default(),
            Against::Loaded(sums) => sums.get(copy).copied().unwrap_or_default(),
        };
        let tally = |copy| Tally {
            expected: expected(copy),
            ..Tally::default()
        };
        Self {
            dialect: target.dialect,
            tallies: (0..copies.len())
                .map(|copy| Mutex::new(tally(copy)))
                .collect(),
            jobs: jobs(&spec.tables, &copies, every, with_indexes),
            tables: spec.tables.clone(),
            copies,
            against,
            next: AtomicUsize::new(0),
            every,
            left: AtomicUsize::new(spec.load.clients.max(1) as usize),
            found: Arc::clone(found),
            rules: Rules::new(&spec.errors, target.dialect),
            connector: Arc::clone(&target.patient),
            patience: Duration::from_secs(u64::from(spec.errors.reconnect_seconds)),
        }
    }

    fn tally(&self, copy: usize) -> MutexGuard<'_, Tally> {
        self.tallies[copy]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a range of rows that was read.
    fn count(&self, copy: usize, first: u64, last: u64, actual: Sum) {
        let of = &self.copies[copy];
        let expected = match &self.against {
            Against::Generator(rows) => Some(rows[of.table].sum(of.number, first, last)),
            Against::Loaded(_) | Against::Known(_) => None,
        };
        let mut tally = self.tally(copy);
        tally.actual.add(actual);
        if let Some(expected) = expected {
            tally.expected.add(expected);
            if expected != actual {
                tally.differs = tally
                    .differs
                    .min(Some((first, last)))
                    .or(Some((first, last)));
            }
        }
    }

    /// Counts a range of rows that was judged.
    fn count_judged(&self, copy: usize, judge: &Judge, (first, last): (u64, u64), seen: Seen) {
        let whole = if judge.fates().is_complete() {
            seen.is_whole(first, last)
        } else {
            Ok(())
        };
        let mut tally = self.tally(copy);
        tally.seen.add(seen);
        tally.missing.extend(whole.err());
    }

    /// The judge of a table, where rows are judged one by one.
    fn judge(&self, table: usize) -> Option<&Judge> {
        match &self.against {
            Against::Known(judges) => judges.get(table)?.as_ref(),
            Against::Generator(_) | Against::Loaded(_) => None,
        }
    }

    /// What was found in a copy whose rows were judged one by one.
    fn judged(copy: &TableCopy, sample: &str, tally: &Tally) -> Check {
        let Seen {
            rows, wrong, first, ..
        } = &tally.seen;
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
            what: format!("contents of {}{sample}", copy.name),
            expected: "rows as the seed and the clients' statements say".to_owned(),
            actual,
            holds: *wrong == 0 && tally.missing.is_empty(),
        }
    }

    /// What was found, against what there must be.
    fn leave_checks(&self) {
        let mut checks = Vec::new();
        for (index, copy) in self.copies.iter().enumerate() {
            let mut tally = self.tally(index);
            let is_sample = self.every > 1 && schema::is_in_order(&self.tables[copy.table]);
            let sample = if is_sample {
                format!(" (one in {} ranges of {RANGE} rows)", self.every)
            } else {
                String::new()
            };
            if let Against::Known(_) = &self.against {
                if self.judge(copy.table).is_some() {
                    checks.push(Self::judged(copy, &sample, &tally));
                }
                continue;
            }
            let differs = tally.differs.map_or(String::new(), |(first, last)| {
                format!("; rows {first} to {last} differ")
            });
            checks.push(Check {
                what: format!("checksum of {}{sample}", copy.name),
                expected: shown(tally.expected),
                actual: format!("{}{differs}", shown(tally.actual)),
                holds: tally.actual == tally.expected && tally.differs.is_none(),
            });
            checks.append(&mut tally.indexes);
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.append(&mut checks);
    }
}

fn shown(sum: Sum) -> String {
    format!("{:016x} of {} rows", sum.hash, sum.rows)
}

/// Everything that is to be read: the rows of each copy in ranges where its primary key is in their order,
/// of `every` ranges the first; all at once where it is not.
fn jobs(tables: &[SqlTable], copies: &[TableCopy], every: u64, with_indexes: bool) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (index, copy) in copies.iter().enumerate() {
        let table = &tables[copy.table];
        let mut add = |what| jobs.push(Job { copy: index, what });
        if schema::is_in_order(table) {
            let ranges = copy.rows.div_ceil(RANGE).max(1);
            let sampled = (0..ranges).step_by(every as usize);
            // What is beyond the last row is seen with the last range.
            let last = (every > 1 && (ranges - 1) % every != 0).then_some(ranges - 1);
            for range in sampled.chain(last) {
                let first = range * RANGE + 1;
                let last = copy.rows.min((range + 1) * RANGE);
                add(What::Rows { first, last });
            }
        } else {
            let last = copy.rows;
            add(What::Rows { first: 1, last });
        }
        if with_indexes {
            (0..table.indexes.len()).for_each(|index| add(What::Index(index)));
        }
    }
    jobs
}

/// A client that reads.
struct Reader {
    worker: Worker,
    /// Was its session told what it must know before it reads?
    is_told: bool,
    reading: Arc<Reading>,
}

impl Client for Reader {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let reading = Arc::clone(&self.reading);
        while !context.is_over()
            && let Some(job) = reading
                .jobs
                .get(reading.next.fetch_add(1, Ordering::Relaxed))
        {
            match job.what {
                What::Rows { first, last } => self.read_rows(job.copy, first, last, context)?,
                What::Index(index) => self.read_index(job.copy, index, context)?,
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

impl Reader {
    fn read_rows(
        &mut self,
        copy: usize,
        first: u64,
        last: u64,
        context: &mut ClientContext<'_>,
    ) -> Result<(), StepError> {
        let reading = Arc::clone(&self.reading);
        let of = &reading.copies[copy];
        let table = &reading.tables[of.table];
        let from = (first > 1).then_some(first);
        let to = (last < of.rows).then_some(last);
        let sql = schema::read_rows(reading.dialect, table, of.number, from, to);
        if let Against::Known(_) = &reading.against {
            let Some(judge) = reading.judge(of.table) else {
                return Ok(());
            };
            let (mut seen, mut cells) = (Seen::default(), Vec::new());
            let read = self.ask(context, |session| {
                seen = Seen::default();
                session.query(&sql, &mut |row| {
                    seen.row(judge, judge.see(of.number, row, &mut cells));
                })?;
                Ok(seen.rows)
            })?;
            if read.is_some() {
                reading.count_judged(copy, judge, (first, last), seen);
            }
            return Ok(());
        }
        let forms: Vec<Form> = table.columns.iter().map(|c| Form::of(c.kind)).collect();
        let mut sum = Sum::default();
        let read = self.ask(context, |session| {
            sum = Sum::of_query(session, &sql, &forms)?;
            Ok(sum.rows)
        })?;
        if read.is_some() {
            reading.count(copy, first, last, sum);
        }
        Ok(())
    }

    fn read_index(
        &mut self,
        copy: usize,
        index: usize,
        context: &mut ClientContext<'_>,
    ) -> Result<(), StepError> {
        let reading = Arc::clone(&self.reading);
        let of = &reading.copies[copy];
        let table = &reading.tables[of.table];
        let index = &table.indexes[index];
        let sql = schema::read_index(reading.dialect, table, index, of.number);
        let (before, after) = schema::around_index(reading.dialect);
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
            let index = schema::index_name(index, of.number);
            let what = format!("rows in index {index} of {}", of.name);
            reading
                .tally(copy)
                .indexes
                .push(check(what, of.rows, found));
        }
        Ok(())
    }

    /// Asks a query, an operation of the step; how many rows it read, `None` when the step was over before
    /// that was known. It is asked again in another session where the connection was lost.
    fn ask(
        &mut self,
        context: &mut ClientContext<'_>,
        mut query: impl FnMut(&mut dyn Session) -> Result<u64, SessionError>,
    ) -> Result<Option<u64>, StepError> {
        let reading = &*self.reading;
        for tries in 1.. {
            let asked = self.worker.operate(context, 0, None, |session| {
                if !self.is_told {
                    for sql in schema::before_reading(reading.dialect) {
                        session.execute(sql)?;
                    }
                    self.is_told = true;
                }
                query(session)
            });
            let is_lost = matches!(&asked, Err(StepError::Session { source, .. })
                if reading.rules.reaction(source) == Reaction::Reconnect);
            if !is_lost || tries >= reading.rules.tries() {
                return asked;
            }
            let session = reconnect(&*reading.connector, reading.patience, context);
            let session = session.map_err(|source| StepError::Session {
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
    use super::super::schema::tests::{kinds, sbtest};
    use super::*;

    fn ranges(rows: u64, every: u64) -> Vec<(u64, u64)> {
        let table = SqlTable {
            copies: 1,
            rows,
            ..sbtest()
        };
        let tables = [table];
        let jobs = jobs(&tables, &copies(&tables), every, false);
        let range = |job: &Job| match job.what {
            What::Rows { first, last } => (first, last),
            What::Index(_) => (0, 0),
        };
        jobs.iter().map(range).collect()
    }

    #[test]
    fn every_row_is_in_one_range() {
        for rows in [1, RANGE - 1, RANGE, RANGE + 1, 10 * RANGE + 3] {
            let mut next = 1;
            for (first, last) in ranges(rows, 1) {
                assert_eq!(first, next);
                assert!(last >= first && last - first < RANGE);
                next = last + 1;
            }
            assert_eq!(next, rows + 1);
        }
        assert_eq!(ranges(0, 1), [(1, 0)]);
    }

    #[test]
    fn a_sample_has_the_first_range_and_every_nth_after_it() {
        let firsts: Vec<u64> = ranges(7 * RANGE, 3)
            .iter()
            .map(|(first, _)| *first)
            .collect();
        assert_eq!(firsts, [1, 3 * RANGE + 1, 6 * RANGE + 1]);
    }

    #[test]
    fn rows_that_are_in_no_order_are_read_at_once() {
        let tables = [SqlTable {
            primary_key: vec!["k".to_owned()],
            rows: 3 * RANGE,
            ..sbtest()
        }];
        assert_eq!(jobs(&tables, &copies(&tables), 2, false).len(), 2);
        let tables = [kinds()];
        assert_eq!(jobs(&tables, &copies(&tables), 1, true).len(), 2);
    }
}

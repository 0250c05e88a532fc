//! Reads all tables back and compares each row with what was to be loaded.
//!
//! Units of rows are handed out to several clients. What a unit must be is made again while it is read, and
//! both are compared by a sum of hashes, which does not depend on the order of the rows. After a restore
//! each index is read too, so that the caches hold what fits, as they do after a load.

mod jobs;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use drivers::{Session, SessionError, Value};
use model::{Check, Dialect, KindSpec, TpccSpec};

use self::jobs::{Job, Jobs};
use super::load::Errand;
use super::population::{Population, Unit};
use super::scale::Scale;
use super::tables::{Column, Index, Kind, Table, count_index};
use super::{meta, money};
use crate::engine::{Blind, Observer, Stop};
use crate::workload::settle::{Clients, Notes, bounded};
use crate::workload::sql::checksum::{Form, RowHash, Sum};
use crate::workload::sql::ledger::check;
use crate::workload::sql::schema;
use crate::workload::worker::{Worker, number};
use crate::{Client, ClientContext, StepClock, StepError, StepResult, Target};

/// The operation kind: a query that reads rows or an index.
pub(super) fn kinds() -> Vec<KindSpec> {
    vec![KindSpec {
        name: "scan".to_owned(),
        scheduled: false,
    }]
}

/// Reads all rows and indexes of a database that another trial has loaded.
pub(super) fn run(
    spec: &TpccSpec,
    rows_seed: u64,
    target: &Target,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepResult, StepError> {
    let reading = Reading::new(spec, rows_seed, target.dialect, true);
    read(reading, spec, rows_seed, target, stop, observer)
}

/// Compares all rows with those that `rows_seed` makes, by as many sessions as load.
pub(super) fn checks(
    spec: &TpccSpec,
    rows_seed: u64,
    target: &Target,
    stop: &Stop,
) -> Result<Vec<Check>, StepError> {
    let reading = Reading::new(spec, rows_seed, target.dialect, false);
    // It is no result: nobody looks at its rate.
    let result = read(reading, spec, rows_seed, target, stop, &mut Blind)?;
    Ok(result.checks)
}

fn read(
    reading: Reading,
    spec: &TpccSpec,
    rows_seed: u64,
    target: &Target,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepResult, StepError> {
    let clock = StepClock::start();
    let notes = Notes::default();
    let reading = Arc::new(reading);
    let clients = (1..=spec.load.clients.max(1)).map(|number| {
        let name = format!("read {number}");
        let mut worker = Worker::connect(&*target.patient, name.clone())?;
        if number == 1 {
            meta::refuse_other(&mut *worker.session, spec, rows_seed)?;
        }
        for sql in schema::before_reading(target.dialect) {
            worker.run(sql)?;
        }
        let reading = Arc::clone(&reading);
        Ok(bounded(name, Reader { worker, reading }))
    });
    let errand = Errand {
        kinds: kinds(),
        clients: clients.collect::<Result<Clients, StepError>>()?,
        clock,
        notes: ("read", &notes),
    };
    let mut result = errand.run(stop, observer)?;
    result.checks = reading.checks();
    Ok(result)
}

/// What all readers share.
struct Reading {
    dialect: Dialect,
    population: Population,
    jobs: Jobs,
    /// The next job that nobody does.
    next: AtomicU64,
    /// What was found in each table.
    found: [Mutex<Found>; Table::ALL.len()],
}

#[derive(Debug, Default)]
struct Found {
    expected: Sum,
    actual: Sum,
    /// The first unit that differed, by its place.
    differs: Option<(u64, Unit)>,
    /// Rows of the table and of its indexes, counted.
    counts: Vec<Check>,
}

impl Reading {
    fn new(spec: &TpccSpec, rows_seed: u64, dialect: Dialect, with_indexes: bool) -> Self {
        let scale = Scale::of(spec);
        Self {
            dialect,
            population: Population::new(scale, rows_seed),
            jobs: Jobs::new(scale, with_indexes.then_some(&spec.schema)),
            next: AtomicU64::new(0),
            found: std::array::from_fn(|_| Mutex::default()),
        }
    }

    fn found(&self, table: Table) -> MutexGuard<'_, Found> {
        let found = self.found[table as usize].lock();
        found.unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts units that were read together.
    fn add(&self, table: Table, units: impl Iterator<Item = (u64, Unit)>, actual: Sum) {
        let mut first = None;
        let mut expected = Sum::default();
        for (place, unit) in units {
            expected.add(self.population.sum(&unit));
            first = first.or(Some((place, unit)));
        }
        let mut found = self.found(table);
        found.expected.add(expected);
        found.actual.add(actual);
        if expected != actual {
            let earliest = [found.differs, first].into_iter().flatten();
            found.differs = earliest.min_by_key(|(place, _)| *place);
        }
    }

    /// What was found, against what there must be.
    fn checks(&self) -> Vec<Check> {
        let mut checks = Vec::new();
        for table in Table::ALL {
            let mut found = self.found(table);
            let differs = match &found.differs {
                Some((_, unit)) => format!("; the first that differs: {unit}"),
                None => String::new(),
            };
            checks.push(Check {
                what: format!("checksum of {}", table.name()),
                expected: shown(found.expected),
                actual: format!("{}{differs}", shown(found.actual)),
                holds: found.actual == found.expected && found.differs.is_none(),
            });
            found.counts.sort_unstable_by(|a, b| a.what.cmp(&b.what));
            checks.append(&mut found.counts);
        }
        checks
    }
}

/// A sum for people.
pub(super) fn shown(sum: Sum) -> String {
    format!("{:016x} of {} rows", sum.hash, sum.rows)
}

/// A client that reads.
struct Reader {
    worker: Worker,
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
            match job {
                Job::Unit(place, unit) => {
                    let hint = match reading.dialect {
                        // Right after a load it believes the table to be small, and would read all of it.
                        Dialect::Mysql => " FORCE INDEX (PRIMARY)",
                        Dialect::Postgres | Dialect::Sqlite => "",
                    };
                    let rest = format!("{hint} WHERE {}", unit.condition());
                    if let Some(sum) = self.read_rows(unit.table, &rest, context)? {
                        reading.add(unit.table, [(place, unit)].into_iter(), sum);
                    }
                }
                Job::Whole(table) => {
                    if let Some(sum) = self.read_rows(table, "", context)? {
                        reading.add(table, reading.jobs.units(table), sum);
                    }
                }
                Job::Count(table) => self.count(table, None, context)?,
                Job::Index(table, index) => self.count(table, Some(index), context)?,
            }
        }
        Ok(())
    }
}

impl Reader {
    /// The sum of the rows that a query of a table returns; `rest` is what stands behind its name.
    fn read_rows(
        &mut self,
        table: Table,
        rest: &str,
        context: &mut ClientContext<'_>,
    ) -> Result<Option<Sum>, StepError> {
        let columns = table.column_names().join(",");
        let sql = format!("SELECT {columns} FROM {}{rest}", table.name());
        let dialect = self.reading.dialect;
        let mut sum = Sum::default();
        let read = self.worker.operate(context, 0, None, |session| {
            sum = sum_of_query(session, &sql, table.columns(), dialect)?;
            Ok(sum.rows)
        })?;
        Ok(read.map(|_| sum))
    }

    /// Counts the rows of a table, or of one of its indexes by reading all of it.
    fn count(
        &mut self,
        table: Table,
        index: Option<Index>,
        context: &mut ClientContext<'_>,
    ) -> Result<(), StepError> {
        let reading = Arc::clone(&self.reading);
        let (what, sql) = match &index {
            None => (
                format!("rows in {}", table.name()),
                format!("SELECT COUNT(*) FROM {}", table.name()),
            ),
            Some(index) => (
                format!("rows in index {} of {}", index.name, table.name()),
                count_index(table, index, reading.dialect),
            ),
        };
        let nothing: &[&str] = &[];
        let (before, after) = match index {
            None => (nothing, nothing),
            Some(_) => schema::around_index(reading.dialect),
        };
        for sql in before {
            self.worker.run(sql)?;
        }
        let mut rows = 0;
        let read = self.worker.operate(context, 0, None, |session| {
            rows = number(session, &sql)?;
            Ok(rows)
        })?;
        for sql in after {
            self.worker.run(sql)?;
        }
        if read.is_some() {
            let expected = reading.population.total(table);
            let counted = check(what, expected, rows);
            reading.found(table).counts.push(counted);
        }
        Ok(())
    }
}

/// The sum of the rows that a query returns.
fn sum_of_query(
    session: &mut dyn Session,
    sql: &str,
    columns: &[Column],
    dialect: Dialect,
) -> Result<Sum, SessionError> {
    let mut sum = Sum::default();
    session.query(sql, &mut |row| {
        let mut hash = RowHash::new();
        for (place, column) in columns.iter().enumerate() {
            add_value(&mut hash, column.kind, row.value(place), dialect);
        }
        sum.add_row(hash.finish());
    })?;
    Ok(sum)
}

/// Adds a value to the hash of its row: numbers as integers, in whatever form the server returned them.
fn add_value(hash: &mut RowHash, kind: Kind, value: Value<'_>, dialect: Dialect) {
    let units = match kind {
        Kind::Money(_) => money::cents(value, dialect),
        Kind::Rate => money::rate(value, dialect),
        Kind::Small | Kind::Int => value.as_int(),
        Kind::Char(_) => return hash.value(Form::Padded, value),
        Kind::Varchar(_) | Kind::Name(_) | Kind::Time => return hash.value(Form::Exact, value),
    };
    match units {
        Some(units) => hash.int(Form::Integer, units),
        // NULL, or what is no number.
        None => hash.value(Form::Exact, value),
    }
}

#[cfg(test)]
mod tests;

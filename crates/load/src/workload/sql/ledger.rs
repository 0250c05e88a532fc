//! How many rows each table must have, and by how much the sums of its columns must have grown.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use model::{Check, SqlSpec};

use crate::workload::worker::Worker;
use crate::{StepError, Target};

/// The rows that each copy of each table must have, kept while clients add and remove them. Shared by all
/// clients.
#[derive(Debug)]
pub(super) struct Ledger {
    tables: Vec<Copies>,
    /// Is it known what was done to rows since they were loaded?
    known: AtomicBool,
    next: AtomicI64,
}

/// The copies of one table.
#[derive(Debug)]
struct Copies {
    /// Rows that each of them is loaded with.
    loaded: u64,
    rows: Vec<AtomicI64>,
    /// What statements added to each column of each copy, copy after copy.
    added: Vec<AtomicI64>,
    columns: usize,
}

impl Ledger {
    /// All tables are empty.
    pub(super) fn new(spec: &SqlSpec) -> Self {
        let zeros = |count: usize| (0..count).map(|_| AtomicI64::new(0)).collect();
        let tables = spec.tables.iter().map(|table| Copies {
            loaded: table.rows,
            rows: zeros(table.copies as usize),
            added: zeros(table.copies as usize * table.columns.len()),
            columns: table.columns.len(),
        });
        let ledger = Self {
            tables: tables.collect(),
            known: AtomicBool::new(true),
            next: AtomicI64::new(0),
        };
        ledger.count_from_the_highest();
        ledger
    }

    /// Rows of a copy were added, or removed where the number is negative.
    pub(super) fn add(&self, table: u32, copy: u32, rows: i64) {
        if let Some(count) = self.count(table, copy) {
            count.fetch_add(rows, Ordering::Relaxed);
        }
    }

    /// Statements added so much to a column of a copy, over all rows.
    pub(super) fn add_to(&self, table: u32, copy: u32, column: u32, sum: i64) {
        if let Some(added) = self.sum(table, copy, column as usize) {
            added.fetch_add(sum, Ordering::Relaxed);
        }
    }

    /// What statements added to a column of a copy since it was loaded.
    pub(super) fn added(&self, table: u32, copy: u32, column: usize) -> i64 {
        let added = self.sum(table, copy, column);
        added.map_or(0, |added| added.load(Ordering::Relaxed))
    }

    /// All tables hold what is loaded, no more and no less; [`Ledger::next`] begins anew.
    pub(super) fn set_loaded(&self) {
        for table in &self.tables {
            for count in &table.rows {
                count.store(table.loaded as i64, Ordering::Relaxed);
            }
            for added in &table.added {
                added.store(0, Ordering::Relaxed);
            }
        }
        self.known.store(true, Ordering::Relaxed);
        self.count_from_the_highest();
    }

    /// The highest number of a loaded row is that of the last one of the largest table.
    fn count_from_the_highest(&self) {
        let highest = self.tables.iter().map(|table| table.loaded).max();
        let above = (highest.unwrap_or(0) as i64).saturating_add(1);
        self.next.store(above, Ordering::Relaxed);
    }

    /// Rows that a copy must have.
    pub(super) fn rows(&self, table: u32, copy: u32) -> u64 {
        let count = self.count(table, copy);
        count.map_or(0, |count| count.load(Ordering::Relaxed).max(0) as u64)
    }

    /// It is not known any more how many rows there must be: an answer was lost, or a statement ran that
    /// cannot be accounted for. Nothing is checked until tables are loaded again.
    pub(super) fn forget(&self) {
        // Many clients may say so with each statement: only the first one writes.
        if self.is_known() {
            self.known.store(false, Ordering::Relaxed);
        }
    }

    /// Is it known how many rows there must be?
    pub(super) fn is_known(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }

    /// A number that no row has: one more than the highest so far, of all tables.
    pub(super) fn next(&self) -> i64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts the rows of every copy and compares; nothing where it is not known what there must be.
    pub(super) fn check(&self, spec: &SqlSpec, target: &Target) -> Result<Vec<Check>, StepError> {
        let mut checks = Vec::new();
        if !self.is_known() {
            return Ok(checks);
        }
        let mut worker = Worker::connect(&*target.patient, "count rows".to_owned())?;
        for (table, index) in spec.tables.iter().zip(0..) {
            for copy in 0..table.copies {
                let name = table.name_of(copy);
                let expected = self.rows(index, copy);
                let actual = worker.number(&format!("SELECT COUNT(*) FROM {name}"))?;
                checks.push(check(format!("rows in {name}"), expected, actual));
            }
        }
        Ok(checks)
    }

    fn count(&self, table: u32, copy: u32) -> Option<&AtomicI64> {
        self.tables.get(table as usize)?.rows.get(copy as usize)
    }

    fn sum(&self, table: u32, copy: u32, column: usize) -> Option<&AtomicI64> {
        let table = self.tables.get(table as usize)?;
        table.added.get(copy as usize * table.columns + column)
    }
}

/// A number against what it must be.
pub(in crate::workload) fn check(what: String, expected: u64, actual: u64) -> Check {
    Check {
        what,
        expected: expected.to_string(),
        actual: actual.to_string(),
        holds: expected == actual,
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::tests::spec;
    use super::*;

    #[test]
    fn rows_are_counted_by_copy() {
        let ledger = Ledger::new(&spec());
        assert_eq!(ledger.rows(0, 0), 0);
        ledger.set_loaded();
        let loaded = spec().tables[0].rows;
        ledger.add(0, 1, 5);
        ledger.add(0, 1, -2);
        assert_eq!((ledger.rows(0, 0), ledger.rows(0, 1)), (loaded, loaded + 3));
        ledger.add(9, 9, 1);
        assert_eq!(ledger.rows(9, 9), 0);
        ledger.set_loaded();
        assert_eq!(ledger.rows(0, 1), loaded);
    }

    #[test]
    fn new_numbers_begin_above_the_largest_table() {
        let ledger = Ledger::new(&spec());
        let largest = spec().tables.iter().map(|t| t.rows).max().unwrap() as i64;
        assert_eq!([ledger.next(), ledger.next()], [largest + 1, largest + 2]);
        ledger.set_loaded();
        assert_eq!(ledger.next(), largest + 1);
    }
}

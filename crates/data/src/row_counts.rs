//! How many rows each table must have, and by how much the sums of its columns must have grown.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use model::{Check, SqlSpec};
use serde::{Deserialize, Serialize};

use crate::schema::{TableCopy, copies};
use load::{Result, Share, Target, Worker};

/// The rows that each copy must have, kept while clients add and remove them. Shared by all clients.
#[derive(Debug)]
pub struct RowCounts {
    /// Copies by table.
    tables: Vec<Vec<CopyCounts>>,
    /// Is it known what was done to rows since they were loaded?
    known: AtomicBool,
    next: AtomicI64,
    /// Processes that take new numbers in turn.
    processes: i64,
}

/// The counts at one moment, for another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Rows of each copy, and what was added to its columns.
    copies: Vec<(i64, Vec<i64>)>,
    known: bool,
    next: i64,
}

#[derive(Debug)]
struct CopyCounts {
    loaded: u64,
    rows: AtomicI64,
    /// What statements added to each column.
    added: Vec<AtomicI64>,
}

impl RowCounts {
    pub fn new(spec: &SqlSpec) -> Self {
        let copies = spec.tables.iter().map(|table| {
            let copy = |_| CopyCounts {
                loaded: table.rows,
                rows: AtomicI64::new(0),
                added: table.columns.iter().map(|_| AtomicI64::new(0)).collect(),
            };
            (0..table.copies).map(copy).collect()
        });
        let counts = Self {
            tables: copies.collect(),
            known: AtomicBool::new(true),
            next: AtomicI64::new(0),
            processes: 1,
        };
        counts.count_from_the_highest();
        counts
    }

    /// Adds to the rows of a copy, or to the sum of a column. A negative number takes away.
    pub fn add(&self, table: u32, copy: u32, column: Option<u32>, by: i64) {
        let Some(copy) = self.copy(table, copy) else { return };
        let count = column.map_or(Some(&copy.rows), |column| copy.added.get(column as usize));
        if let Some(count) = count {
            count.fetch_add(by, Ordering::Relaxed);
        }
    }

    pub fn added(&self, table: u32, copy: u32, column: usize) -> i64 {
        let added = self.copy(table, copy).and_then(|copy| copy.added.get(column));
        added.map_or(0, |added| added.load(Ordering::Relaxed))
    }

    /// All tables hold what is loaded, no more and no less; [`RowCounts::next`] begins anew.
    pub fn set_loaded(&self) {
        for copy in self.tables.iter().flatten() {
            copy.rows.store(copy.loaded as i64, Ordering::Relaxed);
            copy.added.iter().for_each(|added| added.store(0, Ordering::Relaxed));
        }
        self.known.store(true, Ordering::Relaxed);
        self.count_from_the_highest();
    }

    /// The highest number of a loaded row is that of the last one of the largest table.
    fn count_from_the_highest(&self) {
        let highest = self.tables.iter().flatten().map(|copy| copy.loaded).max();
        let above = (highest.unwrap_or(0) as i64).saturating_add(1);
        self.next.store(above, Ordering::Relaxed);
    }

    pub fn rows(&self, table: u32, copy: u32) -> u64 {
        let copy = self.copy(table, copy);
        copy.map_or(0, |copy| copy.rows.load(Ordering::Relaxed).max(0) as u64)
    }

    /// An answer was lost, or a statement ran that cannot be accounted for: nothing is checked until the next load.
    pub fn forget(&self) {
        // Many clients may say so with each statement: only the first one writes.
        if self.is_known() {
            self.known.store(false, Ordering::Relaxed);
        }
    }

    pub fn is_known(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }

    /// A number that no row has: one more than the highest so far, of all tables. Where several processes take new
    /// numbers, each leaves out those of the others.
    pub fn next(&self) -> i64 {
        self.next.fetch_add(self.processes, Ordering::Relaxed)
    }

    pub fn counted(&self) -> Counted {
        let now = |count: &AtomicI64| count.load(Ordering::Relaxed);
        let copies = self.tables.iter().flatten();
        Counted {
            copies: copies
                .map(|copy| (now(&copy.rows), copy.added.iter().map(now).collect()))
                .collect(),
            known: self.is_known(),
            next: now(&self.next),
        }
    }

    /// Counts that go on from there for a share of the clients.
    pub fn of_share(spec: &SqlSpec, from: &Counted, share: &Share) -> Self {
        let counts = Self { processes: share.processes.into(), ..Self::new(spec) };
        let nothing = Counted { copies: counts.counted().copies, known: true, next: from.next };
        counts.add_change(&nothing, from);
        let own = from.next.saturating_add(share.process.into());
        counts.next.store(own, Ordering::Relaxed);
        counts
    }

    /// Adds what a share of the clients did between two moments.
    pub fn add_change(&self, before: &Counted, after: &Counted) {
        let copies = self.tables.iter().flatten().zip(before.copies.iter().zip(&after.copies));
        for (copy, ((rows, added), (rows_after, added_after))) in copies {
            copy.rows.fetch_add(rows_after.wrapping_sub(*rows), Ordering::Relaxed);
            for (sum, (before, after)) in copy.added.iter().zip(added.iter().zip(added_after)) {
                sum.fetch_add(after.wrapping_sub(*before), Ordering::Relaxed);
            }
        }
        if !after.known {
            self.forget();
        }
        self.next.fetch_max(after.next, Ordering::Relaxed);
    }

    /// Counts the rows of every copy and compares; nothing where it is not known what there must be.
    pub fn check(&self, spec: &SqlSpec, target: &Target) -> Result<Vec<Check>> {
        if !self.is_known() {
            return Ok(Vec::new());
        }
        let copies = copies(&spec.tables).into_iter();
        let rows = |copy: &TableCopy| self.rows(copy.table as u32, copy.number);
        check_counts(target, copies.map(|copy| (rows(&copy), copy.name)))
    }

    fn copy(&self, table: u32, copy: u32) -> Option<&CopyCounts> {
        self.tables.get(table as usize)?.get(copy as usize)
    }
}

/// Counts the rows of tables, each given with the number that it must have.
pub fn check_counts(
    target: &Target,
    tables: impl Iterator<Item = (u64, String)>,
) -> Result<Vec<Check>> {
    let mut worker = Worker::connect(&*target.patient, "count rows".to_owned())?;
    let counted = tables.map(|(expected, name)| {
        let actual = worker.number(&format!("SELECT COUNT(*) FROM {name}"))?;
        Ok(check(format!("rows in {name}"), expected, actual))
    });
    counted.collect()
}

pub fn check(what: String, expected: u64, actual: u64) -> Check {
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
        let counts = RowCounts::new(&spec());
        assert_eq!(counts.rows(0, 0), 0);
        counts.set_loaded();
        let loaded = spec().tables[0].rows;
        counts.add(0, 1, None, 5);
        counts.add(0, 1, None, -2);
        assert_eq!((counts.rows(0, 0), counts.rows(0, 1)), (loaded, loaded + 3));
        counts.add(9, 9, None, 1);
        assert_eq!(counts.rows(9, 9), 0);
        counts.set_loaded();
        assert_eq!(counts.rows(0, 1), loaded);
    }

    #[test]
    fn counts_of_shares_add_up_to_those_of_the_whole() {
        let whole = RowCounts::new(&spec());
        whole.set_loaded();
        let largest = whole.next();
        let before = whole.counted();
        let mut taken = Vec::new();
        for (share, rows) in Share::divide(4, 2).iter().zip([5, -2]) {
            let counts = RowCounts::of_share(&spec(), &before, share);
            assert_eq!(counts.rows(0, 1), spec().tables[0].rows);
            taken.extend([(); 3].map(|()| counts.next()));
            counts.add(0, 1, None, rows);
            counts.add(0, 0, Some(1), 7);
            whole.add_change(&before, &counts.counted());
        }
        assert_eq!((whole.rows(0, 1), whole.added(0, 0, 1)), (spec().tables[0].rows + 3, 14));
        taken.sort_unstable();
        assert_eq!(taken, (largest + 1..=largest + 6).collect::<Vec<_>>());
        assert!(whole.next() > largest + 6 && whole.is_known());
        let forgetful = RowCounts::of_share(&spec(), &before, &Share::whole(1));
        forgetful.forget();
        whole.add_change(&before, &forgetful.counted());
        assert!(!whole.is_known());
    }

    #[test]
    fn new_numbers_begin_above_the_largest_table() {
        let counts = RowCounts::new(&spec());
        let largest = spec().tables.iter().map(|t| t.rows).max().unwrap() as i64;
        assert_eq!([counts.next(), counts.next()], [largest + 1, largest + 2]);
        counts.set_loaded();
        assert_eq!(counts.next(), largest + 1);
    }
}

//! How many rows of each table were loaded, and in which time.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use model::Nanos;

use crate::workload::tpcc::tables::Table;

/// Counts the rows of all clients.
#[derive(Default)]
pub(super) struct Tally {
    /// Rows of each table, and the time that the statements took which added them, all clients together.
    tables: [(AtomicU64, AtomicU64); Table::ALL.len()],
    /// Clients that still load.
    left: AtomicU32,
}

impl Tally {
    /// Of so many clients.
    pub(super) fn new(clients: u32) -> Self {
        Self {
            left: AtomicU32::new(clients),
            ..Self::default()
        }
    }

    /// Rows were added and committed.
    pub(super) fn add(&self, table: Table, rows: u64, took: Nanos) {
        if let Some((all, time)) = self.tables.get(table as usize) {
            all.fetch_add(rows, Ordering::Relaxed);
            time.fetch_add(took.0, Ordering::Relaxed);
        }
    }

    /// A client is done; the last one is given what there is to tell: a line for each table.
    pub(super) fn client_done(&self) -> Vec<String> {
        if self.left.fetch_sub(1, Ordering::AcqRel) != 1 {
            return Vec::new();
        }
        let told = |table: Table| {
            let (rows, time) = self.tables.get(table as usize)?;
            let time = Nanos(time.load(Ordering::Relaxed));
            let rows = rows.load(Ordering::Relaxed);
            Some(format!(
                "{}: {rows} rows in {time} of all clients",
                table.name()
            ))
        };
        Table::ALL.into_iter().filter_map(told).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_client_tells_of_all() {
        let tally = Tally::new(2);
        tally.add(Table::Stock, 100, Nanos::from_millis(20));
        assert!(tally.client_done().is_empty());
        tally.add(Table::Stock, 1, Nanos::from_millis(5));
        let told = tally.client_done();
        assert_eq!(told.len(), 9);
        assert!(
            told.contains(&"stock: 101 rows in 25.0ms of all clients".to_owned()),
            "{told:?}"
        );
        assert!(told.contains(&"item: 0 rows in 0ns of all clients".to_owned()));
    }
}

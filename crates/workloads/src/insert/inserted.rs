//! What was inserted and is not deleted, row by row: a client's rows are known by their numbers, in the order
//! in which they were inserted, and deletes take the oldest first.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{InsertSpec, InsertStage as Stage};

use super::rows::{Date, Row, Rows};

/// Rows that a client inserted in one step.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// From 0.
    pub(super) client: u32,
    pub(super) seed: u64,
    pub(super) first: u64,
    pub(super) rows_per_commit: u32,
    /// Rows that the server said it inserted.
    pub(super) inserted: Arc<AtomicU64>,
}

impl Batch {
    pub(super) fn rows(&self) -> u64 {
        self.inserted.load(Ordering::Relaxed)
    }
}

/// What a table must hold.
#[derive(Clone, Debug, Default)]
pub(super) struct TableState {
    /// By client and step, in the order of the steps.
    pub(super) batches: Vec<Batch>,
    /// Rows that the server said it deleted.
    pub(super) deleted: Arc<AtomicU64>,
}

impl TableState {
    pub(super) fn inserted(&self) -> u64 {
        self.batches.iter().map(Batch::rows).sum()
    }

    pub(super) fn deleted(&self) -> u64 {
        self.deleted.load(Ordering::Relaxed)
    }

    pub(super) fn rows(&self) -> u64 {
        self.inserted().saturating_sub(self.deleted())
    }

    pub(super) fn now(&self) -> Self {
        let fixed =
            |count: &Arc<AtomicU64>| Arc::new(AtomicU64::new(count.load(Ordering::Relaxed)));
        let batches = self.batches.iter();
        let batches =
            batches.map(|batch| Batch { inserted: fixed(&batch.inserted), ..batch.clone() });
        Self { batches: batches.collect(), deleted: fixed(&self.deleted) }
    }

    /// The rows of each client that inserted, from its first on. Only a table of one client has rows deleted.
    pub(super) fn streams(&self, spec: &InsertSpec) -> Vec<Stream> {
        let mut streams: Vec<Stream> = Vec::new();
        for batch in &self.now().batches {
            let part = (batch.clone(), Rows::new(spec, batch.seed, batch.client));
            match streams.iter_mut().find(|stream| stream.parts[0].0.client == batch.client) {
                Some(stream) => stream.parts.push(part),
                None => {
                    streams.push(Stream { parts: vec![part], at: (0, 0), date: Date::default() });
                }
            }
        }
        streams
    }
}

/// What loading stages insert into a table that these clients write to.
pub(super) fn loaded(
    spec: &InsertSpec,
    stages: &[Stage],
    seed: u64,
    clients: std::ops::Range<u32>,
) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut next = vec![0; clients.len()];
    for stage in stages {
        let rows_per_commit = stage.rows_per_commit(spec);
        let rows = stage.statements(spec) * u64::from(rows_per_commit);
        // The first client of a table inserts before its indexes are built.
        let writers = match stage {
            Stage::Index => 1,
            Stage::Load
            | Stage::Random { .. }
            | Stage::Settle
            | Stage::Warm
            | Stage::Query { .. } => clients.len(),
        };
        for (client, next) in clients.clone().zip(&mut next).take(writers) {
            batches.push(Batch {
                client,
                seed,
                first: *next,
                rows_per_commit,
                inserted: Arc::new(AtomicU64::new(rows)),
            });
            *next += rows;
        }
    }
    batches
}

/// The rows of one client, one after the other.
pub(super) struct Stream {
    parts: Vec<(Batch, Rows)>,
    /// The part and the row in it that comes next.
    at: (usize, u64),
    date: Date,
}

/// A row with all that a client sent.
pub(super) struct Inserted<'a> {
    pub(super) date: &'a str,
    pub(super) row: Row<'a>,
}

impl Stream {
    pub(super) fn len(&self) -> u64 {
        self.parts.iter().map(|(batch, _)| batch.rows()).sum()
    }

    pub(super) fn skip(&mut self, mut count: u64) {
        while count > 0
            && let Some((batch, _)) = self.parts.get(self.at.0)
        {
            let skipped = count.min(batch.rows() - self.at.1);
            count -= skipped;
            self.at.1 += skipped;
            if self.at.1 == batch.rows() {
                self.at = (self.at.0 + 1, 0);
            }
        }
    }

    /// Shows the next row; `None` where there is none left.
    pub(super) fn next(&mut self) -> Option<Inserted<'_>> {
        while self.parts.get(self.at.0)?.0.rows() == self.at.1 {
            self.at = (self.at.0 + 1, 0);
        }
        let (place, before) = self.at;
        self.at.1 += 1;
        let (batch, rows) = self.parts.get_mut(place)?;
        let first = batch.first + before - before % u64::from(batch.rows_per_commit);
        Some(Inserted { date: self.date.of(first), row: rows.row(batch.first + before) })
    }

    pub(super) fn again(&mut self) -> Option<Inserted<'_>> {
        self.at.1 = self.at.1.checked_sub(1)?;
        self.next()
    }

    /// Where the last row is, for people: `row 7 of client 1`.
    pub(super) fn place(&self) -> String {
        let (part, after) = self.at;
        let number = self.parts.get(part).map_or(0, |(batch, _)| batch.first + after);
        let client = self.parts.first().map_or(0, |(batch, _)| batch.client);
        // People count from 1, so this is the row before the next one.
        format!("row {number} of client {}", client + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::date_and_time;
    use super::super::tests::spec;
    use super::*;

    fn batch(client: u32, first: u64, rows_per_commit: u32, inserted: u64) -> Batch {
        Batch {
            client,
            seed: 7,
            first,
            rows_per_commit,
            inserted: Arc::new(AtomicU64::new(inserted)),
        }
    }

    fn table(batches: Vec<Batch>, deleted: u64) -> TableState {
        TableState { batches, deleted: Arc::new(AtomicU64::new(deleted)) }
    }

    #[test]
    fn rows_come_in_order_without_those_that_were_not_inserted() {
        // The second step was given up after 5 of 10 rows; the third one goes on behind them.
        let table = table(vec![batch(0, 0, 2, 4), batch(0, 4, 5, 5), batch(0, 14, 5, 5)], 6);
        assert_eq!((table.inserted(), table.rows()), (14, 8));
        let mut streams = table.streams(&spec());
        assert_eq!(streams.len(), 1);
        let stream = &mut streams[0];
        stream.skip(table.deleted());
        let mut expected = Rows::new(&spec(), 7, 0);
        for number in [6, 7, 8, 14, 15, 16, 17, 18] {
            let inserted = stream.next().unwrap();
            assert_eq!(inserted.row, expected.row(number), "{number}");
        }
        assert_eq!(stream.place(), "row 19 of client 1");
        assert_eq!(stream.again().unwrap().row, expected.row(18));
        assert!(stream.next().is_none());
    }

    #[test]
    fn all_rows_of_a_statement_have_the_date_of_its_first() {
        let table = table(vec![batch(0, 9_990, 20, 40)], 0);
        let mut stream = table.streams(&spec()).remove(0);
        let mut dates = Vec::new();
        while let Some(inserted) = stream.next() {
            dates.push(inserted.date.to_owned());
        }
        assert!(dates[..20].iter().all(|date| *date == date_and_time(9_990)));
        assert!(dates[20..].iter().all(|date| *date == date_and_time(10_010)));
        assert_ne!(dates[0], dates[39]);
    }

    #[test]
    fn each_client_of_a_table_has_a_stream() {
        let table = table(vec![batch(0, 0, 1, 2), batch(1, 0, 1, 1), batch(0, 2, 1, 1)], 0);
        let mut streams = table.streams(&spec());
        let rows = streams.iter_mut().map(|stream| {
            let mut rows = 0;
            while stream.next().is_some() {
                rows += 1;
            }
            rows
        });
        assert_eq!(rows.collect::<Vec<u64>>(), [3, 1]);
    }

    #[test]
    fn what_loads_is_known_without_having_loaded() {
        let spec = spec();
        let all = Stage::of_trial(&spec);
        let loading = &all[..Stage::loading(&all)];
        let batches = loaded(&spec, loading, 7, 2..3);
        let of = |batch: &Batch| (batch.client, batch.first, batch.rows_per_commit);
        // l.i0, l.x, l.i1, l.i2; the settle phase inserts nothing.
        assert_eq!(
            batches.iter().map(of).collect::<Vec<_>>(),
            [(2, 0, 100), (2, 2_000, 100), (2, 2_100, 50), (2, 2_900, 5), (2, 3_100, 100)]
        );
        assert_eq!(table(batches, 0).inserted(), 3_100);
        let shared = loaded(&spec, loading, 7, 0..3);
        assert_eq!(table(shared, 0).inserted(), 3 * 3_000 + 100);
    }
}

//! Where the loaded rows come from. A row is a function of the seed and its place alone, on every server.

use crate::checksum::{Form, Sum};
use crate::sink::{Hashes, Sink};
use crate::table::Batch;

/// Makes the rows of all tables of a workload, in batches.
pub trait Source: Send + Sync + 'static {
    type Rows<'a>: Rows
    where
        Self: 'a;

    fn rows(&self, batch: &Batch) -> Self::Rows<'_>;
    fn count(&self, batch: &Batch) -> u64;

    /// How many batches of at most `size` rows, about, a table has.
    fn batches(&self, table: usize, size: u32) -> u64;

    /// Batch `number` of these, from zero, in the order of the table's numbers.
    fn batch(&self, table: usize, size: u32, number: u64) -> Batch;
    fn total(&self, table: usize) -> u64 {
        let batches = 0..self.batches(table, u32::MAX);
        batches.map(|number| self.count(&self.batch(table, u32::MAX, number))).sum()
    }

    /// The sum of a batch, whose columns have these forms: what the server must return.
    fn sum(&self, batch: &Batch, forms: &[Form]) -> Sum {
        let mut hashes = Hashes::new(forms);
        let mut rows = self.rows(batch);
        while rows.put(&mut hashes) {}
        hashes.sum
    }
}

/// Makes the rows of a batch, one after the other.
pub trait Rows {
    /// Has the next row a NULL? `None` when there is none left.
    fn next_has_null(&self) -> Option<bool>;

    /// Shows the next row to `sink`; false when there is none left.
    fn put(&mut self, sink: &mut impl Sink) -> bool;
}

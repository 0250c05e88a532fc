//! The rows that are loaded. A row is a function of the seed and its place alone: the same whoever makes
//! it, in whatever order, and for whatever server.
//!
//! Batches are ranges of consecutive numbers, within one warehouse or district where rows belong to such.

mod lookup;
mod rows;
#[cfg(test)]
mod tests;

use model::{DISTRICTS, Rng, mix};

pub(super) use self::lookup::Lookup;
pub(super) use self::rows::{FIRST_PAYMENT, LOADED_AT};
use self::rows::{Rows, facts};
use super::random::Constants;
use super::scale::Scale;
use super::tables::Table;
use data::{Batch, Source};

/// Raised when a seed makes other rows than it did: what was loaded before cannot be used with it.
pub(super) const DATA_VERSION: u32 = 1;

/// What, besides the numbers of tables, seeds are derived for.
const PERMUTATION: u64 = 100;

#[derive(Clone, Copy, Debug)]
pub(super) struct Population {
    seed: u64,
    scale: Scale,
    constants: Constants,
}

impl Population {
    pub(super) fn new(scale: Scale, rows_seed: u64) -> Self {
        Self { seed: rows_seed, scale, constants: Constants::of_load(rows_seed) }
    }

    pub(super) fn stock_quantity(&self, warehouse: u32, item: u32) -> u32 {
        let base = self.derived(Table::Stock.seed(), [warehouse, 0]);
        rows::quantity(&mut rows::rng(base, item, 1))
    }

    /// The rows of a table in these warehouses, a batch for each group; all where they belong to none.
    fn of_warehouses(&self, table: Table, first: u32, last: u32) -> impl Iterator<Item = Batch> {
        let has_rows = self.slices(table, u32::MAX) > 0;
        let groups = table.groups_of(first, last).filter(move |_| has_rows);
        groups.map(move |group| self.batch(table as usize, u32::MAX, group))
    }

    /// The customers of a district in the order of their orders: each has one.
    fn customers(&self, warehouse: u32, district: u32) -> Vec<u32> {
        let mut customers: Vec<u32> = (1..=self.scale.customers).collect();
        let seed = self.derived(PERMUTATION, [warehouse, district]);
        Rng::new(seed).shuffle(&mut customers);
        customers
    }

    fn derived(&self, what: u64, [warehouse, district]: [u32; 2]) -> u64 {
        mix(self.seed, &[what, warehouse.into(), district.into()])
    }

    fn slices(&self, table: Table, size: u32) -> u64 {
        let (before, last) = self.scale.numbers(table);
        u64::from((last - before).div_ceil(numbers_of_batch(table, size)))
    }
}

impl Source for Population {
    type Rows<'a> = Rows;

    fn rows(&self, batch: &Batch) -> Rows {
        let table = Table::ALL[batch.table];
        let [warehouse, district] = batch.group;
        let mut rows = Rows {
            scale: self.scale,
            constants: self.constants,
            table,
            group: batch.group,
            keys: batch.first as u32..=batch.last as u32,
            base: self.derived(table.seed(), batch.group),
            orders: self.derived(Table::Orders.seed(), batch.group),
            customers: if table == Table::Orders {
                self.customers(warehouse, district)
            } else {
                Vec::new()
            },
            key: batch.first as u32,
            part: 1,
            parts: 1,
        };
        rows.parts = rows.parts_of(rows.key);
        rows
    }

    fn count(&self, batch: &Batch) -> u64 {
        let (table, keys) = (Table::ALL[batch.table], batch.first..=batch.last);
        if table == Table::OrderLine {
            let seed = self.derived(Table::Orders.seed(), batch.group);
            return keys.map(|order| u64::from(facts(seed, order as u32).lines)).sum();
        }
        keys.count() as u64 * u64::from(table.rows_of_number())
    }

    fn batches(&self, table: usize, size: u32) -> u64 {
        let table = Table::ALL[table];
        table.groups_of(1, self.scale.warehouses).count() as u64 * self.slices(table, size)
    }

    fn batch(&self, table: usize, size: u32, number: u64) -> Batch {
        let of = Table::ALL[table];
        let slices = self.slices(of, size).max(1);
        let (place, slice) = (number / slices, number % slices);
        let (before, last) = self.scale.numbers(of);
        let each = u64::from(numbers_of_batch(of, size));
        let first = u64::from(before) + 1 + slice * each;
        let districts = u64::from(DISTRICTS);
        let group = match of.groups() {
            0 => [0, 0],
            1 => [place + 1, 0],
            _ => [place / districts + 1, place % districts + 1],
        };
        let last = u64::from(last).min(first + each - 1);
        Batch { table, group: group.map(|number| number as u32), first, last }
    }
}

/// Numbers of a batch of at most `rows` rows, about; at least one.
fn numbers_of_batch(table: Table, rows: u32) -> u32 {
    (rows / table.rows_of_number()).max(1)
}

//! How the tables are cut into batches: ranges of keys in a row, of one warehouse or district where the table's
//! rows belong to such.

use std::ops::Range;

use model::DISTRICTS;

use super::{Population, Rows, orders};
use crate::tpcc::scale::MEAN_LINES;
use crate::tpcc::tables::Table;
use data::source::Source;
use data::table::Batch;

impl Source for Population {
    type Rows<'a> = Rows;

    fn rows(&self, batch: &Batch) -> Rows {
        let table = Table::ALL[batch.table];
        let [warehouse, district] = batch.group;
        let mut rows = Rows {
            population: *self,
            table,
            group: batch.group,
            keys: batch.first as u32..=batch.last as u32,
            base: self.derived(table.seed(), warehouse, district),
            orders: self.derived(Table::Orders.seed(), warehouse, district),
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
        let keys = batch.first..=batch.last;
        match Table::ALL[batch.table] {
            Table::District => keys.count() as u64 * u64::from(DISTRICTS),
            Table::OrderLine => {
                let [warehouse, district] = batch.group;
                let seed = self.derived(Table::Orders.seed(), warehouse, district);
                let lines = |order| u64::from(orders::facts(seed, order as u32).lines);
                keys.map(lines).sum()
            }
            Table::Warehouse
            | Table::Customer
            | Table::History
            | Table::NewOrder
            | Table::Orders
            | Table::Item
            | Table::Stock => keys.count() as u64,
        }
    }

    fn batches(&self, table: usize, size: u32) -> u64 {
        let table = Table::ALL[table];
        groups(table, 1, self.scale.warehouses).count() as u64 * self.slices(table, size)
    }

    fn batch(&self, table: usize, size: u32, number: u64) -> Batch {
        let of = Table::ALL[table];
        let slices = self.slices(of, size).max(1);
        let (place, slice) = (number / slices, number % slices);
        let (before, last) = self.keys(of);
        let each = u64::from(keys_of_batch(of, size));
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

impl Population {
    /// The rows of a table that belong to these warehouses, a batch for each group; all where they belong to
    /// none.
    pub(super) fn of_warehouses(
        &self,
        table: Table,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = Batch> {
        let groups = groups(table, first, last);
        let has_rows = self.slices(table, u32::MAX) > 0;
        groups
            .filter(move |_| has_rows)
            .map(move |group| self.batch(table as usize, u32::MAX, group))
    }

    fn slices(&self, table: Table, size: u32) -> u64 {
        let (before, last) = self.keys(table);
        u64::from((last - before).div_ceil(keys_of_batch(table, size)))
    }

    /// The key before the first one, and the last one, in each group.
    const fn keys(&self, table: Table) -> (u32, u32) {
        match table {
            Table::Warehouse | Table::District => (0, self.scale.warehouses),
            Table::Item | Table::Stock => (0, self.scale.items),
            Table::Customer | Table::History | Table::Orders | Table::OrderLine => {
                (0, self.scale.customers)
            }
            Table::NewOrder => (self.scale.delivered, self.scale.customers),
        }
    }
}

/// Keys of a batch of at most `rows` rows, about; at least one.
fn keys_of_batch(table: Table, rows: u32) -> u32 {
    let rows_of_key = match table {
        Table::District => DISTRICTS,
        Table::OrderLine => MEAN_LINES,
        Table::Warehouse
        | Table::Customer
        | Table::History
        | Table::NewOrder
        | Table::Orders
        | Table::Item
        | Table::Stock => 1,
    };
    (rows / rows_of_key).max(1)
}

/// The numbers of the groups of a table's rows in these warehouses.
fn groups(table: Table, first: u32, last: u32) -> Range<u64> {
    let of_warehouse = match table.groups() {
        0 => return 0..1,
        1 => 1,
        _ => u64::from(DISTRICTS),
    };
    (u64::from(first) - 1) * of_warehouse..u64::from(last) * of_warehouse
}

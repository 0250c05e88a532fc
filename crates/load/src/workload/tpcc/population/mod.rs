//! The rows that are loaded. A row is a function of the seed and its place alone: the same whoever makes
//! it, in whatever order, and for whatever server.

mod goods;
mod lookup;
mod orders;
mod people;
mod places;
mod sink;
mod units;

use model::{DISTRICTS, Rng, mix};

pub(super) use self::lookup::{Lookup, Pick};
pub(super) use self::people::FIRST_PAYMENT;
use self::sink::Hashes;
pub(super) use self::sink::{Cells, Lines, Sink, Tuples};
pub(super) use self::units::{Cuts, Unit};
use super::random::Constants;
use super::scale::Scale;
use super::tables::Table;
use crate::workload::sql::checksum::Sum;

/// Raised when a seed makes other rows than it did: what was loaded before cannot be used with it.
pub(super) const DATA_VERSION: u32 = 1;

/// The moment of the load, in every row that has one.
pub(super) const LOADED_AT: &str = "2026-01-01 00:00:00";

/// What, besides the numbers of tables, seeds are derived for.
const PERMUTATION: u64 = 100;

/// Makes the rows of all tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Population {
    seed: u64,
    scale: Scale,
    constants: Constants,
}

impl Population {
    /// The rows that `rows_seed` makes at this scale.
    pub(super) fn new(scale: Scale, rows_seed: u64) -> Self {
        Self {
            seed: rows_seed,
            scale,
            constants: Constants::of_load(rows_seed),
        }
    }

    /// Makes the rows of a unit.
    pub(super) fn rows(&self, unit: &Unit) -> Rows {
        let Unit {
            table,
            warehouse,
            district,
            first,
            ..
        } = *unit;
        let mut rows = Rows {
            population: *self,
            unit: *unit,
            base: self.derived(table as u64, warehouse, district),
            orders: self.derived(Table::Orders as u64, warehouse, district),
            customers: match table {
                Table::Orders => self.customers(warehouse, district),
                Table::Warehouse
                | Table::District
                | Table::Customer
                | Table::History
                | Table::NewOrder
                | Table::OrderLine
                | Table::Item
                | Table::Stock => Vec::new(),
            },
            key: first,
            part: 1,
            parts: 1,
        };
        rows.parts = rows.parts_of(first);
        rows
    }

    /// How many pieces of an item a warehouse has.
    pub(super) fn stock_quantity(&self, warehouse: u32, item: u32) -> u32 {
        let base = self.derived(Table::Stock as u64, warehouse, 0);
        goods::quantity(&mut row_rng(base, item, 1))
    }

    /// How many rows a unit has.
    pub(super) fn count(&self, unit: &Unit) -> u64 {
        let keys = u64::from(unit.last - unit.first) + 1;
        match unit.table {
            Table::District => keys * u64::from(DISTRICTS),
            Table::OrderLine => {
                let orders = self.derived(Table::Orders as u64, unit.warehouse, unit.district);
                let lines = |order| u64::from(orders::facts(orders, order).lines);
                (unit.first..=unit.last).map(lines).sum()
            }
            Table::Warehouse
            | Table::Customer
            | Table::History
            | Table::NewOrder
            | Table::Orders
            | Table::Item
            | Table::Stock => keys,
        }
    }

    /// How many rows a table has.
    pub(super) fn total(&self, table: Table) -> u64 {
        let cuts = Cuts::new(self.scale, u32::MAX);
        cuts.units(table).map(|unit| self.count(&unit)).sum()
    }

    /// The rows of a unit and the sum of their hashes: what the server must return.
    pub(super) fn sum(&self, unit: &Unit) -> Sum {
        let mut hashes = Hashes::new();
        let mut rows = self.rows(unit);
        while rows.put(&mut hashes) {}
        hashes.sum()
    }

    /// The customers of a district in the order of their orders: each has one.
    fn customers(&self, warehouse: u32, district: u32) -> Vec<u32> {
        let mut customers: Vec<u32> = (1..=self.scale.customers).collect();
        let seed = self.derived(PERMUTATION, warehouse, district);
        Rng::new(seed).shuffle(&mut customers);
        customers
    }

    fn derived(&self, what: u64, warehouse: u32, district: u32) -> u64 {
        mix(self.seed, &[what, warehouse.into(), district.into()])
    }
}

/// Makes the rows of a unit, one after the other.
pub(super) struct Rows {
    population: Population,
    unit: Unit,
    /// The seed of the unit's rows.
    base: u64,
    /// The seed of the orders of its district.
    orders: u64,
    /// The customer of each order of its district; of units of orders only.
    customers: Vec<u32>,
    /// The key of the next row.
    key: u32,
    /// Which of the rows with that key it is, from 1: a district of a warehouse, a line of an order.
    part: u32,
    /// How many there are.
    parts: u32,
}

impl Rows {
    /// Has the next row a NULL? `None` when there is none left.
    pub(super) fn next_has_null(&self) -> Option<bool> {
        let may_have = matches!(self.unit.table, Table::Orders | Table::OrderLine);
        let is_left = self.key <= self.unit.last;
        is_left.then_some(may_have && !self.is_delivered())
    }

    /// Shows the next row to `sink`; false when there is none left.
    pub(super) fn put(&mut self, sink: &mut impl Sink) -> bool {
        let Unit {
            table,
            warehouse,
            district,
            last,
            ..
        } = self.unit;
        let (key, part) = (self.key, self.part);
        if key > last {
            return false;
        }
        let Population {
            scale, constants, ..
        } = &self.population;
        let rng = &mut row_rng(self.base, key, part);
        let district = (warehouse, district);
        match table {
            Table::Warehouse => places::warehouse(rng, key, scale, sink),
            Table::District => places::district(rng, (key, part), scale, sink),
            Table::Customer => people::customer(rng, district, key, constants, sink),
            Table::History => people::history(rng, district, key, sink),
            Table::NewOrder => orders::new_order(district, key, sink),
            Table::Orders => {
                let customer = self.customers.get(key as usize - 1);
                let order = orders::Order {
                    district,
                    number: key,
                    is_delivered: self.is_delivered(),
                    facts: orders::facts(self.orders, key),
                };
                order.put(customer.copied().unwrap_or(key), sink);
            }
            Table::OrderLine => {
                let line = orders::Line {
                    district,
                    order: key,
                    number: part,
                    is_delivered: self.is_delivered(),
                };
                line.put(rng, scale.items, sink);
            }
            Table::Item => goods::item(rng, key, sink),
            Table::Stock => goods::stock(rng, warehouse, key, sink),
        }
        sink.end_row();
        self.go_on();
        true
    }

    /// Of orders and their lines: is the next one's order delivered?
    fn is_delivered(&self) -> bool {
        self.key <= self.population.scale.delivered
    }

    fn go_on(&mut self) {
        if self.part < self.parts {
            self.part += 1;
        } else {
            self.key += 1;
            self.part = 1;
            self.parts = self.parts_of(self.key);
        }
    }

    /// Goes to the row with this key and part; false where the unit has none.
    fn seek(&mut self, key: u32, part: u32) -> bool {
        if !(self.unit.first..=self.unit.last).contains(&key) {
            return false;
        }
        (self.key, self.part, self.parts) = (key, part, self.parts_of(key));
        (1..=self.parts).contains(&part)
    }

    /// How many rows have this key.
    fn parts_of(&self, key: u32) -> u32 {
        match self.unit.table {
            Table::District => DISTRICTS,
            Table::OrderLine => orders::facts(self.orders, key).lines,
            Table::Warehouse
            | Table::Customer
            | Table::History
            | Table::NewOrder
            | Table::Orders
            | Table::Item
            | Table::Stock => 1,
        }
    }
}

/// The random numbers of a row.
#[inline]
fn row_rng(base: u64, key: u32, part: u32) -> Rng {
    Rng::new(mix(base, &[key.into(), part.into()]))
}

#[cfg(test)]
mod tests;

//! The rows that are loaded. A row is a function of the seed and its place alone: the same whoever makes
//! it, in whatever order, and for whatever server.

mod batches;
mod goods;
mod lookup;
mod orders;
mod people;
mod places;

use std::ops::RangeInclusive;

use model::{DISTRICTS, Rng, mix};

pub(super) use self::lookup::Lookup;
pub(super) use self::orders::LOADED_AT;
pub(super) use self::places::FIRST_PAYMENT;
use super::random::Constants;
use super::scale::Scale;
use super::tables::Table;
use data::sink::Sink;
use data::source;

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
    /// The rows that `rows_seed` makes at this scale.
    pub(super) fn new(scale: Scale, rows_seed: u64) -> Self {
        Self { seed: rows_seed, scale, constants: Constants::of_load(rows_seed) }
    }

    pub(super) fn stock_quantity(&self, warehouse: u32, item: u32) -> u32 {
        let base = self.derived(Table::Stock.seed(), warehouse, 0);
        goods::quantity(&mut row_rng(base, item, 1))
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

/// Makes the rows of a batch, one after the other.
pub(super) struct Rows {
    population: Population,
    table: Table,
    /// Warehouse and district, where these group the rows.
    group: [u32; 2],
    keys: RangeInclusive<u32>,
    base: u64,
    /// The seed of the orders of its district.
    orders: u64,
    /// The customer of each order of its district; of batches of orders only.
    customers: Vec<u32>,
    key: u32,
    /// Which of the rows with that key it is, from 1: a district of a warehouse, a line of an order.
    part: u32,
    parts: u32,
}

impl source::Rows for Rows {
    fn next_has_null(&self) -> Option<bool> {
        let may_have = matches!(self.table, Table::Orders | Table::OrderLine);
        let is_left = self.key <= *self.keys.end();
        is_left.then_some(may_have && !self.is_delivered())
    }

    fn put(&mut self, sink: &mut impl Sink) -> bool {
        let (key, part) = (self.key, self.part);
        if key > *self.keys.end() {
            return false;
        }
        let Population { scale, constants, .. } = &self.population;
        let rng = &mut row_rng(self.base, key, part);
        let [warehouse, district] = self.group;
        let district = (warehouse, district);
        match self.table {
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
}

impl Rows {
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

    /// Goes to the row with this key and part; false where the batch has none.
    fn seek(&mut self, key: u32, part: u32) -> bool {
        if !self.keys.contains(&key) {
            return false;
        }
        (self.key, self.part, self.parts) = (key, part, self.parts_of(key));
        (1..=self.parts).contains(&part)
    }

    fn parts_of(&self, key: u32) -> u32 {
        match self.table {
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

#[inline]
fn row_rng(base: u64, key: u32, part: u32) -> Rng {
    Rng::new(mix(base, &[key.into(), part.into()]))
}

#[cfg(test)]
mod tests;

//! What each row holds.

use std::ops::RangeInclusive;

use model::{DISTRICTS, Rng, mix};

use crate::tpcc::money::{OF_CENTS, OF_RATES};
use crate::tpcc::random::{
    Constants, OF_NAMES, between, data, digits, last_name, letters, nurand, state, zip,
};
use crate::tpcc::scale::Scale;
use crate::tpcc::tables::Table;
use data::{Sink, source};

/// The moment of the load, in every row that has one.
pub(crate) const LOADED_AT: &str = "2026-01-01 00:00:00";

/// What each customer has paid, in cents.
pub(crate) const FIRST_PAYMENT: i64 = 1000;

/// Up to how much a customer may owe, in cents.
const CREDIT_LIMIT: i64 = 5_000_000;

/// The highest discount and the highest tax, in ten-thousandths.
const HIGHEST_DISCOUNT: u32 = 5000;
const HIGHEST_TAX: u32 = 2000;

/// Pieces of each line.
const QUANTITY: i64 = 5;

/// The highest amount of a line that is not delivered, in cents.
const HIGHEST_AMOUNT: u32 = 999_999;

/// Makes the rows of a batch, one after the other.
pub(crate) struct Rows {
    pub(super) scale: Scale,
    pub(super) constants: Constants,
    pub(super) table: Table,
    /// Warehouse and district, where these group the rows.
    pub(super) group: [u32; 2],
    pub(super) keys: RangeInclusive<u32>,
    pub(super) base: u64,
    /// The seed of the orders of its district.
    pub(super) orders: u64,
    /// The customer of each order of its district; of batches of orders only.
    pub(super) customers: Vec<u32>,
    pub(super) key: u32,
    /// Which of the rows with that key it is, from 1: a district of a warehouse, a line of an order.
    pub(super) part: u32,
    pub(super) parts: u32,
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
        let Self { scale, constants, .. } = &*self;
        let rng = &mut rng(self.base, key, part);
        let [warehouse, district] = self.group;
        match self.table {
            Table::Warehouse => put_warehouse(rng, key, scale, sink),
            Table::District => put_district(rng, [key, part], scale, sink),
            Table::Customer => put_customer(rng, [warehouse, district, key], constants, sink),
            Table::History => put_history(rng, [warehouse, district, key], sink),
            Table::NewOrder => put_ints([warehouse, district, key], sink),
            Table::Orders => self.put_order(sink),
            Table::OrderLine => self.put_line(rng, sink),
            Table::Item => put_item(rng, key, sink),
            Table::Stock => put_stock(rng, [warehouse, key], sink),
        }
        sink.end_row();
        if self.part < self.parts {
            self.part += 1;
        } else {
            self.key += 1;
            self.part = 1;
            self.parts = self.parts_of(self.key);
        }
        true
    }
}

impl Rows {
    /// Of orders and their lines: is the next one's order delivered?
    fn is_delivered(&self) -> bool {
        self.key <= self.scale.delivered
    }

    /// Goes to the row with this key and part; false where the batch has none.
    pub(super) fn seek(&mut self, key: u32, part: u32) -> bool {
        if !self.keys.contains(&key) {
            return false;
        }
        (self.key, self.part, self.parts) = (key, part, self.parts_of(key));
        (1..=self.parts).contains(&part)
    }

    pub(super) fn parts_of(&self, key: u32) -> u32 {
        if self.table == Table::OrderLine {
            facts(self.orders, key).lines
        } else {
            self.table.rows_of_number()
        }
    }

    fn put_order(&self, sink: &mut impl Sink) {
        let [warehouse, district] = self.group;
        let Facts { lines, carrier } = facts(self.orders, self.key);
        let customer = self.customers.get(self.key as usize - 1);
        put_ints([warehouse, district, self.key, *customer.unwrap_or(&self.key)], sink);
        sink.fixed(LOADED_AT);
        if self.is_delivered() {
            sink.int(carrier.into());
        } else {
            sink.null();
        }
        put_ints([lines, 1], sink);
    }

    fn put_line(&self, rng: &mut Rng, sink: &mut impl Sink) {
        let [warehouse, district] = self.group;
        let item = between(rng, 1, self.scale.items);
        put_ints([warehouse, district, self.key, self.part, item, warehouse], sink);
        let is_delivered = self.is_delivered();
        if is_delivered {
            sink.fixed(LOADED_AT);
        } else {
            sink.null();
        }
        sink.int(QUANTITY);
        let amount = if is_delivered { 0 } else { between(rng, 1, HIGHEST_AMOUNT) };
        sink.decimal(amount.into(), OF_CENTS);
        sink.text(|out| letters(rng, 24, 24, out));
    }
}

#[inline]
pub(super) fn rng(base: u64, key: u32, part: u32) -> Rng {
    Rng::new(mix(base, &[key.into(), part.into()]))
}

/// What is drawn for an order, and known to its lines.
pub(super) struct Facts {
    pub(super) lines: u32,
    carrier: u32,
}

/// What is drawn for order `number` of the district whose orders have this seed.
pub(super) fn facts(orders: u64, number: u32) -> Facts {
    let mut rng = Rng::new(mix(orders, &[number.into()]));
    Facts { lines: between(&mut rng, 5, 15), carrier: between(&mut rng, 1, 10) }
}

#[inline]
fn put_ints<const N: usize>(numbers: [u32; N], sink: &mut impl Sink) {
    for number in numbers {
        sink.int(number.into());
    }
}

/// What the customers of a district have paid: one payment each.
fn paid(scale: &Scale) -> i64 {
    i64::from(scale.customers) * FIRST_PAYMENT
}

fn put_warehouse(rng: &mut Rng, number: u32, scale: &Scale, sink: &mut impl Sink) {
    sink.int(number.into());
    put_place(rng, sink);
    sink.decimal(i64::from(DISTRICTS) * paid(scale), OF_CENTS);
}

/// A district: its warehouse and its number there.
fn put_district(rng: &mut Rng, key: [u32; 2], scale: &Scale, sink: &mut impl Sink) {
    put_ints(key, sink);
    put_place(rng, sink);
    sink.decimal(paid(scale), OF_CENTS);
    sink.int(i64::from(scale.customers) + 1);
}

/// Name, address and tax of a warehouse or district.
fn put_place(rng: &mut Rng, sink: &mut impl Sink) {
    sink.text(|out| letters(rng, 6, 10, out));
    put_address(rng, sink);
    sink.decimal(between(rng, 0, HIGHEST_TAX).into(), OF_RATES);
}

fn put_address(rng: &mut Rng, sink: &mut impl Sink) {
    for _ in 0..3 {
        sink.text(|out| letters(rng, 10, 20, out));
    }
    sink.text(|out| state(rng, out));
    sink.text(|out| zip(rng, out));
}

/// A customer: warehouse, district, number. A district's first thousand have all last names, one each.
fn put_customer(rng: &mut Rng, key: [u32; 3], constants: &Constants, sink: &mut impl Sink) {
    put_ints(key, sink);
    sink.text(|out| letters(rng, 8, 16, out));
    sink.fixed("OE");
    let name = match key[2] {
        number @ 1..=1000 => number - 1,
        _ => nurand(rng, OF_NAMES, 0, 999, constants.name),
    };
    sink.text(|out| last_name(name, out));
    put_address(rng, sink);
    sink.text(|out| digits(rng, 16, out));
    sink.fixed(LOADED_AT);
    let credit = if rng.below(10) == 0 { "BC" } else { "GC" };
    sink.fixed(credit);
    sink.decimal(CREDIT_LIMIT, OF_CENTS);
    sink.decimal(between(rng, 0, HIGHEST_DISCOUNT).into(), OF_RATES);
    sink.decimal(-FIRST_PAYMENT, OF_CENTS);
    sink.decimal(FIRST_PAYMENT, OF_CENTS);
    put_ints([1, 0], sink);
    sink.text(|out| letters(rng, 300, 500, out));
}

/// What a customer paid: warehouse, district and number of the customer.
fn put_history(rng: &mut Rng, customer: [u32; 3], sink: &mut impl Sink) {
    let [warehouse, district, number] = customer;
    put_ints([warehouse, district, number, warehouse, district], sink);
    sink.fixed(LOADED_AT);
    sink.decimal(FIRST_PAYMENT, OF_CENTS);
    sink.text(|out| letters(rng, 12, 24, out));
}

fn put_item(rng: &mut Rng, number: u32, sink: &mut impl Sink) {
    put_ints([number, between(rng, 1, 10_000)], sink);
    sink.text(|out| letters(rng, 14, 24, out));
    sink.decimal(between(rng, 100, 10_000).into(), OF_CENTS);
    sink.text(|out| data(rng, out));
}

/// How many pieces of an item a warehouse has: what is drawn first for its row.
pub(super) fn quantity(rng: &mut Rng) -> u32 {
    between(rng, 10, 100)
}

/// What a warehouse has of an item: the information for each district, nothing sold yet.
fn put_stock(rng: &mut Rng, [warehouse, item]: [u32; 2], sink: &mut impl Sink) {
    put_ints([warehouse, item, quantity(rng)], sink);
    for _ in 0..DISTRICTS {
        sink.text(|out| letters(rng, 24, 24, out));
    }
    put_ints([0; 3], sink);
    sink.text(|out| data(rng, out));
}

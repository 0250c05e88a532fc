//! Rows of orders, of their lines and of the queue for delivery.

use model::{Rng, mix};

use crate::tpcc::money::OF_CENTS;
use crate::tpcc::random::{between, letters};
use data::sink::Sink;

/// The moment of the load, in every row that has one.
pub(crate) const LOADED_AT: &str = "2026-01-01 00:00:00";

/// Pieces of each line.
const QUANTITY: i64 = 5;

/// The highest amount of a line that is not delivered, in cents.
const HIGHEST_AMOUNT: u32 = 999_999;

/// What is drawn for an order, and known to its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) lines: u32,
    carrier: u32,
}

/// What is drawn for order `number` of the district whose orders have this seed.
pub(super) fn facts(orders: u64, number: u32) -> Facts {
    let mut rng = Rng::new(mix(orders, &[number.into()]));
    Facts { lines: between(&mut rng, 5, 15), carrier: between(&mut rng, 1, 10) }
}
pub(super) struct Order {
    pub(super) district: (u32, u32),
    pub(super) number: u32,
    pub(super) is_delivered: bool,
    pub(super) facts: Facts,
}

impl Order {
    /// Shows it, as the order of `customer`.
    pub(super) fn put(&self, customer: u32, sink: &mut impl Sink) {
        sink.int(self.district.0.into());
        sink.int(self.district.1.into());
        sink.int(self.number.into());
        sink.int(customer.into());
        sink.fixed(LOADED_AT);
        if self.is_delivered {
            sink.int(self.facts.carrier.into());
        } else {
            sink.null();
        }
        sink.int(self.facts.lines.into());
        sink.int(1);
    }
}
pub(super) struct Line {
    pub(super) district: (u32, u32),
    pub(super) order: u32,
    pub(super) number: u32,
    pub(super) is_delivered: bool,
}

impl Line {
    /// Shows it; `items` is the number of items.
    pub(super) fn put(&self, rng: &mut Rng, items: u32, sink: &mut impl Sink) {
        let (warehouse, district) = self.district;
        sink.int(warehouse.into());
        sink.int(district.into());
        sink.int(self.order.into());
        sink.int(self.number.into());
        sink.int(between(rng, 1, items).into());
        sink.int(warehouse.into());
        if self.is_delivered {
            sink.fixed(LOADED_AT);
        } else {
            sink.null();
        }
        sink.int(QUANTITY);
        let amount = if self.is_delivered { 0 } else { between(rng, 1, HIGHEST_AMOUNT) };
        sink.decimal(amount.into(), OF_CENTS);
        sink.text(|out| letters(rng, 24, 24, out));
    }
}

pub(super) fn new_order(district: (u32, u32), order: u32, sink: &mut impl Sink) {
    sink.int(district.0.into());
    sink.int(district.1.into());
    sink.int(order.into());
}

//! Rows of items and of what a warehouse has of them.

use model::{DISTRICTS, Rng};

use crate::tpcc::money::OF_CENTS;
use crate::tpcc::random::{between, data, letters};
use data::sink::Sink;
pub(super) fn item(rng: &mut Rng, number: u32, sink: &mut impl Sink) {
    sink.int(number.into());
    sink.int(between(rng, 1, 10_000).into());
    sink.text(|out| letters(rng, 14, 24, out));
    sink.decimal(between(rng, 100, 10_000).into(), OF_CENTS);
    sink.text(|out| data(rng, out));
}

/// How many pieces of an item a warehouse has: what is drawn first for its row.
pub(super) fn quantity(rng: &mut Rng) -> u32 {
    between(rng, 10, 100)
}

/// What a warehouse has of an item: the information for each district, nothing sold yet.
pub(super) fn stock(rng: &mut Rng, warehouse: u32, item: u32, sink: &mut impl Sink) {
    sink.int(warehouse.into());
    sink.int(item.into());
    sink.int(quantity(rng).into());
    for _ in 0..DISTRICTS {
        sink.text(|out| letters(rng, 24, 24, out));
    }
    for _sold in 0..3 {
        sink.int(0);
    }
    sink.text(|out| data(rng, out));
}

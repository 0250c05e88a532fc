//! Rows of warehouses and districts.

use model::{DISTRICTS, Rng};

use crate::tpcc::money::{OF_CENTS, OF_RATES};
use crate::tpcc::random::{between, letters, state, zip};
use crate::tpcc::scale::Scale;
use data::sink::Sink;

/// What each customer has paid, in cents.
pub(crate) const FIRST_PAYMENT: i64 = 1000;

/// The highest tax, in ten-thousandths.
const HIGHEST_TAX: u32 = 2000;

/// What the customers of a district have paid: one payment each.
fn paid(scale: &Scale) -> i64 {
    i64::from(scale.customers) * FIRST_PAYMENT
}
pub(super) fn warehouse(rng: &mut Rng, number: u32, scale: &Scale, sink: &mut impl Sink) {
    sink.int(number.into());
    sink.text(|out| letters(rng, 6, 10, out));
    address(rng, sink);
    sink.decimal(between(rng, 0, HIGHEST_TAX).into(), OF_RATES);
    sink.decimal(i64::from(DISTRICTS) * paid(scale), OF_CENTS);
}

/// A district: its warehouse and its number there.
pub(super) fn district(
    rng: &mut Rng,
    (warehouse, number): (u32, u32),
    scale: &Scale,
    sink: &mut impl Sink,
) {
    sink.int(warehouse.into());
    sink.int(number.into());
    sink.text(|out| letters(rng, 6, 10, out));
    address(rng, sink);
    sink.decimal(between(rng, 0, HIGHEST_TAX).into(), OF_RATES);
    sink.decimal(paid(scale), OF_CENTS);
    sink.int(i64::from(scale.customers) + 1);
}

pub(super) fn address(rng: &mut Rng, sink: &mut impl Sink) {
    for _ in 0..3 {
        sink.text(|out| letters(rng, 10, 20, out));
    }
    sink.text(|out| state(rng, out));
    sink.text(|out| zip(rng, out));
}

//! Rows of warehouses and districts.

use model::{DISTRICTS, Rng};

use super::people::FIRST_PAYMENT;
use super::sink::Sink;
use crate::workload::tpcc::random::{between, letters, state, zip};
use crate::workload::tpcc::scale::Scale;

/// The highest tax, in ten-thousandths.
const HIGHEST_TAX: u32 = 2000;

/// What the customers of a district have paid: one payment each.
fn paid(scale: &Scale) -> i64 {
    i64::from(scale.customers) * FIRST_PAYMENT
}

/// Warehouse `number`.
pub(super) fn warehouse(rng: &mut Rng, number: u32, scale: &Scale, sink: &mut impl Sink) {
    sink.int(number.into());
    sink.text(|out| letters(rng, 6, 10, out));
    address(rng, sink);
    sink.rate(between(rng, 0, HIGHEST_TAX).into());
    sink.cents(i64::from(DISTRICTS) * paid(scale));
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
    sink.rate(between(rng, 0, HIGHEST_TAX).into());
    sink.cents(paid(scale));
    sink.int(i64::from(scale.customers) + 1);
}

/// Two streets, city, state, zip.
pub(super) fn address(rng: &mut Rng, sink: &mut impl Sink) {
    for _ in 0..3 {
        sink.text(|out| letters(rng, 10, 20, out));
    }
    sink.text(|out| state(rng, out));
    sink.text(|out| zip(rng, out));
}

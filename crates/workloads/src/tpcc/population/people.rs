//! Rows of customers and of what they have paid.

use model::Rng;

use super::orders::LOADED_AT;
use super::places::{FIRST_PAYMENT, address};
use crate::tpcc::money::{OF_CENTS, OF_RATES};
use crate::tpcc::random::{Constants, OF_NAMES, between, digits, last_name, letters, nurand};
use data::sink::Sink;

/// Up to how much a customer may owe, in cents.
const CREDIT_LIMIT: i64 = 5_000_000;

/// The highest discount, in ten-thousandths.
const HIGHEST_DISCOUNT: u32 = 5000;

/// Customer `number` of a district, which is a warehouse and a number there. The first thousand have one
/// last name each, so that there is somebody of every name.
pub(super) fn customer(
    rng: &mut Rng,
    (warehouse, district): (u32, u32),
    number: u32,
    constants: &Constants,
    sink: &mut impl Sink,
) {
    sink.int(warehouse.into());
    sink.int(district.into());
    sink.int(number.into());
    sink.text(|out| letters(rng, 8, 16, out));
    sink.fixed("OE");
    let name = match number {
        1..=1000 => number - 1,
        _ => nurand(rng, OF_NAMES, 0, 999, constants.name),
    };
    sink.text(|out| last_name(name, out));
    address(rng, sink);
    sink.text(|out| digits(rng, 16, out));
    sink.fixed(LOADED_AT);
    let credit = if rng.below(10) == 0 { "BC" } else { "GC" };
    sink.fixed(credit);
    sink.decimal(CREDIT_LIMIT, OF_CENTS);
    sink.decimal(between(rng, 0, HIGHEST_DISCOUNT).into(), OF_RATES);
    sink.decimal(-FIRST_PAYMENT, OF_CENTS);
    sink.decimal(FIRST_PAYMENT, OF_CENTS);
    sink.int(1);
    sink.int(0);
    sink.text(|out| letters(rng, 300, 500, out));
}

pub(super) fn history(
    rng: &mut Rng,
    (warehouse, district): (u32, u32),
    customer: u32,
    sink: &mut impl Sink,
) {
    sink.int(warehouse.into());
    sink.int(district.into());
    sink.int(customer.into());
    sink.int(warehouse.into());
    sink.int(district.into());
    sink.fixed(LOADED_AT);
    sink.decimal(FIRST_PAYMENT, OF_CENTS);
    sink.text(|out| letters(rng, 12, 24, out));
}

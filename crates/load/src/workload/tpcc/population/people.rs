//! Rows of customers and of what they have paid.

use model::Rng;

use super::LOADED_AT;
use super::places::address;
use super::sink::Sink;
use crate::workload::tpcc::random::{
    Constants, OF_NAMES, between, digits, last_name, letters, nurand,
};

/// What each customer has paid, in cents.
pub(in crate::workload::tpcc) const FIRST_PAYMENT: i64 = 1000;

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
    sink.text(|out| out.push_str("OE"));
    let name = match number {
        1..=1000 => number - 1,
        _ => nurand(rng, OF_NAMES, 0, 999, constants.name),
    };
    sink.text(|out| last_name(name, out));
    address(rng, sink);
    sink.text(|out| digits(rng, 16, out));
    sink.time(LOADED_AT);
    let credit = if rng.below(10) == 0 { "BC" } else { "GC" };
    sink.text(|out| out.push_str(credit));
    sink.cents(CREDIT_LIMIT);
    sink.rate(between(rng, 0, HIGHEST_DISCOUNT).into());
    sink.cents(-FIRST_PAYMENT);
    sink.cents(FIRST_PAYMENT);
    sink.int(1);
    sink.int(0);
    sink.text(|out| letters(rng, 300, 500, out));
}

/// The payment of that customer, made at home.
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
    sink.time(LOADED_AT);
    sink.cents(FIRST_PAYMENT);
    sink.text(|out| letters(rng, 12, 24, out));
}

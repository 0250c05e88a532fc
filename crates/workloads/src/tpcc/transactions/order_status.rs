//! Order-Status: reads a customer's newest order.

use std::hint::black_box;

use drivers::{Row, Value};
use model::TpccProfile;

use super::customer;
use super::exchange::{Exchange, Stopped, cents, int, number, shown};
use super::memory::Memory;
use crate::tpcc::input::{FEWEST_LINES, MOST_LINES, OrderStatus};
use crate::tpcc::outcome::Outcome;
use crate::tpcc::statements::Ask;

pub(super) fn run(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    status: &OrderStatus,
) -> Result<Outcome, Stopped> {
    exchange.begin_reading()?;
    let place = (status.warehouse, status.district);
    let (id, balance) = customer::balance(exchange, memory, place, &status.customer)?;
    let (warehouse, district, id) = (int(status.warehouse), int(status.district), int(id));
    let newest = |row: &dyn Row| {
        let order = number(row, 0)?;
        shown(row, 1..2)?;
        Some((order, row.value(2) != Value::Null))
    };
    let key = [warehouse, district, id, warehouse, district, id];
    let key = match exchange.spec.profile {
        TpccProfile::Standard => &key[..3],
        // It asks for the largest number first.
        TpccProfile::Percona => &key[..],
    };
    let (order, is_delivered) = exchange.one(Ask::NewestOrder, key, newest)?;
    read_lines(exchange, memory, [status.warehouse, status.district, order])?;
    exchange.commit()?;
    // A terminal shows it.
    black_box((balance, is_delivered));
    Ok(Outcome::default())
}

fn read_lines(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    order: [u32; 3],
) -> Result<(), Stopped> {
    let dialect = exchange.dialect();
    let key = order.map(int);
    let found = exchange.all(Ask::Lines.place(), &key, |row| {
        shown(row, 0..3)?;
        let amount = cents(row, 3, dialect)?;
        memory.sample.line(order[2], amount, row);
        black_box((amount, row.value(4)));
        Some(())
    })?;
    if (FEWEST_LINES..=MOST_LINES).contains(&(found as usize)) {
        Ok(())
    } else {
        Err(exchange.unlike("5 to 15", found, Ask::Lines.place(), &key))
    }
}

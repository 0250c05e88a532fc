//! Delivery: delivers the oldest order of each district.

use drivers::Param;
use model::DISTRICTS;

use super::delivery_lists::{self, oldest};
use super::exchange::{Exchange, Stopped, amount, cents, int, number};
use super::memory::Memory;
use crate::tpcc::input::{Delivery, FEWEST_LINES, MOST_LINES};
use crate::tpcc::money;
use crate::tpcc::outcome::{Outcome, Progress};
use crate::tpcc::statements::Ask;

pub(super) fn run(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    delivery: Delivery,
    progress: &mut Progress,
) -> Result<Outcome, Stopped> {
    if exchange.spec.delivery_by_district {
        return by_district(exchange, delivery, progress);
    }
    exchange.begin()?;
    let skipped = if exchange.is_batched() {
        delivery_lists::run(exchange, memory, delivery)?
    } else {
        one_by_one(exchange, delivery)?
    };
    exchange.commit()?;
    Ok(Outcome { skipped, ..Outcome::default() })
}

/// Delivers the oldest order of every district. How many districts had none.
fn one_by_one(exchange: &mut Exchange<'_>, delivery: Delivery) -> Result<u32, Stopped> {
    let mut skipped = 0;
    for district in 1..=DISTRICTS {
        skipped += u32::from(!deliver(exchange, delivery, district)?);
    }
    Ok(skipped)
}

/// A transaction for each district; what is done is not done again.
fn by_district(
    exchange: &mut Exchange<'_>,
    delivery: Delivery,
    progress: &mut Progress,
) -> Result<Outcome, Stopped> {
    while progress.districts < DISTRICTS {
        exchange.begin()?;
        let is_delivered = deliver(exchange, delivery, progress.districts + 1)?;
        exchange.commit()?;
        progress.districts += 1;
        progress.skipped += u32::from(!is_delivered);
    }
    Ok(Outcome { skipped: progress.skipped, ..Outcome::default() })
}

/// Delivers the oldest order of a district; false where there is none. Rows are changed before they are
/// read: what a transaction of InnoDB reads without a lock is as old as its first such read, but what it
/// changed is always there. An order of the second district may be younger than the read of the first.
fn deliver(
    exchange: &mut Exchange<'_>,
    delivery: Delivery,
    district: u32,
) -> Result<bool, Stopped> {
    let Some(order) = oldest(exchange, delivery, district)? else {
        return Ok(false);
    };
    let dialect = exchange.dialect();
    let (warehouse, district) = (int(delivery.warehouse), int(district));
    let key = [warehouse, district, int(order)];
    exchange.change(Ask::Dequeue, &key)?;
    let carried = [int(delivery.carrier), warehouse, district, int(order)];
    exchange.change(Ask::SetCarrier, &carried)?;
    let customer = exchange.one(Ask::Orderer, &key, |row| number(row, 0))?;
    let done = exchange.send(Ask::SetDelivered.place(), &key, &mut |_| ())?;
    if !(FEWEST_LINES..=MOST_LINES).contains(&(done.affected as usize)) {
        let place = Ask::SetDelivered.place();
        return Err(exchange.unlike("5 to 15 to change", done.affected, place, &key));
    }
    let sum = exchange.one(Ask::SumLines, &key, |row| cents(row, 0, dialect))?;
    let digits = money::digits(sum);
    let charged: [Param<'_>; 4] =
        [amount(dialect, sum, &digits), warehouse, district, int(customer)];
    exchange.change(Ask::Charge, &charged)?;
    Ok(true)
}

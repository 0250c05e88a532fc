//! The districts of a Delivery together, once the heads of their queues are locked.

use drivers::Param;
use model::DISTRICTS;

use super::exchange::{Exchange, Stopped, amount, cents, int, number};
use super::memory::Memory;
use crate::sql::client::emptied;
use crate::tpcc::input::{Delivery, FEWEST_LINES, MOST_LINES};
use crate::tpcc::money;
use crate::tpcc::statements::{Ask, List};

/// An order that is delivered.
#[derive(Clone, Copy, Debug, Default)]
struct Parcel {
    district: u32,
    order: u32,
    customer: u32,
    cents: i64,
}

/// The orders that are delivered, one of a district at most.
#[derive(Debug, Default)]
struct Parcels {
    count: usize,
    all: [Parcel; DISTRICTS as usize],
}

impl Parcels {
    fn get(&self) -> &[Parcel] {
        &self.all[..self.count]
    }

    fn of_district(&mut self, district: u32) -> Option<&mut Parcel> {
        let mut parcels = self.all[..self.count].iter_mut();
        parcels.find(|parcel| parcel.district == district)
    }
}

/// Delivers the oldest order of every district. How many districts had none.
pub(super) fn run(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    delivery: Delivery,
) -> Result<u32, Stopped> {
    let mut parcels = Parcels::default();
    for district in 1..=DISTRICTS {
        if let Some(order) = oldest(exchange, delivery, district)? {
            parcels.all[parcels.count] = Parcel { district, order, ..Parcel::default() };
            parcels.count += 1;
        }
    }
    if parcels.count > 0 {
        let mut params: Vec<Param<'_>> = std::mem::take(&mut memory.params);
        deliver(exchange, &mut parcels, delivery, &mut params)?;
        memory.params = charge(exchange, &parcels, delivery, emptied(params))?;
    }
    Ok(DISTRICTS - parcels.count as u32)
}

/// Takes the orders from their queues and finds out whose they are and what they cost.
fn deliver(
    exchange: &mut Exchange<'_>,
    parcels: &mut Parcels,
    delivery: Delivery,
    params: &mut Vec<Param<'_>>,
) -> Result<(), Stopped> {
    let dialect = exchange.dialect();
    let count = parcels.count;
    params.clear();
    // First the carrier, then the keys: most statements need only these.
    params.push(int(delivery.carrier));
    for parcel in parcels.get() {
        let key = [delivery.warehouse, parcel.district, parcel.order];
        params.extend(key.map(int));
    }
    let all = params.as_slice();
    let keys = &all[1..];
    exchange.change_all(List::DequeueAll.place(count), keys, count as u64)?;
    exchange.change_all(List::SetCarriers.place(count), all, count as u64)?;
    let place = List::Orderers.place(count);
    let found = exchange.all(place, keys, |row| {
        parcels.of_district(number(row, 0)?)?.customer = number(row, 1)?;
        Some(())
    })?;
    if found != count as u64 || parcels.get().iter().any(|parcel| parcel.customer == 0) {
        return Err(exchange.unlike("one of each order", found, place, keys));
    }
    let place = List::SetAllDelivered.place(count);
    let lines = exchange.send(place, keys, &mut |_| ())?.affected;
    if !(count * FEWEST_LINES..=count * MOST_LINES).contains(&(lines as usize)) {
        return Err(exchange.unlike("5 to 15 of each order", lines, place, keys));
    }
    let place = List::Sums.place(count);
    let found = exchange.all(place, keys, |row| {
        parcels.of_district(number(row, 0)?)?.cents = cents(row, 1, dialect)?;
        Some(())
    })?;
    if found == count as u64 {
        Ok(())
    } else {
        Err(exchange.unlike("one of each order", found, place, keys))
    }
}

/// Adds what the orders cost to what their customers owe. The memory of the parameters comes back.
fn charge(
    exchange: &mut Exchange<'_>,
    parcels: &Parcels,
    delivery: Delivery,
    memory: Vec<Param<'static>>,
) -> Result<Vec<Param<'static>>, Stopped> {
    let dialect = exchange.dialect();
    let digits = parcels.all.map(|parcel| money::digits(parcel.cents));
    let mut params: Vec<Param<'_>> = memory;
    for (parcel, digits) in parcels.get().iter().zip(&digits) {
        params.extend([
            int(delivery.warehouse),
            int(parcel.district),
            int(parcel.customer),
            amount(dialect, parcel.cents, digits),
        ]);
    }
    let count = parcels.count;
    exchange.change_all(List::ChargeAll.place(count), &params, count as u64)?;
    Ok(emptied(params))
}

/// The number of a district's oldest order that waits for delivery, which is locked.
pub(super) fn oldest(
    exchange: &mut Exchange<'_>,
    delivery: Delivery,
    district: u32,
) -> Result<Option<u32>, Stopped> {
    let mut oldest = None;
    let key = [int(delivery.warehouse), int(district)];
    let found = exchange.all(Ask::Oldest.place(), &key, |row| {
        oldest = Some(number(row, 0)?);
        Some(())
    })?;
    if found > 1 {
        return Err(exchange.unlike("at most one", found, Ask::Oldest.place(), &key));
    }
    Ok(oldest)
}

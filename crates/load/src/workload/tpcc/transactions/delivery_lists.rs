//! The districts of a Delivery together, once the heads of their queues are locked.

use drivers::Param;
use model::DISTRICTS;

use super::clerk::{Halt, Memory, Talk, amount, cents, int, number};
use super::delivery::oldest;
use crate::workload::sql::client::emptied;
use crate::workload::tpcc::input::{Delivery, FEWEST_LINES, MOST_LINES};
use crate::workload::tpcc::money::Digits;
use crate::workload::tpcc::statements::List;

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
    talk: &mut Talk<'_>,
    memory: &mut Memory,
    delivery: Delivery,
) -> Result<u32, Halt> {
    let mut parcels = Parcels::default();
    for district in 1..=DISTRICTS {
        if let Some(order) = oldest(talk, delivery, district)? {
            parcels.all[parcels.count] = Parcel {
                district,
                order,
                ..Parcel::default()
            };
            parcels.count += 1;
        }
    }
    if parcels.count > 0 {
        let mut params: Vec<Param<'_>> = std::mem::take(&mut memory.params);
        deliver(talk, &mut parcels, delivery, &mut params)?;
        memory.params = charge(talk, &parcels, delivery, emptied(params))?;
    }
    Ok(DISTRICTS - parcels.count as u32)
}

/// Takes the orders from their queues and finds out whose they are and what they cost.
fn deliver(
    talk: &mut Talk<'_>,
    parcels: &mut Parcels,
    delivery: Delivery,
    params: &mut Vec<Param<'_>>,
) -> Result<(), Halt> {
    let dialect = talk.dialect();
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
    talk.change_all(List::DequeueAll.place(count), keys, count as u64)?;
    talk.change_all(List::SetCarriers.place(count), all, count as u64)?;
    let place = List::Orderers.place(count);
    let found = talk.all(place, keys, |row| {
        parcels.of_district(number(row, 0)?)?.customer = number(row, 1)?;
        Some(())
    })?;
    if found != count as u64 || parcels.get().iter().any(|parcel| parcel.customer == 0) {
        return Err(talk.unlike("one of each order", found, place, keys));
    }
    let place = List::SetAllDelivered.place(count);
    let lines = talk.send(place, keys, &mut |_| ())?.affected;
    if !(count * FEWEST_LINES..=count * MOST_LINES).contains(&(lines as usize)) {
        return Err(talk.unlike("5 to 15 of each order", lines, place, keys));
    }
    let place = List::Sums.place(count);
    let found = talk.all(place, keys, |row| {
        parcels.of_district(number(row, 0)?)?.cents = cents(row, 1, dialect)?;
        Some(())
    })?;
    if found == count as u64 {
        Ok(())
    } else {
        Err(talk.unlike("one of each order", found, place, keys))
    }
}

/// Adds what the orders cost to what their customers owe. The memory of the parameters comes back.
fn charge(
    talk: &mut Talk<'_>,
    parcels: &Parcels,
    delivery: Delivery,
    memory: Vec<Param<'static>>,
) -> Result<Vec<Param<'static>>, Halt> {
    let dialect = talk.dialect();
    let digits = parcels.all.map(|parcel| Digits::cents(parcel.cents));
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
    talk.change_all(List::ChargeAll.place(count), &params, count as u64)?;
    Ok(emptied(params))
}

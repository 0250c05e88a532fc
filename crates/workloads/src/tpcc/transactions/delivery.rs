//! Delivery: delivers the oldest order of each district; batched, all together once these are locked.

use drivers::Param;
use model::{DISTRICTS, TpccForm};

use super::exchange::{Exchange, Result, int, number};
use super::{Memory, Parcel};
use crate::sql::client::emptied;
use crate::tpcc::input::{Delivery, FEWEST_LINES, MOST_LINES, Outcome, Progress};
use crate::tpcc::money::{self, cents};
use crate::tpcc::statements::{Ask, List};

impl Exchange<'_> {
    pub(super) fn delivery(
        &mut self,
        memory: &mut Memory,
        delivery: Delivery,
        progress: &mut Progress,
    ) -> Result<Outcome> {
        if self.spec.delivery_by_district {
            // A transaction for each district; what is done is not done again.
            while progress.districts < DISTRICTS {
                self.begin(Ask::Begin)?;
                let is_delivered = self.deliver(delivery, progress.districts + 1)?;
                self.commit()?;
                progress.districts += 1;
                progress.skipped += u32::from(!is_delivered);
            }
            return Ok(Outcome { skipped: progress.skipped, ..Outcome::default() });
        }
        let mut skipped = 0;
        self.begin(Ask::Begin)?;
        if self.spec.form == TpccForm::Batched {
            skipped = self.deliver_all(memory, delivery)?;
        } else {
            for district in 1..=DISTRICTS {
                skipped += u32::from(!self.deliver(delivery, district)?);
            }
        }
        self.commit()?;
        Ok(Outcome { skipped, ..Outcome::default() })
    }

    /// Delivers the oldest order of a district; false where there is none. Rows are changed before they are
    /// read: what a transaction of InnoDB reads without a lock is as old as its first such read, but what it
    /// changed is always there. An order of the second district may be younger than the read of the first.
    fn deliver(&mut self, delivery: Delivery, district: u32) -> Result<bool> {
        let Some(order) = self.oldest(delivery, district)? else {
            return Ok(false);
        };
        let dialect = self.dialect;
        let (warehouse, district, order) = (int(delivery.warehouse), int(district), int(order));
        let key = [warehouse, district, order];
        self.change(Ask::Dequeue, &key)?;
        self.change(Ask::SetCarrier, &[int(delivery.carrier), warehouse, district, order])?;
        let customer = self.one(Ask::Orderer, &key, |row| number(row, 0))?;
        let place = Ask::SetDelivered.place();
        let lines = self.send(place, &key, &mut |_| ())?.affected;
        let is_order = (FEWEST_LINES..=MOST_LINES).contains(&(lines as usize));
        self.must(is_order, "5 to 15 to change", lines, place, &key)?;
        let sum = self.one(Ask::SumLines, &key, |row| cents(row.value(0), dialect))?;
        let digits = money::digits(sum);
        let amount = money::param(dialect, sum, &digits);
        self.change(Ask::Charge, &[amount, warehouse, district, int(customer)])?;
        Ok(true)
    }

    /// Delivers the oldest order of every district. How many districts had none.
    fn deliver_all(&mut self, memory: &mut Memory, delivery: Delivery) -> Result<u32> {
        let Memory { parcels, params: kept, .. } = memory;
        parcels.clear();
        for district in 1..=DISTRICTS {
            if let Some(order) = self.oldest(delivery, district)? {
                parcels.push(Parcel { district, order, customer: 0, cents: 0 });
            }
        }
        if !parcels.is_empty() {
            self.take(parcels, delivery, kept)?;
            self.charge(parcels, delivery, kept)?;
        }
        Ok(DISTRICTS - parcels.len() as u32)
    }

    /// Takes the orders from their queues and finds out whose they are and what they cost.
    fn take(
        &mut self,
        parcels: &mut [Parcel],
        delivery: Delivery,
        params: &mut Vec<Param<'static>>,
    ) -> Result {
        let (dialect, count) = (self.dialect, parcels.len());
        params.clear();
        // First the carrier, then the keys: most statements need only these.
        params.push(int(delivery.carrier));
        for parcel in &*parcels {
            params.extend([delivery.warehouse, parcel.district, parcel.order].map(int));
        }
        let keys = &params[1..];
        self.change_all(List::DequeueAll.place(count), keys, count)?;
        self.change_all(List::SetCarriers.place(count), params, count)?;
        let place = List::Orderers.place(count);
        let found = self.all(place, keys, |row| {
            of_district(parcels, number(row, 0)?)?.customer = number(row, 1)?;
            Some(())
        })?;
        let have_all = found == count as u64 && parcels.iter().all(|parcel| parcel.customer != 0);
        self.must(have_all, "one of each order", found, place, keys)?;
        let place = List::SetAllDelivered.place(count);
        let lines = self.send(place, keys, &mut |_| ())?.affected;
        let are_orders = (count * FEWEST_LINES..=count * MOST_LINES).contains(&(lines as usize));
        self.must(are_orders, "5 to 15 of each order", lines, place, keys)?;
        let place = List::Sums.place(count);
        let found = self.all(place, keys, |row| {
            of_district(parcels, number(row, 0)?)?.cents = cents(row.value(1), dialect)?;
            Some(())
        })?;
        self.must(found == count as u64, "one of each order", found, place, keys)
    }

    /// Adds what the orders cost to what their customers owe.
    fn charge(
        &mut self,
        parcels: &[Parcel],
        delivery: Delivery,
        kept: &mut Vec<Param<'static>>,
    ) -> Result {
        let dialect = self.dialect;
        let digits: [_; DISTRICTS as usize] = std::array::from_fn(|place| {
            money::digits(parcels.get(place).map_or(0, |parcel| parcel.cents))
        });
        let mut params: Vec<Param<'_>> = std::mem::take(kept);
        params.clear();
        for (parcel, digits) in parcels.iter().zip(&digits) {
            params.extend([
                int(delivery.warehouse),
                int(parcel.district),
                int(parcel.customer),
                money::param(dialect, parcel.cents, digits),
            ]);
        }
        let count = parcels.len();
        self.change_all(List::ChargeAll.place(count), &params, count)?;
        *kept = emptied(params);
        Ok(())
    }

    /// The number of a district's oldest order that waits for delivery, which is locked.
    fn oldest(&mut self, delivery: Delivery, district: u32) -> Result<Option<u32>> {
        let mut oldest = None;
        let (place, key) = (Ask::Oldest.place(), [int(delivery.warehouse), int(district)]);
        let found = self.all(place, &key, |row| {
            oldest = Some(number(row, 0)?);
            Some(())
        })?;
        self.must(found <= 1, "at most one", found, place, &key)?;
        Ok(oldest)
    }
}

fn of_district(parcels: &mut [Parcel], district: u32) -> Option<&mut Parcel> {
    parcels.iter_mut().find(|parcel| parcel.district == district)
}

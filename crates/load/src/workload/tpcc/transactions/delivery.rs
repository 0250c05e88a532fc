//! Delivery: delivers the oldest order of each district.

use drivers::Param;
use model::DISTRICTS;

use super::clerk::{Halt, Memory, Talk, amount, cents, int, number};
use super::{Outcome, Progress, delivery_lists};
use crate::workload::tpcc::input::{Delivery, FEWEST_LINES, MOST_LINES};
use crate::workload::tpcc::money::Digits;
use crate::workload::tpcc::statements::Ask;

pub(super) fn run(
    talk: &mut Talk<'_>,
    memory: &mut Memory,
    delivery: Delivery,
    progress: &mut Progress,
) -> Result<Outcome, Halt> {
    if talk.manner.by_district {
        return by_district(talk, delivery, progress);
    }
    talk.begin()?;
    let skipped = if talk.manner.is_batched {
        delivery_lists::run(talk, memory, delivery)?
    } else {
        one_by_one(talk, delivery)?
    };
    talk.commit()?;
    Ok(Outcome {
        skipped,
        ..Outcome::default()
    })
}

/// Delivers the oldest order of every district. How many districts had none.
fn one_by_one(talk: &mut Talk<'_>, delivery: Delivery) -> Result<u32, Halt> {
    let mut skipped = 0;
    for district in 1..=DISTRICTS {
        skipped += u32::from(!deliver(talk, delivery, district)?);
    }
    Ok(skipped)
}

/// A transaction for each district; what is done is not done again.
fn by_district(
    talk: &mut Talk<'_>,
    delivery: Delivery,
    progress: &mut Progress,
) -> Result<Outcome, Halt> {
    while progress.districts < DISTRICTS {
        talk.begin()?;
        let is_delivered = deliver(talk, delivery, progress.districts + 1)?;
        talk.commit()?;
        progress.districts += 1;
        progress.skipped += u32::from(!is_delivered);
    }
    Ok(Outcome {
        skipped: progress.skipped,
        ..Outcome::default()
    })
}

/// Delivers the oldest order of a district; false where there is none. Rows are changed before they are
/// read: what a transaction of InnoDB reads without a lock is as old as its first such read, but what it
/// changed is always there. An order of the second district may be younger than the read of the first.
fn deliver(talk: &mut Talk<'_>, delivery: Delivery, district: u32) -> Result<bool, Halt> {
    let Some(order) = oldest(talk, delivery, district)? else {
        return Ok(false);
    };
    let dialect = talk.dialect();
    let (warehouse, district) = (int(delivery.warehouse), int(district));
    let key = [warehouse, district, int(order)];
    talk.change(Ask::Dequeue, &key)?;
    let carried = [int(delivery.carrier), warehouse, district, int(order)];
    talk.change(Ask::SetCarrier, &carried)?;
    let customer = talk.one(Ask::Orderer, &key, |row| number(row, 0))?;
    let done = talk.send(Ask::SetDelivered.place(), &key, &mut |_| ())?;
    if !(FEWEST_LINES..=MOST_LINES).contains(&(done.affected as usize)) {
        let place = Ask::SetDelivered.place();
        return Err(talk.unlike("5 to 15 to change", done.affected, place, &key));
    }
    let sum = talk.one(Ask::SumLines, &key, |row| cents(row, 0, dialect))?;
    let digits = Digits::cents(sum);
    let charged: [Param<'_>; 4] = [
        amount(dialect, sum, &digits),
        warehouse,
        district,
        int(customer),
    ];
    talk.change(Ask::Charge, &charged)?;
    Ok(true)
}

/// The number of a district's oldest order that waits for delivery, which is locked.
pub(super) fn oldest(
    talk: &mut Talk<'_>,
    delivery: Delivery,
    district: u32,
) -> Result<Option<u32>, Halt> {
    let mut oldest = None;
    let key = [int(delivery.warehouse), int(district)];
    let found = talk.all(Ask::Oldest.place(), &key, |row| {
        oldest = Some(number(row, 0)?);
        Some(())
    })?;
    if found > 1 {
        return Err(talk.unlike("at most one", found, Ask::Oldest.place(), &key));
    }
    Ok(oldest)
}

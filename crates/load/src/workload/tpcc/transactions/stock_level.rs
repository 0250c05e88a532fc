//! Stock-Level: counts items of recent orders that are low in stock.

use drivers::Param;
use model::StockLevel as Shape;

use super::Outcome;
use super::clerk::{Halt, Memory, Talk, int, number};
use crate::workload::tpcc::input::{MOST_LINES, StockLevel};
use crate::workload::tpcc::statements::Ask;

/// Orders that are recent.
const RECENT: u32 = 20;

pub(super) fn run(
    talk: &mut Talk<'_>,
    memory: &mut Memory,
    level: &StockLevel,
) -> Result<Outcome, Halt> {
    talk.begin_reading()?;
    let (warehouse, district) = (int(level.warehouse), int(level.district));
    let next = talk.one(Ask::RecentOrders, &[warehouse, district], |row| {
        number(row, 0)
    })?;
    let recent = [
        warehouse,
        district,
        int(next),
        int(next.saturating_sub(RECENT)),
    ];
    let low = match talk.manner.stock_level {
        Shape::Join => {
            let [w, d, before, from] = recent;
            let all = [w, d, before, from, warehouse, int(level.threshold)];
            talk.one(Ask::LowJoined, &all, |row| number(row, 0))?
        }
        Shape::Loop => count_low(talk, &mut memory.items, level, &recent)?,
    };
    if low > RECENT * MOST_LINES as u32 {
        let place = Ask::RecentOrders.place();
        return Err(talk.unlike("at most 300 low items", u64::from(low), place, &recent));
    }
    talk.commit()?;
    Ok(Outcome::default())
}

/// Looks at the items one by one.
fn count_low(
    talk: &mut Talk<'_>,
    items: &mut Vec<u32>,
    level: &StockLevel,
    recent: &[Param<'_>],
) -> Result<u32, Halt> {
    items.clear();
    talk.all(Ask::RecentItems.place(), recent, |row| {
        items.push(number(row, 0)?);
        Some(())
    })?;
    let mut low = 0;
    for item in &*items {
        let key = [int(level.warehouse), int(*item), int(level.threshold)];
        low += talk.one(Ask::Low, &key, |row| number(row, 0))?;
    }
    Ok(low)
}

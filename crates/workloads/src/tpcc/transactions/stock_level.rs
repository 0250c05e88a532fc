//! Stock-Level: counts items of recent orders that are low in stock.

use drivers::Param;
use model::StockLevel as Shape;

use super::exchange::{Exchange, Stopped, int, number};
use super::memory::Memory;
use crate::tpcc::input::{MOST_LINES, StockLevel};
use crate::tpcc::outcome::Outcome;
use crate::tpcc::statements::Ask;

/// Orders that are recent.
const RECENT: u32 = 20;

pub(super) fn run(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    level: &StockLevel,
) -> Result<Outcome, Stopped> {
    exchange.begin_reading()?;
    let (warehouse, district) = (int(level.warehouse), int(level.district));
    let next = exchange.one(Ask::RecentOrders, &[warehouse, district], |row| number(row, 0))?;
    let recent = [warehouse, district, int(next), int(next.saturating_sub(RECENT))];
    let low = match exchange.spec.stock_level {
        Shape::Join => {
            let [w, d, before, from] = recent;
            let all = [w, d, before, from, warehouse, int(level.threshold)];
            exchange.one(Ask::LowJoined, &all, |row| number(row, 0))?
        }
        Shape::Loop => count_low(exchange, &mut memory.items, level, &recent)?,
    };
    if low > RECENT * MOST_LINES as u32 {
        let place = Ask::RecentOrders.place();
        return Err(exchange.unlike("at most 300 low items", u64::from(low), place, &recent));
    }
    exchange.commit()?;
    Ok(Outcome::default())
}

fn count_low(
    exchange: &mut Exchange<'_>,
    items: &mut Vec<u32>,
    level: &StockLevel,
    recent: &[Param<'_>],
) -> Result<u32, Stopped> {
    items.clear();
    exchange.all(Ask::RecentItems.place(), recent, |row| {
        items.push(number(row, 0)?);
        Some(())
    })?;
    let mut low = 0;
    for item in &*items {
        let key = [int(level.warehouse), int(*item), int(level.threshold)];
        low += exchange.one(Ask::Low, &key, |row| number(row, 0))?;
    }
    Ok(low)
}

//! What reads: Order-Status, a customer's newest order; Stock-Level, the items of recent orders that are low in
//! stock; and for two transactions the customer who has a last name.

use std::hint::black_box;

use drivers::{Param, Value};
use model::{StockLevel as Shape, TpccProfile};

use super::Memory;
use super::exchange::{Exchange, Result, int, number, shown};
use crate::tpcc::input::{Customer, FEWEST_LINES, MOST_LINES, OrderStatus, Outcome, StockLevel};
use crate::tpcc::money::cents;
use crate::tpcc::statements::Ask;

const RECENT: u32 = 20;

impl Exchange<'_> {
    pub(super) fn order_status(
        &mut self,
        memory: &mut Memory,
        status: &OrderStatus,
    ) -> Result<Outcome> {
        self.begin(Ask::BeginReading)?;
        let dialect = self.dialect;
        let (warehouse, district) = (int(status.warehouse), int(status.district));
        let (id, balance) = match status.customer {
            Customer::Id(id) => self.one(Ask::Balance, &[warehouse, district, int(id)], |row| {
                let customer = (number(row, 0)?, cents(row.value(1), dialect)?);
                shown(row, 2..5)?;
                Some(customer)
            })?,
            Customer::Name(name) => {
                self.in_the_middle(memory, Ask::NamedBalances, [warehouse, district], name)?
            }
        };
        let key = [warehouse, district, int(id), warehouse, district, int(id)];
        let key = match self.spec.profile {
            TpccProfile::Standard => &key[..3],
            // It asks for the largest number first.
            TpccProfile::Percona => &key[..],
        };
        let (order, is_delivered) = self.one(Ask::NewestOrder, key, |row| {
            let order = number(row, 0)?;
            shown(row, 1..2)?;
            Some((order, row.value(2) != Value::Null))
        })?;
        let (place, key) = (Ask::Lines.place(), [warehouse, district, int(order)]);
        let found = self.all(place, &key, |row| {
            shown(row, 0..3)?;
            let amount = cents(row.value(3), dialect)?;
            memory.sample.line(order, amount, row);
            black_box((amount, row.value(4)));
            Some(())
        })?;
        let is_order = (FEWEST_LINES..=MOST_LINES).contains(&(found as usize));
        self.must(is_order, "5 to 15", found, place, &key)?;
        self.commit()?;
        // A terminal shows it.
        black_box((balance, is_delivered));
        Ok(Outcome::default())
    }

    /// The id and balance (where it is asked for) of the customer in the middle of those with a last name.
    pub(super) fn in_the_middle(
        &mut self,
        memory: &mut Memory,
        ask: Ask,
        [warehouse, district]: [Param<'_>; 2],
        name: &str,
    ) -> Result<(u32, i64)> {
        let params = [warehouse, district, Param::Text(name)];
        let counted = match self.spec.profile {
            TpccProfile::Standard => None,
            TpccProfile::Percona => Some(self.one(Ask::CountNamed, &params, |row| number(row, 0))?),
        };
        let (dialect, place, named) = (self.dialect, ask.place(), &mut memory.customers);
        named.clear();
        let found = self.all(place, &params, |row| {
            let id = number(row, 0)?;
            let mut balance = 0;
            if ask == Ask::NamedBalances {
                balance = cents(row.value(1), dialect)?;
                shown(row, 2..5)?;
            }
            named.push((id, balance));
            Some(())
        })?;
        let are_all = counted.is_none_or(|counted| u64::from(counted) == found);
        self.must(are_all, "as many as were counted", found, place, &params)?;
        match named.get(middle(named.len()).wrapping_sub(1)) {
            Some(customer) => Ok(*customer),
            None => Err(self.unlike("at least one", found, place, &params)),
        }
    }

    pub(super) fn stock_level(
        &mut self,
        memory: &mut Memory,
        level: &StockLevel,
    ) -> Result<Outcome> {
        self.begin(Ask::BeginReading)?;
        let (warehouse, district) = (int(level.warehouse), int(level.district));
        let threshold = int(level.threshold);
        let next = self.one(Ask::RecentOrders, &[warehouse, district], |row| number(row, 0))?;
        let (before, from) = (int(next), int(next.saturating_sub(RECENT)));
        let recent = [warehouse, district, before, from];
        let low = match self.spec.stock_level {
            Shape::Join => {
                let all = [warehouse, district, before, from, warehouse, threshold];
                self.one(Ask::LowJoined, &all, |row| number(row, 0))?
            }
            Shape::Loop => {
                let items = &mut memory.items;
                items.clear();
                self.all(Ask::RecentItems.place(), &recent, |row| {
                    items.push(number(row, 0)?);
                    Some(())
                })?;
                let mut low = 0;
                for item in &*items {
                    let key = [warehouse, int(*item), threshold];
                    low += self.one(Ask::Low, &key, |row| number(row, 0))?;
                }
                low
            }
        };
        let (is_possible, place) = (low <= RECENT * MOST_LINES as u32, Ask::RecentOrders.place());
        self.must(is_possible, "at most 300 low items", low.into(), place, &recent)?;
        self.commit()?;
        Ok(Outcome::default())
    }
}

/// The row in the middle of `count`, from 1: that of half of them, rounded up.
const fn middle(count: usize) -> usize {
    count.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::middle;

    #[test]
    fn the_middle_row_is_half_of_them_rounded_up() {
        assert_eq!([1, 2, 3, 4, 5, 6].map(middle), [1, 1, 2, 2, 3, 3]);
    }
}

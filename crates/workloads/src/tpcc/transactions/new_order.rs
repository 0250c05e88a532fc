//! New-Order: enters an order of 5 to 15 lines, one by one or, batched, with one statement for each table.

use std::hint::black_box;

use drivers::Param;
use model::{TpccForm, TpccProfile};

use super::exchange::{Exchange, Result, int, keep, number, shown, text};
use super::sample::Sample;
use super::{Memory, Work};
use crate::sql::client::emptied;
use crate::tpcc::input::{Line, MOST_LINES, NewOrder, Outcome};
use crate::tpcc::money::{self, Terms, cents};
use crate::tpcc::statements::{Ask, List};

/// Where the texts for the districts begin among the columns of a stock row.
const DISTRICT_TEXTS: usize = 2;

/// An order that has its number.
struct Entered {
    order: u32,
    terms: Terms,
}

impl Entered {
    /// The values of a line that has this number.
    fn line<'a>(
        &self,
        order: &NewOrder,
        (line, number): (&Line, i64),
        amount: Param<'a>,
        dist_info: &'a str,
    ) -> [Param<'a>; 9] {
        let (district, warehouse) = (int(order.district), int(order.warehouse));
        let (item, supply, quantity) = (int(line.item), int(line.supply), int(line.quantity));
        let (order, number, dist_info) =
            (int(self.order), Param::Int(number), Param::Text(dist_info));
        [order, district, warehouse, number, item, supply, quantity, amount, dist_info]
    }
}

/// A stock row and what the lines take from it.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    supply: u32,
    item: u32,
    left: i64,
    ordered: i64,
    orders: i64,
    remote: i64,
}

impl Exchange<'_> {
    pub(super) fn new_order(&mut self, memory: &mut Memory, order: &NewOrder) -> Result<Outcome> {
        self.begin(Ask::Begin)?;
        let entered = self.enter(order)?;
        let mut total = 0;
        if self.spec.form == TpccForm::Batched {
            total = self.supply_all(memory, order, &entered)?;
        } else {
            for numbered in order.valid().iter().zip(1..) {
                total += self.supply(memory, order, &entered, numbered)?;
            }
            if order.rolls_back {
                self.refuse(order)?;
            }
        }
        // A terminal shows it.
        black_box(entered.terms.apply(total));
        if order.rolls_back {
            self.roll_back()?;
            return Ok(Outcome { rolled_back: true, ..Outcome::default() });
        }
        self.commit()?;
        Ok(Outcome { committed: Some(order.entered(entered.order)), ..Outcome::default() })
    }

    fn enter(&mut self, order: &NewOrder) -> Result<Entered> {
        let dialect = self.dialect;
        let (warehouse, district) = (int(order.warehouse), int(order.district));
        let customer = int(order.customer);
        let (discount, warehouse_tax) =
            self.one(Ask::Terms, &[warehouse, district, customer], |row| {
                let discount = money::rate(row.value(0), dialect)?;
                shown(row, 1..3)?;
                Some((discount, money::rate(row.value(3), dialect)?))
            })?;
        let (id, district_tax) = self.one(Ask::NextOrder, &[warehouse, district], |row| {
            Some((number(row, 0)?, money::rate(row.value(1), dialect)?))
        })?;
        let next = Param::Int(i64::from(id) + 1);
        self.change(Ask::TakeOrder, &[next, warehouse, district])?;
        let lines = Param::Int(order.lines().len() as i64);
        let is_local = Param::Int(i64::from(order.is_local()));
        let all = [int(id), district, warehouse, customer, lines, is_local];
        self.change(Ask::AddOrder, &all)?;
        self.change(Ask::AddNewOrder, &[int(id), district, warehouse])?;
        Ok(Entered { order: id, terms: Terms { warehouse_tax, district_tax, discount } })
    }

    /// Takes what a line asks for from stock and adds the line, which has this number. Its amount.
    fn supply(
        &mut self,
        memory: &mut Memory,
        order: &NewOrder,
        entered: &Entered,
        (line, number): (&Line, i64),
    ) -> Result<i64> {
        let dialect = self.dialect;
        let (item, from, ordered) = (int(line.item), int(line.supply), i64::from(line.quantity));
        let Memory { sample, text: dist_info, .. } = memory;
        let (price, may_be_original) = self.one(Ask::Item, &[item], |row| {
            let price = cents(row.value(0), dialect)?;
            shown(row, 1..2)?;
            sample.item(line.item, price, row, 1);
            Some((price, is_original(text(row, 2)?)))
        })?;
        let column = DISTRICT_TEXTS + order.district as usize - 1;
        let quantity = self.one(Ask::Stock, &[from, item], |row| {
            let quantity = row.value(0).as_int()?;
            black_box(may_be_original && is_original(text(row, 1)?));
            keep(row, column, dist_info)?;
            Some(quantity)
        })?;
        let left = Param::Int(left(quantity, ordered));
        let is_remote = Param::Int(i64::from(line.supply != order.warehouse));
        match self.spec.profile {
            TpccProfile::Standard => {
                let all = [left, Param::Int(ordered), is_remote, from, item];
                self.change(Ask::TakeStock, &all)?;
            }
            TpccProfile::Percona => self.change(Ask::TakeStock, &[left, from, item])?,
        }
        let paid = money::line(self.spec.profile, ordered, price, &entered.terms);
        let digits = money::digits(paid);
        let amount = money::param(dialect, paid, &digits);
        let all = entered.line(order, (line, number), amount, dist_info);
        self.change(Ask::AddLine, &all)?;
        Ok(paid)
    }

    fn refuse(&mut self, order: &NewOrder) -> Result {
        let Some(line) = order.lines().last() else {
            return Ok(());
        };
        let (place, params) = (Ask::Item.place(), [int(line.item)]);
        let found = self.all(place, &params, |_| Some(()))?;
        self.must(found == 0, "none", found, place, &params)
    }

    /// Takes what all lines ask for from stock and adds the lines. Their amount.
    fn supply_all(
        &mut self,
        memory: &mut Memory,
        order: &NewOrder,
        entered: &Entered,
    ) -> Result<i64> {
        let Memory { lines: works, params: kept, sample, .. } = memory;
        works.resize_with(MOST_LINES, Work::default);
        let lines = order.lines();
        for (work, line) in works.iter_mut().zip(lines) {
            (work.line, work.price, work.quantity) = (*line, None, None);
        }
        let (works, unused) = works[..lines.len()].split_at_mut(order.valid().len());
        self.read_items((works, unused), kept, sample)?;
        self.read_stock(works, order, kept)?;
        let mut total = 0;
        for work in &mut *works {
            let (ordered, price) = (i64::from(work.line.quantity), work.price.unwrap_or(0));
            work.amount = money::line(self.spec.profile, ordered, price, &entered.terms);
            total += work.amount;
        }
        self.take_stock(works, order, kept)?;
        let dialect = self.dialect;
        let digits: [_; MOST_LINES] = std::array::from_fn(|place| {
            money::digits(works.get(place).map_or(0, |work: &Work| work.amount))
        });
        let mut values: Vec<Param<'_>> = std::mem::take(kept);
        values.clear();
        for ((work, digits), number) in works.iter().zip(&digits).zip(1..) {
            let amount = money::param(dialect, work.amount, digits);
            values.extend(entered.line(order, (&work.line, number), amount, &work.dist_info));
        }
        let count = works.len();
        self.change_all(List::AddLines.place(count), &values, count)?;
        *kept = emptied(values);
        Ok(total)
    }

    /// Reads the items of all lines; those of `unused` must not be there, all others must.
    fn read_items(
        &mut self,
        (works, unused): (&mut [Work], &[Work]),
        params: &mut Vec<Param<'_>>,
        sample: &mut Sample,
    ) -> Result {
        let dialect = self.dialect;
        params.clear();
        params.extend(works.iter().chain(unused).map(|work| int(work.line.item)));
        let place = List::Items.place(params.len());
        let found = self.all(place, params, |row| {
            let (item, price) = (number(row, 0)?, cents(row.value(1), dialect)?);
            shown(row, 2..3)?;
            sample.item(item, price, row, 2);
            let may_be_original = is_original(text(row, 3)?);
            let mut is_asked_for = false;
            for work in works.iter_mut().filter(|work| work.line.item == item) {
                (work.price, work.may_be_original) = (Some(price), may_be_original);
                is_asked_for = true;
            }
            is_asked_for.then_some(())
        })?;
        let have_all = works.iter().all(|work| work.price.is_some());
        self.must(have_all, "one of each item", found, place, params)
    }

    fn read_stock(
        &mut self,
        works: &mut [Work],
        order: &NewOrder,
        params: &mut Vec<Param<'_>>,
    ) -> Result {
        params.clear();
        for work in &*works {
            params.extend([int(work.line.supply), int(work.line.item)]);
        }
        let place = List::Stocks.place(works.len());
        // Before those of a stock row stand the two of its key.
        let column = 2 + DISTRICT_TEXTS + order.district as usize - 1;
        let found = self.all(place, params, |row| {
            let key = (number(row, 0)?, number(row, 1)?);
            let quantity = row.value(2).as_int()?;
            let dist_info = std::str::from_utf8(text(row, column)?).ok()?;
            let data = text(row, 3)?;
            let mut is_asked_for = false;
            let works = works.iter_mut();
            for work in works.filter(|work| (work.line.supply, work.line.item) == key) {
                work.quantity = Some(quantity);
                work.dist_info.clear();
                work.dist_info.push_str(dist_info);
                black_box(work.may_be_original && is_original(data));
                is_asked_for = true;
            }
            is_asked_for.then_some(())
        })?;
        let have_all = works.iter().all(|work| work.quantity.is_some());
        self.must(have_all, "one of each item", found, place, params)
    }

    fn take_stock(
        &mut self,
        works: &[Work],
        order: &NewOrder,
        params: &mut Vec<Param<'_>>,
    ) -> Result {
        let (taken, rows) = taken(works, order.warehouse);
        params.clear();
        for one in &taken[..works.len()] {
            params.extend([int(one.supply), int(one.item), Param::Int(one.left)]);
            match self.spec.profile {
                TpccProfile::Standard => {
                    params.extend([one.ordered, one.orders, one.remote].map(Param::Int));
                }
                TpccProfile::Percona => {}
            }
        }
        self.change_all(List::TakeStocks.place(works.len()), params, rows)
    }
}

/// What the lines take from each stock row, and of how many. Lines of the same item stand one after the
/// other and take from the same row; in their place there are rows of no warehouse, which change nothing.
fn taken(works: &[Work], warehouse: u32) -> ([Taken; MOST_LINES], usize) {
    let mut taken = [Taken::default(); MOST_LINES];
    let mut rows = 0;
    for Work { line, quantity, .. } in works {
        let ordered = i64::from(line.quantity);
        let is_next =
            rows > 0 && (taken[rows - 1].supply, taken[rows - 1].item) == (line.supply, line.item);
        if !is_next {
            taken[rows] = Taken {
                supply: line.supply,
                item: line.item,
                left: quantity.unwrap_or(0),
                ..Taken::default()
            };
            rows += 1;
        }
        let row = &mut taken[rows - 1];
        row.left = left(row.left, ordered);
        row.ordered += ordered;
        row.orders += 1;
        row.remote += i64::from(line.supply != warehouse);
    }
    (taken, rows)
}

/// Stock left after an order. Where less than ten were left, 91 more arrive: it stays from 10 to 100.
const fn left(quantity: i64, ordered: i64) -> i64 {
    if quantity >= ordered + 10 { quantity - ordered } else { quantity - ordered + 91 }
}

fn is_original(data: &[u8]) -> bool {
    const MARK: u64 = u64::from_le_bytes(*b"ORIGINAL");
    data.windows(8).any(|window| {
        let letters = <[u8; 8]>::try_from(window).map_or(0, u64::from_le_bytes);
        letters == MARK
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(supply: u32, item: u32, ordered: u32, quantity: i64) -> Work {
        Work {
            line: Line { item, supply, quantity: ordered },
            quantity: Some(quantity),
            ..Work::default()
        }
    }

    #[test]
    fn lines_of_the_same_stock_row_take_from_it_together() {
        let works = [work(1, 5, 10, 15), work(1, 5, 2, 15), work(1, 8, 1, 50), work(2, 8, 3, 20)];
        let (taken, rows) = taken(&works, 1);
        assert_eq!(rows, 3);
        let told: Vec<_> = taken[..4]
            .iter()
            .map(|row| {
                let key = (row.supply, row.item);
                (key, row.left, (row.ordered, row.orders, row.remote))
            })
            .collect();
        assert_eq!(
            told,
            [
                // 15 - 10 + 91 - 2
                ((1, 5), 94, (12, 2, 0)),
                ((1, 8), 49, (1, 1, 0)),
                ((2, 8), 17, (3, 1, 1)),
                ((0, 0), 0, (0, 0, 0)),
            ]
        );
    }

    #[test]
    fn stock_stays_from_10_to_100() {
        assert_eq!(left(20, 10), 10);
        assert_eq!(left(19, 10), 100);
        assert_eq!(left(10, 1), 100);
        assert_eq!(left(100, 1), 99);
        for quantity in 10..=100 {
            for ordered in 1..=10 {
                let left = left(quantity, ordered);
                assert!((10..=100).contains(&left), "{quantity} - {ordered}: {left}");
                assert_eq!((quantity - ordered - left).rem_euclid(91), 0);
            }
        }
    }

    #[test]
    fn originals_have_the_mark_anywhere() {
        for data in ["ORIGINAL", "abcORIGINAL", "ORIGINALxyz", "1ORIGINAL2", "OORIGINALL"] {
            assert!(is_original(data.as_bytes()), "{data}");
        }
        for data in ["", "ORIGINA", "original", "ORIGINLA", "RIGINALO"] {
            assert!(!is_original(data.as_bytes()), "{data}");
        }
    }
}

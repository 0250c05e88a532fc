//! The lines of a New-Order together: items, stock and lines each in one statement.

use std::hint::black_box;

use drivers::Param;
use model::TpccProfile;

use super::amounts::{self, DISTRICT_TEXTS, Entered};
use super::exchange::{Exchange, Stopped, amount, cents, int, number, shown, text};
use super::memory::{Memory, Work};
use super::sample::Sample;
use crate::sql::client::emptied;
use crate::tpcc::input::{MOST_LINES, NewOrder};
use crate::tpcc::money;
use crate::tpcc::statements::List;
use data::decimal::Digits;

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

pub(super) fn run(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    order: &NewOrder,
    entered: &Entered,
) -> Result<(), Stopped> {
    memory.lines.resize_with(MOST_LINES, Work::default);
    let lines = order.lines();
    for (work, line) in memory.lines.iter_mut().zip(lines) {
        (work.line, work.price, work.quantity) = (*line, None, None);
    }
    let mut params: Vec<Param<'_>> = std::mem::take(&mut memory.params);
    let (works, unused) = memory.lines[..lines.len()].split_at_mut(order.valid().len());
    read_items(exchange, (works, unused), &mut params, &mut memory.sample)?;
    read_stock(exchange, works, order, &mut params)?;
    let mut total = 0;
    for work in &mut *works {
        let (ordered, price) = (i64::from(work.line.quantity), work.price.unwrap_or(0));
        work.amount = amounts::line(exchange.spec.profile, ordered, price, &entered.terms);
        total += work.amount;
    }
    take_stock(exchange, works, order, &mut params)?;
    let dialect = exchange.dialect();
    let digits: [Digits; MOST_LINES] = std::array::from_fn(|place| {
        money::digits(works.get(place).map_or(0, |work: &Work| work.amount))
    });
    let mut values: Vec<Param<'_>> = emptied(params);
    for ((work, digits), number) in works.iter().zip(&digits).zip(1..) {
        values.extend([
            int(entered.order),
            int(order.district),
            int(order.warehouse),
            Param::Int(number),
            int(work.line.item),
            int(work.line.supply),
            int(work.line.quantity),
            amount(dialect, work.amount, digits),
            Param::Text(&work.dist_info),
        ]);
    }
    let count = works.len();
    exchange.change_all(List::AddLines.place(count), &values, count as u64)?;
    memory.params = emptied(values);
    // A terminal shows it.
    black_box(entered.terms.apply(total));
    Ok(())
}

/// Reads the items of all lines; those of `unused` must not be there, all others must.
fn read_items(
    exchange: &mut Exchange<'_>,
    (works, unused): (&mut [Work], &[Work]),
    params: &mut Vec<Param<'_>>,
    sample: &mut Sample,
) -> Result<(), Stopped> {
    let dialect = exchange.dialect();
    params.clear();
    params.extend(works.iter().chain(unused).map(|work| int(work.line.item)));
    let place = List::Items.place(params.len());
    let found = exchange.all(place, params, |row| {
        let (item, price) = (number(row, 0)?, cents(row, 1, dialect)?);
        shown(row, 2..3)?;
        sample.item(item, price, row, 2);
        let may_be_original = amounts::is_original(text(row, 3)?);
        let mut is_asked_for = false;
        for work in works.iter_mut().filter(|work| work.line.item == item) {
            (work.price, work.may_be_original) = (Some(price), may_be_original);
            is_asked_for = true;
        }
        is_asked_for.then_some(())
    })?;
    if works.iter().all(|work| work.price.is_some()) {
        Ok(())
    } else {
        Err(exchange.unlike("one of each item", found, place, params))
    }
}

fn read_stock(
    exchange: &mut Exchange<'_>,
    works: &mut [Work],
    order: &NewOrder,
    params: &mut Vec<Param<'_>>,
) -> Result<(), Stopped> {
    params.clear();
    for work in &*works {
        params.extend([int(work.line.supply), int(work.line.item)]);
    }
    let place = List::Stocks.place(works.len());
    // Before those of a stock row stand the two of its key.
    let column = 2 + DISTRICT_TEXTS + order.district as usize - 1;
    let found = exchange.all(place, params, |row| {
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
            black_box(work.may_be_original && amounts::is_original(data));
            is_asked_for = true;
        }
        is_asked_for.then_some(())
    })?;
    if works.iter().all(|work| work.quantity.is_some()) {
        Ok(())
    } else {
        Err(exchange.unlike("one of each item", found, place, params))
    }
}

fn take_stock(
    exchange: &mut Exchange<'_>,
    works: &[Work],
    order: &NewOrder,
    params: &mut Vec<Param<'_>>,
) -> Result<(), Stopped> {
    let (taken, rows) = taken(works, order.warehouse);
    params.clear();
    for one in &taken[..works.len()] {
        params.extend([int(one.supply), int(one.item), Param::Int(one.left)]);
        match exchange.spec.profile {
            TpccProfile::Standard => params.extend([
                Param::Int(one.ordered),
                Param::Int(one.orders),
                Param::Int(one.remote),
            ]),
            TpccProfile::Percona => {}
        }
    }
    exchange.change_all(List::TakeStocks.place(works.len()), params, rows as u64)
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
        row.left = amounts::left(row.left, ordered);
        row.ordered += ordered;
        row.orders += 1;
        row.remote += i64::from(line.supply != warehouse);
    }
    (taken, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::input::Line;

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
}

//! New-Order: enters an order of 5 to 15 lines.

use std::hint::black_box;

use drivers::Param;
use model::TpccProfile;

use super::amounts::{self, DISTRICT_TEXTS, Entered, Terms};
use super::exchange::{Exchange, Stopped, amount, cents, int, keep, number, rate, shown, text};
use super::memory::Memory;
use super::order_lists;
use crate::tpcc::input::{Line, NewOrder};
use crate::tpcc::money;
use crate::tpcc::outcome::{Committed, Outcome};
use crate::tpcc::statements::Ask;

pub(super) fn run(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    order: &NewOrder,
) -> Result<Outcome, Stopped> {
    exchange.begin()?;
    let entered = enter(exchange, order)?;
    if exchange.is_batched() {
        order_lists::run(exchange, memory, order, &entered)?;
    } else {
        let mut total = 0;
        for (line, number) in order.valid().iter().zip(1..) {
            total += supply(exchange, memory, order, &entered, (line, number))?;
        }
        if order.rolls_back {
            refuse(exchange, order)?;
        }
        // A terminal shows it.
        black_box(entered.terms.apply(total));
    }
    if order.rolls_back {
        exchange.roll_back()?;
        return Ok(Outcome { rolled_back: true, ..Outcome::default() });
    }
    exchange.commit()?;
    Ok(Outcome {
        committed: Some(Committed::Order {
            warehouse: order.warehouse,
            district: order.district,
            order: entered.order,
        }),
        ..Outcome::default()
    })
}

fn enter(exchange: &mut Exchange<'_>, order: &NewOrder) -> Result<Entered, Stopped> {
    let dialect = exchange.dialect();
    let (warehouse, district) = (int(order.warehouse), int(order.district));
    let customer = int(order.customer);
    let (discount, warehouse_tax) =
        exchange.one(Ask::Terms, &[warehouse, district, customer], |row| {
            let discount = rate(row, 0, dialect)?;
            shown(row, 1..3)?;
            Some((discount, rate(row, 3, dialect)?))
        })?;
    let (id, district_tax) = exchange.one(Ask::NextOrder, &[warehouse, district], |row| {
        Some((number(row, 0)?, rate(row, 1, dialect)?))
    })?;
    let next = Param::Int(i64::from(id) + 1);
    exchange.change(Ask::TakeOrder, &[next, warehouse, district])?;
    let lines = Param::Int(order.lines().len() as i64);
    let is_local = Param::Int(i64::from(order.is_local()));
    let all = [int(id), district, warehouse, customer, lines, is_local];
    exchange.change(Ask::AddOrder, &all)?;
    exchange.change(Ask::AddNewOrder, &[int(id), district, warehouse])?;
    Ok(Entered { order: id, terms: Terms { warehouse_tax, district_tax, discount } })
}

/// Takes what a line asks for from stock and adds the line, which has this number. Its amount.
fn supply(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    order: &NewOrder,
    entered: &Entered,
    (line, number): (&Line, i64),
) -> Result<i64, Stopped> {
    let dialect = exchange.dialect();
    let (item, from, ordered) = (int(line.item), int(line.supply), i64::from(line.quantity));
    let sample = &mut memory.sample;
    let (price, may_be_original) = exchange.one(Ask::Item, &[item], |row| {
        let price = cents(row, 0, dialect)?;
        shown(row, 1..2)?;
        sample.item(line.item, price, row, 1);
        Some((price, amounts::is_original(text(row, 2)?)))
    })?;
    let dist_info = &mut memory.text;
    let column = DISTRICT_TEXTS + order.district as usize - 1;
    let quantity = exchange.one(Ask::Stock, &[from, item], |row| {
        let quantity = row.value(0).as_int()?;
        black_box(may_be_original && amounts::is_original(text(row, 1)?));
        keep(row, column, dist_info)?;
        Some(quantity)
    })?;
    let left = Param::Int(amounts::left(quantity, ordered));
    let is_remote = Param::Int(i64::from(line.supply != order.warehouse));
    match exchange.spec.profile {
        TpccProfile::Standard => {
            let all = [left, Param::Int(ordered), is_remote, from, item];
            exchange.change(Ask::TakeStock, &all)?;
        }
        TpccProfile::Percona => exchange.change(Ask::TakeStock, &[left, from, item])?,
    }
    let paid = amounts::line(exchange.spec.profile, ordered, price, &entered.terms);
    let digits = money::digits(paid);
    let all = [
        int(entered.order),
        int(order.district),
        int(order.warehouse),
        Param::Int(number),
        item,
        from,
        Param::Int(ordered),
        amount(dialect, paid, &digits),
        Param::Text(dist_info),
    ];
    exchange.change(Ask::AddLine, &all)?;
    Ok(paid)
}

fn refuse(exchange: &mut Exchange<'_>, order: &NewOrder) -> Result<(), Stopped> {
    let Some(line) = order.lines().last() else {
        return Ok(());
    };
    let params = [int(line.item)];
    let found = exchange.all(Ask::Item.place(), &params, |_| Some(()))?;
    if found == 0 {
        Ok(())
    } else {
        Err(exchange.unlike("none", found, Ask::Item.place(), &params))
    }
}

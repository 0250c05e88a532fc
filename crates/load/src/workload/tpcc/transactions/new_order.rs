//! New-Order: enters an order of 5 to 15 lines.

use std::hint::black_box;

use drivers::Param;
use model::TpccProfile;

use super::amounts::{self, Terms};
use super::clerk::{Halt, Memory, Talk, amount, cents, int, keep, number, rate, shown, text};
use super::{Committed, Outcome, order_lists};
use crate::workload::tpcc::input::{Line, NewOrder};
use crate::workload::tpcc::money::Digits;
use crate::workload::tpcc::statements::Ask;

/// Where the texts for the districts begin among the columns of a stock row.
pub(super) const DISTRICT_TEXTS: usize = 2;

pub(super) fn run(
    talk: &mut Talk<'_>,
    memory: &mut Memory,
    order: &NewOrder,
) -> Result<Outcome, Halt> {
    talk.begin()?;
    let entered = enter(talk, order)?;
    if talk.manner.is_batched {
        order_lists::run(talk, memory, order, &entered)?;
    } else {
        let mut total = 0;
        for (line, number) in order.valid().iter().zip(1..) {
            total += supply(talk, memory, order, &entered, (line, number))?;
        }
        if order.rolls_back {
            refuse(talk, order)?;
        }
        // A terminal shows it.
        black_box(entered.terms.apply(total));
    }
    if order.rolls_back {
        talk.roll_back()?;
        return Ok(Outcome {
            rolled_back: true,
            ..Outcome::default()
        });
    }
    talk.commit()?;
    Ok(Outcome {
        committed: Some(Committed::Order {
            warehouse: order.warehouse,
            district: order.district,
            order: entered.order,
        }),
        ..Outcome::default()
    })
}

/// An order that has its number.
pub(super) struct Entered {
    pub(super) order: u32,
    pub(super) terms: Terms,
}

/// Gives the order its number, and adds it without its lines.
fn enter(talk: &mut Talk<'_>, order: &NewOrder) -> Result<Entered, Halt> {
    let dialect = talk.dialect();
    let (warehouse, district) = (int(order.warehouse), int(order.district));
    let customer = int(order.customer);
    let (discount, warehouse_tax) =
        talk.one(Ask::Terms, &[warehouse, district, customer], |row| {
            let discount = rate(row, 0, dialect)?;
            shown(row, 1..3)?;
            Some((discount, rate(row, 3, dialect)?))
        })?;
    let (id, district_tax) = talk.one(Ask::NextOrder, &[warehouse, district], |row| {
        Some((number(row, 0)?, rate(row, 1, dialect)?))
    })?;
    let next = Param::Int(i64::from(id) + 1);
    talk.change(Ask::TakeOrder, &[next, warehouse, district])?;
    let lines = Param::Int(order.lines().len() as i64);
    let is_local = Param::Int(i64::from(order.is_local()));
    let all = [int(id), district, warehouse, customer, lines, is_local];
    talk.change(Ask::AddOrder, &all)?;
    talk.change(Ask::AddNewOrder, &[int(id), district, warehouse])?;
    Ok(Entered {
        order: id,
        terms: Terms {
            warehouse_tax,
            district_tax,
            discount,
        },
    })
}

/// Takes what a line asks for from stock and adds the line, which has this number. Its amount.
fn supply(
    talk: &mut Talk<'_>,
    memory: &mut Memory,
    order: &NewOrder,
    entered: &Entered,
    (line, number): (&Line, i64),
) -> Result<i64, Halt> {
    let dialect = talk.dialect();
    let (item, from, ordered) = (int(line.item), int(line.supply), i64::from(line.quantity));
    let sample = &mut memory.sample;
    let (price, may_be_original) = talk.one(Ask::Item, &[item], |row| {
        let price = cents(row, 0, dialect)?;
        shown(row, 1..2)?;
        sample.item(line.item, price, row, 1);
        Some((price, amounts::is_original(text(row, 2)?)))
    })?;
    let dist_info = &mut memory.text;
    let column = DISTRICT_TEXTS + order.district as usize - 1;
    let quantity = talk.one(Ask::Stock, &[from, item], |row| {
        let quantity = row.value(0).as_int()?;
        black_box(may_be_original && amounts::is_original(text(row, 1)?));
        keep(row, column, dist_info)?;
        Some(quantity)
    })?;
    let left = Param::Int(amounts::left(quantity, ordered));
    let is_remote = Param::Int(i64::from(line.supply != order.warehouse));
    match talk.manner.profile {
        TpccProfile::Standard => {
            let all = [left, Param::Int(ordered), is_remote, from, item];
            talk.change(Ask::TakeStock, &all)?;
        }
        TpccProfile::Percona => talk.change(Ask::TakeStock, &[left, from, item])?,
    }
    let paid = amounts::line(talk.manner.profile, ordered, price, &entered.terms);
    let digits = Digits::cents(paid);
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
    talk.change(Ask::AddLine, &all)?;
    Ok(paid)
}

/// Looks for the item that there is not.
fn refuse(talk: &mut Talk<'_>, order: &NewOrder) -> Result<(), Halt> {
    let Some(line) = order.lines().last() else {
        return Ok(());
    };
    let params = [int(line.item)];
    let found = talk.all(Ask::Item.place(), &params, |_| Some(()))?;
    if found == 0 {
        Ok(())
    } else {
        Err(talk.unlike("none", found, Ask::Item.place(), &params))
    }
}

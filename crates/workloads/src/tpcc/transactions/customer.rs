//! Customers who are told by last name.

use drivers::Param;
use model::TpccProfile;

use super::amounts::middle;
use super::exchange::{Exchange, Stopped, cents, int, number, shown};
use super::memory::Memory;
use crate::tpcc::input::Customer;
use crate::tpcc::statements::Ask;

pub(super) fn id(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    (warehouse, district): (u32, u32),
    customer: &Customer,
) -> Result<u32, Stopped> {
    match customer {
        Customer::Id(id) => Ok(*id),
        Customer::Name(name) => {
            let named = &mut memory.customers;
            let place = (int(warehouse), int(district));
            let (id, _) = in_the_middle(exchange, named, Ask::Named, place, name)?;
            Ok(id)
        }
    }
}

pub(super) fn balance(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    (warehouse, district): (u32, u32),
    customer: &Customer,
) -> Result<(u32, i64), Stopped> {
    let (warehouse, district) = (int(warehouse), int(district));
    match customer {
        Customer::Id(id) => {
            let dialect = exchange.dialect();
            exchange.one(Ask::Balance, &[warehouse, district, int(*id)], |row| {
                let customer = (number(row, 0)?, cents(row, 1, dialect)?);
                shown(row, 2..5)?;
                Some(customer)
            })
        }
        Customer::Name(name) => {
            let named = &mut memory.customers;
            in_the_middle(exchange, named, Ask::NamedBalances, (warehouse, district), name)
        }
    }
}

/// The id and balance (where it is asked for) of the customer in the middle of those with a last name.
fn in_the_middle(
    exchange: &mut Exchange<'_>,
    named: &mut Vec<(u32, i64)>,
    ask: Ask,
    (warehouse, district): (Param<'_>, Param<'_>),
    name: &str,
) -> Result<(u32, i64), Stopped> {
    let params = [warehouse, district, Param::Text(name)];
    let counted = match exchange.spec.profile {
        TpccProfile::Standard => None,
        TpccProfile::Percona => Some(exchange.one(Ask::CountNamed, &params, |row| number(row, 0))?),
    };
    let dialect = exchange.dialect();
    named.clear();
    let found = exchange.all(ask.place(), &params, |row| {
        let id = number(row, 0)?;
        let mut balance = 0;
        if ask == Ask::NamedBalances {
            balance = cents(row, 1, dialect)?;
            shown(row, 2..5)?;
        }
        named.push((id, balance));
        Some(())
    })?;
    if counted.is_some_and(|counted| u64::from(counted) != found) {
        return Err(exchange.unlike("as many as were counted", found, ask.place(), &params));
    }
    match named.get(middle(named.len()).wrapping_sub(1)) {
        Some(customer) => Ok(*customer),
        None => Err(exchange.unlike("at least one", found, ask.place(), &params)),
    }
}

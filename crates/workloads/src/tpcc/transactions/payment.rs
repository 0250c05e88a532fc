//! Payment: takes a customer's payment.

use drivers::Param;
use model::{PaymentOrder, TpccProfile};

use super::customer;
use super::exchange::{Exchange, Stopped, amount, cents, int, keep, shown, text};
use super::memory::Memory;
use crate::tpcc::input::Payment;
use crate::tpcc::money;
use crate::tpcc::outcome::{Committed, Outcome};
use crate::tpcc::statements::Ask;
use data::decimal::Digits;
use data::literal::push_int;

/// Most characters that are kept of what is known of a customer.
const DATA: usize = 500;

/// Credit of a customer of whom notes are taken.
const BAD: &[u8] = b"BC";

pub(super) fn run(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    payment: &Payment,
) -> Result<Outcome, Stopped> {
    let digits = money::digits(payment.cents);
    exchange.begin()?;
    let customer = match exchange.spec.payment_order {
        PaymentOrder::Warehouse => {
            pay_warehouse(exchange, memory, payment, &digits)?;
            pay_district(exchange, memory, payment, &digits)?;
            pay_for_customer(exchange, memory, payment, &digits)?
        }
        PaymentOrder::District => {
            pay_district(exchange, memory, payment, &digits)?;
            let customer = pay_for_customer(exchange, memory, payment, &digits)?;
            pay_warehouse(exchange, memory, payment, &digits)?;
            customer
        }
    };
    add_history(exchange, memory, payment, customer, &digits)?;
    exchange.commit()?;
    Ok(Outcome {
        committed: Some(Committed::Payment {
            warehouse: payment.warehouse,
            district: payment.district,
            customer: (payment.customer_warehouse, payment.customer_district, customer),
            cents: payment.cents,
        }),
        ..Outcome::default()
    })
}

fn pay_warehouse(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    payment: &Payment,
    digits: &Digits,
) -> Result<(), Stopped> {
    let paid = amount(exchange.dialect(), payment.cents, digits);
    let warehouse = int(payment.warehouse);
    exchange.change(Ask::PayWarehouse, &[paid, warehouse])?;
    exchange.one(Ask::Warehouse, &[warehouse], |row| {
        shown(row, 0..5)?;
        keep(row, 5, &mut memory.warehouse_name)
    })
}

fn pay_district(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    payment: &Payment,
    digits: &Digits,
) -> Result<(), Stopped> {
    let paid = amount(exchange.dialect(), payment.cents, digits);
    let (warehouse, district) = (int(payment.warehouse), int(payment.district));
    exchange.change(Ask::PayDistrict, &[paid, warehouse, district])?;
    exchange.one(Ask::District, &[warehouse, district], |row| {
        shown(row, 0..5)?;
        keep(row, 5, &mut memory.district_name)
    })
}

/// Changes what the customer owes. Who it was.
fn pay_for_customer(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    payment: &Payment,
    digits: &Digits,
) -> Result<u32, Stopped> {
    let dialect = exchange.dialect();
    let place = (payment.customer_warehouse, payment.customer_district);
    let customer = customer::id(exchange, memory, place, &payment.customer)?;
    let key = [int(place.0), int(place.1), int(customer)];
    let (balance, is_bad) = exchange.one(Ask::Payer, &key, |row| {
        shown(row, 0..9)?;
        let is_bad = text(row, 9)? == BAD;
        shown(row, 10..12)?;
        let balance = cents(row, 12, dialect)?;
        shown(row, 13..14)?;
        Some((balance, is_bad))
    })?;
    let balance = balance - payment.cents;
    let new_digits = money::digits(balance);
    let new = amount(dialect, balance, &new_digits);
    let paid = amount(dialect, payment.cents, digits);
    let [warehouse, district, id] = key;
    if !is_bad {
        match exchange.spec.profile {
            TpccProfile::Standard => {
                exchange.change(Ask::Pay, &[new, paid, warehouse, district, id])?;
            }
            TpccProfile::Percona => exchange.change(Ask::Pay, &[new, warehouse, district, id])?,
        }
        return Ok(customer);
    }
    let data = &mut memory.data;
    exchange.one(Ask::PayerData, &key, |row| keep(row, 0, data))?;
    write_data(&mut memory.text, payment, customer, digits, &memory.data);
    let data = Param::Text(&memory.text);
    match exchange.spec.profile {
        TpccProfile::Standard => {
            exchange.change(Ask::PayBadly, &[new, paid, data, warehouse, district, id])?;
        }
        TpccProfile::Percona => {
            exchange.change(Ask::PayBadly, &[new, data, warehouse, district, id])?;
        }
    }
    Ok(customer)
}

/// Writes what is known of a customer after a payment: the payment, then what was known before, as far as
/// there is room.
fn write_data(text: &mut String, payment: &Payment, id: u32, digits: &Digits, before: &str) {
    text.clear();
    let Payment { warehouse, district, customer_warehouse, customer_district, .. } = *payment;
    for number in [id, customer_district, customer_warehouse, district, warehouse] {
        push_int(text, i64::from(number));
        text.push(' ');
    }
    text.push_str(digits.as_str());
    text.push(' ');
    text.push_str(before);
    if let Some((end, _)) = text.char_indices().nth(DATA) {
        text.truncate(end);
    }
}

fn add_history(
    exchange: &mut Exchange<'_>,
    memory: &mut Memory,
    payment: &Payment,
    customer: u32,
    digits: &Digits,
) -> Result<(), Stopped> {
    let data = &mut memory.text;
    data.clear();
    data.push_str(&memory.warehouse_name);
    data.push_str("    ");
    data.push_str(&memory.district_name);
    let all = [
        int(customer),
        int(payment.customer_district),
        int(payment.customer_warehouse),
        int(payment.district),
        int(payment.warehouse),
        amount(exchange.dialect(), payment.cents, digits),
        Param::Text(data),
    ];
    exchange.change(Ask::AddHistory, &all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::input::Customer;

    #[test]
    fn notes_of_a_customer_begin_with_the_payment_and_are_cut() {
        let payment = Payment {
            warehouse: 1,
            district: 2,
            customer_warehouse: 3,
            customer_district: 4,
            customer: Customer::Id(5),
            cents: 12_345,
        };
        let digits = money::digits(payment.cents);
        let mut text = String::from("from before");
        write_data(&mut text, &payment, 5, &digits, "known");
        assert_eq!(text, "5 4 3 2 1 123.45 known");
        let long = "x".repeat(DATA);
        write_data(&mut text, &payment, 5, &digits, &long);
        assert_eq!(text.len(), DATA);
        assert!(text.starts_with("5 4 3 2 1 123.45 xxx"));
    }
}

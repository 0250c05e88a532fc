//! Payment: takes a customer's payment.

use drivers::Param;
use model::{PaymentOrder, TpccProfile};

use super::clerk::{Halt, Memory, Talk, amount, cents, int, keep, shown, text};
use super::{Committed, Outcome, customer};
use crate::workload::sql::literal::push_int;
use crate::workload::tpcc::input::Payment;
use crate::workload::tpcc::money::Digits;
use crate::workload::tpcc::statements::Ask;

/// Most characters that are kept of what is known of a customer.
const DATA: usize = 500;

/// Credit of a customer of whom notes are taken.
const BAD: &[u8] = b"BC";

pub(super) fn run(
    talk: &mut Talk<'_>,
    memory: &mut Memory,
    payment: &Payment,
) -> Result<Outcome, Halt> {
    let digits = Digits::cents(payment.cents);
    talk.begin()?;
    let customer = match talk.manner.payment_order {
        PaymentOrder::Warehouse => {
            pay_warehouse(talk, memory, payment, &digits)?;
            pay_district(talk, memory, payment, &digits)?;
            pay_for_customer(talk, memory, payment, &digits)?
        }
        PaymentOrder::District => {
            pay_district(talk, memory, payment, &digits)?;
            let customer = pay_for_customer(talk, memory, payment, &digits)?;
            pay_warehouse(talk, memory, payment, &digits)?;
            customer
        }
    };
    add_history(talk, memory, payment, customer, &digits)?;
    talk.commit()?;
    Ok(Outcome {
        committed: Some(Committed::Payment {
            warehouse: payment.warehouse,
            district: payment.district,
            customer: (
                payment.customer_warehouse,
                payment.customer_district,
                customer,
            ),
            cents: payment.cents,
        }),
        ..Outcome::default()
    })
}

fn pay_warehouse(
    talk: &mut Talk<'_>,
    memory: &mut Memory,
    payment: &Payment,
    digits: &Digits,
) -> Result<(), Halt> {
    let paid = amount(talk.dialect(), payment.cents, digits);
    let warehouse = int(payment.warehouse);
    talk.change(Ask::PayWarehouse, &[paid, warehouse])?;
    talk.one(Ask::Warehouse, &[warehouse], |row| {
        shown(row, 0..5)?;
        keep(row, 5, &mut memory.warehouse_name)
    })
}

fn pay_district(
    talk: &mut Talk<'_>,
    memory: &mut Memory,
    payment: &Payment,
    digits: &Digits,
) -> Result<(), Halt> {
    let paid = amount(talk.dialect(), payment.cents, digits);
    let (warehouse, district) = (int(payment.warehouse), int(payment.district));
    talk.change(Ask::PayDistrict, &[paid, warehouse, district])?;
    talk.one(Ask::District, &[warehouse, district], |row| {
        shown(row, 0..5)?;
        keep(row, 5, &mut memory.district_name)
    })
}

/// Changes what the customer owes. Who it was.
fn pay_for_customer(
    talk: &mut Talk<'_>,
    memory: &mut Memory,
    payment: &Payment,
    digits: &Digits,
) -> Result<u32, Halt> {
    let dialect = talk.dialect();
    let place = (payment.customer_warehouse, payment.customer_district);
    let customer = customer::id(talk, memory, place, &payment.customer)?;
    let key = [int(place.0), int(place.1), int(customer)];
    let (balance, is_bad) = talk.one(Ask::Payer, &key, |row| {
        shown(row, 0..9)?;
        let is_bad = text(row, 9)? == BAD;
        shown(row, 10..12)?;
        let balance = cents(row, 12, dialect)?;
        shown(row, 13..14)?;
        Some((balance, is_bad))
    })?;
    let balance = balance - payment.cents;
    let new_digits = Digits::cents(balance);
    let new = amount(dialect, balance, &new_digits);
    let paid = amount(dialect, payment.cents, digits);
    let [warehouse, district, id] = key;
    if !is_bad {
        match talk.manner.profile {
            TpccProfile::Standard => {
                talk.change(Ask::Pay, &[new, paid, warehouse, district, id])?;
            }
            TpccProfile::Percona => talk.change(Ask::Pay, &[new, warehouse, district, id])?,
        }
        return Ok(customer);
    }
    let data = &mut memory.data;
    talk.one(Ask::PayerData, &key, |row| keep(row, 0, data))?;
    write_data(&mut memory.text, payment, customer, digits, &memory.data);
    let data = Param::Text(&memory.text);
    match talk.manner.profile {
        TpccProfile::Standard => {
            talk.change(Ask::PayBadly, &[new, paid, data, warehouse, district, id])?;
        }
        TpccProfile::Percona => {
            talk.change(Ask::PayBadly, &[new, data, warehouse, district, id])?;
        }
    }
    Ok(customer)
}

/// Writes what is known of a customer after a payment: the payment, then what was known before, as far as
/// there is room.
fn write_data(text: &mut String, payment: &Payment, id: u32, digits: &Digits, before: &str) {
    text.clear();
    let Payment {
        warehouse,
        district,
        customer_warehouse,
        customer_district,
        ..
    } = *payment;
    for number in [
        id,
        customer_district,
        customer_warehouse,
        district,
        warehouse,
    ] {
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
    talk: &mut Talk<'_>,
    memory: &mut Memory,
    payment: &Payment,
    customer: u32,
    digits: &Digits,
) -> Result<(), Halt> {
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
        amount(talk.dialect(), payment.cents, digits),
        Param::Text(data),
    ];
    talk.change(Ask::AddHistory, &all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tpcc::input::Customer;

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
        let digits = Digits::cents(payment.cents);
        let mut text = String::from("from before");
        write_data(&mut text, &payment, 5, &digits, "known");
        assert_eq!(text, "5 4 3 2 1 123.45 known");
        let long = "x".repeat(DATA);
        write_data(&mut text, &payment, 5, &digits, &long);
        assert_eq!(text.len(), DATA);
        assert!(text.starts_with("5 4 3 2 1 123.45 xxx"));
    }
}

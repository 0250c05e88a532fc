//! Payment: takes a customer's payment.

use drivers::Param;
use model::{PaymentOrder, TpccProfile};

use super::Memory;
use super::exchange::{Exchange, Result, int, keep, shown, text};
use crate::tpcc::input::{Customer, Outcome, Payment};
use crate::tpcc::money::{self, cents};
use crate::tpcc::statements::Ask;
use data::{Digits, push_int};

/// Most characters that are kept of what is known of a customer.
const DATA: usize = 500;

/// Credit of a customer of whom notes are taken.
const BAD: &[u8] = b"BC";

impl Exchange<'_> {
    pub(super) fn payment(&mut self, memory: &mut Memory, payment: &Payment) -> Result<Outcome> {
        let digits = money::digits(payment.cents);
        let paid = money::param(self.dialect, payment.cents, &digits);
        self.begin(Ask::Begin)?;
        let customer = match self.spec.payment_order {
            PaymentOrder::Warehouse => {
                self.pay_warehouse(memory, payment, paid)?;
                self.pay_district(memory, payment, paid)?;
                self.pay_for_customer(memory, payment, &digits)?
            }
            PaymentOrder::District => {
                self.pay_district(memory, payment, paid)?;
                let customer = self.pay_for_customer(memory, payment, &digits)?;
                self.pay_warehouse(memory, payment, paid)?;
                customer
            }
        };
        let Memory { warehouse_name, district_name, text, .. } = memory;
        text.clear();
        text.extend([warehouse_name, "    ", district_name]);
        let all = [
            int(customer),
            int(payment.customer_district),
            int(payment.customer_warehouse),
            int(payment.district),
            int(payment.warehouse),
            paid,
            Param::Text(text),
        ];
        self.change(Ask::AddHistory, &all)?;
        self.commit()?;
        Ok(Outcome { committed: Some(payment.paid(customer)), ..Outcome::default() })
    }

    fn pay_warehouse(&mut self, memory: &mut Memory, payment: &Payment, paid: Param<'_>) -> Result {
        let warehouse = int(payment.warehouse);
        self.change(Ask::PayWarehouse, &[paid, warehouse])?;
        self.one(Ask::Warehouse, &[warehouse], |row| {
            shown(row, 0..5)?;
            keep(row, 5, &mut memory.warehouse_name)
        })
    }

    fn pay_district(&mut self, memory: &mut Memory, payment: &Payment, paid: Param<'_>) -> Result {
        let (warehouse, district) = (int(payment.warehouse), int(payment.district));
        self.change(Ask::PayDistrict, &[paid, warehouse, district])?;
        self.one(Ask::District, &[warehouse, district], |row| {
            shown(row, 0..5)?;
            keep(row, 5, &mut memory.district_name)
        })
    }

    /// Changes what the customer owes. Who it was.
    fn pay_for_customer(
        &mut self,
        memory: &mut Memory,
        payment: &Payment,
        digits: &Digits,
    ) -> Result<u32> {
        let dialect = self.dialect;
        let paid = money::param(dialect, payment.cents, digits);
        let (warehouse, district) =
            (int(payment.customer_warehouse), int(payment.customer_district));
        let customer = match payment.customer {
            Customer::Id(id) => id,
            Customer::Name(name) => {
                self.in_the_middle(memory, Ask::Named, [warehouse, district], name)?.0
            }
        };
        let id = int(customer);
        let key = [warehouse, district, id];
        let (balance, is_bad) = self.one(Ask::Payer, &key, |row| {
            shown(row, 0..9)?;
            let is_bad = text(row, 9)? == BAD;
            shown(row, 10..12)?;
            let balance = cents(row.value(12), dialect)?;
            shown(row, 13..14)?;
            Some((balance, is_bad))
        })?;
        let balance = balance - payment.cents;
        let new_digits = money::digits(balance);
        let new = money::param(dialect, balance, &new_digits);
        if is_bad {
            self.one(Ask::PayerData, &key, |row| keep(row, 0, &mut memory.data))?;
            write_data(&mut memory.text, payment, customer, digits, &memory.data);
        }
        let data = Param::Text(&memory.text);
        let (ask, values): (Ask, &[Param<'_>]) = match (is_bad, self.spec.profile) {
            (false, TpccProfile::Standard) => (Ask::Pay, &[new, paid, warehouse, district, id]),
            (false, TpccProfile::Percona) => (Ask::Pay, &[new, warehouse, district, id]),
            (true, TpccProfile::Standard) => {
                (Ask::PayBadly, &[new, paid, data, warehouse, district, id])
            }
            (true, TpccProfile::Percona) => (Ask::PayBadly, &[new, data, warehouse, district, id]),
        };
        self.change(ask, values)?;
        Ok(customer)
    }
}

/// Writes a customer's data after a payment: the payment, then the data before, as far as it fits.
fn write_data(text: &mut String, payment: &Payment, id: u32, digits: &Digits, before: &str) {
    text.clear();
    let Payment { warehouse, district, customer_warehouse, customer_district, .. } = *payment;
    for number in [id, customer_district, customer_warehouse, district, warehouse] {
        push_int(text, i64::from(number));
        text.push(' ');
    }
    text.extend([digits.as_str(), " ", before]);
    if let Some((end, _)) = text.char_indices().nth(DATA) {
        text.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

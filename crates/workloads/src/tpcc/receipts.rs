//! What terminals saw committed, as sums of hashes: at the end the rows of the database must have the same sums.
//! Whoever changes, adds or removes a row later changes a sum.

use model::{Check, Note};
use serde::{Deserialize, Serialize};

use super::input::{Committed, Input, Line, NewOrder};
use data::{Form, RowHash, Sum};

/// Orders, their lines and payments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Receipts {
    pub(super) orders: Sum,
    pub(super) lines: Sum,
    pub(super) payments: Sum,
    /// New-Orders and Payments with unknown outcome: their session was lost before the COMMIT was answered.
    pub(super) unknown: u64,
}

impl Receipts {
    #[inline]
    pub(super) fn committed(&mut self, input: &Input, what: &Committed) {
        match *what {
            Committed::Payment { warehouse, district, customer, cents } => {
                self.paid([warehouse, district, customer.0, customer.1, customer.2], cents);
            }
            Committed::Order { order, .. } => {
                let Input::NewOrder(input) = input else { return };
                let NewOrder { warehouse, district, customer, .. } = *input;
                let (lines, is_local) = (input.lines(), u32::from(input.is_local()));
                self.order([warehouse, district, order, customer, lines.len() as u32, is_local]);
                for (&Line { item, supply, quantity }, number) in lines.iter().zip(1..) {
                    self.line([warehouse, district, order, number, item, supply, quantity]);
                }
            }
        }
    }

    /// Adds an order: warehouse, district, number, customer, how many lines, and 1 where these are local.
    pub(super) fn order(&mut self, order: [u32; 6]) {
        let [warehouse, district, number, customer, lines, is_local] = order;
        self.orders.add_row(hash([
            two(warehouse, district),
            two(number, customer),
            two(lines, is_local),
        ]));
    }

    /// Adds a line: warehouse, district and number of its order, its own number, item, supplying warehouse and
    /// quantity. Its amount and its text follow from these.
    #[inline]
    pub(super) fn line(&mut self, line: [u32; 7]) {
        let [warehouse, district, order, number, item, supply, quantity] = line;
        self.lines.add_row(hash([
            two(warehouse, district << 16 | number),
            two(order, item),
            two(supply, quantity),
        ]));
    }

    /// Adds a payment: where it was made (warehouse, district), by whom (warehouse, district, id), and how much.
    pub(super) fn paid(&mut self, payment: [u32; 5], cents: i64) {
        let [warehouse, district, of_warehouse, of_district, customer] = payment;
        self.payments.add_row(hash([
            two(warehouse, district),
            two(of_warehouse, of_district),
            i64::from(customer),
            cents,
        ]));
    }

    /// Compares what was `added` with what terminals saw committed; the note says why nothing is compared.
    pub(super) fn compare(&self, added: &Self) -> (Vec<Check>, Option<Note>) {
        if self.unknown > 0 {
            let text = format!(
                "rows of New-Orders and Payments against what terminals saw committed: of {} the \
                 connection was lost before the answer to COMMIT",
                self.unknown
            );
            return (Vec::new(), Some(Note::new("not compared", text)));
        }
        let checks = [
            ("orders", self.orders, added.orders),
            ("order_line", self.lines, added.lines),
            ("history", self.payments, added.payments),
        ];
        let checks = checks.map(|(table, expected, actual)| Check {
            what: format!("checksum of what terminals saw committed, in {table}"),
            expected: expected.to_string(),
            actual: actual.to_string(),
            holds: expected == actual,
        });
        (checks.to_vec(), None)
    }

    pub(super) const fn add(&mut self, other: &Self) {
        self.orders.add(other.orders);
        self.lines.add(other.lines);
        self.payments.add(other.payments);
        self.unknown += other.unknown;
    }
}

const fn two(high: u32, low: u32) -> i64 {
    ((high as i64) << 32) | low as i64
}

fn hash<const N: usize>(words: [i64; N]) -> u64 {
    let mut hash = RowHash::default();
    for word in words {
        hash.int(Form::Integer, word);
    }
    hash.finish()
}

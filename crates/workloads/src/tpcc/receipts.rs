//! What terminals saw committed, as sums of hashes: at the end the rows of the database must have the same
//! sums. Whoever changes, adds or removes a row later changes a sum.

use model::{Check, Note};

use super::input::{Input, NewOrder};
use super::outcome::Committed;
use data::checksum::{Form, RowHash, Sum};

/// Orders, their lines and payments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Receipts {
    pub(super) orders: Sum,
    pub(super) lines: Sum,
    pub(super) payments: Sum,
    /// New-Orders and Payments with unknown outcome: their session was lost before the COMMIT was answered.
    pub(super) unknown: u64,
}

/// An order without its lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrderRow {
    pub(super) warehouse: u32,
    pub(super) district: u32,
    pub(super) order: u32,
    pub(super) customer: u32,
    pub(super) lines: u32,
    pub(super) is_local: bool,
}

/// A line of an order; its amount and its text follow from these.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineRow {
    pub(super) warehouse: u32,
    pub(super) district: u32,
    pub(super) order: u32,
    pub(super) number: u32,
    pub(super) item: u32,
    pub(super) supply: u32,
    pub(super) quantity: u32,
}

impl Receipts {
    #[inline]
    pub(super) fn committed(&mut self, input: &Input, what: &Committed) {
        match (*what, input) {
            (Committed::Order { order, .. }, Input::NewOrder(input)) => self.entered(input, order),
            (Committed::Payment { warehouse, district, customer, cents }, _) => {
                self.paid((warehouse, district), customer, cents);
            }
            (
                Committed::Order { .. },
                Input::Payment(_)
                | Input::OrderStatus(_)
                | Input::Delivery(_)
                | Input::StockLevel(_),
            ) => {}
        }
    }

    fn entered(&mut self, input: &NewOrder, order: u32) {
        let (warehouse, district) = (input.warehouse, input.district);
        self.order(&OrderRow {
            warehouse,
            district,
            order,
            customer: input.customer,
            lines: input.lines().len() as u32,
            is_local: input.is_local(),
        });
        for (line, number) in input.lines().iter().zip(1..) {
            self.line(&LineRow {
                warehouse,
                district,
                order,
                number,
                item: line.item,
                supply: line.supply,
                quantity: line.quantity,
            });
        }
    }

    pub(super) fn order(&mut self, row: &OrderRow) {
        self.orders.add_row(hash([
            two(row.warehouse, row.district),
            two(row.order, row.customer),
            two(row.lines, u32::from(row.is_local)),
        ]));
    }

    #[inline]
    pub(super) fn line(&mut self, row: &LineRow) {
        self.lines.add_row(hash([
            two(row.warehouse, row.district << 16 | row.number),
            two(row.order, row.item),
            two(row.supply, row.quantity),
        ]));
    }

    /// Adds a payment: where it was made, by whom (warehouse, district, id), and how much.
    pub(super) fn paid(
        &mut self,
        (warehouse, district): (u32, u32),
        customer: (u32, u32, u32),
        cents: i64,
    ) {
        self.payments.add_row(hash([
            two(warehouse, district),
            two(customer.0, customer.1),
            i64::from(customer.2),
            cents,
        ]));
    }

    /// Holds what the database has (`added`) against what terminals saw committed. Where some do not know, a
    /// note says why nothing is compared.
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

/// Two numbers in one.
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

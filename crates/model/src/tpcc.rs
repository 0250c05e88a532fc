//! Every parameter of the TPC-C-like workload, resolved; and the facts that its steps record.

use serde::{Deserialize, Serialize};

use crate::{Arrivals, ErrorRules, Isolation, LoadSpec, Settle, Statements, words};

pub const DISTRICTS: u32 = 10;

/// Which of two descriptions of the work is followed. Their numbers must not be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TpccProfile {
    Standard,
    /// The intention of tpcc-mysql: its columns, its statements, taxes in the amount of a line.
    Percona,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TpccTransaction {
    /// Enters an order of 5 to 15 lines.
    NewOrder,
    Payment,
    /// Reads a customer's newest order.
    OrderStatus,
    /// Delivers the oldest order of each district.
    Delivery,
    /// Counts items of recent orders that are low in stock.
    StockLevel,
}

impl TpccTransaction {
    pub const ALL: [Self; 5] =
        [Self::NewOrder, Self::Payment, Self::OrderStatus, Self::Delivery, Self::StockLevel];

    pub fn name(self) -> &'static str {
        words::<Self>()[self as usize]
    }
}

/// The kind that counts New-Orders rolled back on purpose once more.
pub const ROLLBACK: &str = "rollback";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TpccMix {
    /// From a deck of 23 cards: 10 New-Order, 10 Payment, one each of the others, shuffled by each terminal.
    Deck,
    /// At random with these weights, in the order of [`TpccTransaction::ALL`].
    Weights([u32; 5]),
}

/// The warehouse that a terminal stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TpccHomes {
    /// Another one for each transaction.
    Random,
    /// The same for ever: terminal `n` (from 0) has warehouse `n mod warehouses + 1`.
    Fixed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TpccPace {
    /// Closed loop: each terminal starts the next when the last has ended.
    NoWait,
    /// Keying time before and think time after each transaction, times this share, in per cent.
    Wait { percent: u32 },
    /// Open loop, all terminals together.
    Rate { per_second: u64, arrivals: Arrivals, queue: u32 },
    /// Open loops at several rates: the highest at which nine in ten transactions of each type keep
    /// their limit is looked for and measured.
    Ramp { from: u64, arrivals: Arrivals, queue: u32, attempt_seconds: u32 },
}

/// How the statements of a transaction reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TpccForm {
    Single,
    /// Those of several lines or districts together, as lists.
    Batched,
    /// A stored procedure for each transaction.
    Procedures,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StockLevel {
    Join,
    /// The items first, then each item's stock.
    Loop,
}

/// Which row a Payment changes first, and so locks longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PaymentOrder {
    Warehouse,
    /// The district's, the warehouse's last.
    District,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TpccIndexes {
    /// The two that transactions need: of customers by name, of orders by customer.
    Minimum,
    /// Those of tpcc-mysql: two more, which serve foreign keys.
    Percona,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TpccSchema {
    pub foreign_keys: bool,
    pub indexes: TpccIndexes,
    /// Has `history`, which has no key, one by number?
    pub history_key: bool,
    /// Hash partitions by warehouse of the tables that grow with it; 0 for none.
    pub partitions: u32,
}

/// How many rows there are of what; other than the standard's for tests only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TpccCardinality {
    /// Items, and stock rows of a warehouse: 100,000.
    pub items: u32,
    /// Customers of a district, and orders after the load: 3,000. The last three tenths are not delivered.
    pub customers: u32,
}

impl TpccCardinality {
    pub const STANDARD: Self = Self { items: 100_000, customers: 3_000 };

    /// Orders of a district that are loaded as delivered: 2,100.
    pub const fn delivered(&self) -> u32 {
        self.customers - self.customers * 3 / 10
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TpccSpec {
    pub warehouses: u32,
    pub profile: TpccProfile,
    pub cardinality: TpccCardinality,
    pub schema: TpccSchema,
    pub load: LoadSpec,
    pub settle: Settle,
    pub clients: u32,
    pub homes: TpccHomes,
    pub pace: TpccPace,
    pub mix: TpccMix,
    pub form: TpccForm,
    /// Literal SQL text or prepared; of [`TpccForm::Single`] and [`TpccForm::Batched`].
    pub statements: Statements,
    /// `None` for the server's default.
    pub isolation: Option<Isolation>,
    pub stock_level: StockLevel,
    pub payment_order: PaymentOrder,
    /// Is each district of a Delivery a database transaction of its own, or the ten together?
    pub delivery_by_district: bool,
    /// Measured steps `h1 … hN`, one after the other on the same, growing database.
    pub steps: u32,
    pub seconds: u32,
    pub warmup_seconds: u32,
    /// Milliseconds that nine in ten response times must keep, in the order of [`TpccTransaction::ALL`].
    pub limits_millis: [u32; 5],
    pub errors: ErrorRules,
    pub statement_timeout: u32,
}

impl TpccSpec {
    /// The standard's rows, transactions and limits; one terminal that does not wait, twelve hours.
    pub const fn usual(warehouses: u32, load: LoadSpec) -> Self {
        Self {
            warehouses,
            profile: TpccProfile::Standard,
            cardinality: TpccCardinality::STANDARD,
            schema: TpccSchema {
                foreign_keys: false,
                indexes: TpccIndexes::Percona,
                history_key: false,
                partitions: 0,
            },
            load,
            settle: Settle::Formula,
            clients: 1,
            homes: TpccHomes::Random,
            pace: TpccPace::NoWait,
            mix: TpccMix::Deck,
            form: TpccForm::Single,
            statements: Statements::Prepared,
            isolation: None,
            stock_level: StockLevel::Join,
            payment_order: PaymentOrder::Warehouse,
            delivery_by_district: false,
            steps: 12,
            seconds: 3_600,
            warmup_seconds: 5,
            limits_millis: [5_000, 5_000, 5_000, 80_000, 20_000],
            errors: ErrorRules::usual(),
            statement_timeout: 600,
        }
    }

    #[must_use]
    pub const fn with_few_indexes(mut self) -> Self {
        self.schema.indexes = TpccIndexes::Minimum;
        self
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TpccFacts {
    pub limits_millis: [u32; 5],
    /// Districts that a Delivery found without an order to deliver.
    pub skipped: u64,
    /// Orders that wait for delivery after the step.
    pub backlog: u64,
    /// New-Orders that clients saw committed, warm-up included.
    pub committed: u64,
    /// Growth of the districts' order numbers meanwhile.
    pub counted: u64,
    pub audit: TpccAudit,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TpccAudit {
    pub new_orders: u64,
    pub rollbacks: u64,
    pub lines: u64,
    pub remote_lines: u64,
    pub payments: u64,
    pub remote_payments: u64,
    pub payments_by_name: u64,
    pub order_statuses: u64,
    pub order_statuses_by_name: u64,
}

/// Transactions from which on inputs are held against the ranges; of fewer, chance decides too much.
pub const AUDIT_FROM: u64 = 10_000;

/// A share of the clients' inputs, and the standard's range for it.
#[derive(Clone, Copy, Debug)]
pub struct AuditRange {
    /// Its id, whose row says what is shared.
    pub metric: &'static str,
    pub needs_others: bool,
    pub low: f64,
    pub high: f64,
    /// How many of these inputs are of the share, and of how many.
    pub of: fn(&TpccAudit) -> (u64, u64),
}

/// All shares, in the order of every list of them.
pub const AUDIT: [AuditRange; 6] = [
    range("audit.rollbacks", false, [0.9, 1.1], |a| (a.rollbacks, a.new_orders)),
    range("audit.lines", false, [9.5, 10.5], |a| (a.lines, a.new_orders)),
    range("audit.remote_lines", true, [0.95, 1.05], |a| (a.remote_lines, a.lines)),
    range("audit.remote_payments", true, [14.0, 16.0], |a| (a.remote_payments, a.payments)),
    range("audit.payments_by_name", false, [57.0, 63.0], |a| (a.payments_by_name, a.payments)),
    range("audit.order_statuses_by_name", false, [57.0, 63.0], |a| {
        (a.order_statuses_by_name, a.order_statuses)
    }),
];

const fn range(
    metric: &'static str,
    needs_others: bool,
    [low, high]: [f64; 2],
    of: fn(&TpccAudit) -> (u64, u64),
) -> AuditRange {
    AuditRange { metric, needs_others, low, high, of }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_ranges() {
        for range in &AUDIT {
            assert!(range.low < range.high, "{}", range.metric);
            assert!(range.metric.starts_with("audit."), "{}", range.metric);
        }
    }

    #[test]
    fn shares_are_of_what_was_asked() {
        let asked = TpccAudit {
            new_orders: 10_000,
            rollbacks: 101,
            lines: 100_300,
            remote_lines: 1_003,
            payments: 10_000,
            remote_payments: 1_500,
            payments_by_name: 6_000,
            order_statuses: 0,
            order_statuses_by_name: 0,
        };
        let shares = AUDIT.map(|range| range.share(&asked));
        let expected = [Some(1.01), Some(10.03), Some(1.0), Some(15.0), Some(60.0), None];
        for (found, expected) in shares.into_iter().zip(expected) {
            assert_eq!(found.is_some(), expected.is_some());
            let apart = found.unwrap_or_default() - expected.unwrap_or_default();
            assert!(apart.abs() < 1e-9, "{found:?} {expected:?}");
        }
    }
}

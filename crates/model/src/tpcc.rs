//! Every parameter of the TPC-C-like workload, resolved; and what its steps find out.

use serde::{Deserialize, Serialize};

use crate::{Arrivals, ErrorRules, LoadSpec, Settle, Statements};

/// Districts of a warehouse.
pub const DISTRICTS: u32 = 10;

/// Which of two descriptions of the work is followed. Their numbers must not be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TpccProfile {
    /// The standard's.
    Standard,
    /// What tpcc-mysql means to do: its columns, its statements, taxes in the amount of a line.
    Percona,
}

/// The five transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TpccTransaction {
    /// Enters an order of 5 to 15 lines.
    NewOrder,
    /// Takes a customer's payment.
    Payment,
    /// Reads a customer's newest order.
    OrderStatus,
    /// Delivers the oldest order of each district.
    Delivery,
    /// Counts items of recent orders that are low in stock.
    StockLevel,
}

impl TpccTransaction {
    /// All, in the order of every list of five.
    pub const ALL: [Self; 5] = [
        Self::NewOrder,
        Self::Payment,
        Self::OrderStatus,
        Self::Delivery,
        Self::StockLevel,
    ];

    /// The name of its operation kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NewOrder => "new-order",
            Self::Payment => "payment",
            Self::OrderStatus => "order-status",
            Self::Delivery => "delivery",
            Self::StockLevel => "stock-level",
        }
    }
}

/// The kind in which New-Orders that are rolled back on purpose are counted once more.
pub const ROLLBACK: &str = "rollback";

/// Which transaction comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TpccMix {
    /// From a deck of 23 cards, 10 New-Order, 10 Payment and one each of the others, which each terminal
    /// shuffles anew when it is used up.
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

/// When transactions start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TpccPace {
    /// Closed loop: each terminal starts the next when the last has ended.
    NoWait,
    /// Keying time before and think time after each transaction, times this share, in per cent.
    Wait {
        /// 100 for the standard's times.
        percent: u32,
    },
    /// Open loop, all terminals together.
    Rate {
        /// Transactions per second.
        per_second: u64,
        /// How they are spread.
        arrivals: Arrivals,
        /// Transactions that may wait.
        queue: u32,
    },
    /// Open loops at several rates: the highest at which nine in ten transactions of each type keep
    /// their limit is looked for and measured.
    Ramp {
        /// The first rate, in transactions per second of all terminals together.
        from: u64,
        /// How arrivals are spread.
        arrivals: Arrivals,
        /// Transactions that may wait.
        queue: u32,
        /// Seconds of each attempt.
        attempt_seconds: u32,
    },
}

/// How the statements of a transaction reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TpccForm {
    /// One after the other.
    Single,
    /// Those of several lines or districts together, as lists.
    Batched,
    /// A stored procedure for each transaction.
    Procedures,
}

/// Isolation of the transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
}

impl Isolation {
    /// As SQL says it.
    pub const fn sql(self) -> &'static str {
        match self {
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }
}

/// How Stock-Level asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StockLevel {
    /// One join.
    Join,
    /// The items first, then each item's stock.
    Loop,
}

/// Which row a Payment changes first, and so locks longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PaymentOrder {
    /// The warehouse's.
    Warehouse,
    /// The district's, the warehouse's last.
    District,
}

/// The secondary indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TpccIndexes {
    /// The two that transactions need: of customers by name, of orders by customer.
    Minimum,
    /// Those of tpcc-mysql: two more, which serve foreign keys.
    Percona,
}

/// What the tables look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TpccSchema {
    /// Are there the ten foreign keys?
    pub foreign_keys: bool,
    /// The secondary indexes.
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
    /// Customers of a district, and orders after the load: 3,000. The last three tenths of the orders are not
    /// delivered.
    pub customers: u32,
}

impl TpccCardinality {
    /// The standard's.
    pub const STANDARD: Self = Self {
        items: 100_000,
        customers: 3_000,
    };

    /// Orders of a district that are loaded as delivered: 2,100.
    pub const fn delivered(&self) -> u32 {
        self.customers - self.customers * 3 / 10
    }
}

/// Every parameter of the TPC-C-like workload, resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TpccSpec {
    /// The scale.
    pub warehouses: u32,
    /// Which description of the work.
    pub profile: TpccProfile,
    /// Rows of each table.
    pub cardinality: TpccCardinality,
    /// What the tables look like.
    pub schema: TpccSchema,
    /// How rows are loaded.
    pub load: LoadSpec,
    /// The settle phase after the load.
    pub settle: Settle,
    /// Terminals.
    pub clients: u32,
    /// The warehouses of the terminals.
    pub homes: TpccHomes,
    /// When transactions start.
    pub pace: TpccPace,
    /// Which transaction comes next.
    pub mix: TpccMix,
    /// How statements reach the server.
    pub form: TpccForm,
    /// Literal SQL text or prepared; of [`TpccForm::Single`] and [`TpccForm::Batched`].
    pub statements: Statements,
    /// `None` for what the server does by itself.
    pub isolation: Option<Isolation>,
    /// How Stock-Level asks.
    pub stock_level: StockLevel,
    /// Which row a Payment changes first.
    pub payment_order: PaymentOrder,
    /// Is each district of a Delivery a database transaction of its own, or the ten together?
    pub delivery_by_district: bool,
    /// Measured steps `h1 … hN`, one after the other on the same, growing database.
    pub steps: u32,
    /// Seconds of each.
    pub seconds: u32,
    /// Seconds before each in which the same is done and not measured.
    pub warmup_seconds: u32,
    /// Response times that nine in ten transactions must keep, in milliseconds, in the order of
    /// [`TpccTransaction::ALL`].
    pub limits_millis: [u32; 5],
    /// What clients do about errors.
    pub errors: ErrorRules,
    /// Seconds after which a statement counts as hung.
    pub statement_timeout: u32,
}

impl TpccSpec {
    /// What is usual for so many warehouses: the standard's rows, transactions and limits, one terminal that
    /// does not wait, statement by statement, for twelve hours.
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

    /// The same with no more secondary indexes than transactions need.
    #[must_use]
    pub const fn with_few_indexes(mut self) -> Self {
        self.schema.indexes = TpccIndexes::Minimum;
        self
    }
}

/// What a step of the TPC-C-like workload finds out besides what its operation kinds count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TpccFacts {
    /// Response-time limits, in milliseconds, in the order of [`TpccTransaction::ALL`].
    pub limits_millis: [u32; 5],
    /// Districts that a Delivery found without an order to deliver.
    pub skipped: u64,
    /// Orders that wait for delivery after the step.
    pub backlog: u64,
    /// New-Orders that clients saw committed, warm-up included.
    pub committed: u64,
    /// Growth of the districts' order numbers meanwhile.
    pub counted: u64,
    /// What clients asked for.
    pub audit: TpccAudit,
}

/// What the inputs of the transactions were, to be held against the ranges of the standard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TpccAudit {
    /// New-Orders.
    pub new_orders: u64,
    /// Those that are rolled back.
    pub rollbacks: u64,
    /// Lines.
    pub lines: u64,
    /// Lines from another warehouse.
    pub remote_lines: u64,
    /// Payments.
    pub payments: u64,
    /// Those by another warehouse's customer.
    pub remote_payments: u64,
    /// Those by last name.
    pub payments_by_name: u64,
    /// Order-Status transactions.
    pub order_statuses: u64,
    /// Those by last name.
    pub order_statuses_by_name: u64,
}

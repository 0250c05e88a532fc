//! What comes of a transaction.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What came of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Was it a New-Order that was rolled back, as it had to be?
    pub(crate) rolled_back: bool,
    /// Districts that a Delivery found without an order.
    pub(crate) skipped: u32,
    /// Rows that it read and wrote.
    pub(crate) rows: u64,
    /// What is in the database now, where it leaves a row of its own.
    pub(crate) committed: Option<Committed>,
    /// An answer that was not what it had to be, in words.
    pub(crate) wrong: Option<String>,
}

/// What a transaction left in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Committed {
    Order {
        warehouse: u32,
        district: u32,
        order: u32,
    },
    /// Where it was paid, who paid (warehouse, district, id) and how much. There may be several that are equal.
    Payment {
        warehouse: u32,
        district: u32,
        customer: (u32, u32, u32),
        cents: i64,
    },
}

impl fmt::Display for Committed {
    /// For people: `order 3021 of district 4 of warehouse 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order { warehouse, district, order } => {
                write!(f, "order {order} of district {district} of warehouse {warehouse}")
            }
            Self::Payment { warehouse, district, customer, cents } => {
                let (of_warehouse, of_district, number) = customer;
                let (whole, rest) = (cents / 100, cents % 100);
                write!(
                    f,
                    "payment of {whole}.{rest:02} in district {district} of warehouse {warehouse} by \
                     customer {number} of district {of_district} of warehouse {of_warehouse}"
                )
            }
        }
    }
}

/// How far a transaction has come that is several of the database: tried again, it goes on from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Districts that are done.
    pub(crate) districts: u32,
    /// Of these, how many had no order.
    pub(crate) skipped: u32,
}

//! What is proved of the data.

use model::TpccProfile;

use super::{When, quantities};
use crate::workload::tpcc::conditions::{self, Condition};
use crate::workload::tpcc::tables::Table;

/// What is proved by one check.
#[derive(Clone, Copy, Debug)]
pub(super) enum Proof {
    /// A condition that a query tells.
    Condition(&'static Condition),
    /// Stock is what was loaded, less what was ordered.
    Quantities,
    /// The rows of a table are those that the seed and the transactions made.
    Contents(Table),
}

impl Proof {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Condition(condition) => condition.name,
            Self::Quantities => quantities::NAME,
            Self::Contents(table) => table.name(),
        }
    }

    pub(super) fn says(self) -> &'static str {
        match self {
            Self::Condition(condition) => condition.says,
            Self::Quantities => quantities::SAYS,
            Self::Contents(table) => match table {
                Table::Warehouse
                | Table::District
                | Table::Customer
                | Table::NewOrder
                | Table::Item
                | Table::Stock => "rows are as loaded, except for what transactions write",
                Table::History | Table::Orders => {
                    "loaded rows are as loaded, others as transactions add them"
                }
                Table::OrderLine => {
                    "loaded rows are as loaded, in others ol_amount = ol_quantity * i_price"
                }
            },
        }
    }

    /// Everything that can be asked of such data, and what it does not keep.
    pub(super) fn of(profile: TpccProfile, when: When) -> (Vec<Self>, Vec<Self>) {
        let conditions = conditions::all().map(Self::Condition);
        let mut proofs: Vec<Self> = conditions.collect();
        if when == When::Used {
            proofs.push(Self::Quantities);
            // Of the queue for delivery there is no more than its keys.
            let tables = Table::ALL.into_iter();
            let tables = tables.filter(|table| *table != Table::NewOrder);
            proofs.extend(tables.map(Self::Contents));
        }
        proofs.into_iter().partition(|proof| match proof {
            Self::Condition(condition) => condition.applies(profile, when),
            Self::Quantities => profile == TpccProfile::Standard,
            Self::Contents(_) => true,
        })
    }
}

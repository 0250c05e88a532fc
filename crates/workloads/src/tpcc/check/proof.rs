//! What is proved of the data.

use model::TpccProfile;

use crate::tpcc::conditions::{self, Condition, When};
use crate::tpcc::tables::Table;

/// The proof that stock is what was loaded, less what was ordered.
pub(super) const QUANTITIES: &str = "stock quantities";
#[derive(Clone, Copy, Debug)]
pub(super) enum Proof {
    Condition(&'static Condition),
    /// Stock is what was loaded, less what was ordered.
    Quantities,
    Contents(Table),
}

impl Proof {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Condition(condition) => condition.name,
            Self::Quantities => QUANTITIES,
            Self::Contents(table) => table.name(),
        }
    }

    pub(super) fn says(self) -> &'static str {
        match self {
            Self::Condition(condition) => condition.says,
            Self::Quantities => "s_quantity as loaded - s_ytd - s_quantity is a multiple of 91",
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

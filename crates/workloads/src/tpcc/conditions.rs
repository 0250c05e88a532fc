//! What must hold of the data: the twelve consistency conditions of the standard, and what else follows from
//! the transactions. Each is a query that returns the rows which offend.
//!
//! The texts are the same in all dialects, and their plans as plain as can be: tables are read in the order of
//! their primary keys or looked up by them, and two sides that must agree per customer or item are put one
//! after the other and added up, never joined. Money is added in the unit of its columns, so that cents and
//! decimals need no different texts. Only `o_carrier_id` and `ol_delivery_d` may be NULL.

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use model::{DISTRICTS, TpccProfile};
use serde::Deserialize;

use super::blocks::{blocks, named};
use super::scale::Scale;

#[derive(Clone, Debug)]
pub(super) struct Condition {
    /// `condition 3` for those of the standard, what it is about for others.
    pub(super) name: &'static str,
    pub(super) says: &'static str,
    /// What the columns of an offending row are: first its key, then what does not fit.
    pub(super) columns: Vec<&'static str>,
    pub(super) over: Over,
    validity: Validity,
    /// The query, with names in braces in place of what differs.
    sql: String,
}

/// What one query of a condition looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Over {
    Warehouse,
    /// Some warehouses in a row: it reads a table without a key by warehouse, which must not happen too often.
    Slice,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Validity {
    Always,
    /// After the load, and later where transactions are the standard's: others leave some columns alone.
    WhereMaintained,
    /// As [`Validity::WhereMaintained`], and it says nothing right after the load.
    WhereMaintainedAndUsed,
}

static CONDITIONS: LazyLock<Vec<Condition>> = LazyLock::new(|| {
    blocks(include_str!("conditions/conditions.sql")).filter_map(condition).collect()
});

fn condition((header, lines): (Vec<&'static str>, Vec<&'static str>)) -> Option<Condition> {
    let ([name, over, validity], [says, columns, sql @ ..]) = (&header[..], &lines[..]) else {
        return None;
    };
    Some(Condition {
        name,
        says: says.strip_prefix("says: ")?,
        columns: columns.strip_prefix("columns: ")?.split(", ").collect(),
        over: named(over)?,
        validity: named(validity)?,
        sql: sql.join(" "),
    })
}

/// All conditions, those of the standard first.
pub(super) fn all() -> impl Iterator<Item = &'static Condition> {
    CONDITIONS.iter()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Warehouses {
    pub(super) first: u32,
    pub(super) last: u32,
}

/// What happened to the data that is to be proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Loaded,
    Used,
}

impl Condition {
    pub(super) fn applies(&self, profile: TpccProfile, when: When) -> bool {
        match (self.validity, when) {
            (Validity::Always, _) | (Validity::WhereMaintained, When::Loaded) => true,
            (Validity::WhereMaintainedAndUsed, When::Loaded) => false,
            (Validity::WhereMaintained | Validity::WhereMaintainedAndUsed, When::Used) => {
                profile == TpccProfile::Standard
            }
        }
    }

    /// The query that returns what offends in these warehouses, at most one row for each key.
    pub(super) fn sql(&self, scale: &Scale, when: When, warehouses: Warehouses) -> String {
        // Known after the load, later those that have a carrier.
        let delivered_orders = match when {
            When::Loaded => "{delivered}",
            When::Used => {
                "(SELECT COUNT(o_carrier_id) FROM orders \
                 WHERE o_w_id = {warehouse} AND o_d_id = d_id)"
            }
        };
        let numbers = [
            ("{warehouse}", warehouses.first),
            ("{first}", warehouses.first),
            ("{last}", warehouses.last),
            ("{warehouses}", scale.warehouses),
            ("{districts}", DISTRICTS),
            ("{items}", scale.items),
            // An order for each customer is loaded.
            ("{loaded}", scale.customers),
            ("{delivered}", scale.delivered),
        ];
        let customers = u64::from(scale.customers) * u64::from(DISTRICTS);
        // This part first: it has numbers in it.
        let sql = self.sql.replace("{delivered orders}", delivered_orders);
        numbers
            .iter()
            .fold(sql, |sql, (name, number)| sql.replace(name, &number.to_string()))
            .replace("{customers}", &customers.to_string())
    }
}

//! Statements about several lines or districts together: one for each number of them.

use std::ops::RangeInclusive;

use drivers::ParamType;
use model::{DISTRICTS, Dialect};

use super::{ASKS, Statement, Writer};
use crate::workload::tpcc::input::{FEWEST_LINES, MOST_LINES};

/// A statement that there is of several lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workload::tpcc) enum List {
    /// Items.
    Items,
    /// Stock of items, locked.
    Stocks,
    /// What is left of it.
    TakeStocks,
    /// Adds lines of an order.
    AddLines,
    /// Takes orders from those that wait for delivery.
    DequeueAll,
    /// Who ordered them.
    Orderers,
    /// Says who delivers them.
    SetCarriers,
    /// Says when their lines are delivered.
    SetAllDelivered,
    /// What they cost.
    Sums,
    /// What a delivery changes of the customers.
    ChargeAll,
}

/// How many there are.
const LISTS: usize = List::ChargeAll as usize + 1;

/// Places of each: one for every possible number, from zero.
const OF_EACH: usize = MOST_LINES + 1;

/// Places of all.
pub(super) const PLACES: usize = LISTS * OF_EACH;

impl List {
    /// The place in the book of the one for `count`.
    pub(in crate::workload::tpcc) const fn place(self, count: usize) -> usize {
        ASKS + self as usize * OF_EACH + count
    }

    /// The numbers that can come up: an order that is rolled back has one line less.
    pub(super) const fn counts(self) -> RangeInclusive<usize> {
        match self {
            Self::Items | Self::Stocks | Self::TakeStocks | Self::AddLines => {
                FEWEST_LINES - 1..=MOST_LINES
            }
            Self::DequeueAll
            | Self::Orderers
            | Self::SetCarriers
            | Self::SetAllDelivered
            | Self::Sums
            | Self::ChargeAll => 1..=DISTRICTS as usize,
        }
    }

    /// A condition that holds for any of so many keys. Every server reads their rows by the index, which
    /// cannot be said of lists of row values.
    pub(super) fn any_of(count: usize, key: &str) -> String {
        vec![format!("({key})"); count].join(" OR ")
    }
}

impl Writer<'_> {
    /// Puts a list of `count` whose parameters have these types, over and over again.
    pub(super) fn put_list(&mut self, list: List, count: usize, sql: &str, types: &[ParamType]) {
        self.put_typed(list, count, sql, &types.repeat(count));
    }

    /// Puts a list of `count` with the types of all of its parameters.
    pub(super) fn put_typed(&mut self, list: List, count: usize, sql: &str, types: &[ParamType]) {
        self.put_at(
            list.place(count),
            format!("{list:?} of {count}"),
            sql,
            types,
        );
    }

    /// Puts an UPDATE of `table` by `count` rows of values, which are called `v` and have these columns:
    /// what is set, and on which condition.
    pub(super) fn put_update_list(
        &mut self,
        list: List,
        count: usize,
        table: &str,
        columns: &[(&str, ParamType)],
        (set, on): (&str, &str),
    ) {
        let types: Vec<ParamType> = columns.iter().map(|(_, kind)| *kind).collect();
        let sql = match self.dialect {
            Dialect::Mysql => {
                let rows = union(columns, count);
                // Without the word, an optimizer may read the whole table before the rows of values.
                format!("UPDATE ({rows}) AS v STRAIGHT_JOIN {table} ON {on} SET {set}")
            }
            Dialect::Postgres | Dialect::Sqlite => {
                let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
                let row = format!("({})", vec!["?"; columns.len()].join(", "));
                let rows = vec![row; count].join(", ");
                let names = names.join(", ");
                format!(
                    "WITH v ({names}) AS (VALUES {rows}) UPDATE {table} SET {set} FROM v WHERE {on}"
                )
            }
        };
        self.put_list(list, count, &sql, &types);
    }
}

/// Rows of values as MySQL has had them since ever. Their types are said: else they would be texts, which
/// no index finds.
fn union(columns: &[(&str, ParamType)], count: usize) -> String {
    let cast = |kind: &ParamType| match kind {
        ParamType::Int => "CAST(? AS SIGNED)",
        ParamType::Decimal => "CAST(? AS DECIMAL(12,2))",
        ParamType::Text | ParamType::DateTime => "?",
    };
    let first: Vec<String> = columns
        .iter()
        .map(|(name, kind)| format!("{} AS {name}", cast(kind)))
        .collect();
    let other: Vec<&str> = columns.iter().map(|(_, kind)| cast(kind)).collect();
    let mut sql = format!("SELECT {}", first.join(", "));
    for _ in 1..count {
        sql.push_str(" UNION ALL SELECT ");
        sql.push_str(&other.join(", "));
    }
    sql
}

impl Statement {
    /// How many values one of its executions needs.
    #[cfg(test)]
    pub(super) fn placeholders(&self) -> usize {
        self.pieces.len() - 1
    }
}

//! Statements about several lines or districts together: one for each number of them.

use std::ops::RangeInclusive;

use model::DISTRICTS;
use serde::Deserialize;

use super::ask::ASKS;
use crate::tpcc::input::{FEWEST_LINES, MOST_LINES};

/// A statement about several lines or districts, of several lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum List {
    Items,
    Stocks,
    TakeStocks,
    AddLines,
    DequeueAll,
    Orderers,
    SetCarriers,
    SetAllDelivered,
    Sums,
    ChargeAll,
}

/// How many there are.
const LISTS: usize = List::ChargeAll as usize + 1;

/// Places of each: one for every possible number, from zero.
const OF_EACH: usize = MOST_LINES + 1;

/// Places of all.
pub(super) const PLACES: usize = LISTS * OF_EACH;

impl List {
    /// The place in the statements of the one for `count`.
    pub(crate) const fn place(self, count: usize) -> usize {
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
}

/// A text with `{list:…}` and `{or:…}` in it as often as there are lines or districts.
pub(super) fn expanded(text: &str, count: usize) -> String {
    let mut sql = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        sql.push_str(before);
        let (part, after) = after.split_once('}').unwrap_or((after, ""));
        match part.split_once(':') {
            Some(("or", key)) => sql.push_str(&vec![format!("({key})"); count].join(" OR ")),
            Some((_, item)) => sql.push_str(&vec![item; count].join(", ")),
            // Of another kind, to be filled in later.
            None => sql.extend(["{", part, "}"]),
        }
        rest = after;
    }
    sql + rest
}

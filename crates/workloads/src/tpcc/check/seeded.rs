//! What the readers of contents know of the rows, and how they compare values.

use drivers::Value;
use model::{Dialect, TpccProfile};

use crate::tpcc::population::{Lookup, Population};
use crate::tpcc::scale::Scale;
use crate::tpcc::tables::Table;
use data::decimal::Digits;
pub(super) struct Seeded {
    pub(super) scale: Scale,
    pub(super) population: Population,
    pub(super) profile: TpccProfile,
    pub(super) dialect: Dialect,
    /// The price of each item, in cents.
    pub(super) prices: Vec<i64>,
}

impl Seeded {
    pub(super) fn new(
        scale: Scale,
        rows_seed: u64,
        profile: TpccProfile,
        dialect: Dialect,
    ) -> Self {
        let population = Population::new(scale, rows_seed);
        let mut items = Lookup::new(&population, Table::Item, (1, 1));
        let place = Table::Item.place_of("i_price").unwrap_or(0);
        let prices = (1..=scale.items).map(|item| items.number([item, 0, 0, 0], place));
        Self { prices: prices.collect(), scale, population, profile, dialect }
    }
}

pub(super) fn is_carrier(value: Value<'_>) -> bool {
    value.as_int().is_some_and(|number| (1..=10).contains(&number))
}

/// Units of a decimal number as the server shows them.
pub(super) fn decimal(dialect: Dialect, units: i64, decimals: usize) -> String {
    match dialect {
        Dialect::Mysql | Dialect::Postgres => Digits::of(units, decimals).as_str().to_owned(),
        Dialect::Sqlite => units.to_string(),
    }
}

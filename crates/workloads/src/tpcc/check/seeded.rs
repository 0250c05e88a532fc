//! What is known of the rows from the seed, and what columns may have that transactions write.

use drivers::Value;
use model::{Dialect, TpccProfile};

use crate::tpcc::loading::Setting;
use crate::tpcc::population::{Lookup, Population};
use crate::tpcc::scale::Scale;
use crate::tpcc::tables::Table;
use data::decimal::Digits;

/// What is known of the rows from the seed.
pub(super) struct Seeded {
    pub(super) scale: Scale,
    pub(super) population: Population,
    pub(super) profile: TpccProfile,
    pub(super) dialect: Dialect,
    /// The price of each item, in cents.
    pub(super) prices: Vec<i64>,
}

impl Seeded {
    pub(super) fn new(at: &Setting<'_>) -> Self {
        let (scale, population) = (Scale::of(at.spec), at.population());
        let mut items = Lookup::new(&population, Table::Item, (1, 1));
        let [place] = Table::Item.places(["i_price"]);
        let prices = (1..=scale.items).map(|item| items.number([item, 0, 0, 0], place)).collect();
        let (profile, dialect) = (at.spec.profile, at.target.dialect);
        Self { scale, population, profile, dialect, prices }
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

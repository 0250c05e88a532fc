//! Rows of each table, by the number of warehouses.

use model::TpccSpec;

use super::tables::Table;
use load::{Result, StepError};

/// Different last names.
const NAMES: u32 = 1000;

/// Rows of each table, by warehouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    /// Warehouses, numbered from 1.
    pub(super) warehouses: u32,
    pub(super) items: u32,
    pub(super) customers: u32,
    /// Orders of a district that are loaded as delivered: those with the lowest numbers.
    pub(super) delivered: u32,
}

impl Scale {
    pub(super) const fn of(spec: &TpccSpec) -> Self {
        Self {
            warehouses: spec.warehouses,
            items: spec.cardinality.items,
            customers: spec.cardinality.customers,
            delivered: spec.cardinality.delivered(),
        }
    }

    /// Last names that a district is sure to have, from number 0: its first customers have one each.
    pub(super) const fn names(&self) -> u32 {
        if self.customers < NAMES { self.customers } else { NAMES }
    }

    /// The number before the first one, and the last one, of the rows in each group of a table.
    pub(super) const fn numbers(&self, table: Table) -> (u32, u32) {
        match table {
            Table::Warehouse | Table::District => (0, self.warehouses),
            Table::Item | Table::Stock => (0, self.items),
            Table::Customer | Table::History | Table::Orders | Table::OrderLine => {
                (0, self.customers)
            }
            Table::NewOrder => (self.delivered, self.customers),
        }
    }

    /// Rows of a table after the load. Of the lines of orders their mean: the number itself depends on
    /// the seed, and differs by less than one in a hundred.
    pub(super) fn rows(&self, table: Table) -> u64 {
        let (before, last) = self.numbers(table);
        let groups = table.groups_of(1, self.warehouses).count() as u64;
        groups * u64::from(last - before) * u64::from(table.rows_of_number())
    }

    pub(super) fn check(&self) -> Result {
        let Self { warehouses, items, customers, .. } = *self;
        // Numbers of rows are signed 32-bit integers on every server.
        let range = 1..=i32::MAX as u32;
        if [warehouses, items, customers].iter().all(|n| range.contains(n)) {
            return Ok(());
        }
        Err(StepError::Unsupported(format!(
            "there is no database of {warehouses} warehouses, {items} items and {customers} customers \
             in each district: give each a number from 1 to {}",
            i32::MAX
        )))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use model::{ErrorRules, LoadSpec, Settle, TpccCardinality};

    use super::*;

    /// Two small warehouses, and the usual for all else.
    pub(crate) fn spec() -> TpccSpec {
        let load = LoadSpec { rows_per_commit: 100, ..LoadSpec::usual(2) };
        let usual = TpccSpec::usual(2, load).with_few_indexes();
        TpccSpec {
            cardinality: TpccCardinality { items: 50, customers: 30 },
            settle: Settle::Seconds(0),
            clients: 2,
            steps: 2,
            seconds: 1,
            warmup_seconds: 0,
            errors: ErrorRules { tries: 10, ..ErrorRules::usual() },
            statement_timeout: 10,
            ..usual
        }
    }

    #[test]
    fn a_warehouse_has_the_rows_of_the_standard() {
        let mut spec = spec();
        (spec.warehouses, spec.cardinality) = (10, TpccCardinality::STANDARD);
        let scale = Scale::of(&spec);
        let rows = |table| scale.rows(table);
        assert_eq!(scale.delivered, 2100);
        assert_eq!(scale.names(), 1000);
        assert_eq!(rows(Table::Warehouse), 10);
        assert_eq!(rows(Table::District), 100);
        assert_eq!(rows(Table::Customer), 300_000);
        assert_eq!(rows(Table::History), 300_000);
        assert_eq!(rows(Table::Orders), 300_000);
        assert_eq!(rows(Table::NewOrder), 90_000);
        assert_eq!(rows(Table::OrderLine), 3_000_000);
        assert_eq!(rows(Table::Stock), 1_000_000);
        assert_eq!(rows(Table::Item), 100_000);
    }

    #[test]
    fn a_scale_of_nothing_is_refused() {
        assert!(Scale::of(&spec()).check().is_ok());
        let mut none = spec();
        none.warehouses = 0;
        assert_eq!(
            Scale::of(&none).check().unwrap_err().to_string(),
            "there is no database of 0 warehouses, 50 items and 30 customers in each district: give \
             each a number from 1 to 2147483647"
        );
        let mut none = spec();
        none.cardinality.items = 0;
        assert!(Scale::of(&none).check().is_err());
    }
}

//! Units: the rows that are loaded in one transaction, or read by one query.
//!
//! A unit is in one table and, where the table's rows belong to a warehouse or district, in one of these.
//! It is a range of keys in a row; its rows follow from their numbers alone.

use std::fmt;

use model::DISTRICTS;

use crate::workload::tpcc::scale::{MEAN_LINES, Scale};
use crate::workload::tpcc::tables::Table;

/// Rows of a table in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workload::tpcc) struct Unit {
    pub(in crate::workload::tpcc) table: Table,
    /// Of which warehouse; zero for all together.
    pub(super) warehouse: u32,
    /// Of which of its districts; zero for all together.
    pub(super) district: u32,
    /// The first key: number of the item, customer, order, or of the warehouse.
    pub(super) first: u32,
    /// The last key.
    pub(super) last: u32,
}

/// What the keys of a table's units belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Nothing,
    Warehouse,
    District,
}

impl Within {
    const fn of(table: Table) -> Self {
        match table {
            Table::Item | Table::Warehouse | Table::District => Self::Nothing,
            Table::Stock => Self::Warehouse,
            Table::Customer
            | Table::History
            | Table::Orders
            | Table::NewOrder
            | Table::OrderLine => Self::District,
        }
    }
}

/// The columns that tell where a row belongs: its warehouse, its district, its key; empty where it has none.
const fn columns(table: Table) -> [&'static str; 3] {
    match table {
        Table::Warehouse => ["", "", "w_id"],
        Table::District => ["", "", "d_w_id"],
        Table::Customer => ["c_w_id", "c_d_id", "c_id"],
        Table::History => ["h_c_w_id", "h_c_d_id", "h_c_id"],
        Table::NewOrder => ["no_w_id", "no_d_id", "no_o_id"],
        Table::Orders => ["o_w_id", "o_d_id", "o_id"],
        Table::OrderLine => ["ol_w_id", "ol_d_id", "ol_o_id"],
        Table::Item => ["", "", "i_id"],
        Table::Stock => ["s_w_id", "", "s_i_id"],
    }
}

impl Unit {
    /// The condition, behind WHERE, that its rows meet and no others.
    pub(in crate::workload::tpcc) fn condition(&self) -> String {
        let [warehouse, district, key] = columns(self.table);
        let Self { first, last, .. } = self;
        let range = format!("{key} BETWEEN {first} AND {last}");
        match Within::of(self.table) {
            Within::Nothing => range,
            Within::Warehouse => format!("{warehouse} = {} AND {range}", self.warehouse),
            Within::District => format!(
                "{warehouse} = {} AND {district} = {} AND {range}",
                self.warehouse, self.district
            ),
        }
    }
}

impl fmt::Display for Unit {
    /// Where it is: `order_line of warehouse 3, district 7, ol_o_id 1 to 1000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.table.name())?;
        match Within::of(self.table) {
            Within::Nothing => write!(f, " of")?,
            Within::Warehouse => write!(f, " of warehouse {},", self.warehouse)?,
            Within::District => {
                write!(
                    f,
                    " of warehouse {}, district {},",
                    self.warehouse, self.district
                )?;
            }
        }
        let [_, _, key] = columns(self.table);
        write!(f, " {key} {} to {}", self.first, self.last)
    }
}

/// How all tables are cut into units of at most so many rows, about. A unit has one key at least.
#[derive(Clone, Copy, Debug)]
pub(in crate::workload::tpcc) struct Cuts {
    scale: Scale,
    rows: u32,
}

impl Cuts {
    /// Cuts of tables of this scale into units of at most `rows` rows.
    pub(in crate::workload::tpcc) const fn new(scale: Scale, rows: u32) -> Self {
        Self { scale, rows }
    }

    /// How many units a table has; they are numbered from zero, in the order of the table's key.
    pub(in crate::workload::tpcc) fn count(&self, table: Table) -> u64 {
        let warehouses = u64::from(self.scale.warehouses);
        let places = match Within::of(table) {
            Within::Nothing => 1,
            Within::Warehouse => warehouses,
            Within::District => warehouses * u64::from(DISTRICTS),
        };
        places * self.slices(table)
    }

    /// A unit by its number.
    pub(in crate::workload::tpcc) fn unit(&self, table: Table, number: u64) -> Unit {
        let slices = self.slices(table).max(1);
        let (place, slice) = (number / slices, (number % slices) as u32);
        let (before, last) = self.keys(table);
        let each = self.keys_of_unit(table);
        let first = before + 1 + slice * each;
        let districts = u64::from(DISTRICTS);
        let (warehouse, district) = match Within::of(table) {
            Within::Nothing => (0, 0),
            Within::Warehouse => (place + 1, 0),
            Within::District => (place / districts + 1, place % districts + 1),
        };
        Unit {
            table,
            warehouse: warehouse as u32,
            district: district as u32,
            first,
            last: last.min(first.saturating_add(each - 1)),
        }
    }

    /// The units of a table that belong to these warehouses, in order; all where they belong to none.
    pub(in crate::workload::tpcc) fn of_warehouses(
        &self,
        table: Table,
        first: u32,
        last: u32,
    ) -> impl Iterator<Item = Unit> {
        let of_each = match Within::of(table) {
            Within::Nothing => None,
            Within::Warehouse => Some(1),
            Within::District => Some(u64::from(DISTRICTS)),
        };
        let slices = self.slices(table);
        let range = match of_each {
            None => 0..self.count(table),
            Some(each) => {
                let places = each * slices;
                (u64::from(first) - 1) * places..u64::from(last) * places
            }
        };
        range.map(move |number| self.unit(table, number))
    }

    /// All units of a table, in order.
    pub(in crate::workload::tpcc) fn units(&self, table: Table) -> impl Iterator<Item = Unit> {
        (0..self.count(table)).map(move |number| self.unit(table, number))
    }

    /// Into how many units the keys of one place are cut.
    fn slices(&self, table: Table) -> u64 {
        let (before, last) = self.keys(table);
        u64::from((last - before).div_ceil(self.keys_of_unit(table)))
    }

    /// The key before the first and the last one, of each place.
    const fn keys(&self, table: Table) -> (u32, u32) {
        match table {
            Table::Warehouse | Table::District => (0, self.scale.warehouses),
            Table::Item | Table::Stock => (0, self.scale.items),
            Table::Customer | Table::History | Table::Orders | Table::OrderLine => {
                (0, self.scale.customers)
            }
            Table::NewOrder => (self.scale.delivered, self.scale.customers),
        }
    }

    fn keys_of_unit(&self, table: Table) -> u32 {
        let rows_of_key = match table {
            Table::District => DISTRICTS,
            Table::OrderLine => MEAN_LINES,
            Table::Warehouse
            | Table::Customer
            | Table::History
            | Table::NewOrder
            | Table::Orders
            | Table::Item
            | Table::Stock => 1,
        };
        (self.rows / rows_of_key).max(1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::workload::tpcc::scale::tests::spec;

    #[test]
    fn units_together_are_all_keys_once() {
        for rows in [0, 1, 7, 30, 1000, 10_000_000] {
            let scale = Scale::of(&spec());
            let cuts = Cuts::new(scale, rows);
            for table in Table::ALL {
                let mut seen = BTreeSet::new();
                for unit in cuts.units(table) {
                    assert!(unit.first <= unit.last, "{unit:?}");
                    for key in unit.first..=unit.last {
                        assert!(seen.insert((unit.warehouse, unit.district, key)), "{unit}");
                    }
                }
                let has_ten = matches!(table, Table::District | Table::OrderLine);
                let rows_of_key = if has_ten { 10 } else { 1 };
                assert_eq!(seen.len() as u64 * rows_of_key, scale.rows(table));
            }
        }
    }

    #[test]
    fn units_are_about_as_long_as_they_may_be() {
        let cuts = Cuts::new(Scale::of(&spec()), 20);
        let unit = |table, number| cuts.unit(table, number).to_string();
        assert_eq!(cuts.count(Table::Stock), 2 * 3);
        assert_eq!(
            unit(Table::Stock, 2),
            "stock of warehouse 1, s_i_id 41 to 50"
        );
        assert_eq!(
            unit(Table::Stock, 3),
            "stock of warehouse 2, s_i_id 1 to 20"
        );
        assert_eq!(cuts.count(Table::OrderLine), 2 * 10 * 15);
        assert_eq!(
            unit(Table::OrderLine, 15 * 16 + 1),
            "order_line of warehouse 2, district 7, ol_o_id 3 to 4"
        );
        assert_eq!(
            unit(Table::NewOrder, 0),
            "new_order of warehouse 1, district 1, no_o_id 22 to 30"
        );
        assert_eq!(unit(Table::District, 0), "district of d_w_id 1 to 2");
        assert_eq!(cuts.count(Table::Item), 3);
    }

    #[test]
    fn a_condition_names_the_rows_of_its_unit() {
        let cuts = Cuts::new(Scale::of(&spec()), 100);
        let condition = |table, number| cuts.unit(table, number).condition();
        assert_eq!(condition(Table::Item, 0), "i_id BETWEEN 1 AND 50");
        assert_eq!(condition(Table::District, 0), "d_w_id BETWEEN 1 AND 2");
        assert_eq!(
            condition(Table::Stock, 1),
            "s_w_id = 2 AND s_i_id BETWEEN 1 AND 50"
        );
        assert_eq!(
            condition(Table::History, 19),
            "h_c_w_id = 2 AND h_c_d_id = 10 AND h_c_id BETWEEN 1 AND 30"
        );
    }

    #[test]
    fn a_scale_without_undelivered_orders_has_no_units_of_them() {
        let mut spec = spec();
        spec.cardinality.customers = 3;
        let cuts = Cuts::new(Scale::of(&spec), 100);
        assert_eq!(cuts.count(Table::NewOrder), 0);
        assert_eq!(cuts.count(Table::Orders), 20);
    }
}

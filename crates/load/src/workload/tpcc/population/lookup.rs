//! Loaded rows found by their keys.

use model::DISTRICTS;

use super::sink::Sink;
use super::{Cuts, Population, Rows};
use crate::workload::tpcc::tables::Table;

/// The loaded rows of a table in some warehouses.
pub(in crate::workload::tpcc) struct Lookup {
    table: Table,
    /// The first warehouse.
    first: u32,
    /// By warehouse and district, as far as the table's rows belong to such.
    rows: Vec<Rows>,
    /// How many rows were loaded there.
    count: u64,
}

impl Lookup {
    /// The rows of `table` in warehouses `first` to `last`; all where they belong to none.
    pub(in crate::workload::tpcc) fn new(
        population: &Population,
        table: Table,
        (first, last): (u32, u32),
    ) -> Self {
        let cuts = Cuts::new(population.scale, u32::MAX);
        let units = || cuts.of_warehouses(table, first, last);
        Self {
            table,
            first,
            rows: units().map(|unit| population.rows(&unit)).collect(),
            count: units().map(|unit| population.count(&unit)).sum(),
        }
    }

    /// How many rows were loaded there.
    pub(in crate::workload::tpcc) const fn count(&self) -> u64 {
        self.count
    }

    /// Shows the keys of all rows, where these are a warehouse, a district and a number there.
    pub(in crate::workload::tpcc) fn each_customer(&self, mut see: impl FnMut([u32; 4])) {
        for rows in &self.rows {
            let unit = &rows.unit;
            for number in unit.first..=unit.last {
                see([unit.warehouse, unit.district, number, 0]);
            }
        }
    }

    /// Shows the row with this key to `sink`; false where none was loaded with it. The key is that of the
    /// table, of `history` the customer.
    pub(in crate::workload::tpcc) fn put(&mut self, key: [u32; 4], sink: &mut impl Sink) -> bool {
        let [a, b, c, d] = key;
        let of_warehouse = |number: u32| number.checked_sub(self.first);
        let of_district = |warehouse, district: u32| {
            let place = of_warehouse(warehouse)?.checked_mul(DISTRICTS)?;
            let district = (1..=DISTRICTS).contains(&district).then_some(district)?;
            place.checked_add(district - 1)
        };
        let (place, key, part) = match self.table {
            Table::Warehouse | Table::Item => (Some(0), a, 1),
            Table::District => (Some(0), a, b),
            Table::Stock => (of_warehouse(a), b, 1),
            Table::Customer | Table::History | Table::NewOrder | Table::Orders => {
                (of_district(a, b), c, 1)
            }
            Table::OrderLine => (of_district(a, b), c, d),
        };
        let rows = place.and_then(|place| self.rows.get_mut(place as usize));
        rows.is_some_and(|rows| rows.seek(key, part) && rows.put(sink))
    }
}

/// Keeps the value of one column.
#[derive(Debug, Default)]
pub(in crate::workload::tpcc) struct Pick {
    /// Its place.
    wanted: usize,
    at: usize,
    /// Its number: cents, ten-thousandths or an integer.
    pub(in crate::workload::tpcc) number: i64,
    /// Its text.
    pub(in crate::workload::tpcc) text: String,
    /// Texts of other columns: they must be made too, because a row's random numbers follow each other.
    other: String,
}

impl Pick {
    /// Of the column at this place.
    pub(in crate::workload::tpcc) fn new(wanted: usize) -> Self {
        Self {
            wanted,
            ..Self::default()
        }
    }

    fn is_wanted(&mut self) -> bool {
        self.at += 1;
        self.at - 1 == self.wanted
    }
}

impl Sink for Pick {
    fn int(&mut self, value: i64) {
        if self.is_wanted() {
            self.number = value;
        }
    }

    fn cents(&mut self, cents: i64) {
        self.int(cents);
    }

    fn rate(&mut self, ten_thousandths: i64) {
        self.int(ten_thousandths);
    }

    fn text(&mut self, write: impl FnOnce(&mut String)) {
        let text = if self.is_wanted() {
            &mut self.text
        } else {
            &mut self.other
        };
        text.clear();
        write(text);
    }

    fn time(&mut self, time: &str) {
        self.text(|out| out.push_str(time));
    }

    fn null(&mut self) {
        self.at += 1;
    }

    fn end_row(&mut self) {
        self.at = 0;
    }
}

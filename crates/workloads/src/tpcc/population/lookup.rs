//! Loaded rows found by their keys.

use drivers::Value;
use model::{DISTRICTS, Dialect};

use super::Population;
use super::rows::Rows;
use crate::tpcc::tables::Table;
use data::source::Rows as _;
use data::{Cells, Source};

/// The loaded rows of a table in some warehouses.
pub(crate) struct Lookup {
    table: Table,
    first: u32,
    rows: Vec<Rows>,
    count: u64,
    cells: Cells,
}

impl Lookup {
    /// The rows of `table` in warehouses `first` to `last`; all where they belong to none.
    pub(crate) fn new(population: &Population, table: Table, (first, last): (u32, u32)) -> Self {
        let batches = || population.of_warehouses(table, first, last);
        Self {
            table,
            first,
            rows: batches().map(|batch| population.rows(&batch)).collect(),
            count: batches().map(|batch| population.count(&batch)).sum(),
            // It has decimals as integers of their units.
            cells: Cells::new(Dialect::Sqlite),
        }
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Shows the keys of all rows, where these are a warehouse, a district and a number there.
    pub(crate) fn each_customer(&self, mut see: impl FnMut([u32; 4])) {
        for rows in &self.rows {
            let [warehouse, district] = rows.group;
            for number in rows.keys.clone() {
                see([warehouse, district, number, 0]);
            }
        }
    }

    /// The loaded row with this key, cents and ten-thousandths as integers; `None` where none was loaded with
    /// it. The key is that of the table, of `history` the customer.
    pub(crate) fn row(&mut self, key: [u32; 4]) -> Option<&Cells> {
        let [a, b, c, d] = key;
        let of_warehouse = |number: u32| number.checked_sub(self.first);
        let of_district = |warehouse, district: u32| {
            let place = of_warehouse(warehouse)?.checked_mul(DISTRICTS)?;
            let district = (1..=DISTRICTS).contains(&district).then_some(district)?;
            place.checked_add(district - 1)
        };
        let (place, key) = match self.table.groups() {
            0 => (Some(0), a),
            1 => (of_warehouse(a), b),
            _ => (of_district(a, b), c),
        };
        let is_line = self.table == Table::OrderLine;
        let part = if is_line {
            d
        } else if self.table == Table::District {
            b
        } else {
            1
        };
        let rows = self.rows.get_mut(place? as usize)?;
        self.cells.clear();
        (rows.seek(key, part) && rows.put(&mut self.cells)).then_some(&self.cells)
    }

    /// A number of that row; zero where there is none.
    pub(crate) fn number(&mut self, key: [u32; 4], column: usize) -> i64 {
        self.row(key).and_then(|row| row.value(column).as_int()).unwrap_or(0)
    }

    /// A text of that row; empty where there is none.
    pub(crate) fn text(&mut self, key: [u32; 4], column: usize) -> &[u8] {
        match self.row(key).map(|row| row.value(column)) {
            Some(Value::Bytes(text)) => text,
            Some(Value::Int(_) | Value::Real(_) | Value::Null) | None => &[],
        }
    }
}

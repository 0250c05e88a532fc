//! The copies of the tables of a SQL workload.

use model::SqlTable;
#[derive(Clone, Debug)]
pub struct TableCopy {
    pub table: usize,
    /// Number of the copy, from 0.
    pub number: u32,
    pub name: String,
    pub rows: u64,
}

/// All copies of all tables, in order.
pub fn copies(tables: &[SqlTable]) -> Vec<TableCopy> {
    let of = |(index, table): (usize, &SqlTable)| -> Vec<TableCopy> {
        let copies = (0..table.copies).map(|number| TableCopy {
            table: index,
            number,
            name: table.name_of(number),
            rows: table.rows,
        });
        copies.collect()
    };
    tables.iter().enumerate().flat_map(of).collect()
}

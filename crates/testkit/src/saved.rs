//! The fake's data in a file: what a data directory is to a server.

use std::fmt::Write;

use crate::tables::{Cell, Table, Tables};

/// All tables as text: a line for each table, followed by one for each of its rows.
pub(crate) fn write(tables: &Tables) -> String {
    let mut text = String::new();
    for (name, table) in &tables.0 {
        let _infallible = writeln!(text, "table\t{name}\t{}", table.highest);
        for row in table.rows.values() {
            text.push_str("row");
            for cell in row {
                let _infallible = match cell {
                    Cell::Null => write!(text, "\tnull"),
                    Cell::Int(number) => write!(text, "\tint {number}"),
                    Cell::Text(value) => write!(text, "\ttext {value}"),
                };
            }
            text.push('\n');
        }
    }
    text
}

/// The tables of a text; `None` when it is not one that [`write`] made.
pub(crate) fn read(text: &str) -> Option<Tables> {
    let mut tables = Tables::default();
    let mut last = None;
    for line in text.lines() {
        let mut fields = line.split('\t');
        if fields.next()? == "table" {
            let name = fields.next()?;
            let table = Table { highest: fields.next()?.parse().ok()?, ..Table::default() };
            tables.0.insert(name.to_owned(), table);
            last = Some(name);
        } else {
            let row: Vec<Cell> = fields.map(cell).collect::<Option<_>>()?;
            let Cell::Int(key) = *row.first()? else {
                return None;
            };
            tables.0.get_mut(last?)?.rows.insert(key, row);
        }
    }
    Some(tables)
}

fn cell(text: &str) -> Option<Cell> {
    match text.split_once(' ') {
        None => Some(Cell::Null),
        Some(("int", number)) => number.parse().ok().map(Cell::Int),
        Some((_, value)) => Some(Cell::Text(value.to_owned())),
    }
}

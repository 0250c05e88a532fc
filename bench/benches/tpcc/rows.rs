//! The rows of a table that was loaded, in memory: another loader can load the same ones.

use anyhow::{Context, Result};
use drivers::{Param, ParamType, Row, Session, Value};
use model::Dialect;

/// The tables of the workload that grow with its scale, and items.
pub(crate) const TABLES: [&str; 9] = [
    "warehouse",
    "district",
    "customer",
    "history",
    "new_order",
    "orders",
    "order_line",
    "item",
    "stock",
];

/// A value of a row.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    Text(Box<str>),
}

impl Cell {
    /// As a parameter; NULL is none.
    pub(crate) fn param(&self) -> Option<Param<'_>> {
        match self {
            Self::Null => None,
            Self::Int(number) => Some(Param::Int(*number)),
            Self::Text(text) => Some(Param::Text(text)),
        }
    }
}

/// A table in memory.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) table: &'static str,
    /// Types of its columns.
    pub(crate) types: Vec<ParamType>,
    /// Row after row.
    cells: Vec<Cell>,
}

impl Rows {
    /// Reads all rows of a table.
    pub(crate) fn read(
        session: &mut dyn Session,
        dialect: Dialect,
        table: &'static str,
    ) -> Result<Self> {
        let types = types(session, dialect, table)?;
        let mut cells = Vec::new();
        let mut bad = false;
        session.query(&format!("SELECT * FROM {table}"), &mut |row| {
            for (column, kind) in types.iter().enumerate() {
                let cell = cell(row, column, *kind);
                bad |= cell.is_none();
                cells.push(cell.unwrap_or(Cell::Null));
            }
        })?;
        anyhow::ensure!(!bad, "{table} has a value that is not of its column's type");
        Ok(Self { table, types, cells })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.cells.len() / self.types.len().max(1)
    }

    /// One after the other.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells.chunks(self.types.len().max(1))
    }
}

fn cell(row: &dyn Row, column: usize, kind: ParamType) -> Option<Cell> {
    let value = row.value(column);
    Some(match kind {
        _ if value == Value::Null => Cell::Null,
        ParamType::Int => Cell::Int(value.as_int()?),
        ParamType::Text | ParamType::DateTime | ParamType::Decimal => {
            Cell::Text(value.to_text()?.into())
        }
    })
}

/// The types of the columns of a table, as the server tells them.
fn types(session: &mut dyn Session, dialect: Dialect, table: &str) -> Result<Vec<ParamType>> {
    let schema = match dialect {
        Dialect::Mysql => "DATABASE()",
        Dialect::Postgres | Dialect::Sqlite => "CURRENT_SCHEMA()",
    };
    let sql = format!(
        "SELECT data_type FROM information_schema.columns \
         WHERE table_schema = {schema} AND table_name = '{table}' ORDER BY ordinal_position"
    );
    let mut names = Vec::new();
    session.query(&sql, &mut |row| names.push(row.value(0).to_text()))?;
    let kind = |name: Option<String>| {
        let name = name.context("a type without a name")?;
        Ok(match name.as_str() {
            "decimal" | "numeric" => ParamType::Decimal,
            "datetime" | "timestamp" | "timestamp without time zone" => ParamType::DateTime,
            name if name.contains("int") => ParamType::Int,
            _ => ParamType::Text,
        })
    };
    names.into_iter().map(kind).collect()
}

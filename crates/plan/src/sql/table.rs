//! `[[table]]`: columns with what loaded rows have in them, keys and indexes.

use model::{ColumnKind, Draw, SqlColumn, SqlIndex, SqlTable};

use super::draw;
use super::names::{check_new, identifier, identifier_key};
use super::options::{MAX_COPIES, MAX_ROWS};
use super::scope::{Scope, signed};
use crate::Result;
use crate::document::{Entry, Value};
use crate::fields::{Fields, Item};

const KEYS: [&str; 7] = ["name", "copies", "numbered", "rows", "primary_key", "indexes", "columns"];

/// The largest number that a column of 32 bits is trusted with: what tests add must fit, too.
const MAX_INT: i64 = 2_000_000_000;
const IN_PLACE_OF_KEY: &str = "xid";

pub(crate) fn tables(list: Item<'_>, scope: &Scope, secondary: bool) -> Result<Vec<SqlTable>> {
    let list = list.list()?;
    let is_only = list.len() == 1;
    let mut tables: Vec<SqlTable> = Vec::new();
    for item in list {
        let mut table = table(item, scope)?;
        let others = tables.iter().map(|other| other.name.as_str());
        check_new(&item.place(), "table", &table.name, others)?;
        if secondary && !table.primary_key.is_empty() {
            index_in_place_of_key(&mut table, is_only);
        }
        // A name of an index is one of the whole database in PostgreSQL and SQLite.
        for index in &table.indexes {
            let others = tables.iter().flat_map(|other| &other.indexes);
            let others = others.map(|other| other.name.as_str());
            check_new(&item.place(), "index", &index.name, others)?;
        }
        tables.push(table);
    }
    Ok(tables)
}

fn index_in_place_of_key(table: &mut SqlTable, is_only: bool) {
    let index = SqlIndex {
        name: if is_only {
            IN_PLACE_OF_KEY.to_owned()
        } else {
            format!("{IN_PLACE_OF_KEY}_{}", table.name)
        },
        columns: std::mem::take(&mut table.primary_key),
        unique: false,
    };
    table.indexes.insert(0, index);
}

fn table(item: Item<'_>, scope: &Scope) -> Result<SqlTable> {
    let fields = Fields::new(item.node, "table", &KEYS)?;
    let name = identifier(fields.need("name")?)?;
    let scope = scope.of(format!("table `{name}`"));
    let copies = fields.maybe("copies", |copies| scope.small(copies, 1..=MAX_COPIES))?;
    let rows = scope.within(fields.need("rows")?, 1..=MAX_ROWS as i64)?;
    let columns = columns(fields.need("columns")?, &scope, rows)?;
    let primary_key = key_columns(fields.get("primary_key"), &columns)?;
    check_auto(&fields, &columns, &primary_key)?;
    Ok(SqlTable {
        numbered: fields.switch("numbered")?,
        copies: copies.unwrap_or(1),
        rows: rows as u64,
        indexes: indexes(&fields, &columns)?,
        name,
        columns,
        primary_key,
    })
}

fn columns(item: Item<'_>, scope: &Scope, rows: i64) -> Result<Vec<SqlColumn>> {
    match &item.node.value {
        Value::Table(entries) if !entries.is_empty() => {
            let columns = entries.iter().map(|entry| column(entry, scope, rows));
            columns.collect()
        }
        _ => Err(item.wrong("a table with at least one column")),
    }
}

fn column(entry: &Entry, scope: &Scope, rows: i64) -> Result<SqlColumn> {
    let fields = Fields::new(&entry.node, "a column", &["type", "auto", "value"])?;
    let item = fields.need("value")?;
    let value = draw::of_column(item, scope)?;
    let kind = widened(kind(fields.need("type")?)?, &value, rows);
    check_value(item, kind, &value)?;
    Ok(SqlColumn {
        name: identifier_key(&entry.key, &entry.place)?,
        kind,
        auto: fields.switch("auto")?,
        value,
    })
}

/// `int`, `bigint`, `char(120)`, `varchar(20)`, `text`, `decimal(10,2)`, `datetime`.
fn kind(item: Item<'_>) -> Result<ColumnKind> {
    let expected = "a type: int, bigint, char(N), varchar(N), text, decimal(N,N) or datetime";
    let text = item.text()?;
    let (name, sizes) =
        text.split_once('(').map_or((text, None), |(name, rest)| (name, Some(rest)));
    let sizes = sizes.map(|sizes| sizes.strip_suffix(')').unwrap_or("?").split(','));
    let sizes = sizes.into_iter().flatten().map(|size| size.trim().parse().ok());
    let kind = match (name.trim(), sizes.collect::<Vec<Option<u32>>>().as_slice()) {
        ("int", []) => ColumnKind::Int,
        ("bigint", []) => ColumnKind::Bigint,
        ("text", []) => ColumnKind::Text,
        ("datetime", []) => ColumnKind::Datetime,
        // The limits are those of MySQL and of rows in one page.
        ("char", [Some(length @ 1..=255)]) => ColumnKind::Char(*length),
        ("varchar", [Some(length @ 1..=16_000)]) => ColumnKind::Varchar(*length),
        ("decimal", [Some(digits @ 1..=18), Some(scale)]) if scale <= digits => {
            ColumnKind::Decimal(*digits, *scale)
        }
        _ => return Err(item.wrong(expected)),
    };
    Ok(kind)
}

/// Numbers that do not fit into 32 bits, with room for more, make the column one of 64.
fn widened(kind: ColumnKind, value: &Draw, rows: i64) -> ColumnKind {
    let highest = match value {
        Draw::Row => rows,
        Draw::Cycle(length) => rows.min(i64::try_from(*length).unwrap_or(i64::MAX)),
        Draw::Int { high, .. } => *high,
        Draw::From(number) => *number,
        Draw::Plus { .. }
        | Draw::Next
        | Draw::Template(_)
        | Draw::Text { .. }
        | Draw::Fixed(_)
        | Draw::Decimal { .. }
        | Draw::Datetime { .. } => return kind,
    };
    match kind {
        ColumnKind::Int if highest > MAX_INT => ColumnKind::Bigint,
        _ => kind,
    }
}

/// The value must fit into the column whatever is drawn.
fn check_value(item: Item<'_>, kind: ColumnKind, value: &Draw) -> Result<()> {
    let fits = match (kind, value) {
        (ColumnKind::Int, Draw::Int { low, .. }) => *low >= -MAX_INT,
        (ColumnKind::Int, Draw::From(number)) => *number >= -MAX_INT,
        (ColumnKind::Int | ColumnKind::Bigint, Draw::Row | Draw::Cycle(_))
        | (ColumnKind::Bigint, Draw::Int { .. } | Draw::From(_))
        | (ColumnKind::Datetime, Draw::Datetime { .. }) => true,
        (ColumnKind::Decimal(digits, scale), Draw::Decimal { low, high, scale: drawn }) => {
            let largest = low.unsigned_abs().max(high.unsigned_abs());
            scale == *drawn && largest < 10_u64.pow(digits)
        }
        (ColumnKind::Char(length) | ColumnKind::Varchar(length), text) => {
            longest(text).is_some_and(|longest| longest <= length as usize)
        }
        (ColumnKind::Text, text) => longest(text).is_some(),
        _ => false,
    };
    if fits {
        return Ok(());
    }
    Err(item.conflict(format!("`value` does not fit into the column's type, {}", needed(kind))))
}

/// Characters of the longest text; `None` where it is none.
fn longest(value: &Draw) -> Option<usize> {
    if let Draw::Template(text) | Draw::Fixed(text) = value {
        return Some(text.chars().count());
    }
    value.text_bytes().map(|(_, longest)| longest as usize)
}

fn needed(kind: ColumnKind) -> String {
    match kind {
        ColumnKind::Int => {
            format!("which takes integers from {} to {}", signed(-MAX_INT), signed(MAX_INT))
        }
        ColumnKind::Bigint => "which takes integers".to_owned(),
        ColumnKind::Char(length) | ColumnKind::Varchar(length) => {
            format!("which takes text of at most {length} characters")
        }
        ColumnKind::Text => "which takes text".to_owned(),
        ColumnKind::Decimal(digits, scale) => {
            format!("which takes `decimal` with {scale} digits after the point and {digits} in all")
        }
        ColumnKind::Datetime => "which takes `datetime`".to_owned(),
    }
}

/// Columns of a key or an index: there, each once, and none of long text, which MySQL cannot index.
fn key_columns(list: Option<Item<'_>>, columns: &[SqlColumn]) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for item in list.map_or(Ok(Vec::new()), Item::list)? {
        let name = item.text()?;
        let at = item.one_of("column", name, columns.iter().map(|c| c.name.as_str()))?;
        if columns[at].kind == ColumnKind::Text {
            return Err(item.conflict(format!(
                "`{name}` is of type text, which not every Dbms can index: make it a varchar"
            )));
        }
        check_new(&item.place(), "column", name, names.iter().map(String::as_str))?;
        names.push(name.to_owned());
    }
    Ok(names)
}

fn indexes(fields: &Fields<'_>, columns: &[SqlColumn]) -> Result<Vec<SqlIndex>> {
    let mut indexes: Vec<SqlIndex> = Vec::new();
    for item in fields.maybe("indexes", Item::list)?.unwrap_or_default() {
        let fields = Fields::new(item.node, "an index", &["name", "columns", "unique"])?;
        let name = identifier(fields.need("name")?)?;
        let others = indexes.iter().map(|index| index.name.as_str());
        check_new(&item.place(), "index", &name, others.chain([IN_PLACE_OF_KEY]))?;
        indexes.push(SqlIndex {
            name,
            columns: key_columns(Some(fields.need("columns")?), columns)?,
            unique: fields.switch("unique")?,
        });
    }
    Ok(indexes)
}

/// The server goes on counting where the loaded rows end; all that every Dbms can count is a primary key.
fn check_auto(fields: &Fields<'_>, columns: &[SqlColumn], primary_key: &[String]) -> Result<()> {
    let Some(auto) = columns.iter().find(|column| column.auto) else { return Ok(()) };
    let is_key = primary_key == [auto.name.as_str()];
    let is_integer = matches!(auto.kind, ColumnKind::Int | ColumnKind::Bigint);
    if is_key && is_integer && auto.value == Draw::Row {
        return Ok(());
    }
    Err(fields.place_of(&["columns"]).conflict(format!(
        "`{}` is `auto`: it needs an integer type, `value = \"row\"`, and must be all of the \
             `primary_key`",
        auto.name
    )))
}

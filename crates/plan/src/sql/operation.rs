//! `[operation.NAME]` and `[block.NAME]`: what clients send, resolved for one step.

use std::cell::Cell;

use model::{Draw, SqlBlock, SqlOperation, SqlStatement, SqlTable, TableChoice};

use super::draw;
use super::names::check_new;
use super::options::Options;
use super::scope::{Scope, signed};
use super::statement::{self, Around};
use crate::Result;
use crate::document::Value;
use crate::fields::{Fields, Item};

/// Keys of a block besides those of its only statement.
const BLOCK_KEYS: [&str; 6] = ["table", "choice", "repeat", "min_rows", "draws", "statements"];
/// Keys of an operation besides those of its only block.
const OPERATION_KEYS: [&str; 2] = ["transaction", "blocks"];
const MAX_REPEAT: u32 = 100_000;
/// Names of operation kinds that a step has besides those of its operations.
const RESERVED: [&str; 3] = ["operation", "begin", "commit"];

pub(crate) struct Parts<'a> {
    pub(crate) tables: &'a [SqlTable],
    pub(crate) operations: Fields<'a>,
    /// `[block]`, where the file has it.
    pub(crate) blocks: Option<Fields<'a>>,
    pub(crate) options: &'a Options,
}

pub(crate) fn read(
    item: Item<'_>,
    weight: u32,
    scope: &Scope,
    parts: &Parts<'_>,
) -> Result<SqlOperation> {
    if RESERVED.contains(&item.key) {
        return Err(item.conflict(format!(
            "`{}` is reserved for reports: give the operation another name",
            item.key
        )));
    }
    let fields = fields(item)?;
    let blocks = match fields.get("blocks") {
        None => vec![block(&fields, scope, parts)?],
        Some(list) => list.each(|item| named_block(item, scope, parts))?,
    };
    let operation = SqlOperation {
        name: item.key.to_owned(),
        weight,
        transaction: fields.switch("transaction")?,
        blocks,
    };
    check_names(item, &operation)?;
    Ok(operation)
}

/// An operation's table: it has `blocks`, or is a block itself.
fn fields(item: Item<'_>) -> Result<Fields<'_>> {
    let keys = [&OPERATION_KEYS[..], &BLOCK_KEYS[..], &statement::KEYS[..]].concat();
    let fields = Fields::new(item.node, "an operation", &keys)?;
    if fields.get("blocks").is_some() {
        return Fields::new(item.node, "an operation with `blocks`", &OPERATION_KEYS);
    }
    Ok(fields)
}

/// A block by its name, or as it stands.
fn named_block(item: Item<'_>, scope: &Scope, parts: &Parts<'_>) -> Result<SqlBlock> {
    let node = match &item.node.value {
        Value::Text(name) => {
            let blocks = parts.blocks.as_ref();
            let found = blocks.map(|blocks| blocks.find(item, "block", name));
            found.unwrap_or_else(|| Err(item.unknown("block", name, [""; 0])))?.node
        }
        _ => item.node,
    };
    let keys = [&BLOCK_KEYS[..], &statement::KEYS[..]].concat();
    block(&Fields::new(node, "a block", &keys)?, scope, parts)
}

fn block(fields: &Fields<'_>, scope: &Scope, parts: &Parts<'_>) -> Result<SqlBlock> {
    let index = table(fields, parts.tables)?;
    let table = index.and_then(|index| parts.tables.get(index));
    let usual = parts.options.distribution;
    let draws = fields.maybe("draws", |draws| draw::of_block(draws, scope, usual, table))?;
    let draws = draws.unwrap_or_default();
    let used = draws.iter().map(|_| Cell::new(false)).collect();
    let around = Around { scope, table, draws: &draws, used };
    check_rows(fields, &around)?;
    let statements = statements(fields, &around)?;
    check_used(fields, &around)?;
    let words = [("random", TableChoice::Random), ("by_client", TableChoice::ByClient)];
    let choice = fields.maybe("choice", |choice| choice.word("choice", &words))?;
    let repeat = fields.maybe("repeat", |repeat| scope.small(repeat, 1..=MAX_REPEAT))?;
    Ok(SqlBlock {
        table: index.unwrap_or(0) as u32,
        choice: choice.unwrap_or(TableChoice::Random),
        repeat: repeat.unwrap_or(1),
        draws,
        statements,
    })
}

/// The statements of a block: several, or the one that the block is.
fn statements(fields: &Fields<'_>, around: &Around<'_>) -> Result<Vec<SqlStatement>> {
    let Some(list) = fields.get("statements") else {
        return Ok(vec![statement::read(fields, around)?]);
    };
    if let Some(item) = fields.first(&statement::KEYS) {
        return Err(item.conflict(format!(
            "`{}` and `statements`: a block is one statement or has several",
            item.key
        )));
    }
    list.each(|item| {
        statement::read(&Fields::new(item.node, "a statement", &statement::KEYS)?, around)
    })
}

/// Index of the table whose copy is chosen: the one that is named, otherwise the only one.
fn table(fields: &Fields<'_>, tables: &[SqlTable]) -> Result<Option<usize>> {
    let Some(item) = fields.get("table") else { return Ok((tables.len() == 1).then_some(0)) };
    let names = tables.iter().map(|table| table.name.as_str());
    item.one_of("table", item.text()?, names).map(Some)
}

/// What the block needs in its table; with fewer rows its answers would not be what its name says.
fn check_rows(fields: &Fields<'_>, around: &Around<'_>) -> Result<()> {
    let scope = around.scope;
    let (Some(item), Some(table)) = (fields.get("min_rows"), around.table) else { return Ok(()) };
    let needed = scope.within(item, 0..=i64::MAX)?;
    if needed as u64 <= table.rows {
        return Ok(());
    }
    let text = match &scope.chosen(item)?.node.value {
        Value::Text(text) => text.as_str(),
        _ => "",
    };
    Err(scope.too_small(
        item,
        &format!(
            "needs at least {} rows in `{}`{}, and there are {}",
            signed(needed),
            table.name,
            scope.values_in(text),
            signed(table.rows as i64)
        ),
    ))
}

/// Every draw is used, by a statement or by another draw that is.
fn check_used(fields: &Fields<'_>, around: &Around<'_>) -> Result<()> {
    let Around { draws, used, .. } = around;
    // What a draw is added to comes before it.
    for (draw, is_used) in draws.iter().zip(used).rev() {
        if let (true, Draw::Plus { of, .. }) = (is_used.get(), &draw.draw) {
            used[*of as usize].set(true);
        }
    }
    match draws.iter().zip(used).find(|(_, is_used)| !is_used.get()) {
        None => Ok(()),
        Some((draw, _)) => Err(fields.place_of(&["draws"]).conflict(format!(
            "draw `{0}` is used by no statement: write `:{0}` in one, or leave it out",
            draw.name
        ))),
    }
}

fn check_names(item: Item<'_>, operation: &SqlOperation) -> Result<()> {
    let mut seen: Vec<&str> = Vec::new();
    for statement in operation.blocks.iter().flat_map(|block| &block.statements) {
        let name = statement.name.as_str();
        if RESERVED.contains(&name) {
            return Err(item.conflict(format!(
                "operation `{}`: `{name}` cannot be the name of a statement: it stands in reports already",
                operation.name
            )));
        }
        let what = format!("statement of operation `{}` with the name", operation.name);
        check_new(&item.place(), &what, name, seen.iter().copied())?;
        seen.push(name);
    }
    Ok(())
}

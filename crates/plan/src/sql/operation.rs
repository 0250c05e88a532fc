//! `[operation.NAME]` and `[block.NAME]`: what clients send, resolved for one step.

use model::{Draw, SqlBlock, SqlDraw, SqlOperation, SqlStatement, SqlTable, TableChoice};

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
    /// `[block]`, where the file has it.
    pub(crate) blocks: Option<Fields<'a>>,
    pub(crate) options: &'a Options,
}

/// The operation under `item`, with the variables of a step.
pub(crate) fn read(
    item: Item<'_>,
    weight: u32,
    scope: &Scope,
    parts: &Parts<'_>,
) -> Result<SqlOperation> {
    if RESERVED.contains(&item.key) {
        return Err(item.conflict(format!(
            "`{}` cannot be the name of an operation: it stands in reports already",
            item.key
        )));
    }
    let fields = fields(item)?;
    let blocks = match fields.get("blocks") {
        None => vec![block(&fields, scope, parts)?],
        Some(list) => {
            let each = list.list()?;
            let each = each.iter().map(|item| named_block(*item, scope, parts));
            each.collect::<Result<_, _>>()?
        }
    };
    let operation = SqlOperation {
        name: item.key.to_owned(),
        weight,
        transaction: fields.get("transaction").map_or(Ok(false), Item::switch)?,
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
            let found = parts.blocks.as_ref().and_then(|blocks| blocks.get(name));
            let names = parts.blocks.iter().flat_map(Fields::all);
            let names = names.map(|item| item.key);
            found.ok_or_else(|| item.unknown("block", name, names))?.node
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
    let draws = fields.get("draws");
    let draws = draws.map(|draws| draw::of_block(draws, scope, usual, table));
    let draws = draws.transpose()?.unwrap_or_default();
    let around = Around { scope, table, draws: &draws };
    check_rows(fields, &around)?;
    let mut used = vec![false; draws.len()];
    let statements = statements(fields, &around, &mut used)?;
    check_used(fields, &draws, used)?;
    let words = [("random", TableChoice::Random), ("by_client", TableChoice::ByClient)];
    let (choice, repeat) = (fields.get("choice"), fields.get("repeat"));
    Ok(SqlBlock {
        table: index.unwrap_or(0) as u32,
        choice: choice.map_or(Ok(TableChoice::Random), |c| c.word("choice", &words))?,
        repeat: repeat.map_or(Ok(1), |repeat| scope.small(repeat, 1..=MAX_REPEAT))?,
        draws,
        statements,
    })
}

/// The statements of a block: several, or the one that the block is.
fn statements(
    fields: &Fields<'_>,
    around: &Around<'_>,
    used: &mut [bool],
) -> Result<Vec<SqlStatement>> {
    let Some(list) = fields.get("statements") else {
        return Ok(vec![statement::read(fields, around, used)?]);
    };
    if let Some(item) = statement::KEYS.iter().find_map(|key| fields.get(key)) {
        return Err(item.conflict(format!(
            "`{}` and `statements`: a block is one statement or has several",
            item.key
        )));
    }
    let list = list.list()?;
    let each = list.iter().map(|item| {
        let fields = Fields::new(item.node, "a statement", &statement::KEYS)?;
        statement::read(&fields, around, used)
    });
    each.collect()
}

/// Index of the table whose copy is chosen: the one that is named, otherwise the only one.
fn table(fields: &Fields<'_>, tables: &[SqlTable]) -> Result<Option<usize>> {
    let Some(item) = fields.get("table") else {
        return Ok((tables.len() == 1).then_some(0));
    };
    let name = item.text()?;
    let found = tables.iter().position(|table| table.name == name);
    let names = tables.iter().map(|table| table.name.clone());
    found.map(Some).ok_or_else(|| item.unknown("table", name, names))
}

/// What the block needs in its table; with fewer rows its answers would not be what its name says.
fn check_rows(fields: &Fields<'_>, around: &Around<'_>) -> Result<()> {
    let scope = around.scope;
    let (Some(item), Some(table)) = (fields.get("min_rows"), around.table) else {
        return Ok(());
    };
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
fn check_used(fields: &Fields<'_>, draws: &[SqlDraw], mut used: Vec<bool>) -> Result<()> {
    // What a draw is added to comes before it.
    for (at, draw) in draws.iter().enumerate().rev() {
        if let (true, Draw::Plus { of, .. }) = (used[at], &draw.draw) {
            used[*of as usize] = true;
        }
    }
    match draws.iter().zip(used).find(|(_, used)| !used) {
        None => Ok(()),
        Some((draw, _)) => Err(fields.place_of(&["draws"]).conflict(format!(
            "draw `{0}` is used by no statement: write `:{0}` in one, or leave it out",
            draw.name
        ))),
    }
}

/// Statements of one operation have different names.
fn check_names(item: Item<'_>, operation: &SqlOperation) -> Result<()> {
    let mut seen: Vec<&str> = Vec::new();
    let statements = operation.blocks.iter().flat_map(|block| &block.statements);
    for statement in statements {
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

//! Values of rows and statements: `{ int = [1, "rows"] }`, `{ template = "###-@@" }`.

use std::ops::RangeInclusive;

use model::{Distribution, Draw, SqlDraw, SqlTable};

use super::distribution::distribution;
use super::literal;
use super::names::identifier_key;
use super::scope::{Scope, signed};
use crate::document::{Node, Value};
use crate::fields::{Fields, Item};
use crate::{PlanError, Result};

/// What a value can be; a draw has exactly one of these.
const KINDS: [&str; 11] = [
    "int", "from", "plus", "next", "column", "template", "text", "fixed", "decimal", "datetime",
    "cycle",
];
const MORE: [&str; 2] = ["by", "count"];
/// The value of a column that is the number of its row.
const ROW: &str = "row";

const MAX_TEXT: u32 = 1_000_000;
/// More parameters than any Dbms takes are refused later, with the reason.
const MAX_COUNT: u32 = 1_000_000;
/// Integers that are drawn: sums and differences of two of them fit into 64 bits.
const MOST: i64 = 1_000_000_000_000_000_000;
const ANY: RangeInclusive<i64> = -MOST..=MOST;

pub(crate) fn of_column(item: Item<'_>, scope: &Scope) -> Result<Draw> {
    let item = scope.chosen(item)?;
    match &item.node.value {
        Value::Text(text) if text == ROW => return Ok(Draw::Row),
        Value::Table(_) => {}
        _ => return Err(item.wrong("\"row\", or a table such as { int = [1, 100] }")),
    }
    let (fields, kind) = fields(item.node)?;
    match kind.key {
        "plus" | "next" | "column" => Err(kind.conflict(format!(
            "`{}` is for statements: a column of loaded rows cannot have it",
            kind.key
        ))),
        "cycle" => Ok(Draw::Cycle(scope.within(kind, 1..=i64::MAX)? as u64)),
        _ => match fields.get("count") {
            Some(count) => Err(count.conflict("`count` is for statements: a column has one value")),
            // Loaded rows are the same whatever a plan says of the distribution.
            None => value(kind, &fields, scope, Distribution::Uniform),
        },
    }
}

pub(crate) fn of_block(
    item: Item<'_>,
    scope: &Scope,
    usual: Distribution,
    table: Option<&SqlTable>,
) -> Result<Vec<SqlDraw>> {
    let Value::Table(entries) = &item.node.value else {
        return Err(item.wrong("a table such as { id = { int = [1, \"rows\"] } }"));
    };
    let mut draws: Vec<SqlDraw> = Vec::with_capacity(entries.len());
    for entry in entries {
        let name = identifier_key(&entry.key, &entry.place)?;
        let item = scope.chosen(Item { key: &entry.key, node: &entry.node })?;
        let (fields, kind) = fields(item.node)?;
        let count = fields.get("count");
        let draw = match kind.key {
            "plus" => plus(kind, scope, &draws)?,
            "column" => like_column(kind, table)?,
            "cycle" => {
                return Err(kind.conflict("`cycle` is for columns of loaded rows: use `int`"));
            }
            _ => value(kind, &fields, scope, usual)?,
        };
        let count = match (count, &draw) {
            (None, _) => 1,
            (Some(count), Draw::Int { .. } | Draw::From(_)) => scope.small(count, 1..=MAX_COUNT)?,
            (Some(count), _) => {
                return Err(count.conflict("`count` goes with `int` and `from` only"));
            }
        };
        draws.push(SqlDraw { name, count, draw });
    }
    Ok(draws)
}

/// The table of a draw with its kind.
fn fields(node: &Node) -> Result<(Fields<'_>, Item<'_>)> {
    let fields = Fields::new(node, "a draw", &[&KINDS[..], &MORE[..]].concat())?;
    let Some(kind) = fields.exactly_one(&KINDS) else {
        return Err(node
            .place
            .conflict(format!("a draw has exactly one of `{}`", KINDS.join("`, `"))));
    };
    match fields.get("by") {
        Some(by) if kind.key != "int" => Err(by.conflict("`by` goes with `int` only")),
        _ => Ok((fields, kind)),
    }
}

const TEXT: &str = "text of at most a million characters";

fn is_short(text: &str) -> bool {
    text.len() <= MAX_TEXT as usize
}

fn value(kind: Item<'_>, fields: &Fields<'_>, scope: &Scope, usual: Distribution) -> Result<Draw> {
    match kind.key {
        "int" => {
            let by = fields.maybe("by", |by| distribution(scope.chosen(by)?))?;
            int(kind, scope, by.unwrap_or(usual))
        }
        "from" => scope.within(kind, ANY).map(Draw::From),
        "next" if kind.switch()? => Ok(Draw::Next),
        "next" => Err(kind.wrong("true, or left out")),
        "template" => kind.fitting(TEXT, is_short).map(Draw::Template),
        "text" => {
            let [low, high] = pair(kind)?;
            let (min, max) = (scope.small(low, 0..=MAX_TEXT)?, scope.small(high, 0..=MAX_TEXT)?);
            check_order(kind, i64::from(min), i64::from(max))?;
            Ok(Draw::Text { min, max })
        }
        "fixed" => match &kind.node.value {
            Value::Text(text) if is_short(text) => Ok(Draw::Fixed(text.clone())),
            _ => Err(kind.wrong(TEXT)),
        },
        "decimal" => decimal(kind),
        _ => {
            let [low, high] = pair(kind)?;
            let (low, high) = (datetime(low)?, datetime(high)?);
            check_order(kind, low, high)?;
            Ok(Draw::Datetime { low, high })
        }
    }
}

fn pair(item: Item<'_>) -> Result<[Item<'_>; 2]> {
    let both = match item.node.value {
        Value::List(_) => item.list()?,
        _ => Vec::new(),
    };
    both.try_into().map_err(|_| item.wrong("a list of the lowest and the highest value"))
}

fn int(kind: Item<'_>, scope: &Scope, by: Distribution) -> Result<Draw> {
    let [low_item, high_item] = pair(kind)?;
    let (low_item, high_item) = (scope.chosen(low_item)?, scope.chosen(high_item)?);
    let (low, high) = (scope.within(low_item, ANY)?, scope.within(high_item, ANY)?);
    if low <= high {
        return Ok(Draw::Int { low, high, by });
    }
    let texts = [low_item, high_item].map(|item| match &item.node.value {
        Value::Text(text) => text.as_str(),
        _ => "",
    });
    let values = scope.values_in(&texts.join(" "));
    if values.is_empty() {
        return Err(in_order(kind));
    }
    Err(scope.too_small(
        kind,
        &format!(
            "draws integers from {} to {}{values}, which is an empty range",
            signed(low),
            signed(high)
        ),
    ))
}

/// Another draw and a number on top: `["from", "range - 1"]`.
fn plus(kind: Item<'_>, scope: &Scope, before: &[SqlDraw]) -> Result<Draw> {
    let [other, add] = pair(kind)
        .map_err(|_| kind.wrong("a list of another draw and a number, such as [\"first\", 99]"))?;
    let name = other.text()?;
    let names = before.iter().map(|draw| draw.name.as_str());
    let of = other.one_of("draw before this one", name, names)?;
    let base = &before[of];
    if base.count > 1 {
        return Err(other.conflict(format!("`{name}` is a list: `plus` needs a single number")));
    }
    let Some((low, high)) = bounds(before, &base.draw) else {
        return Err(other.conflict(format!("`{name}` is not an integer: `plus` needs one")));
    };
    let draw = Draw::Plus { of: of as u32, add: scope.within(add, ANY)? };
    match bounds(before, &draw) {
        Some(_) => Ok(draw),
        None => Err(kind.conflict(format!(
            "`{name}` is from {} to {}: that much on top is more than 64 bits hold",
            signed(low),
            signed(high)
        ))),
    }
}

/// The lowest and the highest integer that a draw can be; `None` where it is none, or too large.
fn bounds(before: &[SqlDraw], draw: &Draw) -> Option<(i64, i64)> {
    match draw {
        Draw::Int { low, high, .. } => Some((*low, *high)),
        Draw::From(number) => Some((*number, *number)),
        Draw::Next => Some((1, MOST)),
        Draw::Plus { of, add } => {
            let (low, high) = bounds(before, &before.get(*of as usize)?.draw)?;
            Some((low.checked_add(*add)?, high.checked_add(*add)?))
        }
        Draw::Row
        | Draw::Cycle(_)
        | Draw::Template(_)
        | Draw::Text { .. }
        | Draw::Fixed(_)
        | Draw::Decimal { .. }
        | Draw::Datetime { .. } => None,
    }
}

/// What a column of the block's table has in the rows that are loaded.
fn like_column(kind: Item<'_>, table: Option<&SqlTable>) -> Result<Draw> {
    let Some(table) = table else {
        return Err(kind.conflict(
            "`column` is one of the block's table, and there are several: write `table = \"…\"` in the block",
        ));
    };
    let name = kind.text()?;
    let at = kind.one_of("column", name, table.columns.iter().map(|c| c.name.as_str()))?;
    match &table.columns[at].value {
        Draw::Row | Draw::Cycle(_) => Err(kind.conflict(format!(
            "`{name}` is counted from row to row: draw it with `int` or `next`"
        ))),
        value => Ok(value.clone()),
    }
}

fn decimal(kind: Item<'_>) -> Result<Draw> {
    let expected = "a number in quotes with at most 18 digits, such as \"0.01\"";
    let read = |item: Item<'_>| match &item.node.value {
        Value::Text(text) => literal::decimal(text).ok_or_else(|| item.wrong(expected)),
        Value::Integer(number) => Ok((*number, 0)),
        _ => Err(item.wrong(expected)),
    };
    let [low, high] = pair(kind)?;
    let ((low, low_scale), (high, high_scale)) = (read(low)?, read(high)?);
    let scale = low_scale.max(high_scale);
    let scaled = |number: i64, from: u32| {
        let scaled = number.checked_mul(10_i64.pow(scale - from));
        scaled.ok_or_else(|| kind.wrong(expected))
    };
    let (low, high) = (scaled(low, low_scale)?, scaled(high, high_scale)?);
    check_order(kind, low, high)?;
    Ok(Draw::Decimal { low, high, scale })
}

/// A date as text, or as TOML has it.
fn datetime(item: Item<'_>) -> Result<i64> {
    let text = match &item.node.value {
        Value::Text(text) | Value::Other(text) => literal::datetime(text),
        _ => None,
    };
    text.ok_or_else(|| {
        item.wrong(
            "a date such as \"2024-12-31\" or \"2024-12-31 23:59:59\" of the years 1000 to 9999",
        )
    })
}

fn check_order(kind: Item<'_>, low: i64, high: i64) -> Result<()> {
    if low <= high { Ok(()) } else { Err(in_order(kind)) }
}

fn in_order(kind: Item<'_>) -> PlanError {
    kind.conflict(format!("`{}`: the lowest value is greater than the highest", kind.key))
}

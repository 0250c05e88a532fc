//! A statement: its text in each dialect, what it does, and what a right answer is.

use std::cell::Cell;

use model::{Dialect, Expect, SqlDraw, SqlPiece, SqlStatement, SqlTable, SqlTexts, Verb};

use super::names::label;
use super::scan::{self, Flaw, Part, Scanned};
use super::scope::{Scope, signed};
use crate::document::Value;
use crate::fields::{Fields, Item};
use crate::{PlanError, Result};

pub(crate) const KEYS: [&str; 6] = ["name", "sql", "expect", "text", "scans", "counted"];

const DIALECTS: [&str; 3] = ["mysql", "postgres", "sqlite"];

pub(crate) struct Around<'a> {
    pub(crate) scope: &'a Scope,
    /// The table whose copy is chosen; `None` where a block of several tables does not say.
    pub(crate) table: Option<&'a SqlTable>,
    pub(crate) draws: &'a [SqlDraw],
    /// Of each draw, whether a statement needs it.
    pub(crate) used: Vec<Cell<bool>>,
}

impl Around<'_> {
    fn draw(&self, item: Item<'_>, name: &str) -> Result<usize> {
        item.one_of("draw", name, self.draws.iter().map(|draw| draw.name.as_str()))
    }
}

/// Reads a statement, and marks the draws that it needs.
pub(crate) fn read(fields: &Fields<'_>, around: &Around<'_>) -> Result<SqlStatement> {
    let sql = fields.need("sql")?;
    let is_counted = fields.maybe("counted", Item::switch)?.unwrap_or(true);
    let text = |name, dialect| in_dialect(of_dialect(sql, name)?, dialect, is_counted, around);
    let (verb, mysql) = text("mysql", Dialect::Mysql)?;
    let (in_postgres, postgres) = text("postgres", Dialect::Postgres)?;
    let (in_sqlite, sqlite) = text("sqlite", Dialect::Sqlite)?;
    if verb != in_postgres || verb != in_sqlite {
        return Err(sql.conflict(
            "`sql` changes rows differently in different dialects: use the same verb in all",
        ));
    }
    let verb = if is_counted { verb } else { Verb::Other };
    let name = fields.maybe("name", label)?;
    let expect = fields.maybe("expect", |item| expected(item, around))?;
    Ok(SqlStatement {
        name: name.unwrap_or_else(|| verb.word().to_owned()),
        verb,
        text: SqlTexts { mysql, postgres, sqlite },
        expect: expect.unwrap_or(Expect::Any),
        always_text: fields.switch("text")?,
        scans: fields.switch("scans")?,
    })
}

/// What the text for a dialect does to rows, and its pieces.
fn in_dialect(
    item: Item<'_>,
    dialect: Dialect,
    is_counted: bool,
    around: &Around<'_>,
) -> Result<(Verb, Vec<SqlPiece>)> {
    let scanned = scan::scan(item.text()?, dialect).map_err(|flaw| told(item, &flaw))?;
    if let Some(word) = scanned.of_transaction() {
        return Err(item.conflict(format!(
            "`{}` begins with {word}: a transaction is written `transaction = true`",
            item.key
        )));
    }
    if is_counted {
        check_counted(item, &scanned, around.table)?;
    }
    Ok((scanned.verb(), pieces(item, &scanned, around)?))
}

fn of_dialect<'a>(sql: Item<'a>, name: &str) -> Result<Item<'a>> {
    match &sql.node.value {
        Value::Text(_) => Ok(sql),
        Value::Table(_) => {
            let fields = Fields::new(sql.node, "sql", &DIALECTS)?;
            fields.get(name).ok_or_else(|| {
                sql.conflict(format!(
                    "`sql` has no text for {name}: it needs one for each of mysql, postgres and \
                     sqlite, or one text for all"
                ))
            })
        }
        _ => Err(sql.wrong("text, or a table with a text for each of mysql, postgres and sqlite")),
    }
}

fn told(item: Item<'_>, flaw: &Flaw) -> PlanError {
    item.conflict(match flaw {
        Flaw::Open(begin) => format!("`{}`: `{begin}` is never closed", item.key),
        Flaw::Braces(braces) => format!(
            "`{}`: `{braces}` stands for nothing; `{}` is the chosen copy of the table",
            item.key,
            scan::TABLE
        ),
        Flaw::Placeholder => format!(
            "`{}` has a placeholder of the Dbms: write `:name` for the draw `name`",
            item.key
        ),
        Flaw::Several => format!(
            "`{}` has more than one statement: give each its own entry of `statements`",
            item.key
        ),
    })
}

/// How many rows a statement adds or removes must follow from its answer, in a table that is known: the row counts at
/// the end are checked against it.
fn check_counted(item: Item<'_>, scanned: &Scanned<'_>, table: Option<&SqlTable>) -> Result<()> {
    let verb = scanned.verb();
    let help = "; or write `counted = false`, and row counts are not checked after it";
    if verb == Verb::Insert && scanned.is_upsert() {
        return Err(item.conflict(format!(
            "`{}` may change existing rows, so its answer does not give the number of added rows: \
             write `counted = false`, and row counts are not checked after it",
            item.key
        )));
    }
    let is_of_table = |target: &str| {
        let is_named = |table: &SqlTable| {
            !table.numbered && table.copies == 1 && table.name.eq_ignore_ascii_case(target)
        };
        target == scan::TABLE || table.is_some_and(is_named)
    };
    match scanned.target(verb) {
        None if matches!(verb, Verb::Insert | Verb::Delete) => Err(item.conflict(format!(
            "`{}` does not say with INTO or FROM which table's rows it changes{help}",
            item.key
        ))),
        Some(target) if !is_of_table(target) => Err(item.conflict(format!(
            "`{}` adds to or removes from `{target}`, and backslide counts only rows of the block's table: \
             write `table = \"{target}\"` in the block{help}",
            item.key
        ))),
        _ => Ok(()),
    }
}

fn pieces(item: Item<'_>, scanned: &Scanned<'_>, around: &Around<'_>) -> Result<Vec<SqlPiece>> {
    let parts = &scanned.parts;
    let mut pieces = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        pieces.push(match part {
            Part::Text(text) => SqlPiece::Text((*text).to_owned()),
            Part::Table if around.table.is_none() => {
                return Err(item.conflict(format!(
                    "`{}` stands for a table, and there are several: write `table = \"…\"` in the block",
                    scan::TABLE
                )));
            }
            Part::Table => SqlPiece::Table,
            Part::Draw(name) => {
                let index = around.draw(item, name)?;
                if around.draws[index].count > 1 && !is_in_list(parts, at) {
                    return Err(item.conflict(format!(
                        "`:{name}` is a list of {} values: it stands in parentheses, as in IN (:{name})",
                        around.draws[index].count
                    )));
                }
                around.used[index].set(true);
                SqlPiece::Draw(index as u32)
            }
        });
    }
    Ok(pieces)
}

/// Does a part stand where a list may: after a parenthesis or comma and before one?
fn is_in_list(parts: &[Part<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| parts.get(at));
    let (Some(Part::Text(before)), Some(Part::Text(after))) = (before, parts.get(at + 1)) else {
        return false;
    };
    before.trim_end().ends_with(['(', ',']) && after.trim_start().starts_with([')', ','])
}

/// `1`, `"range"`, `[0, 1]`, `"any"`, `{ distinct = "ids" }`.
fn expected(item: Item<'_>, around: &Around<'_>) -> Result<Expect> {
    let item = around.scope.chosen(item)?;
    let rows = |item: Item<'_>| {
        let rows = around.scope.within(item, 0..=i64::MAX);
        rows.map(|rows| rows as u64)
    };
    match &item.node.value {
        Value::Text(text) if text == "any" => Ok(Expect::Any),
        Value::Integer(_) | Value::Text(_) => rows(item).map(|rows| Expect::Rows(rows, rows)),
        Value::List(_) => match item.list()?.as_slice() {
            [low, high] => {
                let (low, high) = (rows(*low)?, rows(*high)?);
                if low > high {
                    return Err(item.conflict(format!(
                        "`expect`: from {} to {} rows is none",
                        signed(low as i64),
                        signed(high as i64)
                    )));
                }
                Ok(Expect::Rows(low, high))
            }
            _ => Err(item.wrong("a list of the fewest and the most rows")),
        },
        Value::Table(_) => distinct(item, around),
        _ => Err(item.wrong(
            "a number of rows, a list of the fewest and the most, \"any\", or { distinct = \"…\" }",
        )),
    }
}

fn distinct(item: Item<'_>, around: &Around<'_>) -> Result<Expect> {
    let fields = Fields::new(item.node, "expect", &["distinct"])?;
    let name = fields.need("distinct")?;
    let index = around.draw(name, name.text()?)?;
    // A draw that only the answer needs is needed by nothing.
    if !around.used[index].get() {
        return Err(name.conflict(format!(
            "`expect` counts the values of `{0}`, and `sql` has no `:{0}`",
            name.text()?
        )));
    }
    Ok(match around.draws[index].count {
        1 => Expect::Rows(1, 1),
        _ => Expect::Distinct(index as u32),
    })
}

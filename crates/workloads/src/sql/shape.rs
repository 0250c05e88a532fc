//! Queries whose right answer can be told from the rows that they ask for.
//!
//! `SELECT columns | DISTINCT column | SUM(column) | COUNT(column) FROM {table} WHERE key = | IN | BETWEEN …`,
//! with or without ORDER BY. The order of the answer is not looked at: it depends on the server's collation.

use model::{ColumnKind, Dialect, SqlBlock, SqlSpec, SqlStatement, SqlTable, Verb};

use super::drawn::{Drawn, Place};
use super::tokens::{Token, tokens};
use data::Form;
use data::schema::column;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) key: usize,
    pub(super) asked: Asked,
    pub(super) gives: Gives,
    /// Of the values of each row of the answer.
    pub(super) forms: Vec<Form>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// One of these integers.
    List(Place),
    Range(Place, Place),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    Columns(Vec<usize>),
    /// Each value of a column once.
    Distinct(usize),
    /// One row: the sum of a column.
    Sum(usize),
    /// One row: how many there are.
    Count,
}

/// The shape of a statement; `None` for any other text.
pub(super) fn of(
    spec: &SqlSpec,
    block: &SqlBlock,
    statement: &SqlStatement,
    draws: &[Drawn],
    dialect: Dialect,
) -> Option<Shape> {
    if statement.verb != Verb::Select {
        return None;
    }
    let table = spec.tables.get(block.table as usize)?;
    let tokens = tokens(statement.text.of(dialect));
    let [select, rest @ ..] = tokens.as_slice() else {
        return None;
    };
    let from = rest.iter().position(|token| token.is("FROM"))?;
    let (items, rest) = rest.split_at(from);
    let [_, Token::Table, condition, Token::Word(key), rest @ ..] = rest else {
        return None;
    };
    if !select.is("SELECT") || !condition.is("WHERE") {
        return None;
    }
    let (asked, rest) = asked(rest, draws)?;
    let (key, gives) = (column(table, key)?, gives(table, items)?);
    let form = |column: &usize| Form::of(table.columns[*column].kind);
    let forms = match &gives {
        Gives::Columns(columns) => columns.iter().map(form).collect(),
        Gives::Distinct(column) => vec![form(column)],
        Gives::Sum(_) | Gives::Count => vec![Form::Integer],
    };
    let shape = Shape { key, asked, gives, forms };
    (is_integer(table, key) && is_order(table, rest)).then_some(shape)
}

fn asked<'t, 'a>(tokens: &'t [Token<'a>], draws: &[Drawn]) -> Option<(Asked, &'t [Token<'a>])> {
    let place = |draw: u32| {
        let place = draws.get(draw as usize)?.place;
        (!place.is_text()).then_some(place)
    };
    match tokens {
        [Token::Mark('='), Token::Draw(draw), rest @ ..] => {
            Some((Asked::List(place(*draw)?), rest))
        }
        [list, Token::Mark('('), Token::Draw(draw), Token::Mark(')'), rest @ ..]
            if list.is("IN") =>
        {
            Some((Asked::List(place(*draw)?), rest))
        }
        [between, Token::Draw(low), and, Token::Draw(high), rest @ ..]
            if between.is("BETWEEN") && and.is("AND") =>
        {
            Some((Asked::Range(place(*low)?, place(*high)?), rest))
        }
        _ => None,
    }
}

fn is_order(table: &SqlTable, tokens: &[Token<'_>]) -> bool {
    match tokens {
        [] => true,
        [order, by, Token::Word(name)] => {
            order.is("ORDER") && by.is("BY") && column(table, name).is_some()
        }
        _ => false,
    }
}

fn gives(table: &SqlTable, items: &[Token<'_>]) -> Option<Gives> {
    match items {
        [Token::Mark('*')] => {
            let all: Vec<usize> = (0..table.columns.len()).collect();
            let all_known = all.iter().all(|column| is_comparable(table, *column));
            all_known.then_some(Gives::Columns(all))
        }
        [function, Token::Mark('('), Token::Word(name), Token::Mark(')')] => {
            let column = column(table, name)?;
            if function.is("COUNT") {
                Some(Gives::Count)
            } else {
                (function.is("SUM") && is_integer(table, column)).then_some(Gives::Sum(column))
            }
        }
        [distinct, Token::Word(name)] if distinct.is("DISTINCT") => {
            let column = column(table, name)?;
            is_comparable(table, column).then_some(Gives::Distinct(column))
        }
        _ => {
            let named = items.split(|token| *token == Token::Mark(','));
            let of = |item: &[Token<'_>]| match item {
                [Token::Word(name)] => {
                    column(table, name).filter(|column| is_comparable(table, *column))
                }
                _ => None,
            };
            Some(Gives::Columns(named.map(of).collect::<Option<_>>()?))
        }
    }
}

fn is_integer(table: &SqlTable, column: usize) -> bool {
    matches!(table.columns[column].kind, ColumnKind::Int | ColumnKind::Bigint)
}

/// Do all protocols bring its values in a form that can be compared? Decimals and times come in binary.
fn is_comparable(table: &SqlTable, column: usize) -> bool {
    match table.columns[column].kind {
        ColumnKind::Int
        | ColumnKind::Bigint
        | ColumnKind::Char(_)
        | ColumnKind::Varchar(_)
        | ColumnKind::Text => true,
        ColumnKind::Decimal(..) | ColumnKind::Datetime => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawn::draws;
    use super::*;
    use crate::sql::tests::fixture::{any_id, draw, operation, spec, statement, texts};

    fn shape(text: &str) -> Option<Shape> {
        let mut block = operation("o", false, 1, &[]).blocks.remove(0);
        block.draws = vec![
            draw("id", 1, any_id()),
            draw("ids", 3, any_id()),
            draw("text", 1, model::Draw::Fixed("x".to_owned())),
        ];
        let (drawn, _) = draws(&block, Dialect::Mysql).unwrap();
        let mut statement = statement("s");
        statement.text = texts(text);
        let spec = spec(Vec::new());
        of(&spec, &block, &statement, &drawn, Dialect::Mysql)
    }

    fn gives(text: &str) -> Option<Gives> {
        shape(text).map(|shape| shape.gives)
    }

    #[test]
    fn what_an_answer_holds_is_told_from_the_text() {
        let one = "WHERE id = :0";
        let of = |items: &str| gives(&format!("SELECT {items} FROM {{}} {one}"));
        assert_eq!(of("c"), Some(Gives::Columns(vec![1])));
        assert_eq!(of("id, C"), Some(Gives::Columns(vec![0, 1])));
        assert_eq!(of("*"), Some(Gives::Columns(vec![0, 1])));
        assert_eq!(of("SUM(id)"), Some(Gives::Sum(0)));
        assert_eq!(of("count(c)"), Some(Gives::Count));
        assert_eq!(of("DISTINCT c"), Some(Gives::Distinct(1)));
        for other in ["", "c, 1", "SUM(c)", "MAX(id)", "c AS d", "nothing"] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn other_conditions_and_texts_are_left_alone() {
        for text in [
            "SELECT c FROM {} WHERE id IN (:1)",
            "SELECT c FROM {} WHERE id BETWEEN :0 AND :0",
            "SELECT c FROM {} WHERE id BETWEEN :0 AND :0 ORDER BY c",
        ] {
            assert_eq!(gives(text), Some(Gives::Columns(vec![1])), "{text}");
        }
        for text in [
            "SELECT c FROM {} WHERE c = :2",
            "SELECT c FROM {} WHERE id = :2",
            "SELECT c FROM {} WHERE id > :0",
            "SELECT c FROM {} WHERE id = :0 LIMIT 1",
            "SELECT c FROM {} WHERE id = :0 ORDER BY c DESC",
            "SELECT c FROM t WHERE id = :0",
            "SELECT c FROM {}",
            "SELECT c",
            "",
        ] {
            assert_eq!(shape(text), None, "{text}");
        }
    }
}

//! What statements may have done to the rows that were loaded: which columns still hold what the seed says.

use model::{
    ColumnKind, Dialect, Draw, SqlBlock, SqlColumn, SqlPiece, SqlRun, SqlSpec, SqlTable, Verb,
};

use super::drawn::{Base, Drawn, Place, Values};
use super::tokens::{Token, tokens};
use data::schema::{self, column};
use data::{Fate, Fates, Replaced, Seal, judge};

/// A column to which an UPDATE adds, for each row that it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Addition {
    pub(super) table: u32,
    pub(super) column: u32,
    factor: i64,
    /// An integer of its values; one where there is none.
    place: Option<Place>,
}

impl Addition {
    #[inline]
    pub(super) fn amount(&self, values: &Values, base: Base) -> i64 {
        let drawn = self.place.map(|place| values.int(base.ints + place.first));
        self.factor.wrapping_mul(drawn.unwrap_or(1))
    }
}

pub(super) fn of_run(spec: &SqlSpec, run: &SqlRun, dialect: Dialect) -> Vec<Fates> {
    let mut all: Vec<Fates> = spec.tables.iter().map(Fates::untouched).collect();
    for block in run.operations.iter().flat_map(|o| &o.blocks) {
        let reuses = dialect == Dialect::Sqlite;
        let writing = Writing { spec, block, reuses };
        for statement in &block.statements {
            let tokens = tokens(statement.text.of(dialect));
            if writing.touch(statement.verb, &tokens, &mut all).is_none() {
                for fates in &mut all {
                    fates.unknown = true;
                }
            }
        }
    }
    all.iter_mut().for_each(Fates::reuse);
    all
}

pub(super) fn additions(
    spec: &SqlSpec,
    block: &SqlBlock,
    text: &[SqlPiece],
    draws: &[Drawn],
) -> Vec<Addition> {
    let (writing, tokens) = (Writing { spec, block, reuses: false }, tokens(text));
    let assigned = || {
        let (index, rest) = writing.updated(&tokens)?;
        let table = spec.tables.get(index)?;
        Some((index, table, assignments(table, rest)?))
    };
    let Some((index, table, assigned)) = assigned() else {
        return Vec::new();
    };
    let of = |(column, expression): (usize, Expression<'_, '_>)| {
        let (factor, draw) = writing.amount(&table.columns[column], expression)?;
        let place = draw.map(|draw| draws[draw].place);
        Some(Addition { table: index as u32, column: column as u32, factor, place })
    };
    assigned.into_iter().filter_map(of).collect()
}

/// What is written into a column.
type Expression<'t, 'a> = &'t [Token<'a>];

/// A block whose statements write.
struct Writing<'a> {
    spec: &'a SqlSpec,
    block: &'a SqlBlock,
    /// Does the server number a row one above the highest that is left, as SQLite does without AUTOINCREMENT?
    reuses: bool,
}

impl Writing<'_> {
    /// Notes what a statement may do; `None` where it is not understood which table it writes.
    fn touch(&self, verb: Verb, tokens: &[Token<'_>], all: &mut [Fates]) -> Option<()> {
        let (index, rest) = match verb {
            Verb::Select => return Some(()),
            Verb::Update => self.updated(tokens)?,
            Verb::Insert | Verb::Delete => (self.block.table as usize, tokens),
            Verb::Other => return None,
        };
        let (table, fates) = (self.spec.tables.get(index)?, all.get_mut(index)?);
        match verb {
            Verb::Update => match assignments(table, rest) {
                Some(assigned) => {
                    for (column, expression) in assigned {
                        let fate = self.written(&table.columns[column], expression);
                        fates.columns[column] = fates.columns[column].and(fate);
                    }
                }
                None => fates.columns.fill(Fate::Free),
            },
            Verb::Insert => self.insert(table, tokens, fates),
            Verb::Delete => fates.removed = true,
            Verb::Select | Verb::Other => {}
        }
        Some(())
    }

    /// The table of an UPDATE, and what follows on SET.
    fn updated<'t, 'a>(&self, tokens: &'t [Token<'a>]) -> Option<(usize, &'t [Token<'a>])> {
        let [update, table, set, rest @ ..] = tokens else {
            return None;
        };
        if !update.is("UPDATE") || !set.is("SET") {
            return None;
        }
        let index = match table {
            Token::Table => self.block.table as usize,
            Token::Word(name) => self.spec.tables.iter().position(|table| {
                table.copies == 1 && table.name_of(0).eq_ignore_ascii_case(name)
            })?,
            Token::Number(_) | Token::Mark(_) | Token::Draw(_) | Token::Opaque => return None,
        };
        Some((index, rest))
    }

    fn written(&self, column: &SqlColumn, expression: Expression<'_, '_>) -> Fate {
        if self.is_sealed(column, expression) {
            Fate::Sealed
        } else if self.amount(column, expression).is_some() {
            Fate::Added
        } else {
            Fate::Free
        }
    }

    fn is_sealed(&self, column: &SqlColumn, expression: Expression<'_, '_>) -> bool {
        let ([Token::Draw(draw)], Draw::Template(own)) = (expression, &column.value) else {
            return false;
        };
        let drawn = self.block.draws.get(*draw as usize);
        let is_own = drawn.is_some_and(|drawn| {
            drawn.count == 1 && matches!(&drawn.draw, Draw::Template(text) if text == own)
        });
        is_own && Seal::of(own).is_some()
    }

    /// What is added, in `k + 1` or `k - :amount` of column `k`: a factor, and the draw with which it is multiplied.
    fn amount(
        &self,
        column: &SqlColumn,
        expression: Expression<'_, '_>,
    ) -> Option<(i64, Option<usize>)> {
        let [Token::Word(name), Token::Mark(sign @ ('+' | '-')), added] = expression else {
            return None;
        };
        let is_integer = matches!(column.kind, ColumnKind::Int | ColumnKind::Bigint);
        if !is_integer || !column.name.eq_ignore_ascii_case(name) {
            return None;
        }
        let sign = if *sign == '-' { -1 } else { 1 };
        match added {
            Token::Number(digits) => Some((sign * digits.parse::<i64>().ok()?, None)),
            Token::Draw(index) => {
                let drawn = self.block.draws.get(*index as usize)?;
                let is_integer = drawn.count == 1 && matches!(drawn.draw, Draw::Int { .. });
                is_integer.then_some((sign, Some(*index as usize)))
            }
            Token::Word(_) | Token::Mark(_) | Token::Table | Token::Opaque => None,
        }
    }

    fn insert(&self, table: &SqlTable, tokens: &[Token<'_>], fates: &mut Fates) {
        let mut new = vec![Fate::Free; table.columns.len()];
        let values = inserted_values(table, tokens);
        for (column, expression) in values.iter().flatten() {
            if self.is_sealed(&table.columns[*column], expression) {
                new[*column] = Fate::Sealed;
            }
        }
        let number = schema::number_column(table).and_then(|name| column(table, name));
        if let Some(number) = number {
            // Whatever the number of a row is, it is still what the row is known by.
            new[number] = Fate::Kept;
        }
        let replaces = number.zip(values).map_or(Replaced::Yes, |(number, values)| {
            let value = values.into_iter().find(|(column, _)| *column == number);
            self.replaces(&table.columns[number], value.map(|(_, expression)| expression))
        });
        fates.replaced = fates.replaced.max(replaces);
        if replaces == Replaced::Yes {
            judge::merge(&mut fates.columns, &new);
        }
        match &mut fates.inserted {
            Some(inserted) => judge::merge(inserted, &new),
            none => *none = Some(new),
        }
    }

    /// By this value of its number.
    fn replaces(&self, number: &SqlColumn, value: Option<Expression<'_, '_>>) -> Replaced {
        let is_next = |draw: &u32| {
            let drawn = self.block.draws.get(*draw as usize);
            drawn.is_some_and(|drawn| drawn.draw == Draw::Next)
        };
        match value {
            None | Some([Token::Number("0")]) if number.auto && self.reuses => Replaced::IfRemoved,
            None | Some([Token::Number("0")]) if number.auto => Replaced::No,
            Some([Token::Draw(draw)]) if is_next(draw) => Replaced::No,
            _ => Replaced::Yes,
        }
    }
}

/// The columns that are assigned, each with its expression; `None` where that is not understood.
fn assignments<'t, 'a>(
    table: &SqlTable,
    tokens: &'t [Token<'a>],
) -> Option<Vec<(usize, Expression<'t, 'a>)>> {
    let end = tokens.iter().position(|token| token.is("WHERE"));
    let parts = tokens[..end.unwrap_or(tokens.len())].split(|token| *token == Token::Mark(','));
    let of = |part: Expression<'t, 'a>| match part {
        [Token::Word(name), Token::Mark('='), expression @ ..] => {
            Some((column(table, name)?, expression))
        }
        _ => None,
    };
    parts.map(of).collect()
}

/// The columns and expressions of `INSERT INTO {table} (…) VALUES (…)`; `None` for any other text.
fn inserted_values<'t, 'a>(
    table: &SqlTable,
    tokens: &'t [Token<'a>],
) -> Option<Vec<(usize, Expression<'t, 'a>)>> {
    let [insert, into, Token::Table, Token::Mark('('), rest @ ..] = tokens else {
        return None;
    };
    if !insert.is("INSERT") || !into.is("INTO") {
        return None;
    }
    let close = rest.iter().position(|token| *token == Token::Mark(')'))?;
    let names = rest[..close].split(|token| *token == Token::Mark(','));
    let [values, Token::Mark('('), expressions @ .., Token::Mark(')')] = &rest[close + 1..] else {
        return None;
    };
    let is_plain = |token: &Token<'_>| !matches!(token, Token::Mark('(' | ')'));
    if !values.is("VALUES") || !expressions.iter().all(is_plain) {
        return None;
    }
    let expressions = expressions.split(|token| *token == Token::Mark(','));
    let pair = |(name, expression): (&[Token<'_>], Expression<'t, 'a>)| match name {
        [Token::Word(name)] => Some((column(table, name)?, expression)),
        _ => None,
    };
    names.zip(expressions).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::tests::fixture::{any_id, draw, operation, run, spec, statement, texts};

    const C: &str = "############-############";

    /// What a statement does to a table of columns `id` (numbered by the server), `k`, `c` and `note`.
    fn of(verb: Verb, text: &str) -> Fates {
        let mut statement = statement("s");
        (statement.verb, statement.text) = (verb, texts(text));
        let mut operation = operation("o", false, 1, &[]);
        let block = &mut operation.blocks[0];
        block.statements = vec![statement];
        block.draws = vec![
            draw("id", 1, any_id()),
            draw("c", 1, Draw::Template(C.to_owned())),
            draw("next", 1, Draw::Next),
            draw("ids", 3, any_id()),
        ];
        let run = run(vec![operation]);
        let mut fates = of_run(&workload(), &run, Dialect::Sqlite);
        fates.remove(0)
    }

    fn workload() -> SqlSpec {
        let mut spec = spec(Vec::new());
        let table = &mut spec.tables[0];
        let column = |name: &str, kind, value| {
            let mut column = table.columns[0].clone();
            (column.name, column.kind, column.value) = (name.to_owned(), kind, value);
            column
        };
        table.columns = vec![
            column("id", ColumnKind::Int, Draw::Row),
            column("k", ColumnKind::Int, any_id()),
            column("c", ColumnKind::Char(25), Draw::Template(C.to_owned())),
            column("note", ColumnKind::Text, Draw::Text { min: 1, max: 9 }),
        ];
        table.columns[0].auto = true;
        spec
    }

    fn columns(verb: Verb, text: &str) -> Vec<Fate> {
        of(verb, text).columns
    }

    #[test]
    fn an_update_writes_the_columns_that_it_sets() {
        use Fate::{Added, Free, Kept, Sealed};
        let update = |text: &str| columns(Verb::Update, text);
        assert_eq!(update("UPDATE {} SET k = k + 1 WHERE id = :0"), [Kept, Added, Kept, Kept]);
        assert_eq!(
            update("update {} set K = k - :0, c = :1 where id = :0"),
            [Kept, Added, Sealed, Kept]
        );
        // Named as it stands.
        assert_eq!(update("UPDATE t SET c = :1"), [Kept, Kept, Sealed, Kept]);
        for free in ["k = 7", "k = id + 1", "k = k + k", "k = k * 2", "k = k + :3"] {
            let text = format!("UPDATE {{}} SET {free} WHERE id = :0");
            assert_eq!(update(&text), [Kept, Free, Kept, Kept], "{free}");
        }
        assert_eq!(update("UPDATE {} SET c = 'x', note = :1"), [Kept, Kept, Free, Free]);
        // What is not understood leaves nothing known.
        assert_eq!(update("UPDATE {} SET (k, c) = (1, 'x')"), [Free; 4]);
        assert!(of(Verb::Update, "UPDATE other SET k = 1").unknown);
        assert!(of(Verb::Update, "WITH a AS (SELECT 1) UPDATE {} SET k = 1").unknown);
        assert!(of(Verb::Other, "REPLACE INTO {} VALUES (1)").unknown);
        let select = of(Verb::Select, "SELECT c FROM {} WHERE id = :0");
        assert_eq!(select, Fates::untouched(&workload().tables[0]));
    }

    #[test]
    fn rows_that_the_server_numbers_replace_none() {
        for text in [
            "INSERT INTO {} (k, c, note) VALUES (:0, :1, 'x')",
            "INSERT INTO {} (id, k, c, note) VALUES (0, :0, :1, 'x')",
            "INSERT INTO {} (id, k, c, note) VALUES (:2, :0, :1, 'x')",
        ] {
            let fates = of(Verb::Insert, text);
            assert!(fates.replaced < Replaced::Yes && fates.is_complete(), "{text}");
            assert_eq!(fates.columns, [Fate::Kept; 4]);
            assert_eq!(fates.inserted.unwrap()[1..], [Fate::Free, Fate::Sealed, Fate::Free]);
        }
        for text in [
            "INSERT INTO {} (id, k, c, note) VALUES (:0, :0, :1, 'x')",
            "INSERT INTO {} VALUES (1, 2, 'x', 'x')",
            "INSERT INTO {} (k, c, note) SELECT 1, 'x', 'x'",
        ] {
            let fates = of(Verb::Insert, text);
            assert_eq!(fates.replaced, Replaced::Yes, "{text}");
            assert_eq!((fates.columns[0], fates.columns[1]), (Fate::Kept, Fate::Free));
        }
        assert!(of(Verb::Delete, "DELETE FROM {} WHERE id = :0").removed);
    }

    #[test]
    fn sqlite_gives_numbers_of_removed_rows_again() {
        let inserted = |text: &str| {
            let mut fates = of(Verb::Delete, "DELETE FROM {} WHERE id = :0");
            fates.merge(&of(Verb::Insert, text));
            fates
        };
        let fates = inserted("INSERT INTO {} (k, c, note) VALUES (:0, :1, 'x')");
        assert_eq!(fates.replaced, Replaced::Yes);
        assert_eq!(fates.columns, [Fate::Kept, Fate::Free, Fate::Sealed, Fate::Free]);
        // The client numbers its rows beyond those that were loaded.
        let fates = inserted("INSERT INTO {} (id, k, c, note) VALUES (:2, :0, :1, 'x')");
        assert_eq!(fates.replaced, Replaced::No);
    }

    #[test]
    fn a_sum_is_known_while_statements_only_add() {
        let mut fates = of(Verb::Update, "UPDATE {} SET k = k + 1");
        assert!(fates.has_sum(1) && !fates.has_sum(2));
        fates.merge(&of(Verb::Update, "UPDATE {} SET c = :1"));
        assert!(fates.has_sum(1));
        let mut deleted = fates.clone();
        deleted.merge(&of(Verb::Delete, "DELETE FROM {}"));
        assert!(!deleted.has_sum(1));
        fates.merge(&of(Verb::Update, "UPDATE {} SET k = 7"));
        assert!(!fates.has_sum(1));
    }
}

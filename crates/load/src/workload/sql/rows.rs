//! The rows that are loaded. Row `r` of copy `c` of table `t` is a function of the seed and these numbers
//! alone, so that it is the same whoever makes it, in whatever order, and for whatever server.

use drivers::{Param, ParamType, Value};
use model::{Dialect, Draw, Rng, SqlTable, mix};

use super::checksum::{Form, RowHash, Sum};
use super::literal::{self, Literal};
use super::values::Maker;

/// Makes the rows of all copies of one table. Shared by all clients.
pub(super) struct Rows {
    seed: u64,
    table: u64,
    columns: Vec<Column>,
}

struct Column {
    maker: Maker,
    content: Content,
    form: Form,
}

impl Column {
    /// Room for a value.
    const fn cell(&self) -> Cell {
        match self.content {
            Content::Number => Cell::Int(0),
            Content::Plain | Content::Text => Cell::Text(String::new()),
        }
    }
}

/// What a column's values may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Integers.
    Number,
    /// Text that means itself in every format.
    Plain,
    /// Any text.
    Text,
}

/// A value of a row, kept from row to row so that its memory is.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    /// An integer.
    Int(i64),
    /// Text of any kind.
    Text(String),
}

impl Cell {
    /// As a server would return it.
    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Self::Int(value) => Value::Int(*value),
            Self::Text(text) => Value::Bytes(text.as_bytes()),
        }
    }

    /// As a parameter.
    pub(super) fn param(&self) -> Param<'_> {
        match self {
            Self::Int(value) => Param::Int(*value),
            Self::Text(text) => Param::Text(text),
        }
    }
}

impl Rows {
    /// The rows of the table with this index in its workload.
    pub(super) fn new(table: &SqlTable, index: usize, seed: u64) -> Self {
        let columns = table.columns.iter().map(|column| {
            let maker = Maker::new(&column.value);
            Column {
                content: content(&column.value, &maker),
                maker,
                form: Form::of(column.kind),
            }
        });
        Self {
            seed,
            table: index as u64,
            columns: columns.collect(),
        }
    }

    #[inline]
    fn rng(&self, copy: u32, row: u64) -> Rng {
        Rng::new(mix(self.seed, &[self.table, u64::from(copy), row]))
    }

    /// Appends row `row` (from 1) of a copy (from 0) as a line: values separated by tabs, with the escapes
    /// of `COPY` and `LOAD DATA`.
    pub(super) fn put_line(&self, copy: u32, row: u64, out: &mut String) {
        let mut rng = self.rng(copy, row);
        let mut separator = "";
        for Column { maker, content, .. } in &self.columns {
            out.push_str(separator);
            separator = "\t";
            match content {
                Content::Number => put_int(out, maker.int(&mut rng, row)),
                Content::Plain => maker.text(&mut rng, row, out),
                Content::Text => {
                    let start = out.len();
                    maker.text(&mut rng, row, out);
                    escape(out, start);
                }
            }
        }
        out.push('\n');
    }

    /// Appends a row as it stands behind VALUES: `(1,'a')`.
    pub(super) fn put_tuple(&self, dialect: Dialect, copy: u32, row: u64, out: &mut String) {
        let mut rng = self.rng(copy, row);
        let mut separator = '(';
        for Column { maker, content, .. } in &self.columns {
            out.push(separator);
            separator = ',';
            match content {
                Content::Number => put_int(out, maker.int(&mut rng, row)),
                Content::Plain => {
                    out.push('\'');
                    maker.text(&mut rng, row, out);
                    out.push('\'');
                }
                Content::Text => {
                    let start = out.len();
                    maker.text(&mut rng, row, out);
                    let text = out.split_off(start);
                    literal::push_text(out, dialect, Literal::Quoted, &text);
                }
            }
        }
        out.push(')');
    }

    /// Puts the values of rows `first` to `last` into `cells`, one row after the other, and shows them.
    /// `cells` grows where it must, and is for the rows of this table alone.
    pub(super) fn fill<'a>(
        &self,
        copy: u32,
        first: u64,
        last: u64,
        cells: &'a mut Vec<Cell>,
    ) -> &'a [Cell] {
        let mut place = 0;
        for row in first..=last {
            let mut rng = self.rng(copy, row);
            for column in &self.columns {
                if place == cells.len() {
                    cells.push(column.cell());
                }
                match &mut cells[place] {
                    Cell::Int(value) => *value = column.maker.int(&mut rng, row),
                    Cell::Text(text) => {
                        text.clear();
                        column.maker.text(&mut rng, row, text);
                    }
                }
                place += 1;
            }
        }
        &cells[..place]
    }

    /// The types of a row's values as parameters.
    pub(super) fn param_types(&self) -> Vec<ParamType> {
        self.columns.iter().map(|c| c.maker.param_type()).collect()
    }

    /// The sum of a column of integers over the rows 1 to `last` of a copy.
    pub(super) fn column_sum(&self, copy: u32, column: usize, last: u64) -> i64 {
        let (mut sum, mut text) = (0i64, String::new());
        for row in 1..=last {
            let mut rng = self.rng(copy, row);
            for (index, Column { maker, content, .. }) in self.columns.iter().enumerate() {
                if *content == Content::Number {
                    let int = maker.int(&mut rng, row);
                    if index == column {
                        sum = sum.wrapping_add(int);
                    }
                } else {
                    text.clear();
                    maker.text(&mut rng, row, &mut text);
                }
                if index == column {
                    break;
                }
            }
        }
        sum
    }

    /// The sum of the rows `first` to `last` of a copy: what the server must return.
    pub(super) fn sum(&self, copy: u32, first: u64, last: u64) -> Sum {
        let mut sum = Sum::default();
        let mut text = String::new();
        for row in first..=last {
            let mut rng = self.rng(copy, row);
            let mut hash = RowHash::new();
            for Column {
                maker,
                content,
                form,
            } in &self.columns
            {
                if *content == Content::Number {
                    hash.int(*form, maker.int(&mut rng, row));
                } else {
                    text.clear();
                    maker.text(&mut rng, row, &mut text);
                    hash.text(*form, text.as_bytes());
                }
            }
            sum.add_row(hash.finish());
        }
        sum
    }
}

/// What values a draw makes.
fn content(draw: &Draw, maker: &Maker) -> Content {
    match draw {
        _ if !maker.is_text() => Content::Number,
        Draw::Template(text) | Draw::Fixed(text) if text.contains(needs_care) => Content::Text,
        Draw::Template(_)
        | Draw::Fixed(_)
        | Draw::Text { .. }
        | Draw::Decimal { .. }
        | Draw::Datetime { .. } => Content::Plain,
        Draw::Row
        | Draw::Cycle(_)
        | Draw::Int { .. }
        | Draw::From(_)
        | Draw::Plus { .. }
        | Draw::Next => Content::Text,
    }
}

/// Does a character mean something else than itself in one of the formats?
fn needs_care(character: char) -> bool {
    matches!(character, '\'' | '\\') || character.is_control()
}

#[inline]
fn put_int(out: &mut String, value: i64) {
    out.push_str(itoa::Buffer::new().format(value));
}

/// Escapes what was appended from `start` on.
fn escape(out: &mut String, start: usize) {
    let text = out.split_off(start);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::tests::{kinds, sbtest};
    use super::*;

    /// Rows of both tables of the tests.
    fn tables() -> [Rows; 2] {
        [Rows::new(&sbtest(), 0, 42), Rows::new(&kinds(), 1, 42)]
    }

    fn texts(rows: &Rows, copy: u32, row: u64) -> Vec<String> {
        let mut cells = Vec::new();
        let text = |cell: &Cell| match cell {
            Cell::Int(value) => value.to_string(),
            Cell::Text(text) => text.clone(),
        };
        let cells = rows.fill(copy, row, row, &mut cells);
        cells.iter().map(text).collect()
    }

    #[test]
    fn cells_hold_one_row_after_the_other() {
        for rows in tables() {
            let mut cells = Vec::new();
            // More rows, then fewer in the same cells.
            for (first, last) in [(1, 7), (20, 22), (23, 23)] {
                let values = rows.fill(1, first, last, &mut cells);
                let single: Vec<String> = (first..=last)
                    .flat_map(|row| texts(&rows, 1, row))
                    .collect();
                let values = values.iter().map(|cell| match cell {
                    Cell::Int(value) => value.to_string(),
                    Cell::Text(text) => text.clone(),
                });
                assert_eq!(values.collect::<Vec<_>>(), single);
            }
        }
    }

    #[test]
    fn a_line_holds_the_values_of_its_row() {
        for rows in tables() {
            for row in 1..200 {
                let mut line = String::new();
                rows.put_line(0, row, &mut line);
                let line = line.strip_suffix('\n').unwrap();
                assert!(!line.contains(['\n', '\r']));
                let values: Vec<String> = line
                    .split('\t')
                    .map(|value| {
                        let value = value.replace("\\\\", "\0");
                        let value = value.replace("\\t", "\t").replace("\\n", "\n");
                        value.replace("\\r", "\r").replace('\0', "\\")
                    })
                    .collect();
                assert_eq!(values, texts(&rows, 0, row));
            }
        }
    }

    #[test]
    fn a_tuple_holds_the_values_of_its_row() {
        let [plain, hostile] = tables();
        let tuple = |rows: &Rows, dialect| {
            let mut sql = "VALUES ".to_owned();
            rows.put_tuple(dialect, 0, 9, &mut sql);
            sql
        };
        let [id, k, c, pad] = <[String; 4]>::try_from(texts(&plain, 0, 9)).unwrap();
        assert_eq!(
            tuple(&plain, Dialect::Mysql),
            format!("VALUES ({id},{k},'{c}','{pad}')")
        );
        let text = &texts(&hostile, 0, 9)[2];
        let quoted = text.replace('\'', "''");
        let sqlite = tuple(&hostile, Dialect::Sqlite);
        assert!(sqlite.contains(&format!("'{quoted}'")), "{sqlite}");
        let escaped = quoted.replace('\\', "\\\\");
        let postgres = tuple(&hostile, Dialect::Postgres);
        assert!(postgres.contains(&format!("E'{escaped}'")), "{postgres}");
    }

    #[test]
    fn a_row_depends_on_its_seed_and_place_alone() {
        let [rows, _] = tables();
        let others = [
            texts(&Rows::new(&sbtest(), 0, 43), 0, 9),
            texts(&Rows::new(&sbtest(), 1, 42), 0, 9),
            texts(&rows, 1, 9),
            texts(&rows, 0, 10),
        ];
        let row = texts(&rows, 0, 9);
        // Made out of order, by another maker, it is the same.
        assert_eq!(texts(&tables()[0], 0, 9), row);
        for other in others {
            assert_ne!(other[1..], row[1..]);
        }
    }

    #[test]
    fn the_rows_are_those_of_earlier_runs() {
        // Pinned: a change of these numbers is a change of everybody's data.
        let sums = tables().map(|rows| rows.sum(0, 1, 100).hash);
        assert_eq!(sums, PINNED);
    }

    const PINNED: [u64; 2] = [17_336_849_538_650_560_776, 10_738_381_329_235_534_620];

    #[test]
    fn the_sum_of_ranges_is_that_of_the_whole() {
        for rows in tables() {
            let mut parts = rows.sum(0, 1, 70);
            parts.add(rows.sum(0, 71, 71));
            parts.add(rows.sum(0, 72, 100));
            assert_eq!(parts, rows.sum(0, 1, 100));
            assert_eq!(rows.sum(0, 1, 0), Sum::default());
        }
    }
}

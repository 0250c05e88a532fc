//! What takes the values of rows: lines for `COPY` and `LOAD DATA`, tuples for INSERT, parameters, hashes.
//!
//! A value is written where it is needed, and the memory is kept from row to row.

use drivers::{Param, Value};
use model::Dialect;

use crate::checksum::{Form, RowHash, Sum};
use crate::decimal::Digits;
use crate::literal;

pub trait Sink {
    fn int(&mut self, value: i64);

    /// A decimal number in units of its last digit, with so many `decimals`. For SQLite it stays an integer.
    fn decimal(&mut self, units: i64, decimals: usize);

    /// A text that means itself in every format, which `write` appends.
    fn text(&mut self, write: impl FnOnce(&mut String));

    /// As [`Sink::text`], of a text that is there.
    #[inline]
    fn fixed(&mut self, text: &str) {
        self.text(|out| out.push_str(text));
    }

    #[inline]
    fn any_text(&mut self, write: impl FnOnce(&mut String)) {
        self.text(write);
    }

    fn null(&mut self);

    fn end_row(&mut self);
}

#[inline]
fn push_int(text: &mut String, value: i64) {
    text.push_str(itoa::Buffer::new().format(value));
}

/// Rows as lines: values separated by tabs.
pub struct Lines<'a> {
    pub text: &'a mut String,
    is_first: bool,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a mut String) -> Self {
        Self { text, is_first: true }
    }

    #[inline]
    fn next(&mut self) -> &mut String {
        if !self.is_first {
            self.text.push('\t');
        }
        self.is_first = false;
        self.text
    }
}

impl Sink for Lines<'_> {
    #[inline]
    fn int(&mut self, value: i64) {
        push_int(self.next(), value);
    }

    #[inline]
    fn decimal(&mut self, units: i64, decimals: usize) {
        self.next().push_str(Digits::of(units, decimals).as_str());
    }

    #[inline]
    fn text(&mut self, write: impl FnOnce(&mut String)) {
        write(self.next());
    }

    fn any_text(&mut self, write: impl FnOnce(&mut String)) {
        let out = self.next();
        let start = out.len();
        write(out);
        escape(out, start);
    }

    #[inline]
    fn null(&mut self) {
        self.next().push_str("\\N");
    }

    #[inline]
    fn end_row(&mut self) {
        self.text.push('\n');
        self.is_first = true;
    }
}

/// Escapes what was appended from `start` on, as `COPY` and `LOAD DATA` want it.
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

/// Rows as they stand behind VALUES: `(1,'a'),(2,NULL)`.
pub struct Tuples<'a> {
    pub text: &'a mut String,
    dialect: Dialect,
    separator: &'static str,
}

impl<'a> Tuples<'a> {
    pub fn new(text: &'a mut String, dialect: Dialect) -> Self {
        Self { text, dialect, separator: "(" }
    }

    #[inline]
    fn next(&mut self) -> &mut String {
        self.text.push_str(self.separator);
        self.separator = ",";
        self.text
    }
}

impl Sink for Tuples<'_> {
    fn int(&mut self, value: i64) {
        push_int(self.next(), value);
    }

    fn decimal(&mut self, units: i64, decimals: usize) {
        match self.dialect {
            Dialect::Mysql | Dialect::Postgres => {
                self.next().push_str(Digits::of(units, decimals).as_str());
            }
            Dialect::Sqlite => self.int(units),
        }
    }

    fn text(&mut self, write: impl FnOnce(&mut String)) {
        let text = self.next();
        text.push('\'');
        write(text);
        text.push('\'');
    }

    fn any_text(&mut self, write: impl FnOnce(&mut String)) {
        let dialect = self.dialect;
        let out = self.next();
        let start = out.len();
        write(out);
        let text = out.split_off(start);
        literal::push_text(out, dialect, &text);
    }

    fn null(&mut self) {
        self.next().push_str("NULL");
    }

    fn end_row(&mut self) {
        self.text.push(')');
        self.separator = ",(";
    }
}

/// A value, kept from row to row so that its memory is.
#[derive(Debug)]
enum Cell {
    Int(i64),
    Text(String),
    Null,
}

impl Cell {
    fn param(&self) -> Param<'_> {
        match self {
            Self::Int(value) => Param::Int(*value),
            Self::Text(text) => Param::Text(text),
            Self::Null => Param::Int(0),
        }
    }
}

/// Rows as values, one after the other.
#[derive(Debug)]
pub struct Cells {
    dialect: Dialect,
    /// Those in use come first.
    all: Vec<Cell>,
    used: usize,
    pub rows: usize,
    has_null: bool,
}

impl Cells {
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, all: Vec::new(), used: 0, rows: 0, has_null: false }
    }

    /// Forgets all values; the memory stays.
    pub fn clear(&mut self) {
        (self.used, self.rows, self.has_null) = (0, 0, false);
    }

    /// The value at a place, from the first row's first on; NULL beyond the last.
    #[inline]
    pub fn value(&self, place: usize) -> Value<'_> {
        match self.all[..self.used].get(place) {
            Some(Cell::Int(value)) => Value::Int(*value),
            Some(Cell::Text(text)) => Value::Bytes(text.as_bytes()),
            Some(Cell::Null) | None => Value::Null,
        }
    }

    /// The values of `rows` rows from row `first` on as parameters. NULL is none: it stands in the statement.
    pub fn params(&self, first: usize, rows: usize) -> Vec<Param<'_>> {
        let width = self.used / self.rows.max(1);
        let cells = self.all[first * width..(first + rows) * width].iter();
        // Most tables have no NULL, and need not look.
        if self.has_null {
            cells.filter(|cell| !matches!(cell, Cell::Null)).map(Cell::param).collect()
        } else {
            cells.map(Cell::param).collect()
        }
    }

    #[inline]
    fn next(&mut self) -> &mut Cell {
        if self.used == self.all.len() {
            self.all.push(Cell::Null);
        }
        self.used += 1;
        &mut self.all[self.used - 1]
    }
}

impl Sink for Cells {
    #[inline]
    fn int(&mut self, value: i64) {
        match self.next() {
            Cell::Int(own) => *own = value,
            other => *other = Cell::Int(value),
        }
    }

    #[inline]
    fn decimal(&mut self, units: i64, decimals: usize) {
        match self.dialect {
            Dialect::Mysql | Dialect::Postgres => {
                self.text(|out| out.push_str(Digits::of(units, decimals).as_str()));
            }
            Dialect::Sqlite => self.int(units),
        }
    }

    #[inline]
    fn text(&mut self, write: impl FnOnce(&mut String)) {
        let cell = self.next();
        if let Cell::Text(text) = cell {
            text.clear();
            write(text);
        } else {
            let mut text = String::new();
            write(&mut text);
            *cell = Cell::Text(text);
        }
    }

    fn null(&mut self) {
        *self.next() = Cell::Null;
        self.has_null = true;
    }

    fn end_row(&mut self) {
        self.rows += 1;
    }
}

/// The sum of the hashes of rows, as it is made of what a server returns.
pub struct Hashes<'a> {
    forms: &'a [Form],
    at: usize,
    row: RowHash,
    pub sum: Sum,
    text: String,
}

impl<'a> Hashes<'a> {
    pub fn new(forms: &'a [Form]) -> Self {
        Self { forms, at: 0, row: RowHash::default(), sum: Sum::default(), text: String::new() }
    }

    #[inline]
    fn form(&mut self) -> Form {
        self.at += 1;
        self.forms[self.at - 1]
    }
}

impl Sink for Hashes<'_> {
    #[inline]
    fn int(&mut self, value: i64) {
        let form = self.form();
        self.row.int(form, value);
    }

    #[inline]
    fn decimal(&mut self, units: i64, _decimals: usize) {
        self.int(units);
    }

    #[inline]
    fn text(&mut self, write: impl FnOnce(&mut String)) {
        self.text.clear();
        write(&mut self.text);
        let form = self.form();
        self.row.text(form, self.text.as_bytes());
    }

    #[inline]
    fn null(&mut self) {
        let form = self.form();
        self.row.value(form, Value::Null);
    }

    #[inline]
    fn end_row(&mut self) {
        self.sum.add_row(self.row.finish());
        self.row = RowHash::default();
        self.at = 0;
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    fn fill(sink: &mut impl Sink) {
        for key in [1, 2] {
            sink.int(-key);
            sink.decimal(-1250 * key, 2);
            sink.decimal(15 * key, 4);
            sink.text(|out| out.push_str("Ab9"));
            sink.text(|out| out.push_str("2026-01-01 00:00:00"));
            sink.null();
            sink.end_row();
        }
    }

    #[test]
    fn lines_are_those_of_copy() {
        let mut text = "0\n".to_owned();
        fill(&mut Lines::new(&mut text));
        assert_eq!(
            text,
            "0\n-1\t-12.50\t0.0015\tAb9\t2026-01-01 00:00:00\t\\N\n\
             -2\t-25.00\t0.0030\tAb9\t2026-01-01 00:00:00\t\\N\n"
        );
    }

    #[test]
    fn tuples_are_those_of_insert() {
        let tuples = |dialect| {
            let mut text = "VALUES ".to_owned();
            fill(&mut Tuples::new(&mut text, dialect));
            text
        };
        let servers = "VALUES (-1,-12.50,0.0015,'Ab9','2026-01-01 00:00:00',NULL),\
                       (-2,-25.00,0.0030,'Ab9','2026-01-01 00:00:00',NULL)";
        assert_eq!(tuples(Dialect::Mysql), servers);
        assert_eq!(tuples(Dialect::Postgres), servers);
        assert_eq!(
            tuples(Dialect::Sqlite),
            "VALUES (-1,-1250,15,'Ab9','2026-01-01 00:00:00',NULL),\
             (-2,-2500,30,'Ab9','2026-01-01 00:00:00',NULL)"
        );
    }

    #[test]
    fn cells_hold_all_values_but_nulls() {
        let mut cells = Cells::new(Dialect::Mysql);
        let shown = |cells: &Cells, first, count| -> Vec<String> {
            let params = cells.params(first, count);
            params.iter().map(|param| format!("{param:?}")).collect()
        };
        for _ in 0..2 {
            cells.clear();
            fill(&mut cells);
            assert_eq!(cells.rows, 2);
            assert_eq!(
                shown(&cells, 1, 1),
                [
                    "Int(-2)",
                    "Text(\"-25.00\")",
                    "Text(\"0.0030\")",
                    "Text(\"Ab9\")",
                    "Text(\"2026-01-01 00:00:00\")"
                ]
            );
        }
        let mut cells = Cells::new(Dialect::Sqlite);
        fill(&mut cells);
        assert_eq!(shown(&cells, 0, 1)[1..3], ["Int(-1250)", "Int(15)"]);
        assert_eq!((cells.value(5), cells.value(6)), (Value::Null, Value::Int(-2)));
    }

    #[test]
    fn hashes_tell_rows_apart() {
        let sum = |rows: &[(i64, &str)]| {
            let mut hashes = Hashes::new(&[Form::Integer, Form::Exact]);
            for (int, text) in rows {
                hashes.int(*int);
                hashes.text(|out| out.push_str(text));
                hashes.end_row();
            }
            hashes.sum
        };
        let rows = sum(&[(1, "a"), (2, "b")]);
        assert_eq!(rows.rows, 2);
        assert_eq!(rows, sum(&[(2, "b"), (1, "a")]));
        assert_ne!(rows, sum(&[(1, "b"), (2, "a")]));
    }
}

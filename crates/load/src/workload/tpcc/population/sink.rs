//! What takes the values of rows: lines for `COPY` and `LOAD DATA`, tuples for INSERT, parameters, hashes.
//!
//! All texts are letters and digits and mean themselves in every format, so nothing is escaped. A value is
//! written where it is needed, and the memory is kept from row to row.

use drivers::{Param, Value};
use model::Dialect;

use crate::workload::sql::checksum::{Form, RowHash, Sum};
use crate::workload::tpcc::money::Digits;

/// Takes rows, value by value.
pub(in crate::workload::tpcc) trait Sink {
    /// An integer.
    fn int(&mut self, value: i64);
    /// An amount of money, in cents.
    fn cents(&mut self, cents: i64);
    /// A tax or discount, in ten-thousandths.
    fn rate(&mut self, ten_thousandths: i64);
    /// A text of letters and digits, which `write` appends.
    fn text(&mut self, write: impl FnOnce(&mut String));
    /// A time: `2026-01-01 00:00:00`.
    fn time(&mut self, time: &str);
    /// NULL.
    fn null(&mut self);
    /// The row is complete.
    fn end_row(&mut self);
}

/// Appends an integer in digits.
#[inline]
fn push_int(text: &mut String, value: i64) {
    text.push_str(itoa::Buffer::new().format(value));
}

/// Rows as lines: values separated by tabs.
pub(in crate::workload::tpcc) struct Lines<'a> {
    text: &'a mut String,
    is_first: bool,
}

impl<'a> Lines<'a> {
    /// Lines that are appended to `text`.
    pub(in crate::workload::tpcc) fn new(text: &'a mut String) -> Self {
        Self {
            text,
            is_first: true,
        }
    }

    /// Characters so far.
    pub(in crate::workload::tpcc) fn len(&self) -> usize {
        self.text.len()
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
    fn cents(&mut self, cents: i64) {
        self.next().push_str(Digits::cents(cents).as_str());
    }

    #[inline]
    fn rate(&mut self, ten_thousandths: i64) {
        self.next().push_str(Digits::rate(ten_thousandths).as_str());
    }

    #[inline]
    fn text(&mut self, write: impl FnOnce(&mut String)) {
        write(self.next());
    }

    #[inline]
    fn time(&mut self, time: &str) {
        self.next().push_str(time);
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

/// Rows as they stand behind VALUES: `(1,'a'),(2,NULL)`.
pub(in crate::workload::tpcc) struct Tuples<'a> {
    text: &'a mut String,
    dialect: Dialect,
    /// What comes before the next value.
    separator: &'static str,
}

impl<'a> Tuples<'a> {
    /// Tuples that are appended to `text`.
    pub(in crate::workload::tpcc) fn new(text: &'a mut String, dialect: Dialect) -> Self {
        Self {
            text,
            dialect,
            separator: "(",
        }
    }

    /// Characters so far.
    pub(in crate::workload::tpcc) fn len(&self) -> usize {
        self.text.len()
    }

    #[inline]
    fn next(&mut self) -> &mut String {
        self.text.push_str(self.separator);
        self.separator = ",";
        self.text
    }

    /// A decimal number where the server has such, an integer in SQLite.
    fn number(&mut self, units: i64, digits: Digits) {
        match self.dialect {
            Dialect::Mysql | Dialect::Postgres => self.next().push_str(digits.as_str()),
            Dialect::Sqlite => push_int(self.next(), units),
        }
    }
}

impl Sink for Tuples<'_> {
    fn int(&mut self, value: i64) {
        push_int(self.next(), value);
    }

    fn cents(&mut self, cents: i64) {
        self.number(cents, Digits::cents(cents));
    }

    fn rate(&mut self, ten_thousandths: i64) {
        self.number(ten_thousandths, Digits::rate(ten_thousandths));
    }

    fn text(&mut self, write: impl FnOnce(&mut String)) {
        let text = self.next();
        text.push('\'');
        write(text);
        text.push('\'');
    }

    fn time(&mut self, time: &str) {
        self.text(|out| out.push_str(time));
    }

    fn null(&mut self) {
        self.next().push_str("NULL");
    }

    fn end_row(&mut self) {
        self.text.push(')');
        self.separator = ",(";
    }
}

/// A value that is sent as a parameter.
#[derive(Clone, Copy, Debug)]
enum Cell {
    Int(i64),
    /// Where a text begins and ends.
    Text(u32, u32),
}

/// Rows as parameters, one after the other. NULL is none: it stands in the statement.
pub(in crate::workload::tpcc) struct Cells {
    dialect: Dialect,
    all: Vec<Cell>,
    text: String,
}

impl Cells {
    /// No values yet.
    pub(in crate::workload::tpcc) const fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            all: Vec::new(),
            text: String::new(),
        }
    }

    /// Forgets all values; the memory stays.
    pub(in crate::workload::tpcc) fn clear(&mut self) {
        self.all.clear();
        self.text.clear();
    }

    /// How many values there are.
    pub(in crate::workload::tpcc) fn len(&self) -> usize {
        self.all.len()
    }

    /// `count` values from value `first` on.
    pub(in crate::workload::tpcc) fn params(&self, first: usize, count: usize) -> Vec<Param<'_>> {
        let cells = self.all.iter().skip(first).take(count);
        let param = |cell: &Cell| match *cell {
            Cell::Int(value) => Param::Int(value),
            Cell::Text(start, end) => Param::Text(&self.text[start as usize..end as usize]),
        };
        cells.map(param).collect()
    }

    fn number(&mut self, units: i64, digits: Digits) {
        match self.dialect {
            Dialect::Mysql | Dialect::Postgres => self.time(digits.as_str()),
            Dialect::Sqlite => self.int(units),
        }
    }
}

impl Sink for Cells {
    #[inline]
    fn int(&mut self, value: i64) {
        self.all.push(Cell::Int(value));
    }

    #[inline]
    fn cents(&mut self, cents: i64) {
        self.number(cents, Digits::cents(cents));
    }

    #[inline]
    fn rate(&mut self, ten_thousandths: i64) {
        self.number(ten_thousandths, Digits::rate(ten_thousandths));
    }

    #[inline]
    fn text(&mut self, write: impl FnOnce(&mut String)) {
        let start = self.text.len() as u32;
        write(&mut self.text);
        self.all.push(Cell::Text(start, self.text.len() as u32));
    }

    #[inline]
    fn time(&mut self, time: &str) {
        self.text(|out| out.push_str(time));
    }

    fn null(&mut self) {}

    fn end_row(&mut self) {}
}

/// The sum of the hashes of rows, as it is made of what a server returns.
pub(super) struct Hashes {
    row: RowHash,
    sum: Sum,
    text: String,
}

impl Hashes {
    /// Of no rows yet.
    pub(super) fn new() -> Self {
        Self {
            row: RowHash::new(),
            sum: Sum::default(),
            text: String::new(),
        }
    }

    /// The sum of all rows.
    pub(super) const fn sum(&self) -> Sum {
        self.sum
    }
}

impl Sink for Hashes {
    #[inline]
    fn int(&mut self, value: i64) {
        self.row.int(Form::Integer, value);
    }

    #[inline]
    fn cents(&mut self, cents: i64) {
        self.int(cents);
    }

    #[inline]
    fn rate(&mut self, ten_thousandths: i64) {
        self.int(ten_thousandths);
    }

    #[inline]
    fn text(&mut self, write: impl FnOnce(&mut String)) {
        self.text.clear();
        write(&mut self.text);
        self.row.text(Form::Exact, self.text.as_bytes());
    }

    #[inline]
    fn time(&mut self, time: &str) {
        self.row.text(Form::Exact, time.as_bytes());
    }

    #[inline]
    fn null(&mut self) {
        self.row.value(Form::Integer, Value::Null);
    }

    #[inline]
    fn end_row(&mut self) {
        self.sum.add_row(self.row.finish());
        self.row = RowHash::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(sink: &mut impl Sink) {
        for key in [1, 2] {
            sink.int(-key);
            sink.cents(-1250 * key);
            sink.rate(15 * key);
            sink.text(|out| out.push_str("Ab9"));
            sink.time("2026-01-01 00:00:00");
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
            assert_eq!(cells.len(), 10);
            assert_eq!(
                shown(&cells, 5, 5),
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
        assert_eq!(shown(&cells, 1, 2), ["Int(-1250)", "Int(15)"]);
    }

    #[test]
    fn hashes_tell_rows_apart() {
        let sum = |rows: &[(i64, &str)]| {
            let mut hashes = Hashes::new();
            for (int, text) in rows {
                hashes.int(*int);
                hashes.text(|out| out.push_str(text));
                hashes.end_row();
            }
            hashes.sum()
        };
        let rows = sum(&[(1, "a"), (2, "b")]);
        assert_eq!(rows.rows, 2);
        assert_eq!(rows, sum(&[(2, "b"), (1, "a")]));
        assert_ne!(rows, sum(&[(1, "b"), (2, "a")]));
    }
}

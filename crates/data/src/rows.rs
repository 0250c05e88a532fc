//! The rows of SQL workloads. Row `r` of copy `c` of table `t` is a function of the seed and these numbers alone.

use model::{Dialect, Draw, Rng, SqlTable, mix};

use crate::schema::{TableCopy, copies};
use crate::sink::{Cells, Sink};
use crate::source::{self, Source};
use crate::table::Batch;
use crate::values::Maker;
use drivers::Value;

/// Makes the rows of all copies of one table. Shared by all clients.
pub struct Rows {
    seed: u64,
    table: u64,
    columns: Vec<Column>,
}

struct Column {
    maker: Maker,
    content: Content,
}

/// What a column's values may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Number,
    /// Text that means itself in every format.
    Plain,
    Text,
}

impl Rows {
    pub fn new(table: &SqlTable, index: usize, seed: u64) -> Self {
        let columns = table.columns.iter().map(|column| {
            let maker = Maker::new(&column.value);
            Column { content: content(&column.value, &maker), maker }
        });
        Self { seed, table: index as u64, columns: columns.collect() }
    }

    /// Shows row `row` (from 1) of a copy (from 0) to `sink`.
    #[inline]
    pub fn put(&self, copy: u32, row: u64, sink: &mut impl Sink) {
        self.put_first(self.columns.len(), copy, row, sink);
    }

    /// Shows the first `count` columns of a row.
    #[inline]
    fn put_first(&self, count: usize, copy: u32, row: u64, sink: &mut impl Sink) {
        let mut rng = Rng::new(mix(self.seed, &[self.table, u64::from(copy), row]));
        for Column { maker, content } in &self.columns[..count] {
            match content {
                Content::Number => sink.int(maker.int(&mut rng, row)),
                Content::Plain => sink.text(|out| maker.text(&mut rng, row, out)),
                Content::Text => sink.any_text(|out| maker.text(&mut rng, row, out)),
            }
        }
        sink.end_row();
    }

    /// The sum of a column of integers over the rows 1 to `last` of a copy.
    pub fn column_sum(&self, copy: u32, column: usize, last: u64) -> i64 {
        // Integers are the same in all dialects.
        let mut cells = Cells::new(Dialect::Sqlite);
        let values = (1..=last).map(|row| {
            cells.clear();
            self.put_first(column + 1, copy, row, &mut cells);
            match cells.value(column) {
                Value::Int(value) => value,
                Value::Null | Value::Real(_) | Value::Bytes(_) => 0,
            }
        });
        values.fold(0, i64::wrapping_add)
    }
}

/// The rows of all copies of all tables.
pub struct SqlRows {
    copies: Vec<TableCopy>,
    /// By table.
    rows: Vec<Rows>,
}

impl SqlRows {
    pub fn new(tables: &[SqlTable], seed: u64) -> Self {
        let rows = tables.iter().enumerate().map(|(index, table)| Rows::new(table, index, seed));
        Self { copies: copies(tables), rows: rows.collect() }
    }
}

impl Source for SqlRows {
    type Rows<'a> = CopyRows<'a>;

    fn rows(&self, batch: &Batch) -> CopyRows<'_> {
        let copy = &self.copies[batch.table];
        let rows = &self.rows[copy.table];
        CopyRows { rows, copy: copy.number, next: batch.first, last: batch.last }
    }

    fn count(&self, batch: &Batch) -> u64 {
        (batch.last + 1).saturating_sub(batch.first)
    }

    fn batches(&self, table: usize, size: u32) -> u64 {
        self.copies[table].rows.div_ceil(u64::from(size.max(1)))
    }

    fn batch(&self, table: usize, size: u32, number: u64) -> Batch {
        let size = u64::from(size.max(1));
        let last = self.copies[table].rows.min((number + 1) * size);
        Batch { table, group: [0; 2], first: number * size + 1, last }
    }
}

pub struct CopyRows<'a> {
    rows: &'a Rows,
    copy: u32,
    next: u64,
    last: u64,
}

impl source::Rows for CopyRows<'_> {
    fn next_has_null(&self) -> Option<bool> {
        (self.next <= self.last).then_some(false)
    }

    #[inline]
    fn put(&mut self, sink: &mut impl Sink) -> bool {
        let is_left = self.next <= self.last;
        if is_left {
            self.rows.put(self.copy, self.next, sink);
            self.next += 1;
        }
        is_left
    }
}

fn content(draw: &Draw, maker: &Maker) -> Content {
    if !maker.is_text() {
        return Content::Number;
    }
    if let Draw::Template(text) | Draw::Fixed(text) = draw
        && text.contains(|c: char| matches!(c, '\'' | '\\') || c.is_control())
    {
        return Content::Text;
    }
    Content::Plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::{Form, Sum};
    use crate::schema::tests::{kinds, sbtest};
    use crate::sink::{Lines, Tuples};

    /// Rows of both tables of the tests.
    fn tables() -> [Rows; 2] {
        [Rows::new(&sbtest(), 0, 42), Rows::new(&kinds(), 1, 42)]
    }

    fn texts(rows: &Rows, copy: u32, row: u64) -> Vec<String> {
        let mut cells = Cells::new(Dialect::Sqlite);
        rows.put(copy, row, &mut cells);
        (0..rows.columns.len()).map(|place| cells.value(place).to_text().unwrap()).collect()
    }

    #[test]
    fn a_line_holds_the_values_of_its_row() {
        for rows in tables() {
            for row in 1..200 {
                let mut line = String::new();
                rows.put(0, row, &mut Lines::new(&mut line));
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
            rows.put(0, 9, &mut Tuples::new(&mut sql, dialect));
            sql
        };
        let [id, k, c, pad] = <[String; 4]>::try_from(texts(&plain, 0, 9)).unwrap();
        assert_eq!(tuple(&plain, Dialect::Mysql), format!("VALUES ({id},{k},'{c}','{pad}')"));
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

    fn sum(table: usize, first: u64, last: u64) -> Sum {
        let tables = [sbtest(), kinds()];
        let columns = tables[table].columns.iter();
        let forms: Vec<Form> = columns.map(|column| Form::of(column.kind)).collect();
        // Of the first table there are two copies.
        let batch = Batch { table: [0, 2][table], group: [0; 2], first, last };
        SqlRows::new(&tables, 42).sum(&batch, &forms)
    }

    #[test]
    fn the_rows_are_those_of_earlier_runs() {
        // Pinned: a change of these numbers is a change of everybody's data.
        let sums = [0, 1].map(|table| sum(table, 1, 100).hash);
        assert_eq!(sums, PINNED);
    }

    const PINNED: [u64; 2] = [17_336_849_538_650_560_776, 10_738_381_329_235_534_620];

    #[test]
    fn the_sum_of_ranges_is_that_of_the_whole() {
        for table in [0, 1] {
            let mut parts = sum(table, 1, 70);
            parts.add(sum(table, 71, 71));
            parts.add(sum(table, 72, 100));
            assert_eq!(parts, sum(table, 1, 100));
            assert_eq!(sum(table, 1, 0), Sum::default());
        }
    }

    #[test]
    fn the_sum_of_a_column_is_that_of_its_values() {
        let [rows, _] = tables();
        let values = (1..=50).map(|row| texts(&rows, 1, row)[1].parse::<i64>().unwrap());
        assert_eq!(rows.column_sum(1, 1, 50), values.sum::<i64>());
    }
}

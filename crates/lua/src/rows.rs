//! The rows that the last statement returned, kept until the script asks for them or for the next statement.

use drivers::{Row, Value};

#[derive(Clone, Copy, Debug)]
enum Cell {
    Null,
    Int(i64),
    Real(f64),
    /// Where its text is.
    Text(usize, usize),
}

/// Their memory is used again for every statement.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    cells: Vec<Cell>,
    text: Vec<u8>,
    fields: usize,
    next: usize,
}

impl Rows {
    pub(crate) fn clear(&mut self) {
        self.cells.clear();
        self.text.clear();
        (self.fields, self.next) = (0, 0);
    }

    pub(crate) fn add(&mut self, row: &dyn Row) {
        self.fields = row.len();
        for column in 0..row.len() {
            let cell = match row.value(column) {
                Value::Null => Cell::Null,
                Value::Int(int) => Cell::Int(int),
                Value::Real(real) => Cell::Real(real),
                Value::Bytes(bytes) => {
                    let begin = self.text.len();
                    self.text.extend_from_slice(bytes);
                    Cell::Text(begin, self.text.len())
                }
            };
            self.cells.push(cell);
        }
    }

    /// The next row, each value as Lua's text or nil; `None` after the last.
    pub(crate) fn fetch(&mut self, lua: &mlua::Lua) -> mlua::Result<Option<mlua::Table>> {
        let end = self.next + self.fields;
        if self.fields == 0 || end > self.cells.len() {
            return Ok(None);
        }
        let table = lua.create_table_with_capacity(self.fields, 0)?;
        for (cell, place) in self.cells[self.next..end].iter().zip(1..) {
            let text = match *cell {
                Cell::Null => continue,
                Cell::Int(int) => lua.create_string(int.to_string())?,
                Cell::Real(real) => lua.create_string(real.to_string())?,
                Cell::Text(begin, end) => lua.create_string(&self.text[begin..end])?,
            };
            table.raw_set(place, text)?;
        }
        self.next = end;
        Ok(Some(table))
    }
}

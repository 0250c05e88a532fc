//! A JSON object a line.

use std::io::Write;

use crate::{Column, ExportError, Value};

/// Fields in the order of the columns; a missing value is `null`.
pub(crate) struct JsonLines<W> {
    columns: &'static [Column],
    out: W,
    line: Vec<u8>,
}

impl<W: Write> JsonLines<W> {
    pub(crate) const fn begin(columns: &'static [Column], out: W) -> Self {
        Self { columns, out, line: Vec::new() }
    }

    pub(crate) fn row(&mut self, row: &[Value<'_>]) -> Result<(), ExportError> {
        self.line.clear();
        for (place, (column, value)) in self.columns.iter().zip(row).enumerate() {
            let before = if place == 0 { '{' } else { ',' };
            write!(self.line, "{before}\"{}\":", column.name)?;
            match value {
                Value::Absent => self.line.extend(b"null"),
                Value::Text(text) => put(&mut self.line, text)?,
                Value::Count(count) => put(&mut self.line, count)?,
                Value::Number(number) => put(&mut self.line, number)?,
            }
        }
        self.line.extend(b"}\n");
        self.out.write_all(&self.line)?;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<(), ExportError> {
        Ok(self.out.flush()?)
    }
}

fn put<T: serde::Serialize + ?Sized>(line: &mut Vec<u8>, value: &T) -> Result<(), ExportError> {
    serde_json::to_writer(line, value).map_err(|error| ExportError::Io(error.into()))
}

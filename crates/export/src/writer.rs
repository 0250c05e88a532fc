//! One way in for every format of rows.

use std::io::Write;

use crate::csv::Csv;
use crate::json_lines::JsonLines;
use crate::parquet::Parquet;
use crate::{Column, ExportError, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// A header line, then a line a row.
    Csv,
    /// A JSON object a line.
    JsonLines,
    /// Parquet, compressed with gzip.
    Parquet,
}

pub struct RowWriter<W: Write + Send>(Inner<W>);

enum Inner<W: Write + Send> {
    Csv(Csv<W>),
    JsonLines(JsonLines<W>),
    Parquet(Box<Parquet<W>>),
}

impl<W: Write + Send> RowWriter<W> {
    /// A file with these columns, under a name for the table where the format has a place for it.
    pub fn begin(
        format: RowFormat,
        name: &str,
        columns: &'static [Column],
        out: W,
    ) -> Result<Self, ExportError> {
        let inner = match format {
            RowFormat::Csv => Inner::Csv(Csv::begin(columns, out)?),
            RowFormat::JsonLines => Inner::JsonLines(JsonLines::begin(columns, out)),
            RowFormat::Parquet => Inner::Parquet(Box::new(Parquet::begin(name, columns, out)?)),
        };
        Ok(Self(inner))
    }

    /// One row: as many values as there are columns, in their order.
    pub fn row(&mut self, row: &[Value<'_>]) -> Result<(), ExportError> {
        match &mut self.0 {
            Inner::Csv(csv) => csv.row(row),
            Inner::JsonLines(lines) => lines.row(row),
            Inner::Parquet(parquet) => parquet.row(row),
        }
    }

    /// Writes the rest: without it the file is incomplete.
    pub fn finish(self) -> Result<(), ExportError> {
        match self.0 {
            Inner::Csv(csv) => csv.finish(),
            Inner::JsonLines(lines) => lines.finish(),
            Inner::Parquet(parquet) => parquet.finish(),
        }
    }
}

//! Rows in every format.

use std::borrow::Cow;
use std::io::{self, Write};

use model::guarded;

use crate::parquet::Parquet;
use crate::{Column, Result, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// RFC 4180 with line feeds: a header line, then a line a row.
    Csv,
    /// A JSON object a line: fields in the order of the columns, a missing value is `null`.
    JsonLines,
    /// Parquet, compressed with gzip.
    Parquet,
}

pub struct RowWriter<W: Write + Send>(Inner<W>);

enum Inner<W: Write + Send> {
    Lines(Lines<W>),
    Parquet(Box<Parquet<W>>),
}

impl<W: Write + Send> RowWriter<W> {
    /// A file with these columns, under a name for the table where the format has a place for it.
    pub fn begin(
        format: RowFormat,
        name: &str,
        columns: &'static [Column],
        mut out: W,
    ) -> Result<Self> {
        let lines = |is_json, out| Inner::Lines(Lines { is_json, columns, out, line: Vec::new() });
        Ok(Self(match format {
            RowFormat::Csv => {
                let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
                writeln!(out, "{}", names.join(","))?;
                lines(false, out)
            }
            RowFormat::JsonLines => lines(true, out),
            RowFormat::Parquet => Inner::Parquet(Box::new(Parquet::begin(name, columns, out)?)),
        }))
    }

    /// One row: as many values as there are columns, in their order.
    pub fn row(&mut self, row: &[Value<'_>]) -> Result {
        match &mut self.0 {
            Inner::Lines(lines) => Ok(lines.row(row)?),
            Inner::Parquet(parquet) => parquet.row(row),
        }
    }

    /// Writes the rest: without it the file is incomplete.
    pub fn finish(self) -> Result {
        match self.0 {
            Inner::Lines(mut lines) => Ok(lines.out.flush()?),
            Inner::Parquet(parquet) => parquet.finish(),
        }
    }
}

struct Lines<W> {
    is_json: bool,
    columns: &'static [Column],
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Lines<W> {
    fn row(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        self.line.clear();
        for (place, (column, value)) in self.columns.iter().zip(row).enumerate() {
            if self.is_json {
                let before = if place == 0 { '{' } else { ',' };
                write!(self.line, "{before}\"{}\":", column.name)?;
                serde_json::to_writer(&mut self.line, value)?;
            } else {
                let before = if place == 0 { "" } else { "," };
                write!(self.line, "{before}")?;
                csv(&mut self.line, value)?;
            }
        }
        self.line.extend_from_slice(if self.is_json { b"}\n" } else { b"\n" });
        self.out.write_all(&self.line)
    }
}

/// Fields are quoted where they need it, and text is never a formula; numbers are the shortest text that reads back as the same.
fn csv(line: &mut Vec<u8>, value: &Value<'_>) -> io::Result<()> {
    match value {
        Value::Absent => Ok(()),
        Value::Text(text) => line.write_all(quoted(&guarded(text)).as_bytes()),
        Value::Count(count) => write!(line, "{count}"),
        Value::Number(number) => write!(line, "{number}"),
    }
}

fn quoted(field: &str) -> Cow<'_, str> {
    if field.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", field.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(field)
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quotes_only_where_needed() {
        assert_eq!(quoted("plain µs/op"), "plain µs/op");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(quoted("two\nlines"), "\"two\nlines\"");
    }
}

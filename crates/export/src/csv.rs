//! CSV as RFC 4180 has it, with line feeds.

use std::borrow::Cow;
use std::io::Write;

use model::guarded;

use crate::{Column, ExportError, Value};

/// Fields are quoted where they need it, and text is never a formula; numbers are the shortest text that reads back as the same.
pub(crate) struct Csv<W> {
    out: W,
    line: String,
}

impl<W: Write> Csv<W> {
    pub(crate) fn begin(columns: &[Column], mut out: W) -> Result<Self, ExportError> {
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        writeln!(out, "{}", names.join(","))?;
        Ok(Self { out, line: String::new() })
    }

    pub(crate) fn row(&mut self, row: &[Value<'_>]) -> Result<(), ExportError> {
        self.line.clear();
        for (place, value) in row.iter().enumerate() {
            if place > 0 {
                self.line.push(',');
            }
            match value {
                Value::Absent => {}
                Value::Text(text) => self.line.push_str(&quoted(&guarded(text))),
                Value::Count(count) => self.line.push_str(&count.to_string()),
                Value::Number(number) => self.line.push_str(&number.to_string()),
            }
        }
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())?;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<(), ExportError> {
        Ok(self.out.flush()?)
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

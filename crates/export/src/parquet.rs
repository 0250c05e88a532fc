//! Parquet: rows are collected into groups of columns.

use std::io::Write;
use std::sync::Arc;

use ::parquet::basic::{Compression, GzipLevel};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::parser::parse_message_type;

use crate::{Column, ColumnType, ExportError, Result, Value};

/// Rows of a group, held in memory: some tens of megabytes at most.
const GROUP: usize = 1 << 16;

/// Text is a string, a count INT64, a number DOUBLE; what may be absent is optional.
pub(crate) struct Parquet<W: Write + Send> {
    file: SerializedFileWriter<W>,
    held: Vec<Held>,
    rows: usize,
}

/// The values of one column that are not written yet.
struct Held {
    name: &'static str,
    values: Values,
    /// Of an optional column: 1 for each row that has a value, 0 for the others.
    present: Option<Vec<i16>>,
}

enum Values {
    Text(Vec<ByteArray>),
    Count(Vec<i64>),
    Number(Vec<f64>),
}

impl<W: Write + Send> Parquet<W> {
    pub(crate) fn begin(name: &str, columns: &'static [Column], out: W) -> Result<Self> {
        let schema = Arc::new(parse_message_type(&schema(name, columns))?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::GZIP(GzipLevel::default()))
            .set_created_by("backslide".to_owned())
            .build();
        Ok(Self {
            file: SerializedFileWriter::new(out, schema, Arc::new(properties))?,
            held: columns.iter().map(Held::new).collect(),
            rows: 0,
        })
    }

    pub(crate) fn row(&mut self, row: &[Value<'_>]) -> Result {
        for (held, value) in self.held.iter_mut().zip(row) {
            held.push(value)?;
        }
        self.rows += 1;
        if self.rows == GROUP {
            self.write_group()?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.file.close()?;
        Ok(())
    }

    fn write_group(&mut self) -> Result {
        let mut group = self.file.next_row_group()?;
        for held in &mut self.held {
            if let Some(writer) = group.next_column()? {
                held.write(writer)?;
            }
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl Held {
    fn new(column: &Column) -> Self {
        let values = match column.kind {
            ColumnType::Text => Values::Text(Vec::new()),
            ColumnType::Count => Values::Count(Vec::new()),
            ColumnType::Number => Values::Number(Vec::new()),
        };
        Self { name: column.name, values, present: column.optional.then(Vec::new) }
    }

    fn push(&mut self, value: &Value<'_>) -> Result {
        match (&mut self.values, value) {
            (Values::Text(held), Value::Text(text)) => {
                held.push(shared(held, text));
            }
            (Values::Count(held), Value::Count(count)) => {
                held.push(i64::try_from(*count).unwrap_or(i64::MAX));
            }
            (Values::Number(held), Value::Number(number)) => held.push(*number),
            (_, Value::Absent) if self.present.is_some() => {}
            (_, Value::Absent | Value::Text(_) | Value::Count(_) | Value::Number(_)) => {
                return Err(ExportError::Misfit(self.name));
            }
        }
        if let Some(present) = &mut self.present {
            present.push(i16::from(*value != Value::Absent));
        }
        Ok(())
    }

    /// Writes the held rows, and forgets them.
    fn write(&mut self, writer: SerializedColumnWriter<'_>) -> Result {
        let present = self.present.as_deref();
        match &mut self.values {
            Values::Text(held) => put::<ByteArrayType>(writer, held, present)?,
            Values::Count(held) => put::<Int64Type>(writer, held, present)?,
            Values::Number(held) => put::<DoubleType>(writer, held, present)?,
        }
        self.present.iter_mut().for_each(Vec::clear);
        Ok(())
    }
}

fn put<D: DataType>(
    mut writer: SerializedColumnWriter<'_>,
    held: &mut Vec<D::T>,
    present: Option<&[i16]>,
) -> Result {
    writer.typed::<D>().write_batch(held.as_slice(), present, None)?;
    writer.close()?;
    held.clear();
    Ok(())
}

/// The same text as in the row before shares its bytes.
fn shared(held: &[ByteArray], text: &str) -> ByteArray {
    match held.last() {
        Some(last) if last.data() == text.as_bytes() => last.clone(),
        Some(_) | None => ByteArray::from(text),
    }
}

fn schema(name: &str, columns: &[Column]) -> String {
    let fields = columns.iter().map(|column| {
        let repeated = if column.optional { "OPTIONAL" } else { "REQUIRED" };
        let field = column.name;
        match column.kind {
            ColumnType::Text => format!("{repeated} BYTE_ARRAY {field} (STRING);"),
            ColumnType::Count => format!("{repeated} INT64 {field};"),
            ColumnType::Number => format!("{repeated} DOUBLE {field};"),
        }
    });
    let fields: Vec<String> = fields.collect();
    format!("message {name} {{ {} }}", fields.join(" "))
}

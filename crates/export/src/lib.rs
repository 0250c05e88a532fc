//! Measurements and comparisons for other programs: rows in, files out.
//!
//! Nothing is held that can be written at once, so that a run of any length can be exported. A table is
//! a list of [`Column`]s and a function from one piece of a run to its row (see [`table`]); [`RowWriter`]
//! sets rows as CSV, JSON lines or Parquet. [`IntervalLog`] and [`open_metrics`] are for the formats that
//! are no tables. The meaning of each column is the contract in `docs/export.md`.

mod csv;
mod error;
mod hdr;
mod json_lines;
pub mod open_metrics;
mod parquet;
mod row;
pub mod table;
mod writer;

pub use error::ExportError;
pub use hdr::{IntervalLog, Packer};
pub use row::{Column, ColumnType, Value};
pub use writer::{RowFormat, RowWriter};

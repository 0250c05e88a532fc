//! Measurements and comparisons for other programs: rows in, files out.
//!
//! Nothing is held that can be written at once, so that a run of any length can be exported. A table is
//! a list of [`Column`]s and a function from one piece of a run to its row (see [`table`]); [`RowWriter`]
//! sets rows as CSV, JSON lines or Parquet. [`IntervalLog`], [`open_metrics`] and [`pprof()`] are for the
//! formats that are no tables. The meaning of each column is the contract in `docs/export.md`.

mod hdr;
pub mod open_metrics;
mod parquet;
mod pprof;
pub mod table;
mod writer;

pub use hdr::{IntervalLog, Packer};
pub use pprof::pprof;
pub use table::{Column, ColumnType, Value};
pub use writer::{RowFormat, RowWriter};

pub(crate) type Result<T = ()> = std::result::Result<T, ExportError>;

/// An export that was not written to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("the export cannot be written")]
    Io(#[from] std::io::Error),
    #[error("the Parquet file cannot be written")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    #[error("a histogram cannot be packed for an interval log: {0}")]
    Histogram(String),
    #[error("a row does not fit its table: column `{0}` takes another kind of value")]
    Misfit(&'static str),
}

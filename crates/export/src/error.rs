//! What can go wrong with an export.

use std::io;

use ::parquet::errors::ParquetError;

/// An export that was not written to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// What is written to does not take it.
    #[error("the export cannot be written")]
    Io(#[from] io::Error),
    /// The Parquet file cannot be written.
    #[error("the Parquet file cannot be written")]
    Parquet(#[from] ParquetError),
    /// A histogram cannot be packed.
    #[error("a histogram cannot be packed for an interval log: {0}")]
    Histogram(String),
    /// A row does not fit the columns of its table.
    #[error("a row does not fit its table: column `{0}` takes another kind of value")]
    Misfit(&'static str),
}

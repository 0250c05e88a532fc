//! Errors of an export.

use std::io;

use ::parquet::errors::ParquetError;

/// An export that was not written to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("the export cannot be written")]
    Io(#[from] io::Error),
    #[error("the Parquet file cannot be written")]
    Parquet(#[from] ParquetError),
    #[error("a histogram cannot be packed for an interval log: {0}")]
    Histogram(String),
    #[error("a row does not fit its table: column `{0}` takes another kind of value")]
    Misfit(&'static str),
}

//! What files state of the conditions of a test, and where.

use std::fmt;

use crate::file::FileLine;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated<T> {
    pub value: T,
    pub origin: String,
    pub line: usize,
}

impl<T> Stated<T> {
    pub(crate) fn at(line: FileLine<'_>, value: T) -> Self {
        Self { value, origin: line.origin.to_owned(), line: line.number }
    }

    pub(crate) fn place(&self) -> FileLine<'_> {
        FileLine::at(&self.origin, self.line)
    }
}

/// How much data a test works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Of sysbench.
    Tables {
        tables: u32,
        rows: u64,
    },
    /// Rows of the Insert Benchmark, as the name of a system says it.
    Rows(u64),
    Factor(u64),
}

impl Scale {
    /// The number of tables and the rows of each; of pgbench those of its largest table.
    pub(crate) fn tables(self) -> (u32, u64) {
        const ACCOUNTS_EACH: u64 = 100_000;
        match self {
            Self::Tables { tables, rows } => (tables, rows),
            Self::Rows(rows) => (1, rows),
            Self::Factor(factor) => (1, factor.saturating_mul(ACCOUNTS_EACH)),
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tables { tables: 1, rows } => write!(f, "1 table of {rows} rows"),
            Self::Tables { tables, rows } => write!(f, "{tables} tables of {rows} rows"),
            Self::Rows(rows) => write!(f, "{rows} rows"),
            Self::Factor(factor) => write!(f, "scaling factor {factor}"),
        }
    }
}

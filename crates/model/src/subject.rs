//! A step's name, its kinds of operations, and which of them it is about.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// The name of a step: `l.i0`, `qr100`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(pub String);

impl StepId {
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// One kind of operation that a step's clients perform: `insert`, `delete`, `query`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindSpec {
    pub name: String,
    /// Follows a schedule, so that it has a response time beside its service time.
    pub scheduled: bool,
}

impl KindSpec {
    /// A kind without a schedule.
    pub fn unscheduled(name: &str) -> Self {
        Self { name: name.to_owned(), scheduled: false }
    }
}

/// What the step is about: the operation whose rate is its throughput and per which costs are given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub kind: String,
    #[serde(alias = "counts_rows", deserialize_with = "stored_counts")]
    pub counts: Counts,
}

/// What one operation counts as in the throughput of its step and in every cost per operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counts {
    /// The rows that it touched: inserts, index builds, scans.
    Rows,
    /// One.
    #[default]
    Operations,
    /// So many statements: a transaction counts as what it sends, which is how the field counts queries.
    Statements(u32),
}

impl Counts {
    /// What `ops` operations that touched `rows` rows count as.
    pub const fn count(self, ops: u64, rows: u64) -> u64 {
        match self {
            Self::Rows => rows,
            Self::Operations => ops,
            Self::Statements(each) => ops * each as u64,
        }
    }

    pub const fn is_rows(self) -> bool {
        matches!(self, Self::Rows)
    }
}

/// First there was a switch between rows and operations.
fn stored_counts<'de, D: Deserializer<'de>>(stored: D) -> Result<Counts, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Switch(bool),
        Named(Counts),
    }
    Ok(match Stored::deserialize(stored)? {
        Stored::Switch(true) => Counts::Rows,
        Stored::Switch(false) => Counts::Operations,
        Stored::Named(counts) => counts,
    })
}

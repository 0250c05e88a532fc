//! Names of metrics.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The id of a metric: `rate`, `cpu/o`, `service.query.p99`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MetricId(pub String);

impl MetricId {
    /// The throughput of what a step is about.
    pub const RATE: &'static str = "rate";
    /// How throughput drifted within the window.
    pub const DRIFT_RATE: &'static str = "drift.rate";
    /// How the server's CPU per operation drifted within the window.
    pub const DRIFT_SERVER_CPU: &'static str = "drift.server.cpu/o";
    /// The highest rate at which a limit on response time was kept.
    pub const HIGHEST_RATE: &'static str = "highest_rate";
    /// Completed New-Orders per minute.
    pub const TPMC: &'static str = "tpmc";

    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }
}

impl fmt::Display for MetricId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Stands in an id for the name of an operation kind.
pub(super) const KIND: &str = "{kind}";

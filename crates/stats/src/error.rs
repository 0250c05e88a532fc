//! What is wrong with a question.

use model::MetricId;

/// A comparison that cannot be made as it was asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CompareError {
    #[error("this run has no system `{base}` to compare with; its systems are {}", .systems.join(", "))]
    UnknownBase { base: String, systems: Vec<String> },
    #[error("no metric `{metric}`; nearest {}; `all` is every metric of the run", quoted(.nearest))]
    UnknownMetric { metric: MetricId, nearest: Vec<String> },
    #[error("the margin must be a fraction of at least 0, not {0}")]
    BadMargin(f64),
    #[error("the false-discovery rate must lie between 0 and 1, not {0}")]
    BadRate(f64),
    #[error("rounds from {min} to {max}: the minimum must be at least 1 and at most the maximum")]
    BadLooks { min: u32, max: u32 },
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

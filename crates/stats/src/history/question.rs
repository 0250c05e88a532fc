//! The question to a history, and its errors.

use model::{MetricId, StepId};

use crate::selected::Selection;

/// The question to a history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryOptions {
    pub metrics: Selection,
    pub step: Option<StepId>,
    /// The practical margin for every metric, as a fraction; `None` for each metric's own.
    pub min_effect: Option<f64>,
    /// The build that the others are compared with: the first that this names, by its system, its build or its run;
    /// `None` for the first.
    pub base: Option<String>,
}

/// A history that cannot be made as it was asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HistoryError {
    /// One build has no history.
    #[error(
        "a history needs at least two builds, not {0}; name more runs, or a run of several systems (runs of one version are one build)"
    )]
    TooFew(usize),
    /// No such base.
    #[error("no build of this history is called `{0}`: name a run, a system or a build")]
    UnknownBase(String),
    /// Runs, or systems of runs, differ in more than their builds.
    #[error("{one} and {other} cannot be in one history: {why}; name runs that are alike")]
    Unlike {
        /// The first: `r1`, `a of r1`.
        one: String,
        /// The one that differs from it.
        other: String,
        why: String,
    },
    /// No such step.
    #[error("these runs have no step `{step}`; their steps are {}", .known.join(", "))]
    UnknownStep {
        step: StepId,
        /// Those there are.
        known: Vec<String>,
    },
    #[error("these runs have no metric `{metric}`; they have {}", .known.join(", "))]
    UnknownMetric {
        metric: MetricId,
        /// Those there are.
        known: Vec<String>,
    },
    /// The margin is negative or not a number.
    #[error("the smallest effect worth calling must be a fraction of at least 0, not {0}")]
    BadMargin(f64),
}

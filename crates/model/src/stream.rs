//! Pieces of a run, read one by one without holding the whole.

use crate::{Nanos, StepId, TrialKey};

/// One step of one trial: where numbers belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPlace {
    pub trial: TrialKey,
    pub step: StepId,
    pub clients: u32,
    /// Names of its operation kinds, in the order of every interval.
    pub kinds: Vec<String>,
}

/// One interval of one step without its histograms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalNumbers {
    pub index: u32,
    /// Where it starts, since the window's opening edge.
    pub start: Nanos,
    pub length: Nanos,
    /// Age of the oldest operation still under way at the interval's end.
    pub stalled: Nanos,
    /// In the order of the step's kinds.
    pub kinds: Vec<KindNumbers>,
}

/// The operations of one kind in one interval, without histograms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindNumbers {
    pub ops: u64,
    /// Rows that they inserted, deleted or returned.
    pub rows: u64,
    pub errors: u64,
    /// Attempts that failed and were repeated.
    pub retries: u64,
    pub p50: Nanos,
    pub p99: Nanos,
    pub max: Nanos,
}

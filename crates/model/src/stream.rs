//! What is read back of a run piece by piece, where the whole of it need not be held.

use crate::{Nanos, StepId, TrialKey};

/// One step of one trial: where numbers belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPlace {
    /// Which trial.
    pub trial: TrialKey,
    /// Which step.
    pub step: StepId,
    /// Its clients.
    pub clients: u32,
    /// Names of its operation kinds, in the order of every interval.
    pub kinds: Vec<String>,
}

/// One interval of one step without its histograms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalNumbers {
    /// Counts from zero.
    pub index: u32,
    /// Where it starts, since the window's opening edge.
    pub start: Nanos,
    /// How long it is.
    pub length: Nanos,
    /// Age of the oldest operation still under way at the interval's end.
    pub stalled: Nanos,
    /// In the order of the step's kinds.
    pub kinds: Vec<KindNumbers>,
}

/// What the operations of one kind did in one interval, without histograms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindNumbers {
    /// Operations that succeeded.
    pub ops: u64,
    /// Rows that they inserted, deleted or returned.
    pub rows: u64,
    /// Operations that failed for good.
    pub errors: u64,
    /// Attempts that failed and were repeated.
    pub retries: u64,
    /// Median service time.
    pub p50: Nanos,
    /// 99th percentile of service time.
    pub p99: Nanos,
    /// Longest service time.
    pub max: Nanos,
}

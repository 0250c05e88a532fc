//! What a step of a trial yields: intervals while it runs, a record when it ends.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Bytes, Drift, Latency, Nanos, Readings, TpccFacts};

/// The name of a step: `l.i0`, `qr100`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(pub String);

impl StepId {
    /// The step with this name.
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
    /// Its name.
    pub name: String,
    /// Follows a schedule, so that it has a response time beside its service time.
    pub scheduled: bool,
}

/// What the step is about: the operation whose rate is its throughput and per which costs are given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Name of the operation kind.
    pub kind: String,
    /// What one operation counts as.
    #[serde(alias = "counts_rows")]
    pub counts: Counts,
}

/// What one operation counts as in the throughput of its step and in every cost per operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredCounts", rename_all = "lowercase")]
pub enum Counts {
    /// The rows that it touched: inserts, index builds, scans.
    Rows,
    /// One.
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

    /// Is it rows that are counted?
    pub const fn is_rows(self) -> bool {
        matches!(self, Self::Rows)
    }
}

/// As it is stored: first there was a switch between rows and operations.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredCounts {
    Switch(bool),
    Named(NamedCounts),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum NamedCounts {
    Rows,
    Operations,
    Statements(u32),
}

impl From<StoredCounts> for Counts {
    fn from(stored: StoredCounts) -> Self {
        match stored {
            StoredCounts::Switch(true) | StoredCounts::Named(NamedCounts::Rows) => Self::Rows,
            StoredCounts::Switch(false) | StoredCounts::Named(NamedCounts::Operations) => {
                Self::Operations
            }
            StoredCounts::Named(NamedCounts::Statements(each)) => Self::Statements(each),
        }
    }
}

/// What the operations of one kind did in one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KindInterval {
    /// Operations that succeeded.
    pub ops: u64,
    /// Rows that they inserted, deleted or returned.
    pub rows: u64,
    /// Operations that failed for good; in neither `ops` nor the histograms.
    pub errors: u64,
    /// Attempts that failed and were repeated.
    pub retries: u64,
    /// From sending to the complete reply.
    pub service: Latency,
    /// From the intended start to the complete reply; only where there is a schedule.
    pub response: Option<Latency>,
}

impl KindInterval {
    /// Adds what `other` did.
    pub fn merge(&mut self, other: &Self) {
        self.ops += other.ops;
        self.rows += other.rows;
        self.errors += other.errors;
        self.retries += other.retries;
        self.service.merge(&other.service);
        if let Some(theirs) = &other.response {
            self.response.get_or_insert_default().merge(theirs);
        }
    }
}

/// One second of one step; the last one may be shorter. Of a step that is measured in slices, a slice: no
/// interval reaches over the end of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Counts from zero.
    pub index: u32,
    /// Where it starts, since the window's opening edge; the time between slices is no part of the window.
    pub start: Nanos,
    /// How long it is.
    pub length: Nanos,
    /// In the order of the step's kinds.
    pub kinds: Vec<KindInterval>,
    /// Age of the oldest operation still under way at the interval's end: a stall shows while it lasts.
    pub stalled: Nanos,
    /// What the probes saw.
    pub readings: Readings,
}

/// An error code and how often it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// Kind of the operation that failed.
    pub kind: String,
    /// The server's code, or a word such as `lost`.
    pub code: String,
    /// How often.
    pub count: u64,
    /// Was the operation repeated?
    pub retried: bool,
}

/// What the operations of one kind did in the whole window.
#[derive(Clone, Debug, PartialEq)]
pub struct KindTotals {
    /// Which kind.
    pub spec: KindSpec,
    /// The sums, and the merged histograms.
    pub sums: KindInterval,
    /// Operations that were under way when the window closed and ended after it; in no other number.
    pub late: u64,
}

impl KindTotals {
    /// Was any such operation begun? Statements of a step that pipelines them are announced and never
    /// recorded one by one.
    pub fn happened(&self) -> bool {
        let sums = &self.sums;
        [sums.ops, sums.errors, sums.retries, self.late] != [0; 4]
    }
}

/// An answer that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was checked: `rows in pi1 after l.i0`.
    pub what: String,
    /// What had to be found.
    pub expected: String,
    /// What was found.
    pub actual: String,
    /// Did it hold?
    pub holds: bool,
}

/// Sizes on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Tables and indexes of the benchmark, logical size.
    pub data: Bytes,
    /// Redo, undo, binlog, WAL.
    pub log: Bytes,
    /// The whole instance, logical size.
    pub total: Bytes,
    /// The whole instance, allocated blocks.
    pub allocated: Bytes,
}

/// What became of operations that arrive whether clients are free or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenLoop {
    /// Operations per second that arrived, all clients together.
    pub per_second: u64,
    /// Operations that arrived in the window.
    pub arrived: u64,
    /// Of these, how many found the queue full and were never started.
    pub shed: u64,
    /// Of these, how many still waited when the window closed.
    pub waiting: u64,
    /// The highest rate that kept the limit on response time, where the step looked for it; zero when
    /// none did.
    pub highest_rate: Option<u64>,
}

impl OpenLoop {
    /// Was the rate sustained: nothing shed, and no more waiting at the end than arrives in a tenth of
    /// a second?
    pub const fn is_sustained(&self) -> bool {
        self.shed == 0 && self.waiting <= self.per_second / 10 + 1
    }
}

/// Everything measured in one step of one trial, over exactly its window.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    /// Which step.
    pub step: StepId,
    /// Its place in the workload, from zero.
    pub ordinal: u32,
    /// Is it one of the workload's results (or a phase between them, such as settle)?
    pub measured: bool,
    /// Clients.
    pub clients: u32,
    /// Length of the window between the two edges; of all slices together where it was measured in slices.
    pub window: Nanos,
    /// From before the first connect to after the last close, without the turns of other systems where it
    /// was measured in slices; what other tools divide by.
    pub elapsed: Nanos,
    /// What the step is about.
    pub subject: Subject,
    /// All operation kinds.
    pub kinds: Vec<KindTotals>,
    /// Errors by code.
    pub errors: Vec<ErrorCount>,
    /// Rows per second that the writers were asked to insert, all clients together.
    pub target_rate: Option<u64>,
    /// Share of the window's seconds in which the writers kept 95 % of the target.
    pub seconds_on_target: Option<(u32, u32)>,
    /// Rows that the plan asked for, all clients together; what other tools divide.
    pub requested_rows: u64,
    /// What became of the arrivals, where operations arrived by themselves.
    pub open_loop: Option<OpenLoop>,
    /// What the TPC-C-like workload found out.
    pub tpcc: Option<TpccFacts>,
    /// What the probes saw between the two edges.
    pub counters: Readings,
    /// How the step drifted, where its window has a length in time rather than an amount of work.
    pub drift: Option<Drift>,
    /// Sizes before the step: those after the step before it in the trial.
    pub before: Option<Sizes>,
    /// Sizes after the step.
    pub sizes: Option<Sizes>,
    /// Answers that were checked.
    pub checks: Vec<Check>,
    /// Facts worth keeping that are no metric: `min query` times, how long warm-up took.
    pub notes: Vec<(String, String)>,
    /// Did the plan ask for the original's behaviour, and so for its rates beside ours?
    pub compat: bool,
}

impl StepRecord {
    /// The totals of one operation kind.
    pub fn kind(&self, name: &str) -> Option<&KindTotals> {
        self.kinds.iter().find(|k| k.spec.name == name)
    }

    /// How many of what the step is about were done in the window.
    pub fn subject_count(&self) -> u64 {
        self.kind(&self.subject.kind)
            .map_or(0, |k| self.subject.counts.count(k.sums.ops, k.sums.rows))
    }
}

/// When something was captured from a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Moment {
    /// Before the step.
    Before,
    /// After the step.
    After,
}

/// Status, variables or another listing of a server at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// What it is: `variables`, `status`, `innodb_status`.
    pub name: String,
    /// Column names.
    pub columns: Vec<String>,
    /// Rows as text; `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
}

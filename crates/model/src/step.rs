//! A step of a trial as data: everything that is known of it before it runs.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{MetricId, Nanos};

/// A step of a trial. A plan lists its steps in order; nothing is recognised by the step's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub id: StepId,
    /// Its place in the trial, from zero.
    pub ordinal: u32,
    /// Its name without the number of clients: what the steps of one sweep share.
    pub test: String,
    pub task: StepTask,
    pub class: StepClass,
    /// Under which heading reports list it: `point`, `range`, `write`; empty for none.
    pub group: String,
    /// Is it a result, or a phase between results?
    pub measured: bool,
    pub clients: u32,
    /// The most sessions that it opens at the same time.
    pub sessions: u32,
    /// Its operation kinds, in the order of every interval.
    pub kinds: Vec<KindSpec>,
    pub subject: Subject,
    /// The metric that decides it, unless another one is asked for.
    pub metric: MetricId,
    pub pace: StepPace,
    /// Can a template keep what it leaves? Such steps come first.
    pub loads: bool,
    /// Length of its measured window, where the plan says it. Plans of earlier versions do not list it.
    #[serde(default)]
    pub window: Option<Nanos>,
    /// The same, where it can be cut into slices.
    pub slices: Option<Nanos>,
    /// Rows per second that its writers are asked for, all clients together.
    pub target_rate: Option<u64>,
    /// Are its rates also given as the original computes them?
    pub compat: bool,
    pub description: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepTask {
    Load,
    Index,
    /// Analyzes, writes back and waits.
    Settle,
    /// Drops the tables and loads them again.
    Reset,
    /// Reads once all that another trial has loaded, and compares it.
    Warm,
    Check,
    Run,
}

/// Steps of one class share what makes their values scatter, so their variances tell of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepClass {
    /// Rows are loaded, indexes built: once, with all that a start brings along.
    Loading,
    /// Operations that may change data: logs, locks, work in the background.
    Writing,
    /// Operations that only read.
    Reading,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepPace {
    /// Each client starts the next when the last has ended.
    Closed,
    /// Operations arrive by themselves.
    Rate { per_second: u64 },
    /// The step looks for the highest rate that keeps a limit, `None` for one of each kind, and measures that.
    Ramp { limit: Option<ResponseLimit> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseLimit {
    /// 990 for p99.
    pub permille: u32,
    pub micros: u64,
}

impl StepPace {
    /// Do operations arrive by themselves, so that they have a response time beside their service time?
    pub const fn is_open(self) -> bool {
        !matches!(self, Self::Closed)
    }

    /// The deciding metric: throughput, the subject's 99th percentile at a given rate, or the rate looked for.
    pub fn deciding(self, subject: &Subject) -> MetricId {
        match self {
            Self::Closed => MetricId::new(MetricId::RATE),
            Self::Rate { .. } => MetricId(format!("response.{}.p99", subject.kind)),
            Self::Ramp { .. } => MetricId::new(MetricId::HIGHEST_RATE),
        }
    }
}

impl Step {
    /// A measured step that writes; nothing else is known.
    pub fn new(id: StepId, ordinal: u32, clients: u32, subject: Subject) -> Self {
        Self {
            test: id.0.clone(),
            id,
            ordinal,
            task: StepTask::Run,
            class: StepClass::Writing,
            group: String::new(),
            measured: true,
            clients,
            sessions: clients,
            kinds: Vec::new(),
            subject,
            metric: MetricId::new(MetricId::RATE),
            pace: StepPace::Closed,
            loads: false,
            window: None,
            slices: None,
            target_rate: None,
            compat: false,
            description: String::new(),
        }
    }

    /// The step that a trial on a template begins with, in place of those that load: so many clients read the data.
    pub fn warm(clients: u32) -> Self {
        let subject = Subject { kind: "scan".to_owned(), counts: Counts::Rows };
        Self {
            task: StepTask::Warm,
            class: StepClass::Loading,
            measured: false,
            kinds: vec![KindSpec::unscheduled("scan")],
            ..Self::new(StepId::new("warm"), 0, clients, subject)
        }
    }

    pub fn writes(&self) -> bool {
        match self.task {
            StepTask::Load | StepTask::Index | StepTask::Reset => true,
            StepTask::Settle | StepTask::Warm | StepTask::Check => false,
            StepTask::Run => self.class != StepClass::Reading,
        }
    }

    pub fn is_of_throughput(&self) -> bool {
        self.metric.0 == MetricId::RATE
    }
}

pub(crate) const INDEXES: &str = "Builds the secondary indexes.";
pub(crate) const SETTLES: &str = "Analyses, writes back and waits.";

/// The steps of a trial in their places; the first `loading` of them load.
pub(crate) fn placed(steps: impl Iterator<Item = Step>, loading: usize) -> Vec<Step> {
    let placed = steps.zip(0..).map(|(step, ordinal)| {
        let loads = (ordinal as usize) < loading;
        Step { ordinal, loads, ..step }
    });
    placed.collect()
}

/// The name of a step: `l.i0`, `qr100`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(pub String);

impl StepId {
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }
}

shown!(StepId, |id| &id.0);

/// One kind of operation that a step's clients perform: `insert`, `delete`, `query`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindSpec {
    pub name: String,
    /// Follows a schedule, so that it has a response time beside its service time.
    pub scheduled: bool,
}

impl KindSpec {
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

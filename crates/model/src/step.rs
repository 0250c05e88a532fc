//! A step of a trial as data: everything that is known of it before it runs.

use serde::{Deserialize, Serialize};

use crate::{KindSpec, MetricId, Nanos, StepId, Subject};

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
    /// Length of its window, where that can be cut into slices.
    pub slices: Option<Nanos>,
    /// Rows per second that its writers are asked for, all clients together.
    pub target_rate: Option<u64>,
    /// Are its rates also given as the original computes them?
    pub compat: bool,
    /// A sentence or two, for readers who do not know its name; may be empty.
    pub description: String,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepTask {
    /// Makes and fills the tables.
    Load,
    /// Builds secondary indexes.
    Index,
    /// Analyzes, writes back and waits.
    Settle,
    /// Drops the tables and loads them again.
    Reset,
    /// Reads once all that another trial has loaded, and compares it.
    Warm,
    /// Proves what the tables hold.
    Check,
    /// Clients run operations.
    Run,
}

/// Steps of one class share what makes their values scatter, so that the variance of each tells something of the
/// others'.
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

/// When the operations of a step start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepPace {
    /// Each client starts the next when the last has ended.
    Closed,
    Rate {
        per_second: u64,
    },
    /// The step looks for the highest rate that keeps a limit, and measures that.
    Ramp {
        /// `None` where each kind of operation has a limit of its own.
        limit: Option<ResponseLimit>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseLimit {
    /// The percentile that has the limit, per mille: 990 for p99.
    pub permille: u32,
    pub micros: u64,
}

impl StepPace {
    /// Do operations arrive by themselves, so that they have a response time beside their service time?
    pub const fn is_open(self) -> bool {
        !matches!(self, Self::Closed)
    }

    /// The metric that decides a step: throughput; where the plan says the rate, the 99th percentile of response
    /// time of what the step is about; where it looks for the highest rate, that.
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
            slices: None,
            target_rate: None,
            compat: false,
            description: String::new(),
        }
    }

    /// The step that a trial on a template begins with, in place of those that load: so many clients read the data.
    pub fn warm(clients: u32) -> Self {
        let subject = Subject { kind: "scan".to_owned(), counts: crate::Counts::Rows };
        Self {
            task: StepTask::Warm,
            class: StepClass::Loading,
            measured: false,
            kinds: vec![KindSpec::unscheduled("scan")],
            ..Self::new(StepId::new("warm"), 0, clients, subject)
        }
    }

    /// May it change what the tables hold?
    pub fn writes(&self) -> bool {
        match self.task {
            StepTask::Load | StepTask::Index | StepTask::Reset => true,
            StepTask::Settle | StepTask::Warm | StepTask::Check => false,
            StepTask::Run => self.class != StepClass::Reading,
        }
    }

    /// Is it decided by its throughput?
    pub fn is_of_throughput(&self) -> bool {
        self.metric.0 == MetricId::RATE
    }
}

//! A plan being executed, or executed, as it is stored and read back.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{BuildSource, Counts, Host, Latency, MetricId, Nanos, Plan, StepId, Unit};

/// The id of a run: `r1`, `r2`, … within its lab.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Trials are left: it runs now, or was interrupted and can be resumed.
    Unfinished,
    /// Every trial that it was to have has an outcome.
    Finished,
}

impl RunState {
    /// One word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unfinished => "unfinished",
            Self::Finished => "finished",
        }
    }
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// Every step done, every check holds.
    Completed,
    /// Every step done, every check holds, and something else disturbed it by more than the plan allows:
    /// it is kept and listed, and in no comparison.
    Quarantined {
        /// What disturbed it, and how much.
        reason: String,
    },
    /// It did not, or its answers were wrong.
    Failed {
        /// The step it failed in, if it got that far.
        step: Option<StepId>,
        /// What happened, with the cause.
        reason: String,
        /// The server's last log lines.
        log_tail: Vec<String>,
    },
}

impl Outcome {
    /// Did it complete?
    pub const fn is_completed(&self) -> bool {
        matches!(self, Self::Completed)
    }

    /// Was it set aside, because something else disturbed it?
    pub const fn is_quarantined(&self) -> bool {
        matches!(self, Self::Quarantined { .. })
    }

    /// What disturbed it, where it was set aside for that.
    pub const fn quarantined_for(&self) -> Option<&str> {
        match self {
            Self::Quarantined { reason } => Some(reason.as_str()),
            Self::Completed | Self::Failed { .. } => None,
        }
    }

    /// Did it fail? One that was quarantined did not.
    pub const fn is_failed(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }
}

/// What is known of a run besides its numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Its id.
    pub id: RunId,
    /// The plan, fully expanded.
    pub plan: Plan,
    /// Where it ran.
    pub host: Host,
    /// The version of backslide that ran it.
    pub backslide: String,
    /// When it started: RFC 3339, in UTC.
    pub started: String,
    /// How far it is.
    pub state: RunState,
}

impl RunInfo {
    /// Did another tool measure it? Then nothing is known but what its files say.
    pub fn is_imported(&self) -> bool {
        let mut systems = self.plan.systems.iter();
        systems.any(|system| matches!(system.build.source, BuildSource::Imported(_)))
    }
}

/// One trial that has an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// From 1.
    pub round: u32,
    /// Place within its round, from 1.
    pub position: u32,
    /// Name of the system.
    pub system: String,
    /// When it started: RFC 3339, in UTC.
    pub started: String,
    /// How long it took, start of the server to its end.
    pub duration: Nanos,
    /// How it ended.
    pub outcome: Outcome,
    /// What the server said of itself: version, TLS, authentication, and what else was asked.
    pub provenance: Vec<(String, String)>,
}

/// One measurement with all its coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// From 1.
    pub round: u32,
    /// Place within its round, from 1.
    pub position: u32,
    /// Name of the system.
    pub system: String,
    /// Which step.
    pub step: StepId,
    /// Its place in the workload.
    pub ordinal: u32,
    /// Clients.
    pub clients: u32,
    /// Which metric.
    pub metric: MetricId,
    /// In which unit.
    pub unit: Unit,
    /// The value; finite.
    pub value: f64,
}

/// The one-second series of one step of one trial, without histograms.
#[derive(Clone, Debug, PartialEq)]
pub struct StepSeries {
    /// From 1.
    pub round: u32,
    /// Name of the system.
    pub system: String,
    /// Which step.
    pub step: StepId,
    /// One entry an interval: start in seconds, length in seconds.
    pub spans: Vec<(f64, f64)>,
    /// One column a kind, in the order of the step's kinds.
    pub kinds: Vec<KindSeries>,
}

/// The series of one operation kind; each column has one entry an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct KindSeries {
    /// Name of the kind.
    pub kind: String,
    /// Operations.
    pub ops: Vec<u64>,
    /// Rows.
    pub rows: Vec<u64>,
    /// Median service time.
    pub p50: Vec<Nanos>,
    /// 99th percentile of service time.
    pub p99: Vec<Nanos>,
    /// Longest service time; where a stall was under way, its age if that is longer.
    pub max: Vec<Nanos>,
}

/// The merged histogram of one kind in one step of one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct StepHistogram {
    /// From 1.
    pub round: u32,
    /// Name of the system.
    pub system: String,
    /// Which step.
    pub step: StepId,
    /// Name of the kind.
    pub kind: String,
    /// Response time (from the intended start) rather than service time?
    pub is_response: bool,
    /// The histogram.
    pub latency: Latency,
}

/// The values of a metric in the slices of a step of a trial, in the order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct SliceSeries {
    /// Which metric.
    pub metric: MetricId,
    /// One a slice; finite and above zero.
    pub values: Vec<f64>,
}

/// The value of a metric in one slice of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct SliceValue {
    /// From 1.
    pub round: u32,
    /// Name of the system.
    pub system: String,
    /// Which step.
    pub step: StepId,
    /// Which metric.
    pub metric: MetricId,
    /// The slices of a round that have the same number ran beside each other and are compared;
    /// rising with time.
    pub pair: u32,
    /// The value.
    pub value: f64,
}

/// What a step is, as a report needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepInfo {
    /// Its name.
    pub step: StepId,
    /// Its place in the workload.
    pub ordinal: u32,
    /// Clients.
    pub clients: u32,
    /// Name of the kind that it is about.
    pub subject: String,
    /// What one of its operations counts as.
    #[serde(alias = "counts_rows")]
    pub counts: Counts,
    /// Rows per second that the writers were asked for, all clients together.
    pub target_rate: Option<u64>,
}

/// A fact about a step of a trial that is no metric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepNote {
    /// From 1.
    pub round: u32,
    /// Name of the system.
    pub system: String,
    /// Which step, settle phases included.
    pub step: StepId,
    /// What it is about: [`StepNote::CUT_SHORT`] and the like, `rows per query`.
    pub what: String,
    /// What there is to say.
    pub text: String,
}

/// What notes are about. Whoever writes a note and whoever looks for it mean the same one.
impl StepNote {
    /// A step was given up before its time.
    pub const CUT_SHORT: &'static str = "cut short";
    /// The settle phase could not do all.
    pub const SETTLE: &'static str = "settle";
    /// The settle phase waited until little was left over.
    pub const LEFT_OVER: &'static str = "left over";
    /// The settle phase reached its limit with more left over.
    pub const NOT_DRAINED: &'static str = "not drained";
    /// The warm-up ended with a steady rate.
    pub const WARMED_UP: &'static str = "warmed up";
    /// The warm-up reached its limit before the rate was steady.
    pub const NOT_STEADY: &'static str = "not steady";
    /// Fewer operations were done than arrived.
    pub const RATE_NOT_SUSTAINED: &'static str = "rate not sustained";
    /// The limit on response time was not kept in the measured window.
    pub const LIMIT_NOT_KEPT: &'static str = "limit not kept";
    /// A rate that was tried where the highest was looked for.
    pub const RAMP: &'static str = "ramp";
    /// Connections that were lost and made again.
    pub const CONNECTIONS_LOST: &'static str = "connections lost";
    /// How many rows there are is not known.
    pub const ROWS_NOT_COUNTED: &'static str = "rows not counted";
    /// A statement could not be prepared.
    pub const SENT_AS_TEXT: &'static str = "sent as text";
    /// An operation could not be pipelined.
    pub const NOT_PIPELINED: &'static str = "not pipelined";
    /// Statements changed nothing.
    pub const NO_ROWS_FOUND: &'static str = "no rows found";
    /// One of the first wrong answers.
    pub const WRONG_ANSWER: &'static str = "wrong answer";
}

/// A whole run, read back for comparison and report. Only trials that completed have cells.
#[derive(Clone, Debug, PartialEq)]
pub struct RunData {
    /// What is known of it.
    pub info: RunInfo,
    /// All trials that have an outcome, in the order in which they ran.
    pub trials: Vec<TrialRecord>,
    /// The measured steps, in order.
    pub steps: Vec<StepInfo>,
    /// All measurements of completed trials.
    pub cells: Vec<Cell>,
    /// What there is to know of the steps of completed trials beside their measurements.
    pub notes: Vec<StepNote>,
    /// Series; empty where they were not asked for.
    pub series: Vec<StepSeries>,
    /// Histograms; empty where they were not asked for.
    pub histograms: Vec<StepHistogram>,
    /// The slices of steps that were measured in slices, of completed trials.
    pub slices: Vec<SliceValue>,
}

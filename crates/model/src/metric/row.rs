//! What a row of the table of metrics holds: `metrics.toml`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{KindTotals, StepRecord, Words, from_word, words};

/// The id of a metric: `rate`, `cpu/o`, `service.query.p99`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MetricId(pub String);

impl MetricId {
    /// The throughput of what a step is about.
    pub const RATE: &'static str = "rate";
    /// CPU time that the hypervisor took.
    pub const STEAL: &'static str = "steal";
    /// CPU time of processes that are neither server nor client.
    pub const FOREIGN: &'static str = "foreign";
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Higher,
    Lower,
    Neither,
}

/// The group under which a report lists a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    Rate,
    Latency,
    Errors,
    Server,
    Host,
    Client,
    Size,
    /// What was agreed on: the rate of the background writers, limits on response time, what transactions
    /// ask for.
    Sla,
}

/// From which moment a latency counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    Service,
    /// From the intended start of a schedule.
    Response,
}

impl Clock {
    pub const ALL: [Self; 2] = [Self::Service, Self::Response];

    pub const fn of(is_response: bool) -> Self {
        if is_response { Self::Response } else { Self::Service }
    }

    /// The first part of the ids of its metrics, and its name: `service`, `response`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Response => "response",
        }
    }
}

/// The tables and charts that show a metric. Verdicts, the list of metrics, exports and docs have all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// A table of values and one of ratios under the cost's group, and a column of each step's costs; `main`: shown where there is room for a few.
    Cost { main: bool },
    /// A table of sizes after each step.
    Size,
    /// A column of the response times of each operation kind.
    Times(Clock),
    /// A column of the operations that failed (and are `lost`) or were repeated.
    Errors { lost: bool },
    /// A share that transactions asked for, beside the standard's range.
    Audit,
    /// A part of the report has a layout for it alone, as for throughput.
    Own,
    /// None.
    Lists,
}

/// What stands for the rounds in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OverRounds {
    #[default]
    Median,
    Sum,
    Most,
}

/// A table of what transactions did in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunTable {
    /// The columns of the published tables.
    Published,
    /// What corrects them; what was not measured is left out.
    Corrected,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunColumn {
    pub table: RunTable,
    /// Columns stand by this.
    pub place: u8,
    pub head: &'static str,
}

/// When a chart of transactions shows a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    Ends,
    Loaded,
    Last,
}

/// A chart of transactions relative to the base: throughput, cost, size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    pub title: &'static str,
    pub word: &'static str,
    pub when: When,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// `{kind}` stands for the name of an operation kind.
    pub id: &'static str,
    /// `None`: rows or operations per second, as the step counts.
    pub unit: Option<Unit>,
    #[serde(rename = "better")]
    pub direction: Direction,
    pub group: Group,
    /// The smallest relative change worth calling (`statistics`: the practical margin).
    pub margin: f64,
    pub title: &'static str,
    /// The title where the row has none.
    #[serde(default)]
    pub formula: &'static str,
    pub part: Part,
    /// The heading of its column: the id, unless the row has another.
    #[serde(default)]
    pub head: &'static str,
    #[serde(default)]
    pub over_rounds: OverRounds,
    /// May a change of it explain one of throughput?
    #[serde(default)]
    pub explains: bool,
    /// Is it told of each slice, of a latency that of the kind that the step is about? What the kernel counts in
    /// ticks is not: a slice has too few of these.
    #[serde(default)]
    pub sliced: bool,
    /// The metric that says how much this one drifts within a step's window. `None` for most: a latency goes the
    /// other way than throughput, and its tail nowhere near as far.
    pub drift: Option<&'static str>,
    pub run: Option<RunColumn>,
    pub chart: Option<Chart>,
    #[serde(default)]
    pub(super) compute: Compute,
}

/// What a metric is computed from.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Compute {
    #[serde(skip)]
    Step(fn(&StepRecord) -> Option<f64>),
    #[serde(skip)]
    Kind(fn(&KindTotals, &StepRecord) -> Option<f64>),
    /// A quantile of the latencies of a kind; their mean where it is not a number.
    Time(Clock, f64),
    /// Nothing here: other tools print it.
    #[default]
    Imported,
}

impl Metric {
    pub fn is_of_kinds(&self) -> bool {
        matches!(self.compute, Compute::Kind(_) | Compute::Time(..))
    }

    /// Is it processor time, which every operation costs, be it in memory or on disk?
    pub fn is_cpu(&self) -> bool {
        self.unit == Some(Unit::MicrosPerOp)
    }

    /// The id for one kind of operation.
    pub fn of_kind(&self, kind: &str) -> MetricId {
        MetricId(self.id.replace(KIND, kind))
    }

    /// The id without the kind: `response.p99`.
    pub fn short(&self) -> String {
        self.id.replace(".{kind}", "")
    }

    /// The kind of operation that this id of the metric names: `query` of `rate.query`.
    pub fn kind_in<'i>(&self, id: &'i str) -> Option<&'i str> {
        let (head, tail) = self.id.split_once(KIND)?;
        let kind = id.strip_prefix(head)?.strip_suffix(tail)?;
        (!kind.is_empty()).then_some(kind)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    #[serde(rename = "ops/s")]
    OpsPerSecond,
    #[serde(rename = "rows/s")]
    RowsPerSecond,
    #[serde(rename = "1/min")]
    PerMinute,
    /// Megabytes (1000 KB of 1024 bytes) per second, as `iostat` and the published tables have them.
    #[serde(rename = "MB/s")]
    MbPerSecond,
    /// Kilobytes (1024 bytes) per second over operations per minute, as published tables have them.
    #[serde(rename = "KB/s/tpmc")]
    KbPerSecondPerTpmc,
    /// Millionths of a per cent of all CPUs over operations per minute, as published tables have them.
    #[serde(rename = "µ%/tpmc")]
    MicroPercentPerTpmc,
    #[serde(rename = "µs")]
    Micros,
    #[serde(rename = "µs/op")]
    MicrosPerOp,
    #[serde(rename = "1/op")]
    PerOp,
    /// Kilobytes (1024 bytes) per operation.
    #[serde(rename = "KB/op")]
    KbPerOp,
    #[serde(rename = "GiB")]
    Gib,
    #[serde(rename = "%")]
    Percent,
    #[serde(rename = "count")]
    Count,
}

impl Unit {
    /// As it is printed and stored.
    pub fn name(self) -> &'static str {
        words::<Self>()[self as usize]
    }

    /// The unit of this name; otherwise the names of all.
    pub fn from_name(name: &str) -> Result<Self, Words> {
        from_word(name)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

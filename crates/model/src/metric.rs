//! Metrics: what each is called, its unit, which direction is better, and how it is computed.
//!
//! A metric from an existing source is one row of `METRICS` or `KIND_METRICS`; those of the TPC-C-like
//! workload alone are in `tpcc.rs`.
//! Names such as `cpu/o` and `wKB/o` are those of the field's published tables; "o" is one of what
//! the step is about: an inserted or indexed row in the load steps, a query in the query steps, a
//! statement in the steps of SQL workloads, BEGIN and COMMIT among them, a completed New-Order in those
//! of the TPC-C-like workload.

mod aliases;
mod tpcc;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use aliases::meant_by;

use crate::{Bytes, Counter, KindTotals, Nanos, StepRecord};

/// The id of a metric: `rate`, `cpu/o`, `service.query.p99`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MetricId(pub String);

impl MetricId {
    /// The metric with this id.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

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

    /// The share of the transactions of a kind that kept their limit on response time.
    pub fn within_limit(kind: &str) -> Self {
        Self(tpcc::WITHIN_LIMIT.replace("{kind}", kind))
    }

    /// What a short form such as `response.p99` or `errors` means in a step that is about the kind `subject`:
    /// the metric of that kind; `None` where this is no short form.
    pub fn of_subject(&self, subject: &str) -> Option<Self> {
        let is_whole = METRICS.iter().any(|m| m.id == self.0);
        let mut families = KIND_METRICS.iter().chain(tpcc::KIND_METRICS);
        let family = families.find(|m| m.id.replace(".{kind}", "") == self.0)?;
        (!is_whole).then(|| Self(family.id.replace("{kind}", subject)))
    }
}

impl fmt::Display for MetricId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Units of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// Operations per second.
    #[serde(rename = "ops/s")]
    OpsPerSecond,
    /// Rows per second.
    #[serde(rename = "rows/s")]
    RowsPerSecond,
    /// Operations per minute.
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
    /// Microseconds.
    #[serde(rename = "µs")]
    Micros,
    /// Microseconds per operation.
    #[serde(rename = "µs/op")]
    MicrosPerOp,
    /// A count per operation.
    #[serde(rename = "1/op")]
    PerOp,
    /// Kilobytes (1024 bytes) per operation.
    #[serde(rename = "KB/op")]
    KbPerOp,
    /// Gibibytes.
    #[serde(rename = "GiB")]
    Gib,
    /// Per cent.
    #[serde(rename = "%")]
    Percent,
    /// A count.
    #[serde(rename = "count")]
    Count,
}

impl Unit {
    /// As it is printed and stored.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpsPerSecond => "ops/s",
            Self::RowsPerSecond => "rows/s",
            Self::PerMinute => "1/min",
            Self::MbPerSecond => "MB/s",
            Self::KbPerSecondPerTpmc => "KB/s/tpmc",
            Self::MicroPercentPerTpmc => "µ%/tpmc",
            Self::Micros => "µs",
            Self::MicrosPerOp => "µs/op",
            Self::PerOp => "1/op",
            Self::KbPerOp => "KB/op",
            Self::Gib => "GiB",
            Self::Percent => "%",
            Self::Count => "count",
        }
    }

    /// The unit with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        const ALL: [Unit; 13] = [
            Unit::OpsPerSecond,
            Unit::RowsPerSecond,
            Unit::PerMinute,
            Unit::MbPerSecond,
            Unit::KbPerSecondPerTpmc,
            Unit::MicroPercentPerTpmc,
            Unit::Micros,
            Unit::MicrosPerOp,
            Unit::PerOp,
            Unit::KbPerOp,
            Unit::Gib,
            Unit::Percent,
            Unit::Count,
        ];
        ALL.into_iter().find(|unit| unit.name() == name)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Throughput.
    Higher,
    /// Latency, cost, size.
    Lower,
    /// Neither: it explains.
    Neither,
}

/// The group under which a report lists a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// Rates.
    Rate,
    /// Service and response time.
    Latency,
    /// Errors and retries.
    Errors,
    /// Server cost per operation.
    Server,
    /// Host cost per operation.
    Host,
    /// Client cost per operation.
    Client,
    /// Sizes.
    Size,
    /// What was agreed on: the rate of the background writers, limits on response time, what transactions
    /// ask for.
    Sla,
}

/// The value of a metric for one step of one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Which metric.
    pub metric: MetricId,
    /// In which unit.
    pub unit: Unit,
    /// The value; finite.
    pub value: f64,
}

/// What is known of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Described {
    /// Which direction is better.
    pub direction: Direction,
    /// Its group.
    pub group: Group,
    /// The smallest relative change worth calling (`statistics`: the practical margin).
    pub margin: f64,
    /// What it says, in a few words.
    pub title: &'static str,
}

struct Metric {
    id: &'static str,
    unit: fn(&StepRecord) -> Unit,
    is: Described,
    compute: fn(&StepRecord) -> Option<f64>,
}

struct KindMetric {
    id: &'static str,
    unit: Unit,
    is: Described,
    compute: fn(&KindTotals, &StepRecord) -> Option<f64>,
}

/// All measurements of a step. Whatever could not be computed is left out, and so are kinds of which none was
/// begun, unless the step is about them.
pub fn measure(step: &StepRecord) -> Vec<Measurement> {
    let plain = METRICS.iter().chain(tpcc::METRICS).filter_map(|m| {
        Some(Measurement {
            metric: MetricId::new(m.id),
            unit: (m.unit)(step),
            value: (m.compute)(step).filter(|v| v.is_finite())?,
        })
    });
    let told = |kind: &&KindTotals| kind.happened() || kind.spec.name == step.subject.kind;
    let by_kind = step.kinds.iter().filter(told).flat_map(|kind| {
        let metrics = KIND_METRICS.iter().chain(tpcc::KIND_METRICS);
        metrics.filter_map(move |m| {
            Some(Measurement {
                metric: MetricId(m.id.replace("{kind}", &kind.spec.name)),
                unit: m.unit,
                value: (m.compute)(kind, step).filter(|v| v.is_finite())?,
            })
        })
    });
    plain.chain(by_kind).collect()
}

/// What is known of the metric with this id; `None` for an id that no table has.
pub fn describe(id: &MetricId) -> Option<Described> {
    METRICS
        .iter()
        .chain(tpcc::METRICS)
        .find(|m| m.id == id.0)
        .map(|m| m.is)
        .or_else(|| {
            let mut imported = IMPORTED.iter();
            imported.find(|(of, _)| *of == id.0).map(|(_, is)| *is)
        })
        .or_else(|| {
            KIND_METRICS
                .iter()
                .chain(tpcc::KIND_METRICS)
                .find(|m| is_of_family(&id.0, m.id))
                .map(|m| m.is)
        })
}

/// The metric that says how much this one drifts within a step's window. `None` for all others: a latency goes the
/// other way than throughput, and its tail nowhere near as far.
pub fn drift_of(id: &MetricId) -> Option<&'static str> {
    DRIFTS
        .iter()
        .find(|(metric, _)| *metric == id.0)
        .map(|(_, drift)| *drift)
}

/// The names of all metrics of which one direction is better, each once; of those of operation kinds the short
/// forms, such as `response.p99`.
pub fn judged_metrics() -> Vec<String> {
    let whole = METRICS.iter().chain(tpcc::METRICS);
    let whole = whole.map(|m| (m.id.to_owned(), m.is));
    let imported = IMPORTED.iter().map(|(id, is)| ((*id).to_owned(), *is));
    let of_kinds = KIND_METRICS.iter().chain(tpcc::KIND_METRICS);
    let of_kinds = of_kinds.map(|m| (m.id.replace(".{kind}", ""), m.is));
    let all = whole.chain(imported).chain(of_kinds);
    all.filter(|(_, is)| is.direction != Neither)
        .map(|(id, _)| id)
        .collect()
}

fn is_of_family(id: &str, family: &str) -> bool {
    let (head, tail) = family.split_once("{kind}").unwrap_or((family, ""));
    id.len() > head.len() + tail.len() && id.starts_with(head) && id.ends_with(tail)
}

const fn is(direction: Direction, group: Group, margin: f64, title: &'static str) -> Described {
    Described {
        direction,
        group,
        margin,
        title,
    }
}

use Direction::{Higher, Lower, Neither};

/// Metrics whose drift is measured, each with the metric that says it.
const DRIFTS: &[(&str, &str)] = &[
    (MetricId::RATE, MetricId::DRIFT_RATE),
    (MetricId::TPMC, MetricId::DRIFT_RATE),
    ("server.cpu/o", MetricId::DRIFT_SERVER_CPU),
];

/// Metrics of a whole step.
const METRICS: &[Metric] = &[
    Metric {
        id: "rate",
        unit: |s| {
            if s.subject.counts.is_rows() {
                Unit::RowsPerSecond
            } else {
                Unit::OpsPerSecond
            }
        },
        is: is(
            Higher,
            Group::Rate,
            0.02,
            "throughput of what the step is about",
        ),
        compute: |s| rate(s.subject_count(), s.window),
    },
    Metric {
        id: MetricId::HIGHEST_RATE,
        unit: |_| Unit::OpsPerSecond,
        // The search ends where it knows the rate to 5 %.
        is: is(
            Higher,
            Group::Rate,
            0.05,
            "highest offered rate that kept the limit on response time",
        ),
        compute: |s| Some(s.open_loop?.highest_rate? as f64),
    },
    Metric {
        id: MetricId::DRIFT_RATE,
        unit: |_| Unit::Percent,
        is: is(
            Neither,
            Group::Rate,
            0.0,
            "throughput in the last third of the window against the first",
        ),
        compute: |s| Some(percent_change(s.drift?.rate)),
    },
    Metric {
        id: "offered",
        unit: |_| Unit::OpsPerSecond,
        is: is(
            Neither,
            Group::Rate,
            0.0,
            "operations that were to arrive, whether clients were free or not",
        ),
        compute: |s| Some(s.open_loop?.per_second as f64),
    },
    Metric {
        id: "shed",
        unit: |_| Unit::Count,
        is: is(
            Lower,
            Group::Errors,
            0.0,
            "arrivals that found the queue full and were never started",
        ),
        compute: |s| Some(s.open_loop?.shed as f64),
    },
    Metric {
        id: "waiting",
        unit: |_| Unit::Count,
        is: is(
            Neither,
            Group::Errors,
            0.0,
            "arrivals that still waited when the window closed",
        ),
        compute: |s| Some(s.open_loop?.waiting as f64),
    },
    Metric {
        id: "compat.ips",
        unit: |_| Unit::RowsPerSecond,
        is: is(
            Neither,
            Group::Rate,
            0.02,
            "inserted rows as the original computes it",
        ),
        compute: |s| per_elapsed_second(s, rows_of_the_original(s)?),
    },
    Metric {
        id: "compat.qps",
        unit: |_| Unit::OpsPerSecond,
        is: is(
            Neither,
            Group::Rate,
            0.02,
            "queries as the original computes it",
        ),
        compute: |s| per_elapsed_second(s, s.kind("query")?.sums.ops),
    },
    Metric {
        id: "sla.insert",
        unit: |_| Unit::Percent,
        is: is(
            Neither,
            Group::Sla,
            0.05,
            "achieved share of the background insert rate",
        ),
        compute: |s| of_target(s, "insert"),
    },
    Metric {
        id: "sla.delete",
        unit: |_| Unit::Percent,
        is: is(
            Neither,
            Group::Sla,
            0.05,
            "achieved share of the background delete rate",
        ),
        compute: |s| of_target(s, "delete"),
    },
    Metric {
        id: "sla.seconds",
        unit: |_| Unit::Percent,
        is: is(
            Neither,
            Group::Sla,
            0.05,
            "share of the seconds in which the target was met",
        ),
        compute: |s| {
            s.seconds_on_target
                .map(|(met, all)| 100.0 * f64::from(met) / f64::from(all))
        },
    },
    Metric {
        id: "server.cpu/o",
        unit: |_| Unit::MicrosPerOp,
        is: is(Lower, Group::Server, 0.01, "server CPU per operation"),
        compute: |s| micros_per_op(s, Counter::SERVER_CPU),
    },
    Metric {
        id: MetricId::DRIFT_SERVER_CPU,
        unit: |_| Unit::Percent,
        is: is(
            Neither,
            Group::Server,
            0.0,
            "server CPU per operation in the last third of the window against the first",
        ),
        compute: |s| s.drift?.server_cpu.map(percent_change),
    },
    Metric {
        id: "server.user/o",
        unit: |_| Unit::MicrosPerOp,
        is: is(Lower, Group::Server, 0.01, "server user CPU per operation"),
        compute: |s| micros_per_op(s, Counter::SERVER_USER),
    },
    Metric {
        id: "server.sys/o",
        unit: |_| Unit::MicrosPerOp,
        is: is(
            Lower,
            Group::Server,
            0.01,
            "server system CPU per operation",
        ),
        compute: |s| micros_per_op(s, Counter::SERVER_SYSTEM),
    },
    Metric {
        id: "server.cs/o",
        unit: |_| Unit::PerOp,
        is: is(
            Lower,
            Group::Server,
            0.02,
            "voluntary context switches of the server per operation",
        ),
        compute: |s| per_op(s, Counter::SERVER_CS),
    },
    Metric {
        id: "server.ics/o",
        unit: |_| Unit::PerOp,
        is: is(
            Lower,
            Group::Server,
            0.05,
            "involuntary context switches of the server per operation",
        ),
        compute: |s| per_op(s, Counter::SERVER_ICS),
    },
    Metric {
        id: "server.minflt/o",
        unit: |_| Unit::PerOp,
        is: is(
            Lower,
            Group::Server,
            0.05,
            "minor page faults of the server per operation",
        ),
        compute: |s| per_op(s, Counter::SERVER_MINFLT),
    },
    Metric {
        id: "server.majflt/o",
        unit: |_| Unit::PerOp,
        is: is(
            Lower,
            Group::Server,
            0.05,
            "major page faults of the server per operation",
        ),
        compute: |s| per_op(s, Counter::SERVER_MAJFLT),
    },
    Metric {
        id: "cpu/o",
        unit: |_| Unit::MicrosPerOp,
        is: is(
            Lower,
            Group::Host,
            0.01,
            "CPU of the whole host per operation, client included",
        ),
        compute: |s| micros_per_op(s, Counter::HOST_CPU),
    },
    Metric {
        id: "cs/o",
        unit: |_| Unit::PerOp,
        is: is(
            Lower,
            Group::Host,
            0.02,
            "context switches of the host per operation",
        ),
        compute: |s| per_op(s, Counter::HOST_CS),
    },
    Metric {
        id: "r/o",
        unit: |_| Unit::PerOp,
        is: is(Lower, Group::Host, 0.05, "device reads per operation"),
        compute: |s| per_op(s, Counter::DISK_READS),
    },
    Metric {
        id: "rKB/o",
        unit: |_| Unit::KbPerOp,
        is: is(
            Lower,
            Group::Host,
            0.05,
            "KB read from the device per operation",
        ),
        compute: |s| per_op(s, Counter::DISK_READ).map(|b| b / 1024.0),
    },
    Metric {
        id: "w/o",
        unit: |_| Unit::PerOp,
        is: is(Lower, Group::Host, 0.05, "device writes per operation"),
        compute: |s| per_op(s, Counter::DISK_WRITES),
    },
    Metric {
        id: "wKB/o",
        unit: |_| Unit::KbPerOp,
        is: is(
            Lower,
            Group::Host,
            0.05,
            "KB written to the device per operation",
        ),
        compute: |s| per_op(s, Counter::DISK_WRITTEN).map(|b| b / 1024.0),
    },
    Metric {
        id: "d/o",
        unit: |_| Unit::PerOp,
        is: is(Lower, Group::Host, 0.05, "device discards per operation"),
        compute: |s| per_op(s, Counter::DISK_DISCARDS),
    },
    Metric {
        id: "steal",
        unit: |_| Unit::Percent,
        is: is(
            Neither,
            Group::Host,
            0.05,
            "CPU time stolen by the hypervisor, of one CPU",
        ),
        compute: |s| share_of_core(s, Counter::HOST_STEAL),
    },
    Metric {
        id: "foreign",
        unit: |_| Unit::Percent,
        is: is(
            Neither,
            Group::Host,
            0.05,
            "CPU time of what is neither server nor client, of one CPU",
        ),
        compute: |s| share_of_core(s, Counter::HOST_FOREIGN),
    },
    Metric {
        id: "client.cpu/o",
        unit: |_| Unit::MicrosPerOp,
        is: is(Neither, Group::Client, 0.02, "client CPU per operation"),
        compute: |s| micros_per_op(s, Counter::CLIENT_CPU),
    },
    Metric {
        id: "client.cpu",
        unit: |_| Unit::Percent,
        is: is(Neither, Group::Client, 0.05, "client CPU, of one CPU"),
        compute: |s| share_of_core(s, Counter::CLIENT_CPU),
    },
    Metric {
        id: "client.rss",
        unit: |_| Unit::Gib,
        is: is(
            Neither,
            Group::Client,
            0.05,
            "resident memory of the client",
        ),
        compute: |s| gib(s.counters.get(Counter::CLIENT_RSS)),
    },
    Metric {
        id: "size.data",
        unit: |_| Unit::Gib,
        is: is(Lower, Group::Size, 0.02, "tables and indexes"),
        compute: |s| gib(s.sizes.map(|z| z.data.0)),
    },
    Metric {
        id: "size.log",
        unit: |_| Unit::Gib,
        is: is(Lower, Group::Size, 0.05, "redo, undo, binlog, WAL"),
        compute: |s| gib(s.sizes.map(|z| z.log.0)),
    },
    Metric {
        id: "size.total",
        unit: |_| Unit::Gib,
        is: is(Lower, Group::Size, 0.02, "the whole instance, logical size"),
        compute: |s| gib(s.sizes.map(|z| z.total.0)),
    },
    Metric {
        id: "size.allocated",
        unit: |_| Unit::Gib,
        is: is(
            Lower,
            Group::Size,
            0.02,
            "the whole instance, allocated blocks",
        ),
        compute: |s| gib(s.sizes.map(|z| z.allocated.0)),
    },
    Metric {
        id: "server.rss",
        unit: |_| Unit::Gib,
        is: is(
            Lower,
            Group::Size,
            0.02,
            "largest resident memory of the server",
        ),
        compute: |s| gib(s.counters.get(Counter::SERVER_RSS_MAX)),
    },
];

/// Metrics of imported runs that nothing here is computed from.
const IMPORTED: &[(&str, Described)] = &[
    (
        "compat.cpu/o",
        is(
            Lower,
            Group::Host,
            0.01,
            "CPU per operation as published, per cent of the machine",
        ),
    ),
    (
        "compat.ratio",
        is(Higher, Group::Rate, 0.02, "published ratio to the base"),
    ),
    (
        "compat.p50",
        is(
            Neither,
            Group::Rate,
            0.02,
            "rate that one client reached in half of the seconds",
        ),
    ),
    (
        "compat.p99",
        is(
            Neither,
            Group::Rate,
            0.02,
            "rate that one client reached in 99 % of the seconds",
        ),
    ),
];

/// Metrics of each operation kind.
const KIND_METRICS: &[KindMetric] = &[
    KindMetric {
        id: "rate.{kind}",
        unit: Unit::OpsPerSecond,
        is: is(Neither, Group::Rate, 0.02, "operations of this kind"),
        compute: |k, s| rate(k.sums.ops, s.window),
    },
    KindMetric {
        id: "rows.{kind}",
        unit: Unit::RowsPerSecond,
        is: is(Neither, Group::Rate, 0.02, "rows that this kind touched"),
        compute: |k, s| rate(k.sums.rows, s.window),
    },
    KindMetric {
        id: "errors.{kind}",
        unit: Unit::Count,
        is: is(Lower, Group::Errors, 0.0, "operations that failed"),
        compute: |k, _| Some(k.sums.errors as f64),
    },
    KindMetric {
        id: "retries.{kind}",
        unit: Unit::Count,
        is: is(
            Lower,
            Group::Errors,
            0.0,
            "attempts that failed and were repeated",
        ),
        compute: |k, _| Some(k.sums.retries as f64),
    },
    latency("service.{kind}.mean", "mean service time", |k, _| {
        micros(k.sums.service.mean())
    }),
    latency("service.{kind}.p50", "median service time", |k, _| {
        service(k, 0.5)
    }),
    latency(
        "service.{kind}.p90",
        "90th percentile of service time",
        |k, _| service(k, 0.9),
    ),
    latency(
        "service.{kind}.p95",
        "95th percentile of service time",
        |k, _| service(k, 0.95),
    ),
    latency(
        "service.{kind}.p99",
        "99th percentile of service time",
        |k, _| service(k, 0.99),
    ),
    latency(
        "service.{kind}.p999",
        "99.9th percentile of service time",
        |k, _| service(k, 0.999),
    ),
    latency("service.{kind}.max", "longest service time", |k, _| {
        service(k, 1.0)
    }),
    latency("response.{kind}.mean", "mean response time", |k, _| {
        micros(k.sums.response.as_ref()?.mean())
    }),
    latency("response.{kind}.p50", "median response time", |k, _| {
        response(k, 0.5)
    }),
    latency(
        "response.{kind}.p90",
        "90th percentile of response time",
        |k, _| response(k, 0.9),
    ),
    latency(
        "response.{kind}.p95",
        "95th percentile of response time",
        |k, _| response(k, 0.95),
    ),
    latency(
        "response.{kind}.p99",
        "99th percentile of response time",
        |k, _| response(k, 0.99),
    ),
    latency(
        "response.{kind}.p999",
        "99.9th percentile of response time",
        |k, _| response(k, 0.999),
    ),
    latency("response.{kind}.max", "longest response time", |k, _| {
        response(k, 1.0)
    }),
];

const fn latency(
    id: &'static str,
    title: &'static str,
    compute: fn(&KindTotals, &StepRecord) -> Option<f64>,
) -> KindMetric {
    KindMetric {
        id,
        unit: Unit::Micros,
        is: is(Lower, Group::Latency, 0.02, title),
        compute,
    }
}

fn service(kind: &KindTotals, q: f64) -> Option<f64> {
    micros(kind.sums.service.quantile(q))
}

fn response(kind: &KindTotals, q: f64) -> Option<f64> {
    micros(kind.sums.response.as_ref()?.quantile(q))
}

fn micros(n: Option<Nanos>) -> Option<f64> {
    n.map(Nanos::as_micros_f64)
}

fn rate(count: u64, window: Nanos) -> Option<f64> {
    (window.0 > 0).then(|| count as f64 / window.as_secs_f64())
}

/// What the original counts: the rows that the plan asked for; where indexes are built, the rows indexed.
/// `None` where the plan asks for no number of rows.
fn rows_of_the_original(step: &StepRecord) -> Option<u64> {
    let rows = if step.subject.kind == "create_index" {
        step.subject_count()
    } else {
        step.requested_rows
    };
    (rows > 0).then_some(rows)
}

/// The original divides what was asked for by whole seconds, start-up included; only in compat plans.
fn per_elapsed_second(step: &StepRecord, count: u64) -> Option<f64> {
    let seconds = step.elapsed.0 / Nanos::SECOND.0;
    (step.compat && seconds > 0).then(|| count as f64 / seconds as f64)
}

fn per_op(step: &StepRecord, id: &str) -> Option<f64> {
    let ops = step.subject_count();
    (ops > 0).then_some(step.counters.get(id)? as f64 / ops as f64)
}

fn micros_per_op(step: &StepRecord, id: &str) -> Option<f64> {
    per_op(step, id).map(|nanos| nanos / 1e3)
}

fn share_of_core(step: &StepRecord, id: &str) -> Option<f64> {
    (step.window.0 > 0).then_some(100.0 * step.counters.get(id)? as f64 / step.window.0 as f64)
}

fn of_target(step: &StepRecord, kind: &str) -> Option<f64> {
    let achieved = rate(step.kind(kind)?.sums.rows, step.window)?;
    Some(100.0 * achieved / step.target_rate.filter(|t| *t > 0)? as f64)
}

fn percent_change(ratio: f64) -> f64 {
    100.0 * (ratio - 1.0)
}

fn gib(bytes: Option<u64>) -> Option<f64> {
    bytes.map(|b| Bytes(b).as_gib_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counts, KindInterval, KindSpec, OpenLoop, Readings, StepId, Subject};

    #[test]
    fn ids_are_unique_and_described() {
        let of_steps = METRICS.iter().chain(tpcc::METRICS).map(|m| m.id);
        let of_kinds = KIND_METRICS.iter().chain(tpcc::KIND_METRICS).map(|m| m.id);
        let mut ids: Vec<&str> = of_steps.chain(of_kinds).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|w| w[0] != w[1]));
        for id in ids {
            let id = MetricId(id.replace("{kind}", "query"));
            assert!(describe(&id).is_some(), "{id}");
        }
        assert!(describe(&MetricId::new("service.query.p42")).is_none());
    }

    #[test]
    fn drifts_are_known_of_metrics_that_exist_and_are_metrics_themselves() {
        for (metric, drift) in DRIFTS {
            for id in [metric, drift] {
                assert!(describe(&MetricId::new(*id)).is_some(), "{id}");
            }
        }
        assert_eq!(drift_of(&MetricId::new("service.query.p99")), None);
    }

    #[test]
    fn units_are_found_by_the_name_that_is_stored() {
        for m in METRICS.iter().chain(tpcc::METRICS) {
            let unit = (m.unit)(&step());
            assert_eq!(Unit::from_name(unit.name()), Some(unit), "{}", m.id);
        }
    }

    #[test]
    fn short_forms_are_of_what_a_step_is_about() {
        let meant = |short: &str| MetricId::new(short).of_subject("query").map(|id| id.0);
        assert_eq!(meant("response.p99").as_deref(), Some("response.query.p99"));
        assert_eq!(meant("errors").as_deref(), Some("errors.query"));
        // Throughput is a metric of its own, and not that of a kind.
        for other in ["rate", "cpu/o", "p99", "response.p42", "response.query.p99"] {
            assert_eq!(meant(other), None, "{other}");
        }
    }

    #[test]
    fn the_names_of_what_is_judged_are_told_once_and_mean_something() {
        let mut names = judged_metrics();
        for name in ["rate", "server.cpu/o", "response.p99", "errors"] {
            assert!(names.iter().any(|n| n == name), "{name}");
        }
        for name in &names {
            let id = MetricId::new(name.as_str());
            let meant = id.of_subject("query").unwrap_or(id);
            assert!(describe(&meant).is_some_and(|is| is.direction != Neither));
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    /// A second of transactions of six statements each.
    fn step() -> StepRecord {
        let sums = KindInterval {
            ops: 1000,
            rows: 4000,
            ..KindInterval::default()
        };
        StepRecord {
            step: StepId::new("write-only"),
            ordinal: 1,
            measured: true,
            clients: 1,
            window: Nanos::SECOND,
            elapsed: Nanos::from_secs(2),
            subject: Subject {
                kind: "write".into(),
                counts: Counts::Statements(6),
            },
            kinds: vec![KindTotals {
                spec: KindSpec {
                    name: "write".into(),
                    scheduled: false,
                },
                sums,
                late: 0,
            }],
            errors: Vec::new(),
            target_rate: None,
            seconds_on_target: None,
            requested_rows: 0,
            open_loop: None,
            tpcc: None,
            counters: Readings::default(),
            drift: None,
            before: None,
            sizes: None,
            checks: Vec::new(),
            notes: Vec::new(),
            compat: true,
        }
    }

    fn value(step: &StepRecord, id: &str) -> Option<f64> {
        let all = measure(step);
        all.iter().find(|m| m.metric.0 == id).map(|m| m.value)
    }

    #[test]
    fn a_transaction_counts_as_what_it_sends() {
        let mut step = step();
        assert_eq!(value(&step, "rate"), Some(6000.0));
        assert_eq!(value(&step, "rate.write"), Some(1000.0));
        assert_eq!(value(&step, "rows.write"), Some(4000.0));
        step.counters.total(Counter::HOST_CPU, 12_000_000);
        assert_eq!(value(&step, "cpu/o"), Some(2.0));
        // A plan that asks for no rows has no such rate.
        assert_eq!(value(&step, "compat.ips"), None);
    }

    #[test]
    fn a_kind_of_which_none_was_begun_has_no_metrics() {
        let mut step = step();
        let mut announced = step.kinds[0].clone();
        announced.spec.name = "commit".into();
        announced.sums = KindInterval::default();
        step.kinds.push(announced);
        assert_eq!(value(&step, "errors.commit"), None);
        step.kinds[1].sums.errors = 1;
        assert_eq!(value(&step, "errors.commit"), Some(1.0));
        // What a step is about is told even so.
        step.kinds[0].sums = KindInterval::default();
        assert_eq!(value(&step, "errors.write"), Some(0.0));
    }

    #[test]
    fn arrivals_are_measured_where_there_are_any() {
        let mut step = step();
        for id in ["offered", "shed", "waiting", "highest_rate"] {
            assert_eq!(value(&step, id), None, "{id}");
        }
        step.open_loop = Some(OpenLoop {
            per_second: 2000,
            arrived: 1990,
            shed: 15,
            waiting: 3,
            highest_rate: None,
        });
        let of = |step: &StepRecord| {
            ["offered", "shed", "waiting", "highest_rate"].map(|id| value(step, id))
        };
        assert_eq!(of(&step), [Some(2000.0), Some(15.0), Some(3.0), None]);
        step.open_loop = Some(OpenLoop {
            highest_rate: Some(0),
            ..OpenLoop::default()
        });
        assert_eq!(value(&step, "highest_rate"), Some(0.0));
    }
}

//! Metrics: what each is called, its unit, which direction is better, how it is computed and where reports show it.
//!
//! A metric is a row of `metrics.toml`, and what is computed a line of `compute.rs`. Tables, charts, exports and the list
//! in `docs/` follow from the row.
//! Names such as `cpu/o` and `wKB/o` are those of the field's published tables; "o" is one of what
//! the step is about: an inserted or indexed row in the load steps, a query in the query steps, a
//! statement in the steps of SQL workloads, BEGIN and COMMIT among them, a completed New-Order in those
//! of the TPC-C-like workload.

mod compute;
mod row;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

pub use row::{
    Chart, Clock, Direction, Group, Metric, MetricId, OverRounds, Part, RunColumn, RunTable, Unit,
    When,
};

use self::row::{Compute, KIND};
use crate::{AuditRange, KindTotals, StepRecord, TpccAudit};

impl MetricId {
    /// The share of the transactions of a kind that kept their limit on response time.
    pub fn within_limit(kind: &str) -> Self {
        Self(compute::WITHIN_LIMIT.replace(KIND, kind))
    }

    /// What a short form such as `response.p99` means in a step about the kind `subject`; `None` for no short form.
    pub fn of_subject(&self, subject: &str) -> Option<Self> {
        let is_whole = metrics().any(|m| m.id == self.0);
        let family = metrics().find(|m| m.is_of_kinds() && m.short() == self.0)?;
        (!is_whole).then(|| family.of_kind(subject))
    }
}

impl Clock {
    /// The columns of response times from this moment.
    pub fn metrics(self) -> impl Iterator<Item = &'static Metric> {
        metrics().filter(move |metric| metric.part == Part::Times(self))
    }

    pub fn metric(self, head: &str) -> Option<&'static Metric> {
        self.metrics().find(|metric| metric.head == head)
    }
}

impl AuditRange {
    /// The share in these inputs; `None` where nothing was asked that it could be of.
    pub fn share(&self, audit: &TpccAudit) -> Option<f64> {
        let (part, all) = (self.of)(audit);
        let whole = if self.is_percent() { 100.0 } else { 1.0 };
        (all > 0).then(|| whole * (part as f64 / all as f64))
    }

    pub fn title(&self) -> &'static str {
        self.row().map_or("", |row| row.title)
    }

    /// Is it per cent (or a number per order)?
    pub fn is_percent(&self) -> bool {
        self.row().is_some_and(|row| row.unit == Some(Unit::Percent))
    }

    fn row(&self) -> Option<&'static Metric> {
        metrics().find(|metric| metric.id == self.metric)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    pub metric: MetricId,
    pub unit: Unit,
    /// Finite.
    pub value: f64,
}

/// All metrics, in the order of every list of them.
pub fn metrics() -> impl Iterator<Item = &'static Metric> {
    static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(read);
    METRICS.iter()
}

fn read() -> Vec<Metric> {
    let rows = toml::from_str::<BTreeMap<&str, Vec<Metric>>>(include_str!("metric/metrics.toml"));
    let rows = rows.unwrap_or_default().into_values().flatten();
    rows.map(completed).collect()
}

fn completed(row: Metric) -> Metric {
    let compute = compute::COMPUTE.iter().find(|(id, _)| *id == row.id);
    let or = |text, usual| if str::is_empty(text) { usual } else { text };
    Metric {
        formula: or(row.formula, row.title),
        head: or(row.head, row.id),
        compute: compute.map_or(row.compute, |(_, compute)| *compute),
        ..row
    }
}

/// All measurements of a step, without what could not be computed and kinds of which none was begun but the subject's.
pub fn measure(step: &StepRecord) -> Vec<Measurement> {
    let whole = metrics().filter_map(|metric| match metric.compute {
        Compute::Step(compute) => measured(metric, MetricId::new(metric.id), compute(step), step),
        Compute::Kind(_) | Compute::Time(..) | Compute::Imported => None,
    });
    let told = |kind: &&KindTotals| kind.happened() || kind.spec.name == step.subject.kind;
    let by_kind = step.kinds.iter().filter(told).flat_map(|kind| {
        metrics().filter_map(move |metric| {
            let value = match metric.compute {
                Compute::Kind(compute) => compute(kind, step),
                Compute::Time(clock, quantile) => compute::time(kind, clock, quantile),
                Compute::Step(_) | Compute::Imported => None,
            };
            measured(metric, metric.of_kind(&kind.spec.name), value, step)
        })
    });
    whole.chain(by_kind).collect()
}

fn measured(
    row: &Metric,
    metric: MetricId,
    value: Option<f64>,
    step: &StepRecord,
) -> Option<Measurement> {
    let of_subject =
        if step.subject.counts.is_rows() { Unit::RowsPerSecond } else { Unit::OpsPerSecond };
    let unit = row.unit.unwrap_or(of_subject);
    Some(Measurement { metric, unit, value: value.filter(|v| v.is_finite())? })
}

/// The row of the metric with this id; `None` for an id that no row has.
pub fn describe(id: &MetricId) -> Option<&'static Metric> {
    let whole = metrics().find(|metric| metric.id == id.0);
    whole.or_else(|| metrics().find(|metric| metric.kind_in(&id.0).is_some()))
}

/// The names of all metrics of which one direction is better, each once; for kinds short forms (`response.p99`).
pub fn judged_metrics() -> Vec<String> {
    metrics().filter(|metric| metric.direction != Direction::Neither).map(Metric::short).collect()
}

/// Names that people bring along, and the metrics that they stand for, the likeliest first.
const ALIASES: &[(&[&str], &[&str])] = &[
    (&["qps", "tps", "ips", "ops", "iops", "throughput", "speed"], &["rate", "tpmc"]),
    (
        &["latency", "lat", "response", "response_time", "rt"],
        &["service.p99", "response.p99", "service.p50"],
    ),
    (&["p99"], &["service.p99", "response.p99"]),
    (&["p95"], &["service.p95", "response.p95"]),
    (&["median", "p50"], &["service.p50", "response.p50"]),
    (&["average", "avg", "mean"], &["service.mean", "rate"]),
    (&["cpu", "cpu%", "cpu_time"], &["server.cpu/o", "cpu/o"]),
    (&["io", "disk"], &["r/o", "w/o", "size.total"]),
    (&["memory", "mem", "rss"], &["server.rss"]),
    (&["size", "space"], &["size.total", "size.data"]),
];

/// The metrics, or their short forms, that `name` may mean if it is not a metric of ours.
pub fn meant_by(name: &str) -> &'static [&'static str] {
    let name = name.to_ascii_lowercase();
    let found = ALIASES.iter().find(|(names, _)| names.contains(&name.as_str()));
    found.map_or(&[], |(_, metrics)| metrics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counter, Counts, KindInterval, KindSpec, Nanos, OpenLoop, Step, StepId, Subject};

    #[test]
    fn ids_are_unique_and_described() {
        let mut ids: Vec<&str> = metrics().map(|metric| metric.id).collect();
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
        let drifts: Vec<&str> = metrics().filter_map(|metric| metric.drift).collect();
        assert!(drifts.contains(&MetricId::DRIFT_RATE));
        for id in drifts {
            assert!(describe(&MetricId::new(id)).is_some(), "{id}");
        }
        assert_eq!(describe(&MetricId::new("service.query.p99")).unwrap().drift, None);
    }

    #[test]
    fn units_are_found_by_the_name_that_is_stored() {
        for unit in metrics().filter_map(|metric| metric.unit) {
            assert_eq!(Unit::from_name(unit.name()), Ok(unit));
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
            assert!(describe(&meant).is_some_and(|is| is.direction != Direction::Neither));
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    /// A second of transactions of six statements each.
    fn step() -> StepRecord {
        let sums = KindInterval { ops: 1000, rows: 4000, ..KindInterval::default() };
        let subject = Subject { kind: "write".into(), counts: Counts::Statements(6) };
        let planned = Step::new(StepId::new("write-only"), 1, 1, subject);
        StepRecord {
            elapsed: Nanos::from_secs(2),
            kinds: vec![KindTotals {
                spec: KindSpec { name: "write".into(), scheduled: false },
                sums,
                late: 0,
            }],
            compat: true,
            ..StepRecord::of(&planned, Nanos::SECOND)
        }
    }

    #[test]
    fn what_is_computed_is_a_row_and_rows_without_it_are_imported() {
        for (id, _) in compute::COMPUTE {
            assert!(metrics().any(|metric| metric.id == *id), "{id}");
        }
        for metric in metrics() {
            let is_imported = matches!(metric.compute, Compute::Imported);
            assert_eq!(is_imported, metric.formula == "imported", "{}", metric.id);
        }
        assert!(crate::AUDIT.iter().all(|range| range.row().is_some()));
    }

    #[test]
    fn the_rows_are_read_without_a_fault() {
        let text = include_str!("metric/metrics.toml");
        let rows: BTreeMap<&str, Vec<Metric>> = toml::from_str(text).unwrap();
        assert_eq!(rows.into_keys().collect::<Vec<_>>(), ["metric"]);
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
        step.open_loop = Some(OpenLoop { highest_rate: Some(0), ..OpenLoop::default() });
        assert_eq!(value(&step, "highest_rate"), Some(0.0));
    }

    #[test]
    fn aliases_are_no_metrics_and_stand_for_metrics() {
        let is_metric = |name: &str| {
            let id = MetricId::new(name);
            describe(&id).is_some() || id.of_subject("query").is_some()
        };
        for (names, metrics) in ALIASES {
            assert!(names.iter().all(|name| !is_metric(name)), "{names:?}");
            assert!(metrics.iter().all(|name| is_metric(name)), "{metrics:?}");
        }
        assert_eq!(meant_by("QPS"), ["rate", "tpmc"]);
        assert!(meant_by("rates").is_empty());
    }
}

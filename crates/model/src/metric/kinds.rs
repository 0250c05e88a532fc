//! Metrics of each operation kind of a step.

use super::Clock::{Response, Service};
use super::Direction::{Lower, Neither};
use super::row::{Compute, metric};
use super::steps::rate;
use super::{Clock, Group, Metric, Part, Unit};
use crate::{KindTotals, Nanos};

pub(super) const METRICS: &[Metric] = &[
    metric("rate.{kind}", Group::Rate, (Neither, 0.02), Unit::OpsPerSecond)
        .says("operations of this kind")
        .formula("operations of the kind / T")
        .shown(Part::Own)
        .of_each_kind(|k, s| rate(k.sums.ops, s.window)),
    metric("rows.{kind}", Group::Rate, (Neither, 0.02), Unit::RowsPerSecond)
        .says("rows that this kind touched")
        .formula("rows of the kind / T")
        .of_each_kind(|k, s| rate(k.sums.rows, s.window)),
    metric("errors.{kind}", Group::Errors, (Lower, 0.0), Unit::Count)
        .says("operations that failed")
        .formula("operations of the kind that failed")
        .shown(Part::Errors { lost: true })
        .headed("failed")
        .summed()
        .of_each_kind(|k, _| Some(k.sums.errors as f64)),
    metric("retries.{kind}", Group::Errors, (Lower, 0.0), Unit::Count)
        .says("attempts that failed and were repeated")
        .formula("attempts of the kind that failed and were repeated")
        .shown(Part::Errors { lost: false })
        .headed("repeated")
        .summed()
        .of_each_kind(|k, _| Some(k.sums.retries as f64)),
    times(Service, "service.{kind}.mean", "mean", "mean service time", MEAN).sliced(),
    times(Service, "service.{kind}.p50", "p50", "median service time", 0.5).sliced(),
    times(Service, "service.{kind}.p90", "p90", "90th percentile of service time", 0.9),
    times(Service, "service.{kind}.p95", "p95", "95th percentile of service time", 0.95),
    times(Service, "service.{kind}.p99", "p99", "99th percentile of service time", 0.99),
    times(Service, "service.{kind}.p999", "p99.9", "99.9th percentile of service time", 0.999),
    times(Service, "service.{kind}.max", "max", "longest service time", 1.0).longest(),
    times(Response, "response.{kind}.mean", "mean", "mean response time", MEAN),
    times(Response, "response.{kind}.p50", "p50", "median response time", 0.5),
    times(Response, "response.{kind}.p90", "p90", "90th percentile of response time", 0.9),
    times(Response, "response.{kind}.p95", "p95", "95th percentile of response time", 0.95),
    times(Response, "response.{kind}.p99", "p99", "99th percentile of response time", 0.99),
    times(Response, "response.{kind}.p999", "p99.9", "99.9th percentile of response time", 0.999),
    times(Response, "response.{kind}.max", "max", "longest response time", 1.0).longest(),
];

/// Stands for the mean among the quantiles.
const MEAN: f64 = f64::NAN;

/// A column of the response times of each kind: a quantile, or the mean.
const fn times(
    clock: Clock,
    id: &'static str,
    head: &'static str,
    title: &'static str,
    quantile: f64,
) -> Metric {
    let formula = match clock {
        Service => "from the histogram of the kind, from sending to the complete reply",
        Response => "the same from the intended start, where there is a schedule",
    };
    let compute = Compute::Time(clock, quantile);
    let row = metric(id, Group::Latency, (Lower, 0.02), Unit::Micros).says(title).formula(formula);
    Metric { compute, ..row.shown(Part::Times(clock)).headed(head) }
}

/// Microseconds.
pub(super) fn time(kind: &KindTotals, clock: Clock, quantile: f64) -> Option<f64> {
    let times = match clock {
        Service => &kind.sums.service,
        Response => kind.sums.response.as_ref()?,
    };
    let time = if quantile.is_nan() { times.mean() } else { times.quantile(quantile) };
    time.map(Nanos::as_micros_f64)
}

//! Metrics of each operation kind of a step.

use super::Direction::{Lower, Neither};
use super::row::metric;
use super::steps::rate;
use super::{Clock, Group, Metric, Part, Unit};
use crate::Nanos;

pub(super) const METRICS: &[Metric] = &[
    metric("rate.{kind}", Group::Rate, (Neither, 0.02), Unit::OpsPerSecond)
        .says("operations of this kind", "operations of the kind / T")
        .shown(Part::Own)
        .of_each_kind(|k, s| rate(k.sums.ops, s.window)),
    metric("rows.{kind}", Group::Rate, (Neither, 0.02), Unit::RowsPerSecond)
        .says("rows that this kind touched", "rows of the kind / T")
        .of_each_kind(|k, s| rate(k.sums.rows, s.window)),
    metric("errors.{kind}", Group::Errors, (Lower, 0.0), Unit::Count)
        .says("operations that failed", "operations of the kind that failed")
        .shown(Part::Errors { lost: true })
        .headed("failed")
        .summed()
        .of_each_kind(|k, _| Some(k.sums.errors as f64)),
    metric("retries.{kind}", Group::Errors, (Lower, 0.0), Unit::Count)
        .says(
            "attempts that failed and were repeated",
            "attempts of the kind that failed and were repeated",
        )
        .shown(Part::Errors { lost: false })
        .headed("repeated")
        .summed()
        .of_each_kind(|k, _| Some(k.sums.retries as f64)),
    times("service.{kind}.mean", Clock::Service, "mean", "mean service time")
        .sliced()
        .of_each_kind(|k, _| micros(k.sums.service.mean())),
    times("service.{kind}.p50", Clock::Service, "p50", "median service time")
        .sliced()
        .of_each_kind(|k, _| micros(k.sums.service.quantile(0.5))),
    times("service.{kind}.p90", Clock::Service, "p90", "90th percentile of service time")
        .of_each_kind(|k, _| micros(k.sums.service.quantile(0.9))),
    times("service.{kind}.p95", Clock::Service, "p95", "95th percentile of service time")
        .of_each_kind(|k, _| micros(k.sums.service.quantile(0.95))),
    times("service.{kind}.p99", Clock::Service, "p99", "99th percentile of service time")
        .of_each_kind(|k, _| micros(k.sums.service.quantile(0.99))),
    times("service.{kind}.p999", Clock::Service, "p99.9", "99.9th percentile of service time")
        .of_each_kind(|k, _| micros(k.sums.service.quantile(0.999))),
    times("service.{kind}.max", Clock::Service, "max", "longest service time")
        .longest()
        .of_each_kind(|k, _| micros(k.sums.service.quantile(1.0))),
    times("response.{kind}.mean", Clock::Response, "mean", "mean response time")
        .of_each_kind(|k, _| micros(k.sums.response.as_ref()?.mean())),
    times("response.{kind}.p50", Clock::Response, "p50", "median response time")
        .of_each_kind(|k, _| micros(k.sums.response.as_ref()?.quantile(0.5))),
    times("response.{kind}.p90", Clock::Response, "p90", "90th percentile of response time")
        .of_each_kind(|k, _| micros(k.sums.response.as_ref()?.quantile(0.9))),
    times("response.{kind}.p95", Clock::Response, "p95", "95th percentile of response time")
        .of_each_kind(|k, _| micros(k.sums.response.as_ref()?.quantile(0.95))),
    times("response.{kind}.p99", Clock::Response, "p99", "99th percentile of response time")
        .of_each_kind(|k, _| micros(k.sums.response.as_ref()?.quantile(0.99))),
    times("response.{kind}.p999", Clock::Response, "p99.9", "99.9th percentile of response time")
        .of_each_kind(|k, _| micros(k.sums.response.as_ref()?.quantile(0.999))),
    times("response.{kind}.max", Clock::Response, "max", "longest response time")
        .longest()
        .of_each_kind(|k, _| micros(k.sums.response.as_ref()?.quantile(1.0))),
];

/// A column of the response times of each kind.
const fn times(id: &'static str, clock: Clock, head: &'static str, title: &'static str) -> Metric {
    let formula = match clock {
        Clock::Service => "from the histogram of the kind, from sending to the complete reply",
        Clock::Response => "the same from the intended start, where there is a schedule",
    };
    metric(id, Group::Latency, (Lower, 0.02), Unit::Micros)
        .says(title, formula)
        .shown(Part::Times(clock))
        .headed(head)
}

fn micros(time: Option<Nanos>) -> Option<f64> {
    time.map(Nanos::as_micros_f64)
}

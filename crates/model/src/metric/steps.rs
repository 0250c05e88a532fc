//! Metrics of a whole step of any workload.

use super::Direction::{Higher, Lower, Neither};
use super::RunTable::{Corrected, Published};
use super::row::metric;
use super::{Group, Metric, MetricId, Part, Unit, When};
use crate::{Bytes, Counter, Nanos, StepRecord};

pub(super) const METRICS: &[Metric] = &[
    Metric { unit: None, ..RATE },
    // The search ends where it knows the rate to 5 %.
    metric(MetricId::HIGHEST_RATE, Group::Rate, (Higher, 0.05), Unit::OpsPerSecond)
        .says("highest offered rate that kept the limit on response time")
        .formula("the highest offered rate that kept the limit on response time, in steps that look for it; 0 for none")
        .shown(Part::Own)
        .of_step(|s| Some(s.open_loop?.highest_rate? as f64)),
    metric(MetricId::DRIFT_RATE, Group::Rate, (Neither, 0.0), Unit::Percent)
        .says("throughput in the last third of the window against the first")
        .formula("rate in the last third of the window / rate in the first third − 1; only for windows with a length in time ([Drift](statistics.md#drift))")
        .of_step(|s| Some(percent_change(s.drift?.rate))),
    metric("offered", Group::Rate, (Neither, 0.0), Unit::OpsPerSecond)
        .says("operations that were to arrive, whether clients were free or not")
        .formula("the rate at which operations were to arrive, in open loops")
        .shown(Part::Own)
        .of_step(|s| Some(s.open_loop?.per_second as f64)),
    metric("shed", Group::Errors, (Lower, 0.0), Unit::Count)
        .says("arrivals that found the queue full and were never started")
        .formula("arrivals that found the queue full")
        .shown(Part::Own)
        .summed()
        .of_step(|s| Some(s.open_loop?.shed as f64)),
    metric("waiting", Group::Errors, (Neither, 0.0), Unit::Count)
        .says("arrivals that still waited when the window closed")
        .shown(Part::Own)
        .longest()
        .of_step(|s| Some(s.open_loop?.waiting as f64)),
    metric("compat.ips", Group::Rate, (Neither, 0.02), Unit::RowsPerSecond)
        .says("inserted rows as the original computes it")
        .formula("requested rows / whole elapsed seconds ([compat](insert-benchmark.md#compat))")
        .of_step(|s| per_elapsed_second(s, rows_of_the_original(s)?)),
    metric("compat.qps", Group::Rate, (Neither, 0.02), Unit::OpsPerSecond)
        .says("queries as the original computes it")
        .formula("queries / whole elapsed seconds ([compat](insert-benchmark.md#compat))")
        .of_step(|s| per_elapsed_second(s, s.kind("query")?.sums.ops)),
    metric("compat.ratio", Group::Rate, (Higher, 0.02), Unit::OpsPerSecond)
        .says("published ratio to the base")
        .formula("imported"),
    metric("compat.p50", Group::Rate, (Neither, 0.02), Unit::OpsPerSecond)
        .says("rate that one client reached in half of the seconds")
        .formula("imported"),
    metric("compat.p99", Group::Rate, (Neither, 0.02), Unit::OpsPerSecond)
        .says("rate that one client reached in 99 % of the seconds")
        .formula("imported"),
    metric("sla.insert", Group::Sla, (Neither, 0.05), Unit::Percent)
        .says("achieved share of the background insert rate")
        .formula("rows inserted per second / target rate")
        .shown(Part::Own)
        .of_step(|s| of_target(s, "insert")),
    metric("sla.delete", Group::Sla, (Neither, 0.05), Unit::Percent)
        .says("achieved share of the background delete rate")
        .formula("rows deleted per second / target rate")
        .of_step(|s| of_target(s, "delete")),
    metric("sla.seconds", Group::Sla, (Neither, 0.05), Unit::Percent)
        .says("share of the seconds that met the target")
        .formula("seconds at whose end the inserters were not behind their schedule / all seconds")
        .of_step(|s| s.seconds_on_target.map(|(met, all)| 100.0 * f64::from(met) / f64::from(all))),
    metric("server.cpu/o", Group::Server, (Lower, 0.01), Unit::MicrosPerOp)
        .says("server CPU per operation")
        .formula("Δ CPU of the server's processes / n")
        .main()
        .explaining()
        .sliced()
        .drifting(MetricId::DRIFT_SERVER_CPU)
        .column(Corrected, 4, "server.cpu/o")
        .of_step(|s| micros_per_op(s, Counter::SERVER_CPU)),
    metric(MetricId::DRIFT_SERVER_CPU, Group::Server, (Neither, 0.0), Unit::Percent)
        .says("server CPU per operation in the last third of the window against the first")
        .formula("server CPU per operation in the last third of the window / in the first third − 1")
        .shown(Part::Lists)
        .of_step(|s| s.drift?.server_cpu.map(percent_change)),
    metric("server.user/o", Group::Server, (Lower, 0.01), Unit::MicrosPerOp)
        .says("server user CPU per operation")
        .formula("Δ user CPU of the server, in the kernel's ticks / n")
        .of_step(|s| micros_per_op(s, Counter::SERVER_USER)),
    metric("server.sys/o", Group::Server, (Lower, 0.01), Unit::MicrosPerOp)
        .says("server system CPU per operation")
        .formula("Δ system CPU of the server, in the kernel's ticks / n")
        .of_step(|s| micros_per_op(s, Counter::SERVER_SYSTEM)),
    metric("server.cs/o", Group::Server, (Lower, 0.02), Unit::PerOp)
        .says("voluntary context switches of the server per operation")
        .formula("Δ voluntary context switches of the server's threads / n")
        .main()
        .explaining()
        .sliced()
        .of_step(|s| per_op(s, Counter::SERVER_CS)),
    metric("server.ics/o", Group::Server, (Lower, 0.05), Unit::PerOp)
        .says("involuntary context switches of the server per operation")
        .formula("Δ involuntary context switches of the server's threads / n")
        .of_step(|s| per_op(s, Counter::SERVER_ICS)),
    metric("server.minflt/o", Group::Server, (Lower, 0.05), Unit::PerOp)
        .says("minor page faults of the server per operation")
        .formula("Δ minor page faults of the server / n")
        .of_step(|s| per_op(s, Counter::SERVER_MINFLT)),
    metric("server.majflt/o", Group::Server, (Lower, 0.05), Unit::PerOp)
        .says("major page faults of the server per operation")
        .formula("Δ major page faults of the server / n")
        .of_step(|s| per_op(s, Counter::SERVER_MAJFLT)),
    metric("cpu/o", Group::Host, (Lower, 0.01), Unit::MicrosPerOp)
        .says("CPU of the whole host per operation, client included")
        .formula("Δ busy CPU of the whole host / n")
        .main()
        .explaining()
        .column(Corrected, 3, "cpu/o")
        .charted(When::Ends, "CPU", "CPU per New-Order, client included")
        .of_step(|s| micros_per_op(s, Counter::HOST_CPU)),
    metric("compat.cpu/o", Group::Host, (Lower, 0.01), Unit::Percent)
        .says("CPU per operation as published, per cent of the machine")
        .formula("imported"),
    metric("cs/o", Group::Host, (Lower, 0.02), Unit::PerOp)
        .says("context switches of the host per operation")
        .formula("Δ context switches of the host / n")
        .main()
        .explaining()
        .of_step(|s| per_op(s, Counter::HOST_CS)),
    metric("r/o", Group::Host, (Lower, 0.05), Unit::PerOp)
        .says("device reads per operation")
        .formula("Δ reads of the device / n")
        .explaining()
        .of_step(|s| per_op(s, Counter::DISK_READS)),
    metric("rKB/o", Group::Host, (Lower, 0.05), Unit::KbPerOp)
        .says("KB read from the device per operation")
        .formula("Δ bytes read / 1024 / n")
        .explaining()
        .of_step(|s| per_op(s, Counter::DISK_READ).map(|b| b / 1024.0)),
    metric("w/o", Group::Host, (Lower, 0.05), Unit::PerOp)
        .says("device writes per operation")
        .formula("Δ writes of the device / n")
        .explaining()
        .of_step(|s| per_op(s, Counter::DISK_WRITES)),
    metric("wKB/o", Group::Host, (Lower, 0.05), Unit::KbPerOp)
        .says("KB written to the device per operation")
        .formula("Δ bytes written / 1024 / n")
        .main()
        .explaining()
        .column(Corrected, 2, "wKB/o")
        .charted(When::Ends, "KB written", "KB written per New-Order")
        .of_step(|s| per_op(s, Counter::DISK_WRITTEN).map(|b| b / 1024.0)),
    metric("d/o", Group::Host, (Lower, 0.05), Unit::PerOp)
        .says("device discards per operation")
        .formula("Δ discards of the device / n")
        .of_step(|s| per_op(s, Counter::DISK_DISCARDS)),
    metric("steal", Group::Host, (Neither, 0.05), Unit::Percent)
        .says("CPU time stolen by the hypervisor, of one CPU")
        .formula("Δ stolen time / T, of one CPU")
        .of_step(|s| share_of_core(s, Counter::HOST_STEAL)),
    metric("foreign", Group::Host, (Neither, 0.05), Unit::Percent)
        .says("CPU time used by neither server nor client, of one CPU")
        .formula("(Δ busy CPU of the host − Δ of the server − Δ of backslide) / T, of one CPU, at least 0; absent where the server's is not known")
        .of_step(|s| share_of_core(s, Counter::HOST_FOREIGN)),
    metric("client.cpu/o", Group::Client, (Neither, 0.02), Unit::MicrosPerOp)
        .says("client CPU per operation")
        .formula("Δ CPU of backslide / n")
        .main()
        .sliced()
        .of_step(|s| micros_per_op(s, Counter::CLIENT_CPU)),
    metric("client.cpu", Group::Client, (Neither, 0.05), Unit::Percent)
        .says("client CPU, of one CPU")
        .formula("Δ CPU of backslide / T, of one CPU")
        .of_step(|s| share_of_core(s, Counter::CLIENT_CPU)),
    metric("client.rss", Group::Client, (Neither, 0.05), Unit::Gib)
        .says("resident memory of the client")
        .formula("resident memory of backslide")
        .of_step(|s| gib(s.counters.get(Counter::CLIENT_RSS))),
    metric("size.data", Group::Size, (Lower, 0.02), Unit::Gib)
        .says("tables and indexes")
        .formula("files of tables and indexes after the step")
        .column(Corrected, 5, "tables")
        .of_step(|s| gib(s.sizes.map(|z| z.data.0))),
    metric("size.log", Group::Size, (Lower, 0.05), Unit::Gib)
        .says("redo, undo, binlog, WAL")
        .formula("redo, undo, binary log, WAL after the step")
        .of_step(|s| gib(s.sizes.map(|z| z.log.0))),
    metric("size.total", Group::Size, (Lower, 0.02), Unit::Gib)
        .says("the whole instance, logical size")
        .formula("all files of the instance after the step")
        .of_step(|s| gib(s.sizes.map(|z| z.total.0))),
    metric("size.allocated", Group::Size, (Lower, 0.02), Unit::Gib)
        .says("the whole instance, allocated blocks")
        .formula("blocks of the instance's files after the step, as `du` counts")
        .column(Published, 6, "size")
        .charted(When::Last, "size", "Size")
        .of_step(|s| gib(s.sizes.map(|z| z.allocated.0))),
    metric("server.rss", Group::Size, (Lower, 0.02), Unit::Gib)
        .says("largest resident memory of the server")
        .formula("the largest reading of the server's resident memory")
        .of_step(|s| gib(s.counters.get(Counter::SERVER_RSS_MAX))),
];

/// Rows where the step counts rows, operations otherwise.
const RATE: Metric = metric(MetricId::RATE, Group::Rate, (Higher, 0.02), Unit::OpsPerSecond)
    .says("throughput of the step's subject")
    .formula("n / T")
    .shown(Part::Own)
    .sliced()
    .drifting(MetricId::DRIFT_RATE)
    .charted(When::Ends, MetricId::TPMC, "Throughput")
    .of_step(|s| rate(s.subject_count(), s.window));

pub(super) fn rate(count: u64, window: Nanos) -> Option<f64> {
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

pub(super) fn gib(bytes: Option<u64>) -> Option<f64> {
    bytes.map(|b| Bytes(b).as_gib_f64())
}

//! How each metric is computed from the record of a step.
//!
//! The columns of the published tables of the TPC-C-like workload (`wMB/s wkb/t tpmc cpu/s Mcpu/t`) have the formulas of
//! those tables; `wKB/o`, `cpu/o` and `nopm` say the same per New-Order, and without the New-Orders that are rolled back
//! on purpose. None of them exists in a step that has no facts of this workload.

use super::row::Compute::{self, Kind, Step};
use super::{Clock, MetricId};
use crate::{
    AUDIT, Bytes, Counter, KindTotals, Nanos, ROLLBACK, Sizes, StepRecord, TpccTransaction,
};

const INSTRUCTIONS: [&str; 2] =
    [Counter::SERVER_USER_INSTRUCTIONS, Counter::SERVER_KERNEL_INSTRUCTIONS];
const CYCLES: [&str; 2] = [Counter::SERVER_USER_CYCLES, Counter::SERVER_KERNEL_CYCLES];

/// What is computed from a record, by the metric's id.
pub(super) const COMPUTE: &[(&str, Compute)] = &[
    (MetricId::RATE, Step(|s| rate(s.subject_count(), s.window))),
    (MetricId::HIGHEST_RATE, Step(|s| Some(s.open_loop?.highest_rate? as f64))),
    (MetricId::DRIFT_RATE, Step(|s| Some(percent_change(s.drift?.rate)))),
    ("offered", Step(|s| Some(s.open_loop?.per_second as f64))),
    ("shed", Step(|s| Some(s.open_loop?.shed as f64))),
    ("waiting", Step(|s| Some(s.open_loop?.waiting as f64))),
    ("compat.ips", Step(|s| per_elapsed_second(s, rows_of_the_original(s)?))),
    ("compat.qps", Step(|s| per_elapsed_second(s, s.kind("query")?.sums.ops))),
    ("sla.insert", Step(|s| of_target(s, "insert"))),
    ("sla.delete", Step(|s| of_target(s, "delete"))),
    (
        "sla.seconds",
        Step(|s| s.seconds_on_target.map(|(met, all)| 100.0 * f64::from(met) / f64::from(all))),
    ),
    ("server.cpu/o", Step(|s| micros_per_op(s, Counter::SERVER_CPU))),
    (MetricId::DRIFT_SERVER_CPU, Step(|s| s.drift?.server_cpu.map(percent_change))),
    ("server.user/o", Step(|s| micros_per_op(s, Counter::SERVER_USER))),
    ("server.sys/o", Step(|s| micros_per_op(s, Counter::SERVER_SYSTEM))),
    ("server.cs/o", Step(|s| per_op(s, Counter::SERVER_CS))),
    ("server.ics/o", Step(|s| per_op(s, Counter::SERVER_ICS))),
    ("server.instr/o", Step(|s| both_per_op(s, INSTRUCTIONS))),
    ("server.instr.user/o", Step(|s| per_op(s, Counter::SERVER_USER_INSTRUCTIONS))),
    ("server.instr.kernel/o", Step(|s| per_op(s, Counter::SERVER_KERNEL_INSTRUCTIONS))),
    ("server.cycles/o", Step(|s| both_per_op(s, CYCLES))),
    ("server.cycles.user/o", Step(|s| per_op(s, Counter::SERVER_USER_CYCLES))),
    ("server.cycles.kernel/o", Step(|s| per_op(s, Counter::SERVER_KERNEL_CYCLES))),
    ("server.brmiss/o", Step(|s| per_op(s, Counter::SERVER_BRANCH_MISSES))),
    ("server.cmiss/o", Step(|s| per_op(s, Counter::SERVER_CACHE_MISSES))),
    ("server.minflt/o", Step(|s| per_op(s, Counter::SERVER_MINFLT))),
    ("server.majflt/o", Step(|s| per_op(s, Counter::SERVER_MAJFLT))),
    ("cpu/o", Step(|s| micros_per_op(s, Counter::HOST_CPU))),
    ("cs/o", Step(|s| per_op(s, Counter::HOST_CS))),
    ("r/o", Step(|s| per_op(s, Counter::DISK_READS))),
    ("rKB/o", Step(|s| per_op(s, Counter::DISK_READ).map(|b| b / 1024.0))),
    ("w/o", Step(|s| per_op(s, Counter::DISK_WRITES))),
    ("wKB/o", Step(|s| per_op(s, Counter::DISK_WRITTEN).map(|b| b / 1024.0))),
    ("d/o", Step(|s| per_op(s, Counter::DISK_DISCARDS))),
    (MetricId::STEAL, Step(|s| share_of_core(s, Counter::HOST_STEAL))),
    (MetricId::FOREIGN, Step(|s| share_of_core(s, Counter::HOST_FOREIGN))),
    ("client.cpu/o", Step(|s| micros_per_op(s, Counter::CLIENT_CPU))),
    ("client.cpu", Step(|s| share_of_core(s, Counter::CLIENT_CPU))),
    ("client.rss", Step(|s| gib(s.counters.get(Counter::CLIENT_RSS)))),
    ("size.data", Step(|s| gib(s.sizes.map(|z| z.data.0)))),
    ("size.log", Step(|s| gib(s.sizes.map(|z| z.log.0)))),
    ("size.total", Step(|s| gib(s.sizes.map(|z| z.total.0)))),
    ("size.allocated", Step(|s| gib(s.sizes.map(|z| z.allocated.0)))),
    ("server.rss", Step(|s| gib(s.counters.get(Counter::SERVER_RSS_MAX)))),
    (MetricId::TPMC, Step(tpmc)),
    ("nopm", Step(nopm)),
    ("committed", Step(|s| Some(s.tpcc?.committed as f64))),
    ("counted", Step(|s| Some(s.tpcc?.counted as f64))),
    ("wMB/s", Step(|s| written_kb_per_second(s).map(|kb| kb / 1e3))),
    ("wkb/t", Step(|s| Some(written_kb_per_second(s)? / tpmc(s)?))),
    ("cpu/s", Step(busy_percent)),
    ("Mcpu/t", Step(|s| Some(1e6 * busy_percent(s)? / tpmc(s)?))),
    ("loaded.data", Step(|s| loaded(s, |sizes| sizes.data))),
    ("loaded.allocated", Step(|s| loaded(s, |sizes| sizes.allocated))),
    ("grown.data", Step(|s| grown(s, |sizes| sizes.data))),
    ("grown.allocated", Step(|s| grown(s, |sizes| sizes.allocated))),
    ("backlog", Step(|s| Some(s.tpcc?.backlog as f64))),
    ("skipped", Step(|s| Some(s.tpcc?.skipped as f64))),
    ("audit.rollbacks", Step(|s| share(s, 0))),
    ("audit.lines", Step(|s| share(s, 1))),
    ("audit.remote_lines", Step(|s| share(s, 2))),
    ("audit.remote_payments", Step(|s| share(s, 3))),
    ("audit.payments_by_name", Step(|s| share(s, 4))),
    ("audit.order_statuses_by_name", Step(|s| share(s, 5))),
    ("rate.{kind}", Kind(|k, s| rate(k.sums.ops, s.window))),
    ("rows.{kind}", Kind(|k, s| rate(k.sums.rows, s.window))),
    ("errors.{kind}", Kind(|k, _| Some(k.sums.errors as f64))),
    ("retries.{kind}", Kind(|k, _| Some(k.sums.retries as f64))),
    (WITHIN_LIMIT, Kind(within_limit)),
];

pub(super) const WITHIN_LIMIT: &str = "sla/{kind}";

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

/// In user code and in the kernel together.
fn both_per_op(step: &StepRecord, [user, kernel]: [&str; 2]) -> Option<f64> {
    Some(per_op(step, user)? + per_op(step, kernel)?)
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

/// Microseconds.
pub(super) fn time(kind: &KindTotals, clock: Clock, quantile: f64) -> Option<f64> {
    let times = match clock {
        Clock::Service => &kind.sums.service,
        Clock::Response => kind.sums.response.as_ref()?,
    };
    let time = if quantile.is_nan() { times.mean() } else { times.quantile(quantile) };
    time.map(Nanos::as_micros_f64)
}

/// The step before which the database is as it was loaded.
const FIRST_RUN: &str = "h1";

fn share(step: &StepRecord, place: usize) -> Option<f64> {
    AUDIT[place].share(&step.tpcc?.audit)
}

fn tpmc(step: &StepRecord) -> Option<f64> {
    step.tpcc?;
    rate(step.subject_count(), step.window).map(|per_second| 60.0 * per_second)
}

fn nopm(step: &StepRecord) -> Option<f64> {
    step.tpcc?;
    let rolled_back = step.kind(ROLLBACK)?.sums.ops;
    let committed = step.subject_count().saturating_sub(rolled_back);
    rate(committed, step.window).map(|per_second| 60.0 * per_second)
}

fn written_kb_per_second(step: &StepRecord) -> Option<f64> {
    step.tpcc?;
    let written = rate(step.counters.get(Counter::DISK_WRITTEN)?, step.window)?;
    Some(written / 1024.0)
}

/// What `vmstat` calls `us` and `sy`, together.
fn busy_percent(step: &StepRecord) -> Option<f64> {
    step.tpcc?;
    let busy = step.counters.get(Counter::HOST_CPU)? as f64;
    let there_was = step.window.0 as f64 * step.counters.get(Counter::HOST_CPUS)? as f64;
    (there_was > 0.0).then(|| 100.0 * busy / there_was)
}

fn loaded(step: &StepRecord, size: fn(&Sizes) -> Bytes) -> Option<f64> {
    step.tpcc?;
    let before = step.before.filter(|_| step.step.0 == FIRST_RUN)?;
    gib(Some(size(&before).0))
}

/// Sizes are read before the warm-up and after the window, so the New-Orders of the warm-up count here.
fn grown(step: &StepRecord, size: fn(&Sizes) -> Bytes) -> Option<f64> {
    let committed = step.tpcc?.committed;
    let [before, after] = [step.before?, step.sizes?].map(|sizes| size(&sizes).0 as f64);
    (committed > 0).then(|| (after - before) / 1024.0 / committed as f64)
}

/// From the intended start where there is one. What failed for good kept no limit.
fn within_limit(kind: &KindTotals, step: &StepRecord) -> Option<f64> {
    let place =
        TpccTransaction::ALL.iter().position(|transaction| transaction.name() == kind.spec.name)?;
    let limit = Nanos::from_millis(step.tpcc?.limits_millis[place].into());
    let times = kind.sums.response.as_ref().unwrap_or(&kind.sums.service);
    let all = times.count() + kind.sums.errors;
    (all > 0).then(|| 100.0 * times.at_most(limit) as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Counts, KindInterval, KindSpec, Readings, Step, StepId, Subject, TpccAudit, TpccFacts,
        measure, metrics,
    };

    fn kind(name: &str, ops: u64, millis: u64) -> KindTotals {
        let mut sums = KindInterval { ops, ..KindInterval::default() };
        sums.service.record_many(Nanos::from_millis(millis), ops);
        KindTotals { spec: KindSpec { name: name.into(), scheduled: false }, sums, late: 0 }
    }

    fn sizes(data: u64, allocated: u64) -> Sizes {
        Sizes { data: Bytes(data), allocated: Bytes(allocated), ..Sizes::default() }
    }

    /// An hour of the published runs: MyRocks, hour 1, 48 CPUs.
    fn hour() -> StepRecord {
        let new_orders = 7266 * 60;
        let mut counters = Readings::default();
        counters.total(Counter::DISK_WRITTEN, 6_600 * 1024 * 3600);
        counters.total(Counter::HOST_CPU, 48 * 3600 * 1_000_000_000 / 1000 * 35);
        counters.level(Counter::HOST_CPUS, 48);
        let subject = Subject { kind: "new-order".into(), counts: Counts::Operations };
        let planned = Step::new(StepId::new("h1"), 4, 1, subject);
        StepRecord {
            elapsed: Nanos::from_secs(3700),
            kinds: vec![
                kind("new-order", new_orders, 4),
                kind("delivery", 1000, 900),
                kind(ROLLBACK, 4360, 4),
            ],
            tpcc: Some(TpccFacts {
                limits_millis: [1000, 1000, 1000, 500, 1000],
                skipped: 3,
                backlog: 890_000,
                committed: 500_000,
                counted: 500_000,
                audit: TpccAudit { new_orders, rollbacks: 4360, ..TpccAudit::default() },
            }),
            counters,
            before: Some(sizes(8 << 30, 11 << 30)),
            sizes: Some(sizes((8 << 30) + 1024 * 750_000, 10 << 30)),
            ..StepRecord::of(&planned, Nanos::from_secs(3600))
        }
    }

    fn value(step: &StepRecord, id: &str) -> Option<f64> {
        let all = measure(step);
        all.iter().find(|m| m.metric.0 == id).map(|m| m.value)
    }

    #[test]
    fn the_published_columns_have_the_published_values() {
        let hour = hour();
        let of = |id: &str| value(&hour, id).unwrap();
        assert!((of("tpmc") - 7266.0).abs() < 1e-9, "{}", of("tpmc"));
        assert!((of("wMB/s") - 6.6).abs() < 1e-9, "{}", of("wMB/s"));
        // Printed as 0.91; and as 479 where cpu/s was rounded to 3.5.
        assert_eq!(format!("{:.2}", of("wkb/t")), "0.91");
        assert!((of("cpu/s") - 3.5).abs() < 1e-9, "{}", of("cpu/s"));
        assert_eq!(format!("{:.0}", of("Mcpu/t")), "482");
    }

    #[test]
    fn the_corrected_forms_agree_with_them() {
        let hour = hour();
        let of = |id: &str| value(&hour, id).unwrap();
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        near(of("nopm"), 7266.0 - 4360.0 / 60.0);
        near(of("wKB/o"), 60.0 * of("wkb/t"));
        // cpu/o is in µs of one CPU, Mcpu/t in millionths of a per cent of 48, a minute's of New-Orders.
        near(of("cpu/o"), of("Mcpu/t") * 48.0 * 60.0 / 100.0);
    }

    #[test]
    fn growth_is_of_what_was_committed_and_may_be_below_zero() {
        let hour = hour();
        assert_eq!(value(&hour, "grown.data"), Some(1.5));
        let shrunk = value(&hour, "grown.allocated").unwrap();
        let expected = f64::from(-(1 << 20)) / 500_000.0;
        assert!((shrunk - expected).abs() < 1e-9, "{shrunk}");
        assert_eq!(value(&hour, "loaded.data"), Some(8.0));
        assert_eq!(value(&hour, "loaded.allocated"), Some(11.0));
        let later = StepRecord { step: StepId::new("h2"), ..hour };
        assert_eq!(value(&later, "loaded.data"), None);
        assert_eq!(value(&later, "grown.data"), Some(1.5));
        let unknown = StepRecord { before: None, ..later };
        assert_eq!(value(&unknown, "grown.data"), None);
    }

    #[test]
    fn what_failed_kept_no_limit() {
        let mut hour = hour();
        assert_eq!(value(&hour, "sla/new-order"), Some(100.0));
        assert_eq!(value(&hour, "sla/delivery"), Some(0.0));
        assert_eq!(value(&hour, "sla/rollback"), None);
        let new_order = &mut hour.kinds[0].sums;
        new_order.errors = new_order.ops;
        assert_eq!(value(&hour, "sla/new-order"), Some(50.0));
        // Where there is a schedule, waiting counts.
        let new_order = &mut hour.kinds[0].sums;
        new_order.errors = 0;
        let mut response = new_order.service.clone();
        response.record_many(Nanos::from_secs(2), response.count());
        new_order.response = Some(response);
        assert_eq!(value(&hour, "sla/new-order"), Some(50.0));
    }

    #[test]
    fn facts_are_measured_as_they_are() {
        let hour = hour();
        let of = |id: &str| value(&hour, id);
        let counts = ["committed", "counted", "backlog", "skipped"].map(of);
        assert_eq!(counts, [Some(500_000.0), Some(500_000.0), Some(890_000.0), Some(3.0)]);
        let rollbacks = of("audit.rollbacks").unwrap();
        assert!((rollbacks - 1.0).abs() < 0.001, "{rollbacks}");
        assert_eq!(of("audit.remote_payments"), None);
        assert!(of(&MetricId::within_limit("new-order").0).is_some());
    }

    #[test]
    fn other_workloads_have_none_of_it() {
        let other = StepRecord { tpcc: None, ..hour() };
        let all = measure(&other);
        let rows = metrics().map(|m| m.id).skip_while(|id| *id != MetricId::TPMC);
        let of_tpcc: Vec<&str> = rows.take_while(|id| !id.contains("{kind}")).collect();
        assert_eq!(of_tpcc.len(), 20);
        for id in of_tpcc.into_iter().chain(["sla/new-order"]) {
            assert!(all.iter().all(|m| m.metric.0 != id), "{id}");
        }
    }
}

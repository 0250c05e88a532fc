//! What is measured in the steps of the TPC-C-like workload alone.
//!
//! The columns of the published tables (`wMB/s wkb/t tpmc cpu/s Mcpu/t`) have the formulas of those tables;
//! `wKB/o`, `cpu/o` and `nopm` say the same per New-Order, and without the New-Orders that are rolled back
//! on purpose. Nothing here exists in a step that has no facts of this workload.

use super::Direction::{Lower, Neither};
use super::RunTable::{Corrected, Published};
use super::row::metric;
use super::steps::{gib, rate};
use super::{Group, Metric, MetricId, Part, Unit, When};
use crate::{
    AUDIT, Bytes, Counter, KindTotals, Nanos, ROLLBACK, Sizes, StepRecord, TpccTransaction,
};

pub(super) const METRICS: &[Metric] = &[
    metric(MetricId::TPMC, Group::Rate, (Neither, 0.02), Unit::PerMinute)
        .says("completed New-Orders, those rolled back on purpose included")
        .formula("60 · n / T; `rate` is judged in its place")
        .drifting(MetricId::DRIFT_RATE)
        .column(Published, 3, MetricId::TPMC)
        .of_step(tpmc),
    metric("nopm", Group::Rate, (Neither, 0.02), Unit::PerMinute)
        .says("committed New-Orders")
        .formula("60 · (n − r) / T")
        .column(Corrected, 1, "nopm")
        .of_step(nopm),
    metric("committed", Group::Rate, (Neither, 0.0), Unit::Count)
        .says("New-Orders that clients saw committed, warm-up included")
        .formula("New-Orders acknowledged to clients as committed, warm-up included")
        .shown(Part::Audit)
        .of_step(|s| Some(s.tpcc?.committed as f64)),
    metric("counted", Group::Rate, (Neither, 0.0), Unit::Count)
        .says("orders that the database counted meanwhile")
        .formula("growth of Σ `d_next_o_id` meanwhile; must be equal to `committed`")
        .shown(Part::Audit)
        .of_step(|s| Some(s.tpcc?.counted as f64)),
    metric("wMB/s", Group::Rate, (Neither, 0.05), Unit::MbPerSecond)
        .says("MB written to the device per second")
        .formula("Δ bytes written by the device / 1024 / 1000 / T")
        .column(Published, 1, "wMB/s")
        .of_step(|s| written_kb_per_second(s).map(|kb| kb / 1e3)),
    metric("wkb/t", Group::Rate, (Neither, 0.05), Unit::KbPerSecondPerTpmc)
        .says("KB written per second over tpmc; 60 times that is wKB/o")
        .formula("(Δ bytes written / 1024 / T) / `tpmc`; `wKB/o` is judged in its place")
        .column(Published, 2, "wkb/t")
        .of_step(|s| Some(written_kb_per_second(s)? / tpmc(s)?)),
    metric("cpu/s", Group::Rate, (Neither, 0.02), Unit::Percent)
        .says("busy CPU time, of all CPUs, client included")
        .formula("100 · Δ busy CPU / (T · P)")
        .column(Published, 4, "cpu/s")
        .of_step(busy_percent),
    metric("Mcpu/t", Group::Rate, (Neither, 0.02), Unit::MicroPercentPerTpmc)
        .says("a million times cpu/s over tpmc")
        .formula("10⁶ · `cpu/s` / `tpmc`; `cpu/o` is judged in its place")
        .column(Published, 5, "Mcpu/t")
        .of_step(|s| Some(1e6 * busy_percent(s)? / tpmc(s)?)),
    metric("loaded.data", Group::Size, (Lower, 0.02), Unit::Gib)
        .says("tables and indexes before the first transactions")
        .formula("tables and indexes before `h1`")
        .shown(Part::Own)
        .of_step(|s| loaded(s, |sizes| sizes.data)),
    metric("loaded.allocated", Group::Size, (Lower, 0.02), Unit::Gib)
        .says("the whole instance before the first transactions, allocated blocks")
        .formula("blocks of the instance's files before `h1`")
        .shown(Part::Own)
        .charted(When::Loaded, "size", "Size")
        .of_step(|s| loaded(s, |sizes| sizes.allocated)),
    metric("grown.data", Group::Size, (Lower, 0.05), Unit::KbPerOp)
        .says("KB by which tables and indexes grew per committed New-Order")
        .formula("(tables and indexes after the step − before it) / 1024 / `committed`; below zero where they shrank")
        .shown(Part::Lists)
        .column(Corrected, 7, "tables grown")
        .of_step(|s| grown(s, |sizes| sizes.data)),
    metric("grown.allocated", Group::Size, (Lower, 0.05), Unit::KbPerOp)
        .says("KB by which the whole instance grew per committed New-Order, allocated blocks")
        .formula("(blocks of the instance after the step − before it) / 1024 / `committed`; below zero where it shrank")
        .shown(Part::Lists)
        .column(Corrected, 6, "grown")
        .of_step(|s| grown(s, |sizes| sizes.allocated)),
    metric("backlog", Group::Sla, (Neither, 0.0), Unit::Count)
        .says("orders that wait for delivery after the step")
        .shown(Part::Own)
        .of_step(|s| Some(s.tpcc?.backlog as f64)),
    metric("skipped", Group::Sla, (Neither, 0.0), Unit::Count)
        .says("districts where a Delivery found nothing to deliver")
        .formula("districts without an order to deliver when a Delivery of the window came")
        .shown(Part::Own)
        .summed()
        .of_step(|s| Some(s.tpcc?.skipped as f64)),
    asked(0).of_step(|s| share(s, 0)),
    asked(1).of_step(|s| share(s, 1)),
    asked(2).of_step(|s| share(s, 2)),
    asked(3).of_step(|s| share(s, 3)),
    asked(4).of_step(|s| share(s, 4)),
    asked(5).of_step(|s| share(s, 5)),
];

/// The id of [`KIND_METRICS`]' first.
pub(super) const WITHIN_LIMIT: &str = "sla/{kind}";

/// Metrics of each operation kind.
pub(super) const KIND_METRICS: &[Metric] = &[metric(
    WITHIN_LIMIT,
    Group::Sla,
    (Neither, 0.05),
    Unit::Percent,
)
.says("transactions that kept their limit on response time")
.formula("transactions of the kind within their limit / (all of them + those that failed for good)")
.shown(Part::Own)
.of_each_kind(within_limit)];

/// The step before which the database is as it was loaded.
const FIRST_RUN: &str = "h1";

/// The share at this place of [`AUDIT`].
const fn asked(place: usize) -> Metric {
    let range = AUDIT[place];
    let unit = if range.is_percent { Unit::Percent } else { Unit::PerOp };
    let formula = "what transactions asked for in the whole step, beside the standard's range";
    metric(range.metric, Group::Sla, (Neither, 0.0), unit)
        .says(range.title)
        .formula(formula)
        .shown(Part::Audit)
}

fn share(step: &StepRecord, place: usize) -> Option<f64> {
    (AUDIT[place].of)(&step.tpcc?.audit)
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
        measure,
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
        let of_tpcc = METRICS.iter().map(|m| m.id);
        for id in of_tpcc.chain(["sla/new-order"]) {
            assert!(all.iter().all(|m| m.metric.0 != id), "{id}");
        }
    }
}

//! What is measured in the steps of the TPC-C-like workload alone.
//!
//! The columns of the published tables (`wMB/s wkb/t tpmc cpu/s Mcpu/t`) have the formulas of those tables;
//! `wKB/o`, `cpu/o` and `nopm` say the same per New-Order, and without the New-Orders that are rolled back
//! on purpose. Nothing here exists in a step that has no facts of this workload.

use super::{Described, Group, KindMetric, Lower, Metric, Neither, Unit, gib, is, rate};
use crate::{
    AUDIT, Bytes, Counter, KindTotals, Nanos, ROLLBACK, Sizes, StepRecord, TpccTransaction,
};

/// Metrics of a whole step.
pub(super) const METRICS: &[Metric] = &[
    metric(
        "tpmc",
        |_| Unit::PerMinute,
        is(
            Neither,
            Group::Rate,
            0.02,
            "completed New-Orders, those rolled back on purpose included",
        ),
        tpmc,
    ),
    metric(
        "nopm",
        |_| Unit::PerMinute,
        is(Neither, Group::Rate, 0.02, "committed New-Orders"),
        nopm,
    ),
    metric(
        "committed",
        |_| Unit::Count,
        is(
            Neither,
            Group::Rate,
            0.0,
            "New-Orders that clients saw committed, warm-up included",
        ),
        |s| Some(s.tpcc?.committed as f64),
    ),
    metric(
        "counted",
        |_| Unit::Count,
        is(
            Neither,
            Group::Rate,
            0.0,
            "orders that the database counted meanwhile",
        ),
        |s| Some(s.tpcc?.counted as f64),
    ),
    metric(
        "wMB/s",
        |_| Unit::MbPerSecond,
        is(
            Neither,
            Group::Rate,
            0.05,
            "MB written to the device per second",
        ),
        |s| written_kb_per_second(s).map(|kb| kb / 1e3),
    ),
    metric(
        "wkb/t",
        |_| Unit::KbPerSecondPerTpmc,
        is(
            Neither,
            Group::Rate,
            0.05,
            "KB written per second over tpmc; 60 times that is wKB/o",
        ),
        |s| Some(written_kb_per_second(s)? / tpmc(s)?),
    ),
    metric(
        "cpu/s",
        |_| Unit::Percent,
        is(
            Neither,
            Group::Rate,
            0.02,
            "busy CPU time, of all CPUs, client included",
        ),
        busy_percent,
    ),
    metric(
        "Mcpu/t",
        |_| Unit::MicroPercentPerTpmc,
        is(
            Neither,
            Group::Rate,
            0.02,
            "a million times cpu/s over tpmc",
        ),
        |s| Some(1e6 * busy_percent(s)? / tpmc(s)?),
    ),
    metric(
        "loaded.data",
        |_| Unit::Gib,
        is(
            Lower,
            Group::Size,
            0.02,
            "tables and indexes before the first transactions",
        ),
        |s| loaded(s, |sizes| sizes.data),
    ),
    metric(
        "loaded.allocated",
        |_| Unit::Gib,
        is(
            Lower,
            Group::Size,
            0.02,
            "the whole instance before the first transactions, allocated blocks",
        ),
        |s| loaded(s, |sizes| sizes.allocated),
    ),
    metric(
        "grown.data",
        |_| Unit::KbPerOp,
        is(
            Lower,
            Group::Size,
            0.05,
            "KB by which tables and indexes grew per committed New-Order",
        ),
        |s| grown(s, |sizes| sizes.data),
    ),
    metric(
        "grown.allocated",
        |_| Unit::KbPerOp,
        is(
            Lower,
            Group::Size,
            0.05,
            "KB by which the whole instance grew per committed New-Order, allocated blocks",
        ),
        |s| grown(s, |sizes| sizes.allocated),
    ),
    metric(
        "backlog",
        |_| Unit::Count,
        is(
            Neither,
            Group::Sla,
            0.0,
            "orders that wait for delivery after the step",
        ),
        |s| Some(s.tpcc?.backlog as f64),
    ),
    metric(
        "skipped",
        |_| Unit::Count,
        is(
            Neither,
            Group::Sla,
            0.0,
            "districts in which a Delivery found nothing to deliver",
        ),
        |s| Some(s.tpcc?.skipped as f64),
    ),
    asked(0, |s| share(s, 0)),
    asked(1, |s| share(s, 1)),
    asked(2, |s| share(s, 2)),
    asked(3, |s| share(s, 3)),
    asked(4, |s| share(s, 4)),
    asked(5, |s| share(s, 5)),
];

/// The id of [`KIND_METRICS`]' first.
pub(super) const WITHIN_LIMIT: &str = "sla/{kind}";

/// Metrics of each operation kind.
pub(super) const KIND_METRICS: &[KindMetric] = &[KindMetric {
    id: WITHIN_LIMIT,
    unit: Unit::Percent,
    is: is(
        Neither,
        Group::Sla,
        0.05,
        "transactions that kept their limit on response time",
    ),
    compute: within_limit,
}];

/// The step before which the database is as it was loaded.
const FIRST_RUN: &str = "h1";

const fn metric(
    id: &'static str,
    unit: fn(&StepRecord) -> Unit,
    is: Described,
    compute: fn(&StepRecord) -> Option<f64>,
) -> Metric {
    Metric {
        id,
        unit,
        is,
        compute,
    }
}

/// The share at this place of [`AUDIT`].
const fn asked(place: usize, compute: fn(&StepRecord) -> Option<f64>) -> Metric {
    let range = AUDIT[place];
    Metric {
        id: range.metric,
        unit: if range.is_percent { percent } else { each },
        is: is(Neither, Group::Sla, 0.0, range.title),
        compute,
    }
}

const fn percent(_: &StepRecord) -> Unit {
    Unit::Percent
}

const fn each(_: &StepRecord) -> Unit {
    Unit::PerOp
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
    let place = TpccTransaction::ALL
        .iter()
        .position(|transaction| transaction.name() == kind.spec.name)?;
    let limit = Nanos::from_millis(step.tpcc?.limits_millis[place].into());
    let times = kind.sums.response.as_ref().unwrap_or(&kind.sums.service);
    let all = times.count() + kind.sums.errors;
    (all > 0).then(|| 100.0 * times.at_most(limit) as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Counts, KindInterval, KindSpec, MetricId, Readings, StepId, Subject, TpccAudit, TpccFacts,
        measure,
    };

    fn kind(name: &str, ops: u64, millis: u64) -> KindTotals {
        let mut sums = KindInterval {
            ops,
            ..KindInterval::default()
        };
        sums.service.record_many(Nanos::from_millis(millis), ops);
        KindTotals {
            spec: KindSpec {
                name: name.into(),
                scheduled: false,
            },
            sums,
            late: 0,
        }
    }

    fn sizes(data: u64, allocated: u64) -> Sizes {
        Sizes {
            data: Bytes(data),
            allocated: Bytes(allocated),
            ..Sizes::default()
        }
    }

    /// An hour of the published runs: MyRocks, hour 1, 48 CPUs.
    fn hour() -> StepRecord {
        let new_orders = 7266 * 60;
        let mut counters = Readings::default();
        counters.total(Counter::DISK_WRITTEN, 6_600 * 1024 * 3600);
        counters.total(Counter::HOST_CPU, 48 * 3600 * 1_000_000_000 / 1000 * 35);
        counters.level(Counter::HOST_CPUS, 48);
        StepRecord {
            step: StepId::new("h1"),
            ordinal: 4,
            measured: true,
            clients: 1,
            window: Nanos::from_secs(3600),
            elapsed: Nanos::from_secs(3700),
            subject: Subject {
                kind: "new-order".into(),
                counts: Counts::Operations,
            },
            kinds: vec![
                kind("new-order", new_orders, 4),
                kind("delivery", 1000, 900),
                kind(ROLLBACK, 4360, 4),
            ],
            errors: Vec::new(),
            target_rate: None,
            seconds_on_target: None,
            requested_rows: 0,
            open_loop: None,
            tpcc: Some(TpccFacts {
                limits_millis: [1000, 1000, 1000, 500, 1000],
                skipped: 3,
                backlog: 890_000,
                committed: 500_000,
                counted: 500_000,
                audit: TpccAudit {
                    new_orders,
                    rollbacks: 4360,
                    ..TpccAudit::default()
                },
            }),
            counters,
            drift: None,
            before: Some(sizes(8 << 30, 11 << 30)),
            sizes: Some(sizes((8 << 30) + 1024 * 750_000, 10 << 30)),
            checks: Vec::new(),
            notes: Vec::new(),
            compat: false,
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
        let later = StepRecord {
            step: StepId::new("h2"),
            ..hour
        };
        assert_eq!(value(&later, "loaded.data"), None);
        assert_eq!(value(&later, "grown.data"), Some(1.5));
        let unknown = StepRecord {
            before: None,
            ..later
        };
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
        assert_eq!(
            counts,
            [Some(500_000.0), Some(500_000.0), Some(890_000.0), Some(3.0)]
        );
        let rollbacks = of("audit.rollbacks").unwrap();
        assert!((rollbacks - 1.0).abs() < 0.001, "{rollbacks}");
        assert_eq!(of("audit.remote_payments"), None);
        assert!(of(&MetricId::within_limit("new-order").0).is_some());
    }

    #[test]
    fn other_workloads_have_none_of_it() {
        let other = StepRecord {
            tpcc: None,
            ..hour()
        };
        let all = measure(&other);
        let of_tpcc = METRICS.iter().map(|m| m.id);
        for id in of_tpcc.chain(["sla/new-order"]) {
            assert!(all.iter().all(|m| m.metric.0 != id), "{id}");
        }
    }
}

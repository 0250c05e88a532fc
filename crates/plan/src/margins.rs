//! The margins that a plan names: `margins = { rate = 1, "server.cpu/o" = 0.5 }`, in per cent.

use std::collections::BTreeMap;

use model::{Direction, Margin, Metric, MetricId, Plan, describe, judged_metrics};

use crate::Result;
use crate::document::Value;
use crate::fields::{Fields, Item};

/// A larger one would be no margin: the double is twice as fast.
const MAX_PERCENT: u32 = 100;

/// Stands for any kind of operation where only the family of a metric matters.
const ANY_KIND: &str = "query";

const OF_SERVER: &str = "server.";

pub(crate) fn read(item: Item<'_>) -> Result<BTreeMap<MetricId, Margin>> {
    item.table("a table such as { rate = 1, \"server.cpu/o\" = 0.5 }")?;
    Fields::named(item)?.all().map(|item| one(item)).collect()
}

/// What may be meant otherwise: margins of metrics that no system has, so that they are never used.
pub(crate) fn remarks(plan: &Plan) -> Vec<String> {
    if plan.systems.iter().any(|system| !system.build.dbms.is_embedded()) {
        return Vec::new();
    }
    let of_server = plan.course.margins.keys().filter(|metric| metric.0.starts_with(OF_SERVER));
    let told = |metric| {
        format!("`{metric}` in margins: no system of the plan has it, because SQLite has no server")
    };
    of_server.map(told).collect()
}

fn one(item: Item<'_>) -> Result<(MetricId, Margin)> {
    if let Value::Table(_) = item.node.value {
        return Err(item.conflict(format!(
            "`{}` in margins is a table: the name of a metric with a dot or a slash is written in quotes, such \
             as \"response.p99\" = 5",
            item.key
        )));
    }
    let metric = MetricId::new(item.key);
    let Some(described) = described(&metric) else {
        return Err(item.unknown("metric", item.key, judged_metrics()));
    };
    match described.direction {
        Direction::Higher | Direction::Lower => Ok((metric, percent(item)?)),
        Direction::Neither => Err(item.conflict(format!(
            "`{metric}` in margins: neither direction of it is better, so that it is not judged; leave it out"
        ))),
    }
}

/// What is known of a metric, by its whole name or by a short form such as `response.p99`.
fn described(metric: &MetricId) -> Option<&'static Metric> {
    describe(metric).or_else(|| describe(&metric.of_subject(ANY_KIND)?))
}

/// Per cent with at most two decimals.
fn percent(item: Item<'_>) -> Result<Margin> {
    item.decimal(2, 0..=MAX_PERCENT * Margin::PER_PERCENT).map(Margin).ok_or_else(|| {
        item.wrong(&format!(
            "a number of per cent from 0 to {MAX_PERCENT}, with two decimals at most"
        ))
    })
}

//! Response times: the ten buckets of the published tables, and percentiles.

use model::{Latency, Nanos, StepInfo, Unit};

use super::Clock;
use super::grid::name;
use crate::format;
use crate::spread::range;
use crate::table::{Cell, Header, Table};
use crate::view::{Seen, View};

/// Upper ends of the buckets as the published tables name them.
const BUCKETS: [(&str, u64); 9] = [
    ("256us", 256_000),
    ("1ms", 1_000_000),
    ("4ms", 4_000_000),
    ("16ms", 16_000_000),
    ("64ms", 64_000_000),
    ("256ms", 256_000_000),
    ("1s", 1_000_000_000),
    ("4s", 4_000_000_000),
    ("16s", 16_000_000_000),
];

/// How they are headed, and the last part of their metrics.
pub(super) const PERCENTILES: [(&str, &str); 7] = [
    ("mean", "mean"),
    ("p50", "p50"),
    ("p90", "p90"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("p99.9", "p999"),
    ("max", "max"),
];

/// `merged` holds a histogram a system, in the order of the view's systems.
pub(crate) fn buckets(
    view: &View<'_>,
    step: &StepInfo,
    kind: &str,
    clock: Clock,
    merged: &[Option<Latency>],
) -> Option<Table> {
    if merged.iter().all(Option::is_none) {
        return None;
    }
    let columns = BUCKETS.iter().map(|(text, _)| *text).chain(["gt"]);
    let headers = std::iter::once(Header::words("system"))
        .chain(columns.map(|text| Header::numbers(text, "%")))
        .chain([
            Header::numbers("max", ""),
            Header::numbers("operations", ""),
        ]);
    let rows = view.systems.iter().zip(merged).map(|(system, latency)| {
        let cells = latency
            .as_ref()
            .map_or_else(|| vec![Cell::absent(); BUCKETS.len() + 3], bucket_cells);
        std::iter::once(name(system)).chain(cells).collect()
    });
    Some(Table {
        title: title(view, step, kind, clock, "distribution"),
        note: "Share of the operations of all rounds in each bucket, by its upper end.".to_owned(),
        headers: headers.collect(),
        rows: rows.collect(),
    })
}

fn bucket_cells(latency: &Latency) -> Vec<Cell> {
    let all = latency.count();
    let mut below = 0;
    let mut cells = Vec::with_capacity(BUCKETS.len() + 3);
    let mut push = |part: u64| {
        let percent = if all == 0 {
            0.0
        } else {
            100.0 * part as f64 / all as f64
        };
        cells.push(Cell::number(percent, format::share(part, all)));
    };
    for (_, end) in BUCKETS {
        let up_to = latency.at_most(Nanos(end));
        push(up_to.saturating_sub(below));
        below = up_to;
    }
    push(all.saturating_sub(below));
    let max = latency.max().as_micros_f64();
    cells.push(Cell::number(max, format::micros(max)));
    cells.push(Cell::number(all as f64, format::count(all)));
    cells
}

pub(crate) fn percentiles(
    view: &View<'_>,
    step: &StepInfo,
    kind: &str,
    clock: Clock,
) -> Option<Table> {
    let metric = |part: &str| format!("{}.{kind}.{part}", clock.word());
    view.unit(step, &metric("p50"))?;
    let columns = PERCENTILES
        .iter()
        .map(|(text, _)| Header::numbers(*text, ""));
    let rows = view.systems.iter().map(|system| {
        let cells = PERCENTILES
            .iter()
            .map(|(_, part)| percentile(view, system, step, &metric(part), *part == "max"));
        std::iter::once(name(system)).chain(cells).collect()
    });
    Some(Table {
        title: title(view, step, kind, clock, "percentiles"),
        note: "Median over the rounds; max is the longest of all rounds.".to_owned(),
        headers: std::iter::once(Header::words("system"))
            .chain(columns)
            .collect(),
        rows: rows.collect(),
    })
}

/// Percentiles of service time of all kinds but what the step is about, each under its heading; `None`
/// where there is no other.
pub(crate) fn other_kinds(view: &View<'_>, step: &StepInfo) -> Option<Table> {
    let kinds = view.kinds(step).into_iter();
    let of_kinds = kinds.filter(|kind| *kind != step.subject);
    let tables =
        of_kinds.filter_map(|kind| Some((percentiles(view, step, &kind, Clock::Service)?, kind)));
    let (mut whole, mut rows) = (None, Vec::new());
    for (table, kind) in tables {
        rows.push(Table::heading(kind, table.headers.len()));
        rows.extend(table.rows);
        whole.get_or_insert((table.headers, table.note));
    }
    let (headers, note) = whole?;
    Some(Table {
        title: format!("{}: service time of each statement", view.label(step)),
        note,
        headers,
        rows,
    })
}

/// The median over the rounds, or the longest of all rounds.
pub(super) fn percentile(
    view: &View<'_>,
    system: &Seen<'_>,
    step: &StepInfo,
    metric: &str,
    is_max: bool,
) -> Cell {
    let value = if is_max {
        let values = view.values(system.name, step, metric);
        values.and_then(|v| range(v.rounds.iter().map(|(_, v)| *v)).map(|(_, longest)| longest))
    } else {
        view.median(system.name, step, metric)
    };
    value.map_or_else(Cell::absent, |v| {
        Cell::number(v, format::in_unit(v, Unit::Micros))
    })
}

fn title(view: &View<'_>, step: &StepInfo, kind: &str, clock: Clock, what: &str) -> String {
    let label = view.label(step);
    // The operation of a microbenchmark has its name.
    let of = if view.is_by_step() && *kind == step.subject {
        label
    } else {
        format!("{label} {kind}")
    };
    format!("{of}: {} time, {what}", clock.word())
}

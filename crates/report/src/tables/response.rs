//! Response times: the ten buckets of the published tables, and percentiles.

use model::{Clock, Latency, Nanos, Step};

use super::grid::{name, systems_in_step};
use crate::report::At;
use crate::{Cell, Header, Report, Table, format, series};

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

impl Report<'_> {
    /// In per cent, with the longest; `None` without histograms.
    pub fn buckets(&self, step: &Step, kind: &str, clock: Clock) -> Option<Table> {
        self.buckets_of(step, kind, clock, &series::histograms(self, step, kind, clock))
    }

    /// `merged` holds a histogram a system, in the order of the report's systems.
    pub(crate) fn buckets_of(
        &self,
        step: &Step,
        kind: &str,
        clock: Clock,
        merged: &[Option<Latency>],
    ) -> Option<Table> {
        merged.iter().flatten().next()?;
        let columns = BUCKETS.iter().map(|(text, _)| *text).chain(["gt"]);
        let columns = columns
            .map(|text| Header::numbers(text, "%"))
            .chain([Header::numbers("max", ""), Header::numbers("operations", "")]);
        let none = || vec![Cell::absent(); BUCKETS.len() + 3];
        let rows = self.systems.iter().zip(merged).map(|(system, latency)| {
            let cells = latency.as_ref().map_or_else(none, bucket_cells);
            std::iter::once(name(system)).chain(cells).collect()
        });
        let title = title(self, step, kind, clock, "distribution");
        let note = "Share of the operations of all rounds in each bucket, by its upper end.";
        let headers = std::iter::once(Header::words("system")).chain(columns).collect();
        Some(Table::new(title, note, headers, rows))
    }

    /// Mean, p50 … p99.9 and the longest of one operation kind; `None` where it was not measured.
    pub fn percentiles(&self, step: &Step, kind: &str, clock: Clock) -> Option<Table> {
        self.unit(step, &clock.metric("p50")?.of_kind(kind).0)?;
        let columns = clock.metrics().map(|metric| {
            let cell = move |at: &At<'_>| at.absolute(&metric.of_kind(kind).0);
            (Header::numbers(metric.head, ""), cell)
        });
        let title = title(self, step, kind, clock, "percentiles");
        let note = "Median over the rounds; max is the longest of all rounds.";
        Some(systems_in_step().each(columns).table(title, note, self.each_at(step)))
    }

    /// Percentiles of all kinds but what the step is about, each under its heading; `None` where there is no other.
    pub(crate) fn other_kinds(&self, step: &Step) -> Option<Table> {
        let (mut whole, mut parts) = (None, Vec::new());
        for kind in self.kinds(step).into_iter().filter(|kind| *kind != step.subject.kind) {
            for clock in Clock::ALL {
                if let Some(table) = self.percentiles(step, &kind, clock) {
                    parts.push((format!("{kind}, {} time", clock.word()), table.rows));
                    whole.get_or_insert((table.headers, table.note));
                }
            }
        }
        let (headers, note) = whole?;
        let title = format!("{}: response times of other operations", self.label(step));
        Some(Table::in_parts(title, note, headers, parts))
    }
}

fn bucket_cells(latency: &Latency) -> Vec<Cell> {
    let all = latency.count();
    let mut below = 0;
    let mut cells = Vec::with_capacity(BUCKETS.len() + 3);
    let mut push = |part: u64| {
        let percent = if all == 0 { 0.0 } else { 100.0 * part as f64 / all as f64 };
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
    cells.push(Cell::count(all as f64));
    cells
}

fn title(report: &Report<'_>, step: &Step, kind: &str, clock: Clock, what: &str) -> String {
    let label = report.label(step);
    // The operation of a microbenchmark has its name.
    let of = if report.is_by_step() && *kind == step.subject.kind {
        label
    } else {
        format!("{label} {kind}")
    };
    format!("{of}: {} time, {what}", clock.word())
}

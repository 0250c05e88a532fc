//! What transactions asked for, beside what the standard wants; and orders counted twice.

use model::{AUDIT, AUDIT_FROM, AuditRange, Metric, Part, Step, TpccSpec, metrics};

use super::super::grid::{headers, named};
use crate::{Cell, Header, Report, Seen, Table, Tone, Transactions, format};

impl Report<'_> {
    /// A row a system under the heading of each step.
    pub(crate) fn audit(&self, run: &Transactions<'_>, steps: &[&Step]) -> Table {
        let shares = AUDIT
            .iter()
            .map(|range| Header::numbers(head(range), if range.is_percent { "%" } else { "" }));
        let counts = counts().map(|metric| Header::numbers(metric.head, "count"));
        let headers = headers(shares.chain(counts));
        let mut rows = vec![ranges(run.spec)];
        rows.extend(self.under_steps(steps.iter().copied(), headers.len(), |step| {
            self.systems.iter().map(|system| row(self, system, step)).collect()
        }));
        let note = format!(
            "Medians over the rounds, warm-up included. A trial of {} transactions or more that leaves a range by more than chance explains fails. Committed are the New-Orders of which clients heard that they were committed, counted those by which the districts' order numbers grew meanwhile.",
            format::count(AUDIT_FROM)
        );
        Table::new("What transactions asked for", note, headers, rows)
    }
}

/// What stands beside the shares: orders as clients and as the database counted them.
fn counts() -> impl Iterator<Item = &'static Metric> {
    let is_share = |metric: &&Metric| AUDIT.iter().any(|range| range.metric == metric.id);
    metrics().filter(|metric| metric.part == Part::Audit).filter(move |metric| !is_share(metric))
}

/// The last part of the metric's id, as words.
fn head(range: &AuditRange) -> String {
    let part = range.metric.rsplit('.').next();
    part.unwrap_or(range.metric).replace('_', " ")
}

fn ranges(spec: &TpccSpec) -> Vec<Cell> {
    let range = |range: &AuditRange| {
        if range.needs_others && spec.warehouses < 2 {
            return Cell::absent();
        }
        let (low, high) = (format::tick(range.low), format::tick(range.high));
        Cell::text(format!("{low}–{high}")).with_tone(Tone::Muted)
    };
    let mut cells = vec![Cell::text("the standard's range").with_tone(Tone::Muted)];
    cells.extend(AUDIT.iter().map(range));
    cells.extend(counts().map(|_| Cell::absent()));
    cells
}

fn row(report: &Report<'_>, system: &Seen<'_>, step: &Step) -> Vec<Cell> {
    let shares = AUDIT
        .iter()
        .map(|range| Cell::of(report.median(system.name, step, range.metric), format::number));
    let counts = counts().map(|metric| report.absolute_cell(system, step, metric.id));
    named(system, shares.chain(counts).collect())
}

//! What transactions asked for, beside what the standard wants; and orders counted twice.

use model::{AUDIT, AUDIT_FROM, AuditRange, StepInfo, TpccSpec};

use super::super::grid::{absolute_cell, name};
use crate::format;
use crate::table::{Cell, Header, Table, Tone};
use crate::transactions::Transactions;
use crate::view::{Seen, View};

/// A row a system under the heading of each step.
pub(crate) fn audit(view: &View<'_>, run: &Transactions<'_>, steps: &[&StepInfo]) -> Table {
    let mut headers = vec![Header::words("system")];
    headers.extend(AUDIT.iter().map(|range| {
        let unit = if range.is_percent { "%" } else { "" };
        Header::numbers(head(range), unit)
    }));
    headers.extend([
        Header::numbers("committed", "count"),
        Header::numbers("counted", "count"),
    ]);
    let mut rows = vec![ranges(run.spec)];
    for step in steps {
        rows.push(Table::heading(view.label(step), headers.len()));
        rows.extend(view.systems.iter().map(|system| row(view, system, step)));
    }
    Table {
        title: "What transactions asked for".to_owned(),
        note: format!(
            "Medians over the rounds, warm-up included. A trial of {} transactions or more that leaves a range by more than chance explains fails. Committed are the New-Orders of which clients heard that they were committed, counted those by which the districts' order numbers grew meanwhile.",
            format::count(AUDIT_FROM)
        ),
        headers,
        rows,
    }
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
    cells.extend([Cell::absent(), Cell::absent()]);
    cells
}

fn row(view: &View<'_>, system: &Seen<'_>, step: &StepInfo) -> Vec<Cell> {
    let share = |range: &AuditRange| {
        let share = view.median(system.name, step, range.metric);
        share.map_or_else(Cell::absent, |share| {
            Cell::number(share, format::number(share))
        })
    };
    let mut cells = vec![name(system)];
    cells.extend(AUDIT.iter().map(share));
    cells.extend(["committed", "counted"].map(|metric| absolute_cell(view, system, step, metric)));
    cells
}

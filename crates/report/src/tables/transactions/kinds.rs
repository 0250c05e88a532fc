//! Each kind of transaction in one step.

use model::{MetricId, ROLLBACK, StepInfo, TpccTransaction};

use super::super::Clock;
use super::super::grid::{absolute_cell, name};
use super::super::response::{PERCENTILES, percentile};
use crate::format;
use crate::table::{Cell, Header, Table, Tone};
use crate::transactions::spec;
use crate::view::{Seen, View};

/// A row a system under the heading of each kind; `None` for steps that run no transactions, and for other
/// workloads.
pub(crate) fn kinds(view: &View<'_>, step: &StepInfo) -> Option<Table> {
    spec(view)?;
    if step.subject != TpccTransaction::NewOrder.name() {
        return None;
    }
    let clock = clock(view, step);
    let headers = headers();
    let mut rows = Vec::new();
    let kinds = TpccTransaction::ALL.map(TpccTransaction::name).into_iter();
    for kind in kinds.chain([ROLLBACK]) {
        if view.unit(step, &format!("rate.{kind}")).is_some() {
            rows.push(Table::heading(heading(kind), headers.len()));
            let systems = view.systems.iter();
            rows.extend(systems.map(|system| row(view, system, step, (kind, clock))));
        }
    }
    (!rows.is_empty()).then(|| Table {
        title: format!("{}: each kind of transaction", view.label(step)),
        note: format!(
            "Rates, {} times and shares that kept their limit are medians over the rounds, max is the longest of all rounds; failed and repeated are of all rounds together. New-Orders that are rolled back on purpose are New-Orders too.",
            clock.word()
        ),
        headers,
        rows,
    })
}

/// Where transactions have an intended start, from that.
fn clock(view: &View<'_>, step: &StepInfo) -> Clock {
    let scheduled = format!("{}.{}.p50", Clock::Response.word(), step.subject);
    match view.unit(step, &scheduled) {
        Some(_) => Clock::Response,
        None => Clock::Service,
    }
}

fn heading(kind: &str) -> &str {
    if kind == ROLLBACK {
        "new-order, rolled back on purpose"
    } else {
        kind
    }
}

fn headers() -> Vec<Header> {
    let mut headers = vec![
        Header::words("system"),
        Header::numbers("rate", "ops/s"),
        Header::numbers("failed", "count"),
        Header::numbers("repeated", "count"),
    ];
    headers.extend(PERCENTILES.map(|(text, _)| Header::numbers(text, "")));
    headers.push(Header::numbers("in limit", "%"));
    headers
}

fn row(
    view: &View<'_>,
    system: &Seen<'_>,
    step: &StepInfo,
    (kind, clock): (&str, Clock),
) -> Vec<Cell> {
    let mut cells = vec![
        name(system),
        absolute_cell(view, system, step, &format!("rate.{kind}")),
        tally(view, system, step, &format!("errors.{kind}"), Tone::Missed),
        tally(view, system, step, &format!("retries.{kind}"), Tone::Plain),
    ];
    cells.extend(PERCENTILES.map(|(_, part)| {
        let metric = format!("{}.{kind}.{part}", clock.word());
        percentile(view, system, step, &metric, part == "max")
    }));
    let share = MetricId::within_limit(kind);
    cells.push(absolute_cell(view, system, step, &share.0));
    cells
}

/// The sum over the rounds, in this tone where there is any.
fn tally(view: &View<'_>, system: &Seen<'_>, step: &StepInfo, metric: &str, any: Tone) -> Cell {
    let Some(values) = view.values(system.name, step, metric) else {
        return Cell::absent();
    };
    let sum: f64 = values.rounds.iter().map(|(_, count)| count).sum();
    let cell = Cell::number(sum, format::count(sum as u64));
    if sum > 0.0 { cell.with_tone(any) } else { cell }
}

//! Did response times keep their limits, and did deliveries keep up?

use model::{MetricId, StepInfo, TpccTransaction};

use super::super::grid::{absolute_cell, name};
use crate::format;
use crate::table::{Cell, Header, Table, Tone};
use crate::transactions::{Transactions, all_missed, missed};
use crate::view::{Seen, View};

/// A row a system under the heading of each step.
pub(crate) fn limits(view: &View<'_>, run: &Transactions<'_>, steps: &[&StepInfo]) -> Table {
    let mut headers = vec![Header::words("system")];
    let kinds = run
        .limits()
        .map(|(transaction, limit)| Header::numbers(transaction.name(), format!("% in {limit}")));
    headers.extend(kinds);
    headers.extend([
        Header::words("verdict"),
        Header::numbers("backlog", "orders"),
        Header::numbers("skipped", "districts"),
    ]);
    let mut rows = Vec::new();
    for step in steps {
        rows.push(Table::heading(view.label(step), headers.len()));
        rows.extend(view.systems.iter().map(|system| row(view, system, step)));
    }
    Table {
        title: "Limits on response time, and deliveries".to_owned(),
        note: "The share of the transactions of each kind that kept its limit, median over the rounds; from the intended start where there is one, and what failed kept none. A limit is missed in a round where fewer than nine in ten kept it. Backlog are the orders that wait for delivery after the step, median over the rounds; skipped are the districts in which a Delivery found none, all rounds together.".to_owned(),
        headers,
        rows,
    }
}

fn row(view: &View<'_>, system: &Seen<'_>, step: &StepInfo) -> Vec<Cell> {
    let mut cells = vec![name(system)];
    let kinds = TpccTransaction::ALL.into_iter();
    cells.extend(kinds.map(|transaction| share(view, system, step, transaction)));
    cells.push(verdict(view, system, step));
    cells.push(absolute_cell(view, system, step, "backlog"));
    let skipped = view.values(system.name, step, "skipped");
    cells.push(skipped.map_or_else(Cell::absent, |values| {
        let sum: f64 = values.rounds.iter().map(|(_, count)| count).sum();
        Cell::number(sum, format::count(sum as u64))
    }));
    cells
}

fn share(
    view: &View<'_>,
    system: &Seen<'_>,
    step: &StepInfo,
    transaction: TpccTransaction,
) -> Cell {
    let metric = MetricId::within_limit(transaction.name());
    let cell = absolute_cell(view, system, step, &metric.0);
    match missed(view, system.name, step, transaction) {
        Some((missed, all)) if missed > 0 => {
            cell.marked(Tone::Missed, format!("missed in {missed} of {all}"))
        }
        _ => cell,
    }
}

fn verdict(view: &View<'_>, system: &Seen<'_>, step: &StepInfo) -> Cell {
    let has_run =
        |transaction: TpccTransaction| missed(view, system.name, step, transaction).is_some();
    if !TpccTransaction::ALL.into_iter().any(has_run) {
        return Cell::absent();
    }
    let missed = all_missed(view, system.name, step);
    if missed.is_empty() {
        Cell::text("kept")
    } else {
        Cell::text(format!("missed: {}", missed.join(", "))).with_tone(Tone::Missed)
    }
}

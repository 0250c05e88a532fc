//! Did response times keep their limits, and did deliveries keep up?

use model::{MetricId, Step, TpccTransaction};

use super::super::grid::{headers, named};
use crate::transactions::{all_missed, missed};
use crate::{Cell, Header, Report, Seen, Table, Tone, Transactions};

impl Report<'_> {
    /// A row a system under the heading of each step.
    pub(crate) fn limits(&self, run: &Transactions<'_>, steps: &[&Step]) -> Table {
        let kinds = run.limits().map(|(transaction, limit)| {
            Header::numbers(transaction.name(), format!("% in {limit}"))
        });
        let headers = headers(kinds.chain([
            Header::words("verdict"),
            Header::numbers("backlog", "orders"),
            Header::numbers("skipped", "districts"),
        ]));
        let rows = self.under_steps(steps.iter().copied(), headers.len(), |step| {
            self.systems.iter().map(|system| row(self, system, step)).collect()
        });
        let note = "The share of the transactions of each kind that kept its limit, median over the rounds; from the intended start where there is one, and what failed kept none. A limit is missed in a round where fewer than nine in ten kept it. Backlog are the orders that wait for delivery after the step, median over the rounds; skipped are the districts in which a Delivery found none, all rounds together.";
        Table::new("Limits on response time, and deliveries", note, headers, rows)
    }
}

fn row(report: &Report<'_>, system: &Seen<'_>, step: &Step) -> Vec<Cell> {
    let kinds = TpccTransaction::ALL.into_iter();
    let mut cells: Vec<Cell> =
        kinds.map(|transaction| share(report, system, step, transaction)).collect();
    cells.push(verdict(report, system, step));
    cells.extend(["backlog", "skipped"].map(|id| report.absolute_cell(system, step, id)));
    named(system, cells)
}

fn share(
    report: &Report<'_>,
    system: &Seen<'_>,
    step: &Step,
    transaction: TpccTransaction,
) -> Cell {
    let metric = MetricId::within_limit(transaction.name());
    let cell = report.absolute_cell(system, step, &metric.0);
    match missed(report, system.name, step, transaction) {
        Some((missed, all)) if missed > 0 => {
            cell.marked(Tone::Missed, format!("missed in {missed} of {all}"))
        }
        _ => cell,
    }
}

fn verdict(report: &Report<'_>, system: &Seen<'_>, step: &Step) -> Cell {
    let has_run =
        |transaction: TpccTransaction| missed(report, system.name, step, transaction).is_some();
    if !TpccTransaction::ALL.into_iter().any(has_run) {
        return Cell::absent();
    }
    let missed = all_missed(report, system.name, step);
    if missed.is_empty() {
        Cell::text("kept")
    } else {
        Cell::text(format!("missed: {}", missed.join(", "))).with_tone(Tone::Missed)
    }
}

//! How large the database was after the load and at the end, and what it grew by.

use model::Step;

use super::super::grid::name;
use super::families::by_engine;
use crate::spread::median;
use crate::{Cell, Header, Report, Seen, Table, Transactions, format};

impl Report<'_> {
    pub(crate) fn grown(&self, run: &Transactions<'_>) -> Table {
        let end = format!("after {}", self.label(run.last));
        let headers = vec![
            Header::words("system"),
            Header::numbers("after load", ""),
            Header::numbers("tables after load", ""),
            Header::numbers("New-Orders", "count"),
            Header::numbers(end.as_str(), ""),
            Header::numbers(format!("tables {end}"), ""),
            Header::numbers("grown", "KB/op"),
        ];
        let rows = by_engine(self, headers.len(), |system| row(self, run, system));
        let note = "Allocated blocks of the whole instance, and its tables with their indexes, before the first transactions and after the last step; medians over the rounds. The more orders, the larger: New-Orders are all that were committed meanwhile, warm-ups included; grown is what the instance grew by, per one of them.";
        Table::new("Size after the load and at the end", note, headers, rows)
    }
}

fn row(report: &Report<'_>, run: &Transactions<'_>, system: &Seen<'_>) -> Vec<Cell> {
    let grown = grown(report, run, system.name);
    let orders = median(grown.iter().map(|(orders, _)| *orders));
    let each = median(grown.iter().map(|(orders, kb)| kb / orders));
    vec![
        name(system),
        report.absolute_cell(system, run.first, "loaded.allocated"),
        report.absolute_cell(system, run.first, "loaded.data"),
        Cell::of(orders, |orders| format::count(orders.round() as u64)),
        report.absolute_cell(system, run.last, "size.allocated"),
        report.absolute_cell(system, run.last, "size.data"),
        Cell::of(each, format::number),
    ]
}

/// For each round the New-Orders that were committed in all steps, and the KB by which the instance grew.
fn grown(report: &Report<'_>, run: &Transactions<'_>, system: &str) -> Vec<(f64, f64)> {
    let Some(loaded) = report.values(system, run.first, "loaded.allocated") else {
        return Vec::new();
    };
    let grown = loaded.rounds.iter().filter_map(|(round, loaded)| {
        let end = report.in_round(system, run.last, "size.allocated", *round)?;
        let orders = run.steps.iter();
        let in_step = |step: &&Step| report.in_round(system, step, "committed", *round);
        let orders: Option<f64> = orders.map(in_step).sum();
        Some((orders.filter(|orders| *orders > 0.0)?, (end - loaded) * f64::from(1 << 20)))
    });
    grown.collect()
}

//! How large the database was after the load and at the end, and what it grew by.

use model::StepInfo;

use super::super::grid::{absolute_cell, name};
use super::families::by_engine;
use crate::format;
use crate::spread::median;
use crate::table::{Cell, Header, Table};
use crate::transactions::Transactions;
use crate::view::{Seen, View};

pub(crate) fn sizes(view: &View<'_>, run: &Transactions<'_>) -> Table {
    let end = format!("after {}", view.label(run.last));
    let headers = vec![
        Header::words("system"),
        Header::numbers("after load", ""),
        Header::numbers("tables after load", ""),
        Header::numbers("New-Orders", "count"),
        Header::numbers(end.as_str(), ""),
        Header::numbers(format!("tables {end}"), ""),
        Header::numbers("grown", "KB/op"),
    ];
    let rows = by_engine(view, headers.len(), |system| row(view, run, system));
    Table {
        title: "Size after the load and at the end".to_owned(),
        note: "Allocated blocks of the whole instance, and its tables with their indexes, before the first transactions and after the last step; medians over the rounds. The more orders, the larger: New-Orders are all that were committed meanwhile, warm-ups included; grown is what the instance grew by, per one of them.".to_owned(),
        headers,
        rows,
    }
}

fn row(view: &View<'_>, run: &Transactions<'_>, system: &Seen<'_>) -> Vec<Cell> {
    let grown = grown(view, run, system.name);
    let orders = median(grown.iter().map(|(orders, _)| *orders));
    let each = median(grown.iter().map(|(orders, kb)| kb / orders));
    vec![
        name(system),
        absolute_cell(view, system, run.first, "loaded.allocated"),
        absolute_cell(view, system, run.first, "loaded.data"),
        orders.map_or_else(Cell::absent, |orders| {
            Cell::number(orders, format::count(orders.round() as u64))
        }),
        absolute_cell(view, system, run.last, "size.allocated"),
        absolute_cell(view, system, run.last, "size.data"),
        each.map_or_else(Cell::absent, |kb| Cell::number(kb, format::number(kb))),
    ]
}

/// For each round the New-Orders that were committed in all steps, and the KB by which the instance grew.
fn grown(view: &View<'_>, run: &Transactions<'_>, system: &str) -> Vec<(f64, f64)> {
    let in_round = |step: &StepInfo, metric: &str, round: u32| {
        let rounds = &view.values(system, step, metric)?.rounds;
        let value = rounds.iter().find(|(r, _)| *r == round);
        value.map(|(_, value)| *value)
    };
    let Some(loaded) = view.values(system, run.first, "loaded.allocated") else {
        return Vec::new();
    };
    let grown = loaded.rounds.iter().filter_map(|(round, loaded)| {
        let end = in_round(run.last, "size.allocated", *round)?;
        let orders = run.steps.iter();
        let orders: Option<f64> = orders.map(|step| in_round(step, "committed", *round)).sum();
        Some((
            orders.filter(|orders| *orders > 0.0)?,
            (end - loaded) * f64::from(1 << 20),
        ))
    });
    grown.collect()
}

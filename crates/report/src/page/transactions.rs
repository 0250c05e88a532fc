//! The TPC-C-like workload: what its published report shows, and what proves it.

use maud::{Markup, html};
use model::Step;

use super::figures::Figure;
use super::legend::legend;
use super::part::part;
use super::table::{folded, table, tone};
use crate::chart::levels::{Level, LevelRow, levels};
use crate::transactions::{Moment, Quantity, about};
use crate::{Report, Seen, Transactions, format};

/// What the charts of this section look like; only pages with such a section carry it.
pub(super) const STYLE: &str = include_str!("../../assets/transactions.css");

/// Charts relative to the base, then the tables; nothing for other workloads.
pub(super) fn transactions(report: &Report<'_>) -> Markup {
    let Some(run) = Transactions::of(report) else {
        return html! {};
    };
    let ends = run.ends();
    let steps = run.steps.iter().copied();
    let between: Vec<&Step> = steps.filter(|step| !ends.contains(step)).collect();
    let content = html! {
        p.note { (about(run.spec)) }
        @if report.has_candidates() {
            (legend(report))
            div.pair { @for quantity in run.quantities(report) { (chart(report, &quantity)) } }
            (folded(&report.relative_of_run(&run)))
        }
        (table(&report.grown(&run)))
        @for one in report.runs(&ends) { (table(&one)) }
        @for one in report.runs(&between) { (folded(&one)) }
        (table(&report.limits(&run, &ends)))
        @if !between.is_empty() { (folded(&report.limits(&run, &between))) }
        (folded(&report.audit(&run, &run.steps)))
    };
    part("transactions", "Transactions", &content)
}

/// A quantity relative to the base.
pub(super) fn chart(report: &Report<'_>, quantity: &Quantity<'_>) -> Figure {
    let rows: Vec<LevelRow> = report
        .systems
        .iter()
        .map(|system| LevelRow { of: system.series(), levels: levels_of(report, system, quantity) })
        .collect();
    Figure { title: quantity.title.to_owned(), chart: levels(&rows, report.base) }
}

fn levels_of(report: &Report<'_>, system: &Seen<'_>, quantity: &Quantity<'_>) -> Vec<Level> {
    let moments = quantity.moments.iter();
    moments.map(|moment| level(report, system, moment)).collect()
}

fn level(report: &Report<'_>, system: &Seen<'_>, moment: &Moment<'_>) -> Level {
    let cell = report.relative_cell(system, moment.step, moment.metric);
    let comparison = report.comparison(system.name, moment.step, moment.metric);
    Level {
        label: moment.label.clone(),
        value: cell.value,
        ends: comparison.and_then(|c| format::finite_pair(c.low, c.high)),
        text: cell.shown(),
        tone: tone(cell.tone).unwrap_or_default(),
    }
}

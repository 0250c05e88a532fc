//! The TPC-C-like workload: what its published report shows, and what proves it.

use maud::{Markup, html};
use model::StepInfo;

use super::figures::Figure;
use super::legend::legend;
use super::part::part;
use super::table::{folded, table, tone};
use crate::chart::levels::{Level, LevelRow, levels};
use crate::chart::style::Style;
use crate::format;
use crate::tables;
use crate::transactions::{Moment, Quantity, Transactions, about};
use crate::view::{Seen, View};

/// What the charts of this section look like; only pages with such a section carry it.
pub(super) const STYLE: &str = include_str!("../../assets/transactions.css");

/// Charts relative to the base, then the tables; nothing for other workloads.
pub(super) fn transactions(view: &View<'_>) -> Markup {
    let Some(run) = Transactions::of(view) else {
        return html! {};
    };
    let ends = run.ends();
    let steps = run.steps.iter().copied();
    let between: Vec<&StepInfo> = steps.filter(|step| !ends.contains(step)).collect();
    let content = html! {
        p.note { (about(run.spec)) }
        @if view.has_candidates() {
            (legend(view))
            div.pair { @for quantity in run.quantities(view) { (chart(view, &quantity)) } }
            (folded(&tables::view_relative_transactions(view, &run)))
        }
        (table(&tables::view_grown(view, &run)))
        @for one in tables::view_runs(view, &ends) { (table(&one)) }
        @for one in tables::view_runs(view, &between) { (folded(&one)) }
        (table(&tables::view_limits(view, &run, &ends)))
        @if !between.is_empty() { (folded(&tables::view_limits(view, &run, &between))) }
        (folded(&tables::view_audit(view, &run, &run.steps)))
    };
    part("transactions", "Transactions", &content)
}

/// A quantity relative to the base.
pub(super) fn chart(view: &View<'_>, quantity: &Quantity<'_>) -> Figure {
    let rows: Vec<LevelRow> = view
        .systems
        .iter()
        .map(|system| LevelRow {
            style: Style(system.index),
            key: system.key.clone(),
            name: system.name.to_owned(),
            levels: levels_of(view, system, quantity),
        })
        .collect();
    Figure {
        title: quantity.title.to_owned(),
        chart: levels(&rows, view.base),
    }
}

fn levels_of(view: &View<'_>, system: &Seen<'_>, quantity: &Quantity<'_>) -> Vec<Level> {
    let moments = quantity.moments.iter();
    moments.map(|moment| level(view, system, moment)).collect()
}

fn level(view: &View<'_>, system: &Seen<'_>, moment: &Moment<'_>) -> Level {
    let cell = tables::view_relative_cell(view, system, moment.step, moment.metric);
    let comparison = view.comparison(system.name, moment.step, moment.metric);
    Level {
        label: moment.label.clone(),
        value: cell.value,
        ends: comparison.and_then(|c| format::finite_pair(c.low, c.high)),
        text: cell.shown(),
        tone: tone(cell.tone).unwrap_or_default(),
    }
}

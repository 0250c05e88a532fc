//! The TPC-C-like workload: what its published report shows, and what proves it.

use maud::{Markup, html};
use model::Step;

use super::figures::Figure;
use super::sections::part;
use super::table::{folded, legend, table, tone};
use crate::chart::ratios::{Level, LevelRow, levels};
use crate::chart::rows::Said;
use crate::report::At;
use crate::transactions::{Moment, Quantity, about};
use crate::{Report, Transactions, format};

/// What the charts of this section look like; only pages with such a section carry it.
pub(super) const STYLE: &str = include_str!("../../assets/transactions.css");

/// Charts relative to the base, then the tables; nothing for other workloads.
pub(super) fn transactions(report: &Report<'_>) -> Markup {
    let Some(run) = Transactions::of(report) else { return html! {} };
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

pub(super) fn chart(report: &Report<'_>, quantity: &Quantity<'_>) -> Figure {
    let rows = report.systems.iter().map(|system| {
        let moments = quantity.moments.iter();
        let levels = moments.map(|moment| level(report.at(system, moment.step), moment)).collect();
        LevelRow { of: system.series(), levels }
    });
    let rows: Vec<LevelRow> = rows.collect();
    Figure { title: quantity.title.to_owned(), chart: levels(&rows, report.base) }
}

fn level(at: At<'_>, moment: &Moment<'_>) -> Level {
    let cell = at.relative(moment.metric);
    let comparison = at.comparison(moment.metric);
    Level {
        value: cell.value,
        ends: comparison.and_then(|c| format::finite_pair(c.low, c.high)),
        said: Said {
            plain: moment.label.clone(),
            verdict: cell.shown(),
            tone: tone(cell.tone).unwrap_or_default(),
        },
    }
}

//! What operations cost, how large everything grew, what failed.

use maud::{Markup, html};
use model::{Group, Metric, Part};

use super::sections::part;
use super::table::{bare, folded, table};
use crate::{Report, Table};

const GROUPS: [(Group, &str); 3] =
    [(Group::Server, "Server"), (Group::Host, "Host, client included"), (Group::Client, "Client")];

/// Nothing where none was measured, as in most results of other tools.
pub(super) fn costs(report: &Report<'_>) -> Markup {
    if !report.has_costs() {
        return html! {};
    }
    let groups = GROUPS.into_iter().map(|(group, name)| (name, metrics(report, group)));
    let groups = groups.filter(|(_, tables)| report.differing_only || !tables.is_empty());
    let content = html! {
        p.note { "Throughput says that something changed, cost per operation often says why: it usually varies less from run to run than throughput does." }
        @if report.is_brief {
            p.note {
                "The main costs" @if report.differing_only { ", only of steps where one certainly differs" }
                "; the whole report has all."
            }
        }
        @for (place, (name, tables)) in groups.enumerate() { (cost_group(report, name, tables, place == 0)) }
    };
    part("costs", "Cost per operation", &content)
}

/// Absolute values, and those relative to the base.
type Pair = (Table, Option<Table>);

/// Of a sweep, whose tables have hundreds of rows, and in a short page only the main ones; sections of steps have all.
fn metrics(report: &Report<'_>, group: Group) -> Vec<Pair> {
    let has_all = report.sweep.is_none() && !report.is_brief;
    let has_room = |metric: &&Metric| has_all || metric.part == Part::Cost { main: true };
    let most = match (report.differing_only, &report.sweep) {
        (true, Some(_)) => 1,
        (true, None) | (false, _) => usize::MAX,
    };
    let tables = report.cost_metrics(group).filter(has_room).take(most).map(|metric| {
        let one = |relative| report.cost(metric, relative);
        (one(false), report.has_candidates().then(|| one(true)))
    });
    tables.collect()
}

/// The first ratios of the page stand open, except in a sweep; everything else is folded.
fn cost_group(report: &Report<'_>, name: &str, tables: Vec<Pair>, is_first: bool) -> Markup {
    html! {
        h3.group { (name) }
        @if tables.is_empty() { p.nothing { "Nothing certainly differs." } }
        @for (place, (absolute, relative)) in tables.into_iter().enumerate() {
            @let is_open = is_first && place == 0 && report.sweep.is_none();
            @if is_open && let Some(relative) = &relative { (table(relative)) }
            details {
                summary { (absolute.title) }
                (bare(&absolute))
                @if !is_open && let Some(relative) = &relative {
                    p.note { (relative.note) }
                    (bare(relative))
                }
            }
        }
    }
}

/// Nothing where none was measured.
pub(super) fn sizes(report: &Report<'_>) -> Markup {
    if !report.has_sizes() {
        return html! {};
    }
    let sizes = report.sizes();
    let content = html! {
        @if sizes.is_empty() {
            p.nothing { "Nothing certainly differs." }
        }
        @for one in &sizes { (folded(one)) }
    };
    part("sizes", "Sizes", &content)
}

/// Nothing where another tool measured and told of no error: whether all succeeded is not known.
pub(super) fn errors(report: &Report<'_>) -> Markup {
    let content = match report.errors() {
        Some(errors) => table(&errors),
        None if report.input.data.info.is_imported() => return html! {},
        None => html! { p.nothing { "No operation failed and none was repeated." } },
    };
    part("errors", "Errors", &content)
}

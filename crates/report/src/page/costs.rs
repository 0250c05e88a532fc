//! What operations cost, how large everything grew, what failed.

use maud::{Markup, html};
use model::{Group, Metric, Part};

use super::sections::part;
use super::table::{bare, folded, table};
use crate::Report;

const GROUPS: [(Group, &str); 3] =
    [(Group::Server, "Server"), (Group::Host, "Host, client included"), (Group::Client, "Client")];

/// Nothing where none was measured, as in most results of other tools.
pub(super) fn costs(report: &Report<'_>) -> Markup {
    if !report.has_costs() {
        return html! {};
    }
    let content = html! {
        p.note { "Throughput says that something changed, cost per operation often says why: it usually varies less from run to run than throughput does." }
        @if report.is_brief {
            p.note {
                "The main costs" @if report.differing_only { ", only of steps where one certainly differs" }
                "; the whole report has all."
            }
        }
        @for (group, name) in GROUPS { (cost_group(report, group, name)) }
    };
    part("costs", "Cost per operation", &content)
}

/// The first metric of a group stands open, the others are folded; each absolute, then relative. Of dozens
/// of steps only what is relative stands open, in a sweep nothing. Of a sweep, whose every table has hundreds of
/// rows, and in a page that is made to be short only the main ones are shown; a step's own section has all of them.
fn cost_group(report: &Report<'_>, group: Group, name: &str) -> Markup {
    let metrics = report.cost_metrics(group);
    let has_all = report.sweep.is_none() && !report.is_brief;
    let has_room = |metric: &&Metric| has_all || metric.part == Part::Cost { main: true };
    let most = match (report.differing_only, &report.sweep) {
        (true, Some(_)) => 1,
        (true, None) | (false, _) => usize::MAX,
    };
    let mut tables = metrics.filter(has_room).take(most).map(|metric| {
        let one = |relative| report.cost(metric, relative);
        (one(false), report.has_candidates().then(|| one(true)))
    });
    html! {
        h3.group { (name) }
        @match tables.next() {
            None if report.differing_only => { p.nothing { "Nothing certainly differs." } }
            None => { p.nothing { "Not measured in this run." } }
            Some((absolute, Some(relative))) if report.is_by_step() => {
                @if report.sweep.is_some() { (folded(&relative)) } @else { (table(&relative)) }
                (folded(&absolute))
            }
            Some((absolute, relative)) => {
                (table(&absolute))
                @if let Some(relative) = relative { (table(&relative)) }
            }
        }
        @for (absolute, relative) in tables {
            details {
                summary { (absolute.title) }
                (bare(&absolute))
                @if let Some(relative) = relative {
                    p.note { (relative.note) }
                    (bare(&relative))
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
        @for (place, one) in sizes.iter().enumerate() {
            @if place == 0 { (table(one)) } @else { (folded(one)) }
        }
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

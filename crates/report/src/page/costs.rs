//! What operations cost, how large everything grew, what failed.

use maud::{Markup, html};
use model::Group;

use super::part::part;
use super::table::{bare, folded, table};
use crate::tables;
use crate::view::View;

const GROUPS: [(Group, &str); 3] = [
    (Group::Server, "Server"),
    (Group::Host, "Host, client included"),
    (Group::Client, "Client"),
];

/// Nothing where none was measured, as in most results of other tools.
pub(super) fn costs(view: &View<'_>) -> Markup {
    if !tables::has_costs(view) {
        return html! {};
    }
    let content = html! {
        p.note { "Throughput says that something changed, cost per operation often says why: it usually varies less from run to run than throughput does." }
        @if view.is_brief {
            p.note {
                "The main costs" @if view.differing_only { ", and of the steps those in which one certainly differs" }
                "; the whole report has all."
            }
        }
        @for (group, name) in GROUPS { (cost_group(view, group, name)) }
    };
    part("costs", "Cost per operation", &content)
}

/// Of a sweep, whose every table has hundreds of rows, and in a page that is made to be short only these are
/// shown; a step's own section has all of them.
const MAIN: [&str; 6] = [
    "server.cpu/o",
    "server.cs/o",
    "cpu/o",
    "cs/o",
    "wKB/o",
    "client.cpu/o",
];

/// The first metric of a group stands open, the others are folded; each absolute, then relative. Of dozens
/// of steps only what is relative stands open, in a sweep nothing.
fn cost_group(view: &View<'_>, group: Group, name: &str) -> Markup {
    let metrics = tables::view_cost_metrics(view, group);
    let has_all = view.sweep.is_none() && !view.is_brief;
    let has_room = |metric: &&str| has_all || MAIN.contains(metric);
    let most = match (view.differing_only, &view.sweep) {
        (true, Some(_)) => 1,
        (true, None) | (false, _) => usize::MAX,
    };
    let mut tables = metrics.filter(has_room).take(most).map(|metric| {
        let one = |relative| tables::view_cost(view, metric, relative);
        (one(false), view.has_candidates().then(|| one(true)))
    });
    html! {
        h3.group { (name) }
        @match tables.next() {
            None if view.differing_only => { p.nothing { "Nothing certainly differs." } }
            None => { p.nothing { "Not measured in this run." } }
            Some((absolute, Some(relative))) if view.is_by_step() => {
                @if view.sweep.is_some() { (folded(&relative)) } @else { (table(&relative)) }
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
pub(super) fn sizes(view: &View<'_>) -> Markup {
    if !tables::has_sizes(view) {
        return html! {};
    }
    let sizes = tables::view_sizes(view);
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
pub(super) fn errors(view: &View<'_>) -> Markup {
    let content = match tables::view_errors(view) {
        Some(errors) => table(&errors),
        None if view.input.data.info.is_imported() => return html! {},
        None => html! { p.nothing { "No operation failed and none was repeated." } },
    };
    part("errors", "Errors", &content)
}

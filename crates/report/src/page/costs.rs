//! What operations cost, how large everything grew, what failed.

use maud::{Markup, html};
use model::Group;

use super::table::{bare, folded, table};
use crate::tables;
use crate::view::View;

const GROUPS: [(Group, &str); 3] = [
    (Group::Server, "Server"),
    (Group::Host, "Host, client included"),
    (Group::Client, "Client"),
];

pub(super) fn costs(view: &View<'_>) -> Markup {
    html! {
        section #costs {
            h2 { "Cost per operation" }
            p.note { "Throughput says that something changed, cost per operation often says why: it usually varies less from run to run than throughput does." }
            @for (group, name) in GROUPS { (cost_group(view, group, name)) }
        }
    }
}

/// The first metric of a group stands open, the others are folded; each absolute, then relative.
fn cost_group(view: &View<'_>, group: Group, name: &str) -> Markup {
    let absolute = tables::view_costs(view, group, false);
    let relative = tables::view_costs(view, group, true);
    let mut both = absolute.iter().zip(&relative);
    html! {
        h3.group { (name) }
        @match both.next() {
            None => { p.nothing { "Not measured in this run." } }
            Some((absolute, relative)) => {
                (table(absolute))
                @if view.has_candidates() { (table(relative)) }
            }
        }
        @for (absolute, relative) in both {
            details {
                summary { (absolute.title) }
                (bare(absolute))
                @if view.has_candidates() {
                    p.note { (relative.note) }
                    (bare(relative))
                }
            }
        }
    }
}

pub(super) fn sizes_and_errors(view: &View<'_>) -> Markup {
    let sizes = tables::view_sizes(view);
    html! {
        section #sizes {
            h2 { "Sizes" }
            @if sizes.is_empty() { p.nothing { "Not measured in this run." } }
            @for (place, one) in sizes.iter().enumerate() {
                @if place == 0 { (table(one)) } @else { (folded(one)) }
            }
            h2 #errors { "Errors" }
            @match tables::view_errors(view) {
                Some(errors) => { (table(&errors)) }
                None => { p.nothing { "No operation failed and none was repeated." } }
            }
        }
    }
}

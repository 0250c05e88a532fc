//! The report as one page: no network, readable without scripts.

mod costs;
mod figures;
mod legend;
mod matrix;
mod methods;
mod over_clients;
mod provenance;
mod sections;
mod shared;
mod step;
mod summary;
mod table;
mod transactions;
mod trials;

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

use self::sections::Sections;
use self::step::Extent;
use crate::chart::style::shapes;
use crate::view::View;
use crate::{Input, format, tables};

const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");

/// One self-contained HTML file. Names are escaped everywhere; scripts only add sorting, toggles and
/// values under the pointer.
pub fn html(input: &Input<'_>) -> String {
    page(input, Extent::Whole)
}

/// The same with less of each step: only the operations that it is about, without the tables of buckets and
/// rounds. Half the size or less. Of workloads with dozens of steps only those in which something differs.
pub fn html_brief(input: &Input<'_>) -> String {
    page(input, Extent::Brief)
}

fn page(input: &Input<'_>, extent: Extent) -> String {
    let mut view = View::new(input);
    view.is_brief = extent == Extent::Brief;
    view.differing_only = view.is_brief && view.is_by_step();
    let sections = Sections::of(&view, extent);
    let title = &input.data.info.plan.name;
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
                link rel="icon" href="data:,";
                title { (title) " · backslide" }
                style { (PreEscaped(STYLE)) }
                @if view.has_transactions() { style { (PreEscaped(transactions::STYLE)) } }
            }
            body {
                (shapes())
                (head(&view, &sections))
                main { (body(&view, extent, &sections)) }
                footer { "Made by backslide " (input.data.info.backslide) ", " (input.generated) "." }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    let page = page.into_string();
    if view.is_brief {
        shared::without_local_paths(&page)
    } else {
        page
    }
}

fn head(view: &View<'_>, sections: &Sections) -> Markup {
    let info = &view.input.data.info;
    markup! {
        header {
            h1 { (info.plan.name) }
            p.facts {
                span { "run " (info.id) } " "
                span { (format::plural(view.systems.len(), "system")) " × "
                    (format::plural(view.steps.len(), "step")) " × "
                    (format::plural(info.plan.rounds as usize, "round")) } " "
                span { (format::host(info)) } " "
                span { (info.started) }
            }
            nav aria-label="Contents" {
                a href="#summary" { "What happened" }
                a href="#matrix" { "Ratios" }
                @if view.has_transactions() { a href="#transactions" { "Transactions" } }
                a href="#tables" { "Tables" }
                @if view.sweep.is_some() { a href="#sweep" { "Clients" } }
                a href="#costs" { "Cost" }
                (links(view, sections))
                a href="#sizes" { "Sizes" }
                a href="#provenance" { "Provenance" }
                a href="#methods" { "Methods" }
            }
        }
    }
}

/// Links to the steps, or to the groups of those that have one.
fn links(view: &View<'_>, sections: &Sections) -> Markup {
    markup! {
        @for (number, group) in view.groups.iter().enumerate() {
            @if group.title.is_empty() {
                @for place in group.places.clone().filter(|place| sections.has(*place)) {
                    @if let Some(step) = view.steps.get(place) {
                        a.step href={ "#step-" (place) } { (view.label(step)) }
                    }
                }
            } @else if group.places.clone().any(|place| sections.has(place)) {
                a.step href={ "#group-" (number) } { (group.title) }
            }
        }
    }
}

fn body(view: &View<'_>, extent: Extent, sections: &Sections) -> Markup {
    markup! {
        (summary::summary(view))
        (matrix::matrix(view, sections))
        (transactions::transactions(view))
        section #tables {
            h2 { "Throughput" }
            (throughput(view))
            @if let Some(background) = tables::view_background(view) { (table::table(&background)) }
            @if let Some(open_loop) = tables::view_open_loop(view) { (table::table(&open_loop)) }
        }
        (over_clients::over_clients(view))
        (costs::costs(view))
        (sections.note())
        (steps(view, extent, sections))
        (costs::sizes_and_errors(view))
        (trials::failed(view))
        (provenance::provenance(view))
        (methods::methods(view))
    }
}

/// Absolute, then relative. In a sweep the ratios are in the matrix already.
fn throughput(view: &View<'_>) -> Markup {
    let absolute = tables::view_throughput(view);
    markup! {
        @for (place, one) in absolute.iter().enumerate() {
            @if place == 0 { (table::table(one)) } @else { (table::folded(one)) }
        }
        @if view.has_candidates() && view.sweep.is_none() {
            @let relative = tables::view_relative(view);
            @if !relative.has_rows() {
                // All steps are decided by something else.
            } @else if view.is_by_step() { (table::folded(&relative)) } @else { (table::table(&relative)) }
        }
    }
}

fn steps(view: &View<'_>, extent: Extent, sections: &Sections) -> Markup {
    let detail = step::Detail::of(view, extent, sections);
    markup! {
        @for (number, group) in view.groups.iter().enumerate() {
            @let places: Vec<usize> = group.places.clone().filter(|place| sections.has(*place)).collect();
            @if !(group.title.is_empty() || places.is_empty()) {
                h2.group id={ "group-" (number) } { (group.title) }
            }
            @for place in places {
                @if let Some(one) = view.steps.get(place) { (step::step(view, place, one, detail)) }
            }
        }
    }
}

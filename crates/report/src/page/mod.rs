//! The report as one page: no network, readable without scripts.

mod costs;
mod figures;
mod legend;
mod matrix;
mod methods;
mod provenance;
mod step;
mod summary;
mod table;
mod trials;

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

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
/// rounds. Half the size or less.
pub fn html_brief(input: &Input<'_>) -> String {
    page(input, Extent::Brief)
}

fn page(input: &Input<'_>, extent: Extent) -> String {
    let view = View::new(input);
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
            }
            body {
                (shapes())
                (head(&view))
                main { (body(&view, extent)) }
                footer { "Made by backslide " (input.data.info.backslide) ", " (input.generated) "." }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn head(view: &View<'_>) -> Markup {
    let info = &view.input.data.info;
    markup! {
        header {
            h1 { (info.plan.name) }
            p.facts {
                span { "run " (info.id) } " "
                span { (format::plural(view.systems.len(), "system")) " × "
                    (format::plural(view.steps.len(), "step")) " × "
                    (format::plural(info.plan.rounds as usize, "round")) } " "
                span { (info.host.name) ", " (info.host.shape.cpus) " CPUs, " (info.host.shape.memory) } " "
                span { (info.started) }
            }
            nav aria-label="Contents" {
                a href="#summary" { "What happened" }
                a href="#matrix" { "Ratios" }
                a href="#tables" { "Tables" }
                a href="#costs" { "Cost" }
                @for (place, step) in view.steps.iter().enumerate() {
                    a.step href={ "#step-" (place) } { (view.label(step)) }
                }
                a href="#sizes" { "Sizes" }
                a href="#provenance" { "Provenance" }
                a href="#methods" { "Methods" }
            }
        }
    }
}

fn body(view: &View<'_>, extent: Extent) -> Markup {
    let detail = step::Detail::of(view, extent);
    markup! {
        (summary::summary(view))
        (matrix::matrix(view))
        section #tables {
            h2 { "Throughput" }
            (table::table(&tables::view_absolute(view)))
            @if view.has_candidates() { (table::table(&tables::view_relative(view))) }
            @if let Some(background) = tables::view_background(view) { (table::table(&background)) }
        }
        (costs::costs(view))
        @for (place, one) in view.steps.iter().enumerate() {
            (step::step(view, place, one, detail))
        }
        (costs::sizes_and_errors(view))
        (trials::failed(view))
        (provenance::provenance(view))
        (methods::methods(view))
    }
}

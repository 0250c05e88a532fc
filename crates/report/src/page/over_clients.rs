//! Sweeps: ratios at a glance, then each test over its client counts.

use maud::{Markup, html};
use model::MetricId;

use super::figures::figure;
use super::legend::{chip, legend, name, role};
use super::matrix::{ratio, word};
use super::table::{heading, table, tone};
use crate::chart::style::Style;
use crate::chart::sweep::{SweepLine, SweepMark, sweep as chart};
use crate::format;
use crate::sweep::{Crossover, Sweep, Test, view_crossovers};
use crate::tables;
use crate::view::{Seen, View};

/// For each candidate, tests × client counts; a test's name leads to its chart.
pub(super) fn matrices(view: &View<'_>, sweep: &Sweep) -> Markup {
    html! {
        p.note {
            "Each system against " strong { (view.base) } ", tests in rows, numbers of clients in columns. Orange with ↓ is slower, blue with ↑ is faster; ? is not decided; without either it is the same. A test's name leads to its chart, with the intervals."
        }
        @for system in view.candidates() {
            h3.table-title data-system=(system.key) { (chip(system)) " " (name(system.name)) (role(system)) }
            div.scroll tabindex="0" role="region" aria-label={ (system.name) " over numbers of clients" } data-system=(system.key) {
                (one_matrix(view, sweep, system))
            }
        }
    }
}

fn one_matrix(view: &View<'_>, sweep: &Sweep, system: &Seen<'_>) -> Markup {
    let tests: Vec<(usize, &Test)> = sweep.tests.iter().enumerate().collect();
    html! {
        table.matrix.swept {
            thead { tr {
                th scope="col" { "test" }
                @for count in &sweep.clients { th scope="col" { (count) } }
            } }
            @for group in tests.chunk_by(|a, b| a.1.group == b.1.group) {
                tbody {
                    @if let Some(title) = group.first().map(|(_, test)| &test.group).filter(|t| !t.is_empty()) {
                        (heading(title, sweep.clients.len() + 1))
                    }
                    @for (place, test) in group {
                        tr {
                            th scope="row" { a href={ "#test-" (place) } { (name(&test.name)) } }
                            @for count in &sweep.clients { (cell(view, system, test, *count)) }
                        }
                    }
                }
            }
        }
    }
}

fn cell(view: &View<'_>, system: &Seen<'_>, test: &Test, count: u32) -> Markup {
    let step = test.at(view, count);
    let comparison = step.and_then(|step| view.comparison(system.name, step, MetricId::RATE));
    let Some((comparison, ratio)) = comparison.and_then(|c| Some((c, c.ratio?))) else {
        return html! { td.muted { (format::ABSENT) } };
    };
    let (colour, sign) = tables::verdict_sign(comparison);
    html! {
        td class=[tone(colour)] title=[format::interval(comparison)] {
            (format::ratio(ratio)) " " b { (sign) }
        }
    }
}

/// A chart for each test, then its tables folded; crossovers before them.
pub(super) fn over_clients(view: &View<'_>) -> Markup {
    let Some(sweep) = &view.sweep else {
        return html! {};
    };
    let tests: Vec<(usize, &Test)> = sweep.tests.iter().enumerate().collect();
    html! {
        section #sweep {
            h2 { "Over the number of clients" }
            p.note {
                "Throughput relative to " strong { (view.base) } " at each number of clients, both axes on log scales; bars are 95 % intervals, orange is slower and blue is faster for certain."
            }
            (crossings(&view_crossovers(view)))
            (legend(view))
            @for group in tests.chunk_by(|a, b| a.1.group == b.1.group) {
                @if let Some(title) = group.first().map(|(_, test)| &test.group).filter(|t| !t.is_empty()) {
                    h3.group { (title) }
                }
                div.multiples {
                    @for (place, test) in group { (one_test(view, sweep, *place, test)) }
                }
            }
        }
    }
}

fn crossings(found: &[Crossover]) -> Markup {
    html! {
        @if found.is_empty() {
            p.nothing { "No system certainly passes the base or falls behind it between two numbers of clients." }
        } @else {
            ul.prose.crossings {
                @for one in found { li { strong { (one.test) } ": " (one.text) "." } }
            }
        }
    }
}

fn one_test(view: &View<'_>, sweep: &Sweep, place: usize, test: &Test) -> Markup {
    let lines: Vec<SweepLine> = view
        .candidates()
        .map(|system| line(view, test, system))
        .collect();
    let label = format!(
        "{} relative to {} over numbers of clients",
        test.name, view.base
    );
    let drawn = chart(&lines, &sweep.clients, &label);
    html! {
        div.multiple id={ "test-" (place) } {
            (figure(&test.name, &drawn))
            @if !view.differing_only { (numbers(view, test)) }
        }
    }
}

fn numbers(view: &View<'_>, test: &Test) -> Markup {
    html! {
        details {
            summary { "Numbers" }
            @if view.has_candidates() { (table(&tables::view_relative_of_test(view, test))) }
            (table(&tables::view_absolute_of_test(view, test)))
            @if let Some(scale_up) = tables::view_scale_up(view, std::slice::from_ref(test)) {
                (table(&scale_up))
            }
        }
    }
}

fn line(view: &View<'_>, test: &Test, system: &Seen<'_>) -> SweepLine {
    let marks = test.steps(view).filter_map(|step| {
        let comparison = view.comparison(system.name, step, MetricId::RATE)?;
        Some(SweepMark {
            clients: step.clients,
            ratio: ratio(comparison)?,
            text: format!(
                "{}, {}: {} {}",
                system.key,
                format::plural(step.clients as usize, "client"),
                format::ratio_and_interval(comparison),
                word(&comparison.verdict)
            ),
            tone: tone(tables::verdict_tone(&comparison.verdict))
                .filter(|tone| *tone != "muted")
                .unwrap_or_default(),
        })
    });
    SweepLine {
        style: Style(system.index),
        key: system.key.clone(),
        marks: marks.collect(),
    }
}

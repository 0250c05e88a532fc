//! Sweeps: ratios at a glance, then each test over its client counts.

use maud::{Markup, html};
use model::{Comparison, MetricId};

use super::evidence::Cells;
use super::figures::Figure;
use super::legend::{chip, legend, name, role};
use super::matrix::{COLOURS, ratio, shade, with_sign, word};
use super::part::part;
use super::sections::Sections;
use super::table::{heading, table, tone};
use crate::chart::style::Style;
use crate::chart::sweep::{SweepLine, SweepMark, sweep as chart};
use crate::format;
use crate::sweep::{Crossover, Sweep, Test, view_crossovers};
use crate::tables;
use crate::view::{Seen, View};

/// For each candidate, tests × client counts; a test's name leads to its chart.
pub(super) fn matrices(
    view: &View<'_>,
    sweep: &Sweep,
    sections: &Sections,
    cells: &Cells,
) -> Markup {
    let cell = |system: &Seen<'_>, number: usize, test: &Test, count: u32| {
        let place = test.place_at(view, count);
        let step = place.and_then(|place| view.steps.get(place));
        let comparison = step.and_then(|step| view.comparison(system.name, step, MetricId::RATE));
        let Some((place, comparison)) = place.zip(comparison) else {
            return html! { td.muted { (format::ABSENT) } };
        };
        let elsewhere = format!("#test-{number}");
        let link = cells.link(sections, system, place, &elsewhere);
        html! {
            td class=[shade(comparison)] title=[interval_or_reason(comparison)] {
                (link.around(&with_sign(comparison)))
            }
        }
    };
    html! {
        p.note {
            "Each system against " strong { (view.base) } ", tests in rows, numbers of clients in columns. ↓ is slower, ↑ is faster; ? is not decided; without either it is the same. "
            (COLOURS) " A cell opens what its verdict rests on; a test's name leads to its chart, with the intervals."
        }
        @for system in view.candidates() {
            h3.table-title data-system=(system.key) { (chip(system)) " " (name(system.name)) (role(system)) }
            div.scroll tabindex="0" role="group" aria-label={ (system.name) " over numbers of clients" } data-system=(system.key) {
                (one_matrix(sweep, |number, test, count| cell(system, number, test, count)))
            }
        }
    }
}

/// What a cell has no room for.
fn interval_or_reason(comparison: &Comparison) -> Option<String> {
    let reason = || Some(comparison.verdict.reason()).filter(|reason| !reason.is_empty());
    format::interval(comparison).or_else(reason)
}

fn one_matrix(sweep: &Sweep, cell: impl Fn(usize, &Test, u32) -> Markup) -> Markup {
    let tests: Vec<(usize, &Test)> = sweep.tests.iter().enumerate().collect();
    html! {
        table.matrix.swept {
            caption { "clients" }
            thead { tr {
                th scope="col" { "test" }
                @for count in &sweep.clients { th scope="col" { (count) } }
            } }
            @for group in tests.chunk_by(|a, b| a.1.group == b.1.group) {
                tbody {
                    @if let Some(title) = group.first().map(|(_, test)| &test.group).filter(|t| !t.is_empty()) {
                        (heading(title, sweep.clients.len() + 1))
                    }
                    @for &(number, test) in group {
                        tr data-step=[shown_by(test)] {
                            th scope="row" { a href={ "#test-" (number) } { (name(&test.name)) } }
                            @for count in &sweep.clients { (cell(number, test, *count)) }
                        }
                    }
                }
            }
        }
    }
}

/// The place of the step by which a test is shown or hidden: its first.
fn shown_by(test: &Test) -> Option<usize> {
    test.places.first().copied()
}

/// A chart for each test, then its tables folded; crossovers before them.
pub(super) fn over_clients(view: &View<'_>) -> Markup {
    let Some(sweep) = &view.sweep else {
        return html! {};
    };
    let tests: Vec<(usize, &Test)> = sweep.tests.iter().enumerate().collect();
    let content = html! {
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
                @for (number, test) in group { (one_test(view, sweep, *number, test)) }
            }
        }
    };
    part("sweep", "Over the number of clients", &content)
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

fn one_test(view: &View<'_>, sweep: &Sweep, number: usize, test: &Test) -> Markup {
    html! {
        div.multiple id={ "test-" (number) } data-step=[shown_by(test)] {
            (ratios(view, sweep, test))
            @if !view.differing_only { (numbers(view, test)) }
        }
    }
}

/// The ratios of a test to the base, over its client counts.
pub(super) fn ratios(view: &View<'_>, sweep: &Sweep, test: &Test) -> Figure {
    let lines = view.candidates().map(|system| line(view, test, system));
    let label = format!(
        "{} relative to {} over numbers of clients",
        test.name, view.base
    );
    Figure {
        title: test.name.clone(),
        chart: chart(lines.collect(), &sweep.clients, view.base, label),
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

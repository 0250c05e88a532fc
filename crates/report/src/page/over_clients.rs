//! Sweeps: ratios at a glance, then each test over its client counts.

use maud::{Markup, html};
use model::MetricId;

use super::figures::Figure;
use super::judged::{COLOURS, ratio, ratio_and_ends, shade, with_sign, word};
use super::sections::{Page, part};
use super::table::{heading, legend, name, named, table, tone};
use crate::chart::line::{StopMark, SystemLine};
use crate::chart::sweep::sweep as chart;
use crate::{Report, Seen, Sweep, Test, format, verdict};

/// For each candidate, tests × client counts; a test's name leads to its chart.
pub(super) fn matrices(page: &Page<'_, '_>, sweep: &Sweep) -> Markup {
    let report = page.listed;
    let cell = |system: &Seen<'_>, number: usize, test: &Test, count: u32| {
        let place = test.place_at(report, count);
        let step = place.and_then(|place| report.steps.get(place));
        let comparison = step.and_then(|step| report.at(system, step).comparison(MetricId::RATE));
        let Some((place, comparison)) = place.zip(comparison) else {
            return html! { td.muted { (format::ABSENT) } };
        };
        let link = page.link(system, place, &format!("#test-{number}"));
        // What a cell has no room for.
        let reason = || Some(comparison.verdict.reason()).filter(|reason| !reason.is_empty());
        html! {
            td class=[shade(comparison)] title=[format::interval(comparison).or_else(reason)] {
                (link.around(&with_sign(comparison)))
            }
        }
    };
    html! {
        p.note {
            "Each system against " strong { (report.base) } ", tests in rows, numbers of clients in columns. ↓ is slower, ↑ is faster; ? is not decided; without either it is the same. "
            (COLOURS) " Click a cell for its evidence; a test's name leads to its chart, with the intervals."
        }
        @for system in report.candidates() {
            h3.table-title data-system=(system.key) { (named(system)) }
            div.scroll tabindex="0" role="group" aria-label={ (system.name) " over numbers of clients" } data-system=(system.key) {
                (one_matrix(sweep, |number, test, count| cell(system, number, test, count)))
            }
        }
    }
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
pub(super) fn over_clients(report: &Report<'_>) -> Markup {
    let Some(sweep) = &report.sweep else { return html! {} };
    let tests: Vec<(usize, &Test)> = sweep.tests.iter().enumerate().collect();
    let content = html! {
        p.note {
            "Throughput relative to " strong { (report.base) } " at each number of clients, both axes on log scales; bars are 95 % intervals, orange is slower and blue is faster for certain."
        }
        @let crossovers = report.crossovers();
        @if crossovers.is_empty() {
            p.nothing { "No system certainly passes the base or falls behind it between two numbers of clients." }
        } @else {
            ul.prose.crossings { @for one in &crossovers { li { strong { (one.test) } ": " (one.text) "." } } }
        }
        (legend(report))
        @for group in tests.chunk_by(|a, b| a.1.group == b.1.group) {
            @if let Some(title) = group.first().map(|(_, test)| &test.group).filter(|t| !t.is_empty()) {
                h3.group { (title) }
            }
            div.multiples {
                @for (number, test) in group { (one_test(report, sweep, *number, test)) }
            }
        }
    };
    part("sweep", "Over the number of clients", &content)
}

fn one_test(report: &Report<'_>, sweep: &Sweep, number: usize, test: &Test) -> Markup {
    html! {
        div.multiple id={ "test-" (number) } data-step=[shown_by(test)] {
            (ratios(report, sweep, test))
            @if !report.differing_only {
                details {
                    summary { "Numbers" }
                    @if report.has_candidates() { (table(&report.relative_of_test(test))) }
                    (table(&report.absolute_of_test(test)))
                    @if let Some(scale_up) = report.scale_up_of(std::slice::from_ref(test)) { (table(&scale_up)) }
                }
            }
        }
    }
}

pub(super) fn ratios(report: &Report<'_>, sweep: &Sweep, test: &Test) -> Figure {
    let lines = report.candidates().map(|system| line(report, test, system));
    let label = format!("{} relative to {} over numbers of clients", test.name, report.base);
    Figure {
        title: test.name.clone(),
        chart: chart(lines.collect(), &sweep.clients, report.base, label),
    }
}

fn line(report: &Report<'_>, test: &Test, system: &Seen<'_>) -> SystemLine {
    let marks = test.steps(report).filter_map(|step| {
        let comparison = report.at(system, step).comparison(MetricId::RATE)?;
        let clients = format::plural(step.clients as usize, "client");
        let (told, word) = (ratio_and_ends(comparison), word(&comparison.verdict));
        let tone = tone(verdict::tone(&comparison.verdict)).filter(|tone| *tone != "muted");
        Some(StopMark {
            at: step.clients.into(),
            ratio: ratio(comparison)?,
            text: format!("{}, {clients}: {told} {word}", system.key),
            tone: tone.unwrap_or_default(),
        })
    });
    SystemLine::through(marks.collect(), system.series())
}

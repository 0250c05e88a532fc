//! Relative throughput at a glance: systems and steps, each ratio with its interval.

use maud::{Markup, html};
use model::{Comparison, MetricId, Step};

use super::judged::{COLOURS, ratio, ratio_text, shade, with_sign, word};
use super::legend::Link;
use super::legend::{chip, name, role};
use super::part::{Page, part};
use super::{forest, over_clients, table};
use crate::chart::axis::Scale;
use crate::chart::interval::{interval, shared_scale};
use crate::{Report, Seen, format, verdict};

/// From so many cells on a bar in each would take more room than all the rest.
const MANY: usize = 600;

struct Matrix<'m, 'a> {
    report: &'m Report<'a>,
    page: &'m Page<'m, 'a>,
    /// The scale of the bars; `None` where there is no room for them.
    scale: Option<Scale>,
}

/// Of all systems; in a sweep, where each has a table, of those that tables have room for.
pub(super) fn matrix(page: &Page<'_, '_>) -> Markup {
    let report = page.all;
    let title =
        if report.is_all_of_throughput() { "Relative throughput" } else { "Relative to the base" };
    let rates = report.candidates().flat_map(|s| report.decisions(s));
    let scale = shared_scale(rates.filter_map(ratio));
    let has_bars = report.systems.len() * report.steps.len() < MANY;
    let matrix = Matrix { report, page, scale: has_bars.then_some(scale) };
    let content = html! {
        @if !report.has_candidates() {
            p.nothing { "There is one system, and nothing to compare it with." }
        } @else if let Some(sweep) = &page.listed.sweep {
            (over_clients::matrices(page, sweep))
        } @else {
            (how_to_read(&matrix))
            div.scroll tabindex="0" role="group" aria-label=(title) {
                @if report.is_by_step() { (by_step(&matrix)) } @else { (by_system(&matrix)) }
            }
        }
    };
    part("matrix", title, &content)
}

fn how_to_read(matrix: &Matrix<'_, '_>) -> Markup {
    html! {
        p.note {
            "Each system against " strong { (matrix.report.base) } ". "
            @if let Some(scale) = matrix.scale {
                "The bar is the 95 % interval of the ratio on a log scale from "
                (format::ratio(scale.low())) " to " (format::ratio(scale.high()))
                "; the line is 1, the shade is the margin. "
            } @else {
                "↓ is slower, ↑ is faster, ? is not decided. "
            }
            (COLOURS) " Click a cell for its evidence; without scripts it leads to its step."
        }
    }
}

impl Matrix<'_, '_> {
    fn class(&self) -> &'static str {
        match (self.scale, self.report.is_by_step()) {
            (None, _) => "matrix swept",
            (Some(_), true) => "matrix long",
            (Some(_), false) => "matrix",
        }
    }

    /// The ends of its bars, for scripts that draw on them.
    fn ends(&self) -> Option<String> {
        let (low, high) = self.scale.map(|scale| (scale.low(), scale.high()))?;
        Some(format!("{} {}", format::exact(low), format::exact(high)))
    }
}

fn by_system(matrix: &Matrix<'_, '_>) -> Markup {
    let report = matrix.report;
    html! {
        table class=(matrix.class()) data-scale=[matrix.ends()] {
            thead { tr {
                th scope="col" { "system" }
                @for step in report.steps.iter() { th scope="col" { (report.label(step)) } }
            } }
            tbody {
                @for system in &report.systems {
                    tr data-system=(system.key) {
                        th scope="row" { (chip(system)) " " (name(system.name)) (role(system)) }
                        @for (place, step) in report.steps.iter().enumerate() {
                            (cell(matrix, system, place, step))
                        }
                    }
                }
            }
        }
    }
}

fn by_step(matrix: &Matrix<'_, '_>) -> Markup {
    let report = matrix.report;
    html! {
        table class=(matrix.class()) data-scale=[matrix.ends()] {
            thead { tr {
                th scope="col" { "step" }
                @for system in &report.systems {
                    th scope="col" class="n" { (chip(system)) " " (name(system.name)) (role(system)) }
                }
            } }
            @for group in report.groups.iter() {
                tbody {
                    @if !group.title.is_empty() { (table::heading(&group.title, report.systems.len() + 1)) }
                    @for place in group.places.clone() {
                        @if let Some(step) = report.steps.get(place) {
                            tr data-step=(place) {
                                th scope="row" { (matrix.page.sections.link(place).around(&name(&report.label(step)))) }
                                @for system in &report.systems { (cell(matrix, system, place, step)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(matrix: &Matrix<'_, '_>, system: &Seen<'_>, place: usize, step: &Step) -> Markup {
    let report = matrix.report;
    if system.is_base {
        return base_cell(report, step, &matrix.page.sections.link(place));
    }
    let Some(comparison) = report.at(system, step).decision() else {
        return html! { td.muted { (format::ABSENT) } };
    };
    let link = matrix.page.link(system, place, forest::VERDICTS);
    let shown = match matrix.scale {
        Some(scale) => with_bar(comparison, scale),
        None => with_sign(comparison),
    };
    let why = comparison.verdict.reason();
    html! {
        td class=[shade(comparison)] title=[Some(why).filter(|w| !w.is_empty())] { (link.around(&shown)) }
    }
}

fn with_bar(comparison: &Comparison, scale: Scale) -> Markup {
    html! {
        span.ratio { (ratio_text(comparison)) }
        @if let Some(ratio) = ratio(comparison) { (interval(ratio, scale)) }
        span.verdict { (word(&comparison.verdict)) }
        (what(&comparison.metric))
    }
}

fn base_cell(report: &Report<'_>, step: &Step, link: &Link) -> Markup {
    let metric = &step.metric;
    let value = report.median(report.base, step, &metric.0);
    let value = value.and_then(|value| Some((value, report.unit(step, &metric.0)?)));
    let unit_name = |unit| match verdict::deciding_word(metric) {
        None => report.rate_unit_name(step),
        Some(_) => format::header_unit(unit),
    };
    html! {
        td.muted {
            (link.around(&html! {
                @if let Some((value, unit)) = value {
                    span.ratio { (format::in_unit(value, unit)) }
                    span.verdict { (unit_name(unit)) }
                    (what(metric))
                } @else {
                    span.ratio { (format::ABSENT) }
                }
            }))
        }
    }
}

/// What a cell is about, where it is not throughput.
fn what(metric: &MetricId) -> Markup {
    html! { @if let Some(word) = verdict::deciding_word(metric) { span.verdict { " " (word) } } }
}

//! Relative throughput: systems and steps, each ratio with its interval; then the verdicts in words.

use maud::{Markup, html};
use model::{MetricId, Step};

use super::judged::{COLOURS, ratio, ratio_text, shade, with_sign, word};
use super::sections::{Page, part};
use super::table::{Link, linked, name, named};
use super::{over_clients, table};
use crate::chart::axis::Scale;
use crate::chart::rows::{interval, shared_scale};
use crate::report::about;
use crate::{Report, Seen, format, tables, verdict};

/// From so many cells on a bar in each would take more room than all the rest.
const MANY: usize = 600;

struct Matrix<'m, 'a> {
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
    let matrix = Matrix { page, scale: has_bars.then_some(scale) };
    let content = html! {
        @if !report.has_candidates() {
            p.nothing { "There is one system, and nothing to compare it with." }
        } @else if let Some(sweep) = &page.listed.sweep {
            (over_clients::matrices(page, sweep))
        } @else {
            (how_to_read(&matrix))
            div.scroll tabindex="0" role="group" aria-label=(title) {
                table class=(matrix.class()) data-scale=[matrix.scale.map(ends)] {
                    @if report.is_by_step() { (by_step(&matrix)) } @else { (by_system(&matrix)) }
                }
            }
        }
        (verdicts(page))
    };
    part("matrix", title, &content)
}

fn how_to_read(matrix: &Matrix<'_, '_>) -> Markup {
    html! {
        p.note {
            "Each system against " strong { (matrix.page.all.base) } ". "
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
        match (self.scale, self.page.all.is_by_step()) {
            (None, _) => "matrix swept",
            (Some(_), true) => "matrix long",
            (Some(_), false) => "matrix",
        }
    }
}

/// For scripts that draw on the bars.
fn ends(scale: Scale) -> String {
    format!("{} {}", format::exact(scale.low()), format::exact(scale.high()))
}

fn by_system(matrix: &Matrix<'_, '_>) -> Markup {
    let report = matrix.page.all;
    html! {
        thead { tr {
            th scope="col" { "system" }
            @for step in report.steps.iter() { th scope="col" title=(about(step)) { (report.label(step)) } }
        } }
        tbody {
            @for system in &report.systems {
                tr data-system=(system.key) {
                    th scope="row" { (named(system)) }
                    @for (place, step) in report.steps.iter().enumerate() { (cell(matrix, system, place, step)) }
                }
            }
        }
    }
}

fn by_step(matrix: &Matrix<'_, '_>) -> Markup {
    let report = matrix.page.all;
    html! {
        thead { tr {
            th scope="col" { "step" }
            @for system in &report.systems { th scope="col" class="n" { (named(system)) } }
        } }
        @for group in report.groups.iter() {
            tbody {
                @if !group.title.is_empty() { (table::heading(&group.title, report.systems.len() + 1)) }
                @for (place, step) in group.places.clone().zip(report.steps_of(group)) {
                    tr data-step=(place) {
                        th scope="row" title=(about(step)) { (matrix.page.sections.link(place).around(&name(&report.label(step)))) }
                        @for system in &report.systems { (cell(matrix, system, place, step)) }
                    }
                }
            }
        }
    }
}

fn cell(matrix: &Matrix<'_, '_>, system: &Seen<'_>, place: usize, step: &Step) -> Markup {
    let report = matrix.page.all;
    if system.is_base {
        return base_cell(report, step, &matrix.page.sections.link(place));
    }
    let Some(comparison) = report.at(system, step).decision() else {
        return html! { td.muted { (format::ABSENT) } };
    };
    let link = matrix.page.link(system, place, VERDICTS);
    let shown = match matrix.scale {
        Some(scale) => html! {
            span.ratio { (ratio_text(comparison)) }
            @if let Some(ratio) = ratio(comparison) { (interval(ratio, scale)) }
            span.verdict { (word(&comparison.verdict)) }
            (what(&comparison.metric))
        },
        None => with_sign(comparison),
    };
    let why = comparison.verdict.reason();
    html! {
        td class=[shade(comparison)] title=[Some(why).filter(|w| !w.is_empty())] { (link.around(&shown)) }
    }
}

fn base_cell(report: &Report<'_>, step: &Step, link: &Link) -> Markup {
    let metric = &step.metric;
    let value = report.median(report.base, step, &metric.0);
    let unit_name = |unit| match verdict::deciding_word(metric) {
        None => report.rate_unit_name(step),
        Some(_) => format::header_unit(unit),
    };
    let shown = html! {
        @if let Some((value, unit)) = value.zip(report.unit(step, &metric.0)) {
            span.ratio { (format::in_unit(value, unit)) }
            span.verdict { (unit_name(unit)) }
            (what(metric))
        } @else {
            span.ratio { (format::ABSENT) }
        }
    };
    html! { td.muted { (link.around(&shown)) } }
}

/// What a cell is about, where it is not throughput.
fn what(metric: &MetricId) -> Markup {
    html! { @if let Some(word) = verdict::deciding_word(metric) { span.verdict { " " (word) } } }
}

const VERDICTS: &str = "#verdicts";

/// The table of verdicts, folded; what names a step opens its evidence.
fn verdicts(page: &Page<'_, '_>) -> Markup {
    let report = page.listed;
    if report.input.comparisons.is_empty() || report.differing_only && report.sweep.is_some() {
        return html! {};
    }
    let shown = tables::Shown { decided_only: report.differing_only, ..tables::Shown::default() };
    let table = tables::without_same_why(report.verdicts(&shown));
    let links = links(page, &shown);
    html! {
        details #verdicts {
            summary { (table.title) }
            p.note { (table.note) }
            // The first column names the system, the second the step.
            (linked(&table, 1, &links))
        }
    }
}

/// In the order of the rows of the table that shows these.
fn links(page: &Page<'_, '_>, shown: &tables::Shown) -> Vec<Link> {
    let report = page.listed;
    let mut links = Vec::new();
    for system in report.candidates() {
        for place in report.groups.iter().flat_map(|group| group.places.clone()) {
            let step = report.steps.get(place);
            let comparison = step.and_then(|step| report.at(system, step).decision());
            if comparison.is_some_and(|c| shown.shows(&c.metric, c)) {
                links.push(page.link(system, place, VERDICTS));
            }
        }
    }
    links
}

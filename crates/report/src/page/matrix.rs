//! Relative throughput at a glance: systems and steps, each ratio with its interval.

use maud::{Markup, html};
use model::{Comparison, MetricId, StepInfo, Verdict, describe};

use super::evidence::Cells;
use super::part::part;
use super::sections::{Link, Sections};
use super::{forest, legend, over_clients, table};
use crate::chart::interval::{Ratio, interval, shared_scale};
use crate::chart::scale::Scale;
use crate::deciding;
use crate::format;
use crate::tables;
use crate::view::{Seen, View, is_certain, usable_ratio};

/// From so many cells on a bar in each would take more room than all the rest.
const MANY: usize = 600;

/// What all cells of the matrix share.
struct Matrix<'m, 'a> {
    view: &'m View<'a>,
    sections: &'m Sections,
    cells: &'m Cells,
    /// The scale of the bars; `None` where there is no room for them.
    scale: Option<Scale>,
}

/// Of all systems; in a sweep, where each has a table, of those that tables have room for.
pub(super) fn matrix(
    view: &View<'_>,
    listed: &View<'_>,
    sections: &Sections,
    cells: &Cells,
) -> Markup {
    let title = if view.steps.iter().all(|step| view.is_of_throughput(step)) {
        "Relative throughput"
    } else {
        "Relative to the base"
    };
    let rates = view.candidates().flat_map(|s| view.decisions(s.name));
    let scale = shared_scale(rates.filter_map(ratio));
    let has_bars = view.systems.len() * view.steps.len() < MANY;
    let matrix = Matrix {
        view,
        sections,
        cells,
        scale: has_bars.then_some(scale),
    };
    let content = html! {
        @if !view.has_candidates() {
            p.nothing { "There is one system, and nothing to compare it with." }
        } @else if let Some(sweep) = &listed.sweep {
            (over_clients::matrices(listed, sweep, sections, cells))
        } @else {
            (how_to_read(&matrix))
            div.scroll tabindex="0" role="group" aria-label=(title) {
                @if view.is_by_step() { (by_step(&matrix)) } @else { (by_system(&matrix)) }
            }
        }
    };
    part("matrix", title, &content)
}

fn how_to_read(matrix: &Matrix<'_, '_>) -> Markup {
    html! {
        p.note {
            "Each system against " strong { (matrix.view.base) } ". "
            @if let Some(scale) = matrix.scale {
                "The bar is the 95 % interval of the ratio on a log scale from "
                (format::ratio(scale.low())) " to " (format::ratio(scale.high()))
                "; the line is 1, shaded is what is too small to matter. "
            } @else {
                "↓ is slower, ↑ is faster, ? is not decided. "
            }
            (COLOURS) " A cell opens what its verdict rests on; without scripts it leads to its step."
        }
    }
}

/// When a cell of a matrix has a colour.
pub(super) const COLOURS: &str = "Orange is slower and blue is faster, only where the whole interval lies beyond what is too small to matter; a verdict in bold without colour is certain, but its interval reaches that far.";

impl Matrix<'_, '_> {
    /// The class of its table.
    fn class(&self) -> &'static str {
        match (self.scale, self.view.is_by_step()) {
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

/// A row a system, a column a step.
fn by_system(matrix: &Matrix<'_, '_>) -> Markup {
    let view = matrix.view;
    html! {
        table class=(matrix.class()) data-scale=[matrix.ends()] {
            thead { tr {
                th scope="col" { "system" }
                @for step in &view.steps { th scope="col" { (view.label(step)) } }
            } }
            tbody {
                @for system in &view.systems {
                    tr data-system=(system.key) {
                        th scope="row" { (legend::chip(system)) " " (legend::name(system.name)) (legend::role(system)) }
                        @for (place, step) in view.steps.iter().enumerate() {
                            (cell(matrix, system, place, step))
                        }
                    }
                }
            }
        }
    }
}

/// A row a step under the heading of its group, a column a system.
fn by_step(matrix: &Matrix<'_, '_>) -> Markup {
    let view = matrix.view;
    html! {
        table class=(matrix.class()) data-scale=[matrix.ends()] {
            thead { tr {
                th scope="col" { "step" }
                @for system in &view.systems {
                    th scope="col" class="n" { (legend::chip(system)) " " (legend::name(system.name)) (legend::role(system)) }
                }
            } }
            @for group in &view.groups {
                tbody {
                    @if !group.title.is_empty() { (table::heading(&group.title, view.systems.len() + 1)) }
                    @for place in group.places.clone() {
                        @if let Some(step) = view.steps.get(place) {
                            tr data-step=(place) {
                                th scope="row" { (matrix.sections.link(place).around(&legend::name(&view.label(step)))) }
                                @for system in &view.systems { (cell(matrix, system, place, step)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(matrix: &Matrix<'_, '_>, system: &Seen<'_>, place: usize, step: &StepInfo) -> Markup {
    let view = matrix.view;
    if system.is_base {
        return base_cell(view, step, &matrix.sections.link(place));
    }
    let Some(comparison) = view.decision(system.name, step) else {
        return html! { td.muted { (format::ABSENT) } };
    };
    let link = matrix
        .cells
        .link(matrix.sections, system, place, forest::VERDICTS);
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

/// The ratio with a sign instead of a bar and a word.
pub(super) fn with_sign(comparison: &Comparison) -> Markup {
    let (_, sign) = tables::verdict_sign(comparison);
    html! {
        (ratio_text(comparison)) " " b { (sign) }
    }
}

/// The ratio, or that nothing is left.
fn ratio_text(comparison: &Comparison) -> String {
    match comparison.ratio {
        Some(ratio) => format::ratio(ratio),
        None if comparison.verdict.fell_to_zero() => format::number(0.0),
        None => format::ABSENT.to_owned(),
    }
}

fn base_cell(view: &View<'_>, step: &StepInfo, link: &Link) -> Markup {
    let metric = view.deciding(step);
    let value = view.median(view.base, step, &metric.0);
    let value = value.and_then(|value| Some((value, view.unit(step, &metric.0)?)));
    let unit_name = |unit| match deciding::word(&metric) {
        None => view.rate_unit_name(step),
        Some(_) => format::header_unit(unit),
    };
    html! {
        td.muted {
            (link.around(&html! {
                @if let Some((value, unit)) = value {
                    span.ratio { (format::in_unit(value, unit)) }
                    span.verdict { (unit_name(unit)) }
                    (what(&metric))
                } @else {
                    span.ratio { (format::ABSENT) }
                }
            }))
        }
    }
}

/// What a cell is about, where it is not throughput.
fn what(metric: &MetricId) -> Markup {
    html! { @if let Some(word) = deciding::word(metric) { span.verdict { " " (word) } } }
}

/// A verdict on what decides a step, in a word.
pub(super) const fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Regressed => "slower",
        Verdict::Improved => "faster",
        Verdict::Unchanged | Verdict::Inconclusive(_) | Verdict::Incomparable(_) => {
            tables::verdict_word(verdict)
        }
    }
}

/// The class of a cell. It has a colour only where the interval excludes what is too small to matter.
pub(super) fn shade(comparison: &Comparison) -> Option<&'static str> {
    let verdict = &comparison.verdict;
    if is_certain(verdict) && !is_beyond_margin(comparison) {
        Some("edge")
    } else {
        table::tone(tables::verdict_tone(verdict))
    }
}

/// The margin is a factor up or down, as for the verdict.
fn is_beyond_margin(comparison: &Comparison) -> bool {
    let factor = 1.0 + margin(comparison);
    let ends = format::finite_pair(comparison.low, comparison.high);
    comparison.verdict.fell_to_zero()
        || ends.is_some_and(|(low, high)| low > factor || high < 1.0 / factor)
}

/// The smallest change that matters: that of the verdict, else the metric's own.
pub(super) fn margin(comparison: &Comparison) -> f64 {
    let of_metric = || describe(&comparison.metric).map_or(0.0, |is| is.margin);
    let evidence = comparison.evidence.as_ref();
    evidence.map_or_else(of_metric, |evidence| evidence.margin)
}

/// What the charts draw of a comparison; `None` without a ratio.
pub(super) fn ratio(comparison: &Comparison) -> Option<Ratio> {
    Some(Ratio {
        value: usable_ratio(comparison)?,
        ends: format::finite_pair(comparison.low, comparison.high),
        margin: margin(comparison),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Reason, StepId, Unit};

    fn regressed(low: f64, high: f64) -> Comparison {
        Comparison {
            step: StepId::new("l.i0"),
            ordinal: 0,
            clients: 1,
            metric: MetricId::new(MetricId::RATE),
            unit: Unit::RowsPerSecond,
            base: "a".into(),
            system: "b".into(),
            ratio: Some(f64::midpoint(low, high)),
            low: Some(low),
            high: Some(high),
            rounds: 4,
            pairs: Vec::new(),
            q_value: Some(0.001),
            verdict: Verdict::Regressed,
            magnitude: None,
            evidence: None,
        }
    }

    #[test]
    fn a_cell_has_a_colour_only_where_the_interval_excludes_the_margin() {
        // The margin of throughput is a factor of 1.02: 0.9804.
        assert_eq!(shade(&regressed(0.95, 0.97)), Some("regressed"));
        assert_eq!(shade(&regressed(0.95, 0.98)), Some("regressed"));
        assert_eq!(shade(&regressed(0.95, 0.985)), Some("edge"));
        let mut improved = regressed(1.03, 1.05);
        improved.verdict = Verdict::Improved;
        assert_eq!(shade(&improved), Some("improved"));
        improved.low = None;
        assert_eq!(shade(&improved), Some("edge"));
        improved.verdict = Verdict::Unchanged;
        assert_eq!(shade(&improved), None);
    }

    #[test]
    fn what_fell_to_zero_is_told_as_such() {
        let mut fallen = regressed(0.95, 0.97);
        fallen.verdict = Verdict::Incomparable(Reason::FellToZero { rounds: 4 });
        (fallen.ratio, fallen.low, fallen.high) = (None, None, None);
        assert_eq!(shade(&fallen), Some("regressed"));
        assert_eq!(word(&fallen.verdict), "fell to zero");
        assert_eq!(with_sign(&fallen).0, "0 <b>↓</b>");
        let scale = shared_scale(std::iter::empty());
        let bar = with_bar(&fallen, scale).0;
        assert!(bar.contains(r#"<span class="ratio">0</span>"#), "{bar}");
        fallen.verdict = Verdict::Incomparable(Reason::NotMeasured);
        assert_eq!(shade(&fallen), Some("muted"));
        assert_eq!(with_sign(&fallen).0, "– <b>?</b>");
    }
}

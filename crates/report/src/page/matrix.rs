//! Relative throughput at a glance: systems and steps, each ratio with its interval.

use maud::{Markup, html};
use model::{Comparison, MetricId, StepInfo, Verdict, describe};

use super::sections::{Link, Sections};
use super::{legend, over_clients, table};
use crate::chart::interval::{Ratio, interval, shared_scale};
use crate::chart::scale::Scale;
use crate::deciding;
use crate::format;
use crate::tables;
use crate::view::{Seen, View};

pub(super) fn matrix(view: &View<'_>, sections: &Sections) -> Markup {
    let rates = view.candidates().flat_map(|s| view.decisions(s.name));
    let scale = shared_scale(rates.filter_map(ratio));
    let title = if view.steps.iter().all(|step| view.is_of_throughput(step)) {
        "Relative throughput"
    } else {
        "Relative to the base"
    };
    html! {
        section #matrix {
            h2 { (title) }
            @if !view.has_candidates() {
                p.nothing { "There is one system, and nothing to compare it with." }
            } @else if let Some(sweep) = &view.sweep {
                (over_clients::matrices(view, sweep))
            } @else {
                p.note {
                    "Each system against " strong { (view.base) } ". The bar is the 95 % interval of the ratio on a log scale from "
                    (format::ratio(scale.low())) " to " (format::ratio(scale.high()))
                    "; the line is 1, shaded is what is too small to matter. Orange is slower, blue is faster; without colour nothing is certain. A cell leads to its step."
                }
                div.scroll tabindex="0" role="region" aria-label=(title) {
                    @if view.is_by_step() { (by_step(view, sections, scale)) } @else { (by_system(view, sections, scale)) }
                }
            }
            @if let Some(groups) = tables::view_group_summary(view) { (table::table(&groups)) }
            @let has_room = !(view.differing_only && view.sweep.is_some());
            @if !view.input.comparisons.is_empty() && has_room {
                @let shown = tables::Shown { decided_only: view.differing_only, ..tables::Shown::decisions() };
                (table::folded(&tables::view_verdicts(view, &shown)))
            }
        }
    }
}

/// A row a system, a column a step.
fn by_system(view: &View<'_>, sections: &Sections, scale: Scale) -> Markup {
    html! {
        table.matrix {
            thead { tr {
                th scope="col" { "system" }
                @for step in &view.steps { th scope="col" { (view.label(step)) } }
            } }
            tbody {
                @for system in &view.systems {
                    tr data-system=(system.key) {
                        th scope="row" { (legend::chip(system)) " " (legend::name(system.name)) (legend::role(system)) }
                        @for (place, step) in view.steps.iter().enumerate() {
                            (cell(view, system, step, &sections.link(place), scale))
                        }
                    }
                }
            }
        }
    }
}

/// A row a step under the heading of its group, a column a system.
fn by_step(view: &View<'_>, sections: &Sections, scale: Scale) -> Markup {
    html! {
        table.matrix.long {
            thead { tr {
                th scope="col" { "step" }
                @for system in &view.systems {
                    th scope="col" class="n" data-system=(system.key) { (legend::chip(system)) " " (legend::name(system.name)) (legend::role(system)) }
                }
            } }
            @for group in &view.groups {
                tbody {
                    @if !group.title.is_empty() { (table::heading(&group.title, view.systems.len() + 1)) }
                    @for place in group.places.clone() {
                        @if let Some(step) = view.steps.get(place) {
                            tr {
                                th scope="row" { (sections.link(place).around(&legend::name(&view.label(step)))) }
                                @for system in &view.systems {
                                    (cell(view, system, step, &sections.link(place), scale))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(view: &View<'_>, system: &Seen<'_>, step: &StepInfo, link: &Link, scale: Scale) -> Markup {
    // Where a column is a system, its cells are what hides with it.
    let key = view.is_by_step().then_some(&system.key);
    if system.is_base {
        return base_cell(view, step, link, key);
    }
    let Some(comparison) = view.decision(system.name, step) else {
        return html! { td.muted data-system=[key] { (format::ABSENT) } };
    };
    let why = comparison.verdict.reason();
    html! {
        td class=[table::tone(tables::verdict_tone(&comparison.verdict))] title=[Some(why).filter(|w| !w.is_empty())] data-system=[key] {
            (link.around(&html! {
                span.ratio { (comparison.ratio.map_or(format::ABSENT.to_owned(), format::ratio)) }
                @if let Some(ratio) = ratio(comparison) { (interval(ratio, scale)) }
                span.verdict { (word(&comparison.verdict)) }
                (what(&comparison.metric))
            }))
        }
    }
}

fn base_cell(view: &View<'_>, step: &StepInfo, link: &Link, key: Option<&String>) -> Markup {
    let metric = view.deciding(step);
    let value = view.median(view.base, step, &metric.0);
    let value = value.and_then(|value| Some((value, view.unit(step, &metric.0)?)));
    let unit_name = |unit| match deciding::word(&metric) {
        None => view.rate_unit_name(step),
        Some(_) => format::header_unit(unit),
    };
    html! {
        td.muted data-system=[key] {
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
        Verdict::Unchanged | Verdict::Inconclusive(_) | Verdict::Incomparable(_) => verdict.word(),
    }
}

/// What the charts draw of a comparison; `None` without a ratio.
pub(super) fn ratio(comparison: &Comparison) -> Option<Ratio> {
    Some(Ratio {
        value: comparison.ratio.filter(|r| r.is_finite() && *r > 0.0)?,
        ends: format::finite_pair(comparison.low, comparison.high),
        margin: describe(&comparison.metric).map_or(0.0, |d| d.margin),
    })
}

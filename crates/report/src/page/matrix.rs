//! Relative throughput at a glance: systems × steps, each ratio with its interval.

use maud::{Markup, html};
use model::{Comparison, MetricId, StepInfo, Verdict, describe};

use super::{legend, table};
use crate::chart::interval::{Ratio, interval, shared_scale};
use crate::chart::scale::Scale;
use crate::format;
use crate::tables;
use crate::view::{Seen, View};

pub(super) fn matrix(view: &View<'_>) -> Markup {
    let rates = view.candidates().flat_map(|s| view.rates(s.name));
    let scale = shared_scale(rates.filter_map(ratio));
    html! {
        section #matrix {
            h2 { "Relative throughput" }
            p.note {
                "Each system against " strong { (view.base) } ". The bar is the 95 % interval of the ratio on a log scale from "
                (format::ratio(scale.low())) " to " (format::ratio(scale.high()))
                "; the line is 1, shaded is what is too small to matter. Orange is slower, blue is faster; without colour nothing is certain. A cell leads to its step."
            }
            div.scroll tabindex="0" role="region" aria-label="Relative throughput" {
                table.matrix {
                    thead { tr {
                        th scope="col" { "system" }
                        @for step in view.steps { th scope="col" { (view.label(step)) } }
                    } }
                    tbody {
                        @for system in &view.systems {
                            tr data-system=(system.key) {
                                th scope="row" { (legend::chip(system)) " " (legend::name(system.name)) (legend::role(system)) }
                                @for (place, step) in view.steps.iter().enumerate() {
                                    (cell(view, system, place, step, scale))
                                }
                            }
                        }
                    }
                }
            }
            @if !view.input.comparisons.is_empty() {
                (table::folded(&tables::view_verdicts(view, &tables::Shown::rates())))
            }
        }
    }
}

fn cell(view: &View<'_>, system: &Seen<'_>, place: usize, step: &StepInfo, scale: Scale) -> Markup {
    let link = format!("#step-{place}");
    if system.is_base {
        return base_cell(view, step, &link);
    }
    let Some(comparison) = view.comparison(system.name, step, MetricId::RATE) else {
        return html! { td.muted { (format::ABSENT) } };
    };
    let why = comparison.verdict.reason();
    html! {
        td class=[table::tone(tables::verdict_tone(&comparison.verdict))] title=[Some(why).filter(|w| !w.is_empty())] {
            a href=(link) {
                span.ratio { (comparison.ratio.map_or(format::ABSENT.to_owned(), format::ratio)) }
                @if let Some(ratio) = ratio(comparison) { (interval(ratio, scale)) }
                span.verdict { (word(&comparison.verdict)) }
            }
        }
    }
}

fn base_cell(view: &View<'_>, step: &StepInfo, link: &str) -> Markup {
    let rate = view.median(view.base, step, MetricId::RATE);
    html! {
        td.muted {
            a href=(link) {
                @if let Some(rate) = rate {
                    span.ratio { (format::number(rate)) }
                    span.verdict { (view.rate_unit(step)) }
                } @else {
                    span.ratio { (format::ABSENT) }
                }
            }
        }
    }
}

/// A verdict on throughput in a word.
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

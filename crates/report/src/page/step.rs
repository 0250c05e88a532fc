//! One step: every round, the course over time, response times, costs.

use maud::{Markup, html};
use model::StepInfo;

use super::figures::{OverTime, distribution, over_time, ratios, rounds};
use super::legend::legend;
use super::table::{folded, table};
use crate::series::{self, Bins, Quantity};
use crate::steps;
use crate::tables::{self, Clock};
use crate::view::View;

/// Points over time in the whole page at most, and of all quantile curves: what keeps the page small
/// with many systems and steps.
const ALL_POINTS: usize = 80_000;
const ALL_CURVES: usize = 20_000;

/// How much of each step the page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All that was recorded.
    Whole,
    /// What the step is about.
    Brief,
}

/// How finely lines are drawn, so that the page keeps its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail {
    /// Points of a line over time, at most 300.
    points: usize,
    /// Points of a quantile curve.
    curve: usize,
    extent: Extent,
}

impl Detail {
    pub(super) fn of(view: &View<'_>, extent: Extent) -> Self {
        let systems = view.systems.len().max(1);
        let kinds: usize = view.steps.iter().map(|s| view.kinds(s).len()).sum();
        // A step draws its throughput with a band (three outlines), two latencies, and each other
        // kind; a kind has at most two quantile curves.
        let outlines = (4 * view.steps.len() + kinds).max(1);
        let curves = (2 * kinds).max(1);
        Self {
            points: (ALL_POINTS / (outlines * systems)).clamp(20, 300),
            curve: (ALL_CURVES / (curves * systems)).clamp(16, 48),
            extent,
        }
    }
}

pub(super) fn step(view: &View<'_>, place: usize, step: &StepInfo, detail: Detail) -> Markup {
    let bins = Bins::of(view, step, detail.points);
    let whole = detail.extent == Extent::Whole;
    let kinds: Vec<String> = match detail.extent {
        Extent::Whole => view.kinds(step),
        Extent::Brief => vec![step.subject.clone()],
    };
    html! {
        section.step id={ "step-" (place) } {
            h2 { (view.label(step)) }
            p.note { (steps::describe(step)) " " (clients(step)) }
            (legend(view))
            div.pair {
                (rounds(view, step))
                (ratios(view, step))
            }
            (course(view, step, bins))
            @for kind in &kinds { (response(view, step, kind, detail)) }
            (others(view, step, &kinds, bins))
            (step_costs(view, step))
            @if whole {
                @if let Some(pairs) = tables::view_pairs(view, step) { (folded(&pairs)) }
            }
        }
    }
}

fn clients(step: &StepInfo) -> String {
    let clients = crate::format::plural(step.clients as usize, "client");
    format!("{clients}.")
}

fn course(view: &View<'_>, step: &StepInfo, bins: Option<Bins>) -> Markup {
    let chart = |quantity, title, height| {
        let what = OverTime {
            kind: &step.subject,
            quantity,
            title,
            height,
            target: None,
        };
        over_time(view, step, bins, &what)
    };
    html! {
        (chart(series::subject_quantity(step), "Throughput over time: median round, shaded from the lowest to the highest", 260.0))
        @if bins.is_some() {
            div.pair {
                (chart(Quantity::P99, "99th percentile of each second", 180.0))
                (chart(Quantity::Longest, "Longest of each second", 180.0))
            }
        }
    }
}

/// Response times of one kind. Those of what the step is about stand open, the others are folded.
fn response(view: &View<'_>, step: &StepInfo, kind: &str, detail: Detail) -> Markup {
    let clocks = [Clock::Service, Clock::Response];
    let parts: Vec<Markup> = clocks
        .into_iter()
        .filter_map(|clock| response_of(view, step, kind, clock, detail))
        .collect();
    html! {
        @if parts.is_empty() {
        } @else if kind == step.subject {
            @for part in &parts { (part) }
        } @else {
            details {
                summary { "Response times of " (kind) }
                @for part in &parts { (part) }
            }
        }
    }
}

fn response_of(
    view: &View<'_>,
    step: &StepInfo,
    kind: &str,
    clock: Clock,
    detail: Detail,
) -> Option<Markup> {
    let merged = series::histograms(view, step, kind, clock);
    let percentiles = tables::view_percentiles(view, step, kind, clock);
    let buckets = tables::view_buckets(view, step, kind, clock, &merged);
    if percentiles.is_none() && buckets.is_none() {
        return None;
    }
    Some(html! {
        @if buckets.is_some() { (distribution(view, step, kind, &merged, (clock, detail.curve))) }
        @if let Some(percentiles) = percentiles { (table(&percentiles)) }
        @if detail.extent == Extent::Whole {
            @if let Some(buckets) = buckets { (folded(&buckets)) }
        }
    })
}

/// The other operations over time, with the target of the background writers.
fn others(view: &View<'_>, step: &StepInfo, kinds: &[String], bins: Option<Bins>) -> Markup {
    let others: Vec<&String> = kinds.iter().filter(|k| **k != step.subject).collect();
    html! {
        @if bins.is_some() && !others.is_empty() {
            details {
                summary { "Other operations over time" }
                div.pair {
                    @for kind in others {
                        (over_time(view, step, bins, &OverTime {
                            kind,
                            quantity: Quantity::Rows,
                            title: kind,
                            height: 180.0,
                            target: step.target_rate,
                        }))
                    }
                }
            }
        }
    }
}

fn step_costs(view: &View<'_>, step: &StepInfo) -> Markup {
    html! {
        @if view.has_candidates() {
            @if let Some(relative) = tables::view_step_costs(view, step, true) { (table(&relative)) }
        }
        @if let Some(absolute) = tables::view_step_costs(view, step, false) { (folded(&absolute)) }
    }
}

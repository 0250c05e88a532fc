//! One step: every round, the course over time, response times, costs.

use maud::{Markup, html};
use model::{SqlWork, StepInfo, StepNote, WorkloadSpec};

use super::commands;
use super::figures::{OverTime, distribution, is_swept, over_time, ratios, rounds};
use super::legend::legend;
use super::sections::Sections;
use super::table::{folded, table};
use crate::groups::sql_step;
use crate::series::{self, Bins};
use crate::tables::{self, Clock};
use crate::view::View;
use crate::{before, statements, steps};

/// Points over time in the whole page at most, and of all quantile curves: what keeps the page small
/// with many systems and steps.
const ALL_POINTS: usize = 80_000;
const ALL_CURVES: usize = 20_000;

/// From so many sections on there is room for a third of that.
const MANY: usize = 16;

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
    pub(super) fn of(view: &View<'_>, extent: Extent, sections: &Sections) -> Self {
        let systems = view.systems.len().max(1);
        let steps: Vec<&StepInfo> = view
            .steps
            .iter()
            .enumerate()
            .filter_map(|(place, step)| sections.has(place).then_some(step))
            .collect();
        let kinds: usize = steps.iter().map(|s| view.kinds(s).len()).sum();
        // A step draws its throughput with a band (three outlines), two latencies, and each other
        // kind; a kind has at most two quantile curves.
        let outlines = (4 * steps.len() + kinds).max(1);
        let curves = (2 * kinds).max(1);
        // Each section has tables, which dozens of sections have dozens of times.
        let share = if steps.len() > MANY { 3 } else { 1 };
        let (points, curve) = match extent {
            Extent::Whole => (300, 48),
            Extent::Brief => (40, 24),
        };
        Self {
            points: (ALL_POINTS / share / (outlines * systems)).clamp(20, points),
            curve: (ALL_CURVES / share / (curves * systems)).clamp(16, curve),
            extent,
        }
    }
}

pub(super) fn step(view: &View<'_>, place: usize, step: &StepInfo, detail: Detail) -> Markup {
    let bins = Bins::of(view, step, detail.points);
    let whole = detail.extent == Extent::Whole;
    // Of dozens of steps the statements of a transaction are told in a table.
    let is_one_of_dozens = view.is_by_step();
    // The kinds of transactions have a table that holds them all.
    let transactions = tables::view_transaction_kinds(view, step);
    let kinds: Vec<String> = match detail.extent {
        Extent::Whole if !is_one_of_dozens && transactions.is_none() => view.kinds(step),
        Extent::Whole | Extent::Brief => vec![step.subject.clone()],
    };
    html! {
        section.step id={ "step-" (place) } aria-label={ "Step " (view.label(step)) } data-step=(place) {
            h2 { (view.label(step)) }
            p.note { (steps::describe(step, &view.input.data.info.plan.workload)) " " (clients(step)) }
            (before_it(view, step, whole))
            (sent(view, step))
            (tried(view, step))
            // A short report has one legend for all steps, and its forest plots have the ratios of all steps.
            @if whole { (legend(view)) }
            div.pair {
                (rounds(view, step))
                @if whole || is_swept(view, step) { (ratios(view, step)) }
            }
            (course(view, step, bins, whole))
            @for kind in &kinds { (response(view, step, kind, detail)) }
            @if let Some(transactions) = &transactions { (table(transactions)) }
            (others(view, step, &kinds, bins))
            (step_costs(view, step, whole))
            @if whole {
                @if is_one_of_dozens {
                    @if let Some(kinds) = tables::view_other_kinds(view, step) { (folded(&kinds)) }
                }
                @if let Some(pairs) = tables::view_pairs(view, step) { (folded(&pairs)) }
            }
            (commands::of_step(view, step))
        }
    }
}

/// Whether its warm-ups ended with a steady rate, and whether the settle phase before it left anything to do.
fn before_it(view: &View<'_>, step: &StepInfo, whole: bool) -> Markup {
    html! {
        @if let Some(told) = before::warmed_up(view, step) { p.note { (told) } }
        @if let Some(told) = before::settled(view, step) {
            // A short report has no table of it.
            p.note { (told) @if !view.is_brief { " " a href="#left-over" { "What was left over" } "." } }
        }
        @if whole {
            @if let Some(warm_ups) = tables::view_warm_ups(view, step) { (folded(&warm_ups)) }
        }
    }
}

/// What the step sends, in the SQL of the base.
fn sent(view: &View<'_>, step: &StepInfo) -> Markup {
    let plan = &view.input.data.info.plan;
    let dialect = plan.system(view.base).map(|base| base.build.dbms.dialect());
    let run = match sql_step(&plan.workload, step).map(|sql| &sql.work) {
        Some(SqlWork::Run(run)) => Some(run),
        Some(SqlWork::Load | SqlWork::Index | SqlWork::Settle(_) | SqlWork::Reset) | None => None,
    };
    html! {
        @if let (WorkloadSpec::Sql(spec), Some(dialect), Some(run)) = (&plan.workload, dialect, run)
            && !run.operations.is_empty() {
            details {
                summary { "What it sends" }
                @for operation in &run.operations {
                    pre tabindex="0" { (statements::operation(spec, operation, dialect).join("\n")) }
                    p.note { (statements::values(operation).join("; ")) }
                }
            }
        }
    }
}

/// The attempts of a step that looks for the highest rate.
fn tried(view: &View<'_>, step: &StepInfo) -> Markup {
    let notes = view.input.data.notes.iter();
    let notes: Vec<&StepNote> = notes
        .filter(|note| note.what == StepNote::RAMP && note.step == step.step)
        .collect();
    html! {
        @if !notes.is_empty() {
            details {
                summary { "Rates that were tried" }
                ul.prose { @for note in notes { li { (note.system) ", round " (note.round) ": " (note.text) } } }
            }
        }
    }
}

fn clients(step: &StepInfo) -> String {
    let clients = crate::format::plural(step.clients as usize, "client");
    format!("{clients}.")
}

fn course(view: &View<'_>, step: &StepInfo, bins: Option<Bins>, whole: bool) -> Markup {
    html! {
        (over_time(view, step, bins, &OverTime::throughput(step)))
        // A short report has the percentiles over the whole step only.
        @if bins.is_some() && whole {
            div.pair {
                @for what in &OverTime::latencies(step) { (over_time(view, step, bins, what)) }
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
                    @for kind in others { (over_time(view, step, bins, &OverTime::other(step, kind))) }
                }
            }
        }
    }
}

fn step_costs(view: &View<'_>, step: &StepInfo, whole: bool) -> Markup {
    html! {
        @if view.has_candidates() {
            @if let Some(relative) = tables::view_step_costs(view, step, true) { (table(&relative)) }
        }
        // A short report has these figures once, among the metrics.
        @if whole {
            @if let Some(absolute) = tables::view_step_costs(view, step, false) { (folded(&absolute)) }
        }
    }
}

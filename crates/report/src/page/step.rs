//! One step: every round, the course over time, response times, costs.

use maud::{Markup, html};
use model::{Clock, KindSpec, Step, StepNote};

use super::figures::{OverTime, distribution, over_time, rounds};
use super::judged::{ratio_text, shade, word};
use super::provenance;
use super::sections::Sections;
use super::table::{chip, folded, name, table};
use crate::format::plural;
use crate::report::about;
use crate::series::{self, Bins};
use crate::{Report, statements};

/// Points over time in the whole page at most, and of all quantile curves: that keeps it small.
const ALL_POINTS: usize = 80_000;
const ALL_CURVES: usize = 20_000;

/// From so many sections on there is room for a third of that.
const MANY: usize = 16;

/// Points from which on a line shows the course of latencies, and of throughput.
const LEAST: usize = 5;
const SHORT: usize = 3;

/// How finely lines are drawn, so that the page keeps its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail {
    /// Points of a line over time, at most 300.
    points: usize,
    curve: usize,
    is_whole: bool,
}

impl Detail {
    pub(super) fn of(report: &Report<'_>, is_whole: bool, sections: &Sections) -> Self {
        let systems = report.systems.len().max(1);
        let steps = sections.count().max(1);
        // A step draws its throughput with a band (three outlines), two latencies and at most two kinds of background
        // writers; and at most two quantile curves.
        let (outlines, curves) = (7 * steps, 2 * steps);
        // Each section has tables, which dozens of sections have dozens of times.
        let share = if steps > MANY { 3 } else { 1 };
        let (points, curve) = if is_whole { (300, 48) } else { (40, 24) };
        Self {
            points: (ALL_POINTS / share / (outlines * systems)).clamp(20, points),
            curve: (ALL_CURVES / share / (curves * systems)).clamp(16, curve),
            is_whole,
        }
    }
}

/// One line of each step, with its verdicts; what it opens is the step.
pub(super) fn step(
    report: &Report<'_>,
    place: usize,
    step: &Step,
    detail: Detail,
    is_open: bool,
) -> Markup {
    html! {
        details.step data-step=(place) open[is_open] {
            summary {
                h2 { (name(&report.label(step))) }
                span.note { (about(step)) " " (plural(step.clients as usize, "client")) "." }
                @for at in report.candidates_at(step) {
                    @if let Some(comparison) = at.decision() {
                        span.said.(shade(comparison).unwrap_or_default()) data-system=(at.system.key) {
                            (chip(at.system)) " " (ratio_text(comparison)) " " (word(&comparison.verdict))
                        }
                    }
                }
            }
            section.step id={ "step-" (place) } aria-label={ "Step " (report.label(step)) } {
                (content(report, step, detail))
            }
        }
    }
}

fn content(report: &Report<'_>, step: &Step, detail: Detail) -> Markup {
    let bins = Bins::of(report, step, detail.points);
    let course = bins.filter(|bins| bins.count >= LEAST);
    let whole = detail.is_whole;
    let transactions = report.transaction_kinds(step);
    html! {
        (before_it(report, step, whole))
        (sent(report, step))
        (tried(report, step))
        div.pair {
            (rounds(report, step))
            // Of a short step the rounds say it all.
            @if bins.is_none_or(|bins| bins.count >= SHORT) { (over_time(report, step, bins, &OverTime::throughput(step))) }
        }
        (response(report, step, detail))
        // A short report has the percentiles over the whole step only.
        @if course.is_some() && whole {
            details {
                summary { "Response times over time" }
                div.pair { @for what in &OverTime::latencies(step) { (over_time(report, step, bins, what)) } }
            }
        }
        @if let Some(transactions) = &transactions { (table(transactions)) }
        @if whole { (others(report, step, course)) }
        @if report.has_candidates() {
            @if let Some(relative) = report.step_costs(step, true) { (table(&relative)) }
        }
        // A short report has the absolute costs once, among the metrics.
        @if whole {
            @if let Some(absolute) = report.step_costs(step, false) { (folded(&absolute)) }
            // The kinds of transactions have a table of their own.
            @if transactions.is_none() {
                @if let Some(kinds) = report.other_kinds(step) { (folded(&kinds)) }
            }
            @if let Some(pairs) = report.pairs(step) { (folded(&pairs)) }
        }
        (provenance::of_step(report, step))
    }
}

/// Whether its warm-ups ended with a steady rate, and whether the settle phase before it left anything to do.
fn before_it(report: &Report<'_>, step: &Step, whole: bool) -> Markup {
    html! {
        @if let Some(told) = report.warmed_up(step) { p.note { (told) } }
        @if let Some(told) = report.settled(step) {
            // A short report has no table of it.
            p.note { (told) @if !report.is_brief { " " a href="#left-over" { "Pending work" } "." } }
        }
        @if whole {
            @if let Some(warm_ups) = report.warm_ups(step) { (folded(&warm_ups)) }
        }
    }
}

/// What the step sends, in the SQL of the base.
fn sent(report: &Report<'_>, step: &Step) -> Markup {
    let plan = &report.input.data.info.plan;
    let dialect = plan.system(report.base).map(|base| base.build.dbms.dialect());
    let sent = plan.workload.sql().zip(plan.workload.sql_run(step));
    html! {
        @if let (Some((spec, run)), Some(dialect)) = (sent, dialect)
            && !run.operations.is_empty() {
            details {
                summary { "Statements sent" }
                @for operation in &run.operations {
                    pre tabindex="0" { (statements::operation(spec, operation, dialect).join("\n")) }
                    p.note { (statements::values(operation).join("; ")) }
                }
            }
        }
    }
}

fn tried(report: &Report<'_>, step: &Step) -> Markup {
    let notes: Vec<&StepNote> = report.tries(step).collect();
    html! {
        @if !notes.is_empty() {
            details {
                summary { "Rates tried" }
                ul.prose { @for note in notes { li { (note.system) ", round " (note.round) ": " (note.text) } } }
            }
        }
    }
}

fn response(report: &Report<'_>, step: &Step, detail: Detail) -> Markup {
    let kind = &step.subject.kind;
    html! {
        @for clock in Clock::ALL {
            @let merged = series::histograms(report, step, kind, clock);
            @let buckets = report.buckets_of(step, kind, clock, &merged);
            @if buckets.is_some() {
                (distribution(report, step, kind, &merged, (clock, detail.curve)))
            }
            @if let Some(percentiles) = report.percentiles(step, kind, clock) { (table(&percentiles)) }
            @if let Some(buckets) = buckets.filter(|_| detail.is_whole) { (folded(&buckets)) }
        }
    }
}

/// The operations of background writers over time, with their target.
fn others(report: &Report<'_>, step: &Step, bins: Option<Bins>) -> Markup {
    let is_paced = |kind: &&KindSpec| kind.scheduled && kind.name != step.subject.kind;
    let paced: Vec<&KindSpec> = step.kinds.iter().filter(is_paced).collect();
    html! {
        @if bins.is_some() && !paced.is_empty() {
            details {
                summary { "Background writers over time" }
                div.pair {
                    @for kind in paced { (over_time(report, step, bins, &OverTime::other(step, &kind.name))) }
                }
            }
        }
    }
}

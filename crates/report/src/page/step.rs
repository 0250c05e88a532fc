//! One step: every round, the course over time, response times, costs.

use maud::{Markup, html};
use model::{Clock, Counts, Step, StepNote};

use super::figures::{OverTime, distribution, is_swept, over_time, ratios, rounds};
use super::provenance;
use super::sections::{Extent, Sections};
use super::table::{folded, legend, table};
use crate::format::plural;
use crate::series::{self, Bins};
use crate::{Report, statements};

/// Points over time in the whole page at most, and of all quantile curves: what keeps the page small
/// with many systems and steps.
const ALL_POINTS: usize = 80_000;
const ALL_CURVES: usize = 20_000;

/// From so many sections on there is room for a third of that.
const MANY: usize = 16;

/// How finely lines are drawn, so that the page keeps its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail {
    /// Points of a line over time, at most 300.
    points: usize,
    curve: usize,
    extent: Extent,
}

impl Detail {
    pub(super) fn of(report: &Report<'_>, extent: Extent, sections: &Sections) -> Self {
        let systems = report.systems.len().max(1);
        let steps: Vec<&Step> = report
            .steps
            .iter()
            .enumerate()
            .filter_map(|(place, step)| sections.has(place).then_some(step))
            .collect();
        let kinds: usize = steps.iter().map(|s| report.kinds(s).len()).sum();
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

pub(super) fn step(report: &Report<'_>, place: usize, step: &Step, detail: Detail) -> Markup {
    let bins = Bins::of(report, step, detail.points);
    let whole = detail.extent == Extent::Whole;
    // A table has the statements of a transaction of dozens of steps, and another one the kinds of transactions.
    let is_one_of_dozens = report.is_by_step();
    let transactions = report.transaction_kinds(step);
    let kinds: Vec<String> = match detail.extent {
        Extent::Whole if !is_one_of_dozens && transactions.is_none() => report.kinds(step),
        Extent::Whole | Extent::Brief => vec![step.subject.kind.clone()],
    };
    html! {
        section.step id={ "step-" (place) } aria-label={ "Step " (report.label(step)) } data-step=(place) {
            h2 { (report.label(step)) }
            p.note { (describe(step)) " " (plural(step.clients as usize, "client")) "." }
            (before_it(report, step, whole))
            (sent(report, step))
            (tried(report, step))
            // A short report has one legend for all steps, and its forest plots have the ratios of all steps.
            @if whole { (legend(report)) }
            div.pair {
                (rounds(report, step))
                @if whole || is_swept(report, step) { (ratios(report, step)) }
            }
            (over_time(report, step, bins, &OverTime::throughput(step)))
            // A short report has the percentiles over the whole step only.
            @if bins.is_some() && whole {
                div.pair { @for what in &OverTime::latencies(step) { (over_time(report, step, bins, what)) } }
            }
            @for kind in &kinds { (response(report, step, kind, detail)) }
            @if let Some(transactions) = &transactions { (table(transactions)) }
            (others(report, step, &kinds, bins))
            @if report.has_candidates() {
                @if let Some(relative) = report.step_costs(step, true) { (table(&relative)) }
            }
            // A short report has the absolute costs once, among the metrics.
            @if whole {
                @if let Some(absolute) = report.step_costs(step, false) { (folded(&absolute)) }
                @if is_one_of_dozens {
                    @if let Some(kinds) = report.other_kinds(step) { (folded(&kinds)) }
                }
                @if let Some(pairs) = report.pairs(step) { (folded(&pairs)) }
            }
            (provenance::of_step(report, step))
        }
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

/// A sentence or two on a step. Of an imported one no more is known than what it counts.
fn describe(step: &Step) -> String {
    if !step.description.is_empty() {
        return step.description.clone();
    }
    match step.subject.counts {
        Counts::Rows => "Counts the rows that are read.".to_owned(),
        Counts::Statements(n) => format!(
            "An operation is {n} statements, BEGIN and COMMIT among them; throughput and costs count statements, response times are of whole operations."
        ),
        Counts::Operations => "Counts statements.".to_owned(),
    }
}

/// Response times of one kind. Those of what the step is about stand open, the others are folded.
fn response(report: &Report<'_>, step: &Step, kind: &str, detail: Detail) -> Markup {
    let parts = Clock::ALL.into_iter().filter_map(|clock| {
        let merged = series::histograms(report, step, kind, clock);
        let percentiles = report.percentiles(step, kind, clock);
        let buckets = report.buckets_of(step, kind, clock, &merged);
        (percentiles.is_some() || buckets.is_some()).then(|| {
            html! {
                @if let Some(buckets) = buckets {
                    (distribution(report, step, kind, &merged, (clock, detail.curve)))
                    @if let Some(percentiles) = percentiles { (table(&percentiles)) }
                    @if detail.extent == Extent::Whole { (folded(&buckets)) }
                } @else if let Some(percentiles) = percentiles { (table(&percentiles)) }
            }
        })
    });
    let parts: Vec<Markup> = parts.collect();
    html! {
        @if parts.is_empty() {
        } @else if kind == step.subject.kind {
            @for part in &parts { (part) }
        } @else {
            details {
                summary { "Response times of " (kind) }
                @for part in &parts { (part) }
            }
        }
    }
}

/// The other operations over time, with the target of the background writers.
fn others(report: &Report<'_>, step: &Step, kinds: &[String], bins: Option<Bins>) -> Markup {
    let others: Vec<&String> = kinds.iter().filter(|k| **k != step.subject.kind).collect();
    html! {
        @if bins.is_some() && !others.is_empty() {
            details {
                summary { "Other operations over time" }
                div.pair {
                    @for kind in others { (over_time(report, step, bins, &OverTime::other(step, kind))) }
                }
            }
        }
    }
}

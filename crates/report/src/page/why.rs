//! Why a system is slower than the base, from profiled rounds.

use explain::StepWhy;
use maud::{Markup, html};
use model::StepId;

use super::Figure;
use super::flames::{EXPLAINED, difference, each, room};
use super::sections::part;
use super::table::{folded, legend};
use crate::{Report, differing_builds, tables};

/// What flame graphs look like; only pages with such a section carry it.
pub(super) const STYLE: &str = include_str!("../../assets/flame.css");

/// Nothing where no round was profiled.
pub(super) fn why(report: &Report<'_>) -> Markup {
    if !has_why(report) {
        return html! {};
    }
    let builds = differing_builds(report.input.data);
    let content = html! {
        @if !builds.is_empty() {
            p { "The builds differ, too, which may be part of a change." }
            ul.prose { @for one in &builds { li { (one.line()) } } }
        }
        p.note { "Profiled rounds sample the stacks of the servers. Each line says how much of the change of an operation's time it accounts for." }
        (legend(report))
        @for step in steps(report) {
            @for one in shown(report).filter(|one| one.step == *step) { (folded(&tables::why(one))) }
            @if !report.is_brief { (flames(report, step)) }
        }
    };
    part("why", "Why", &content)
}

pub(super) fn has_why(report: &Report<'_>) -> bool {
    !steps(report).is_empty()
}

/// The steps that have profiles, in their order.
fn steps<'r>(report: &'r Report<'_>) -> Vec<&'r StepId> {
    let of_costs = report.input.stack_costs.iter().map(|one| &one.step);
    let mut steps: Vec<&StepId> = Vec::new();
    for step in of_costs.chain(shown(report).map(|one| &one.step)) {
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    steps
}

fn shown<'r>(report: &'r Report<'_>) -> impl Iterator<Item = &'r StepWhy> {
    let is_shown = |one: &&StepWhy| report.systems.iter().any(|seen| seen.name == one.system);
    report.input.why.iter().filter(is_shown)
}

/// The differences first, since they are what the section is about.
fn flames(report: &Report<'_>, step: &StepId) -> Markup {
    let most = room(report);
    html! {
        @for one in shown(report).filter(|one| one.step == *step) {
            (figures(&format!("{step}: flame graphs of the difference, {} against {}", one.system, one.base), &difference(report, one, most)))
        }
        (figures(&format!("{step}: flame graphs of each system"), &each(report, step, most)))
    }
}

fn figures(title: &str, all: &[Figure]) -> Markup {
    let explained = all.iter().any(|figure| figure.chart.keys().len() > 1);
    html! {
        @if !all.is_empty() {
            details {
                summary { (title) }
                @if explained { p.note { (EXPLAINED) } }
                @for figure in all { (figure) }
            }
        }
    }
}

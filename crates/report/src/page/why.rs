//! Why a system is slower than the base, from profiled rounds.

use explain::StepWhy;
use maud::{Markup, html};

use super::Figure;
use super::flames::{Drawn, EXPLAINED, difference, each, of_resource, room};
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
        @if let Some(table) = tables::instructions(&report.input.why) { (folded(&table)) }
        (legend(report))
        @for drawn in drawn(report) {
            @for one in shown(report).filter(|one| (&one.step, one.of) == drawn) { (folded(&tables::why(one))) }
            @if !report.is_brief { (flames(report, drawn)) }
        }
    };
    part("why", "Why", &content)
}

pub(super) fn has_why(report: &Report<'_>) -> bool {
    !drawn(report).is_empty()
}

/// The steps that have profiles, in their order.
fn drawn<'r>(report: &'r Report<'_>) -> Vec<Drawn<'r>> {
    let of_costs = report.input.stack_costs.iter().map(|one| (&one.step, one.of));
    let mut all: Vec<Drawn<'r>> = Vec::new();
    for one in of_costs.chain(shown(report).map(|one| (&one.step, one.of))) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

fn shown<'r>(report: &'r Report<'_>) -> impl Iterator<Item = &'r StepWhy> {
    let is_shown = |one: &&StepWhy| report.systems.iter().any(|seen| seen.name == one.system);
    report.input.why.iter().filter(is_shown)
}

/// The differences first, since they are what the section is about.
fn flames(report: &Report<'_>, drawn: Drawn<'_>) -> Markup {
    let most = room(report);
    let (step, what) = (drawn.0, of_resource(drawn.1));
    html! {
        @for one in shown(report).filter(|one| (&one.step, one.of) == drawn) {
            (figures(&format!("{step}: flame graphs of the difference{what}, {} against {}", one.system, one.base), &difference(report, one, most)))
        }
        (figures(&format!("{step}: flame graphs of each system{what}"), &each(report, drawn, most)))
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

//! Ratios with their intervals, system by system, and the verdicts in words.

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::Step;

use super::figures::{ratios_of, unswept};
use super::judged::size;
use super::legend::Link;
use super::part::{Page, part};
use super::table::linked;
use crate::verdict::is_certain;
use crate::{Report, Seen, tables};

pub(super) const VERDICTS: &str = "#verdicts";

/// Rows of all plots together, and of a page that is made to be short.
const MOST: usize = 120;
const MOST_BRIEF: usize = 60;

/// Nothing where there is nothing to compare.
pub(super) fn forests(page: &Page<'_, '_>) -> Markup {
    let report = page.listed;
    if !report.has_candidates() {
        return html! {};
    }
    let all: Vec<&Step> = unswept(report).collect();
    let content = html! {
        p.note {
            "One row per step, candidate to base: the bar is the 95 % interval, the faint dots are the rounds, the shade is the margin."
            @if report.sweep.is_some() { " The charts over clients show the intervals of tests at several numbers of clients." }
        }
        @for system in report.candidates() {
            @let steps = listed(report, system, &all);
            div data-system=(system.key) {
                @if steps.len() < all.len() {
                    p.note { (system.name) ": only steps whose deciding metric certainly differs." }
                }
                @if steps.is_empty() { p.nothing { "None." } }
                @else { (ratios_of(report, system, steps.into_iter())) }
            }
        }
        @if !(report.input.comparisons.is_empty() || report.differing_only && report.sweep.is_some()) {
            (verdicts(page))
        }
    };
    part("forest", "Ratios with their intervals", &content)
}

/// The steps that are shown of a system: all, or those that certainly differ most.
fn listed<'s>(report: &Report<'_>, system: &Seen<'_>, all: &[&'s Step]) -> Vec<&'s Step> {
    let systems = report.candidates().count().max(1);
    let most = if report.is_brief { MOST_BRIEF } else { MOST };
    if !report.differing_only && systems * all.len() <= most {
        return all.to_vec();
    }
    let mut ranked: Vec<(f64, usize)> = Vec::new();
    for (number, step) in all.iter().enumerate() {
        let comparison = report.at(system, step).decision();
        let certain = comparison.filter(|c| is_certain(&c.verdict));
        ranked.extend(certain.map(|comparison| (size(comparison), number)));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.truncate((most / systems).max(1));
    let kept: BTreeSet<usize> = ranked.into_iter().map(|(_, number)| number).collect();
    let numbered = all.iter().copied().enumerate();
    numbered.filter(|(number, _)| kept.contains(number)).map(|(_, step)| step).collect()
}

/// The table of verdicts, folded; what names a step opens its evidence.
fn verdicts(page: &Page<'_, '_>) -> Markup {
    let report = page.listed;
    let shown = tables::Shown { decided_only: report.differing_only, ..tables::Shown::default() };
    let table = tables::without_empty_why(report.verdicts(&shown));
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

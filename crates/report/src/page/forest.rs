//! Ratios with their intervals, system by system, and the verdicts in words.

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::StepInfo;

use super::evidence::Cells;
use super::figures::{ratios_of, unswept};
use super::part::part;
use super::room::size;
use super::sections::{Link, Sections};
use super::table::linked;
use crate::tables;
use crate::view::{Seen, View, is_certain};

/// Where the table of verdicts stands.
pub(super) const VERDICTS: &str = "#verdicts";

/// Rows of all plots together, and of a page that is made to be short.
const MOST: usize = 120;
const MOST_BRIEF: usize = 60;

/// Nothing where there is nothing to compare.
pub(super) fn forests(view: &View<'_>, sections: &Sections, cells: &Cells) -> Markup {
    if !view.has_candidates() {
        return html! {};
    }
    let all: Vec<&StepInfo> = unswept(view).collect();
    let content = html! {
        p.note {
            "A row a step, candidate to base: the bar is the 95 % interval, the faint dots are the rounds, shaded is what is too small to matter."
            @if view.sweep.is_some() { " Tests at several numbers of clients have their intervals in the charts over these." }
        }
        @for system in view.candidates() {
            @let steps = listed(view, system, &all);
            div data-system=(system.key) {
                @if steps.len() < all.len() {
                    p.note { (system.name) ": only steps in which what decides them certainly differs." }
                }
                @if steps.is_empty() { p.nothing { "None." } }
                @else { (ratios_of(view, system, steps.into_iter())) }
            }
        }
        @if !(view.input.comparisons.is_empty() || view.differing_only && view.sweep.is_some()) {
            (verdicts(view, sections, cells))
        }
    };
    part("forest", "Ratios with their intervals", &content)
}

/// The steps that are shown of a system: all, or those that certainly differ most.
fn listed<'s>(view: &View<'_>, system: &Seen<'_>, all: &[&'s StepInfo]) -> Vec<&'s StepInfo> {
    let systems = view.candidates().count().max(1);
    let most = if view.is_brief { MOST_BRIEF } else { MOST };
    if !view.differing_only && systems * all.len() <= most {
        return all.to_vec();
    }
    let mut ranked: Vec<(f64, usize)> = Vec::new();
    for (number, step) in all.iter().enumerate() {
        let comparison = view.decision(system.name, step);
        let certain = comparison.filter(|c| is_certain(&c.verdict));
        ranked.extend(certain.map(|comparison| (size(comparison), number)));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.truncate((most / systems).max(1));
    let kept: BTreeSet<usize> = ranked.into_iter().map(|(_, number)| number).collect();
    let numbered = all.iter().copied().enumerate();
    numbered
        .filter(|(number, _)| kept.contains(number))
        .map(|(_, step)| step)
        .collect()
}

/// The table of verdicts, folded; what names a step opens its evidence.
fn verdicts(view: &View<'_>, sections: &Sections, cells: &Cells) -> Markup {
    let shown = tables::Shown {
        decided_only: view.differing_only,
        ..tables::Shown::decisions()
    };
    let table = tables::without_empty_why(tables::view_verdicts(view, &shown));
    let links = links(view, &shown, sections, cells);
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
fn links(view: &View<'_>, shown: &tables::Shown, sections: &Sections, cells: &Cells) -> Vec<Link> {
    let mut links = Vec::new();
    for system in view.candidates() {
        for place in view.groups.iter().flat_map(|group| group.places.clone()) {
            let step = view.steps.get(place);
            let comparison = step.and_then(|step| view.decision(system.name, step));
            if comparison.is_some_and(|c| shown.shows(&c.metric, c)) {
                links.push(cells.link(sections, system, place, VERDICTS));
            }
        }
    }
    links
}

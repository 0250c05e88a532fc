//! The parts of a page: how much of each step it has room for, which steps have a section of their own, and of which
//! systems, so that it keeps its size.

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::Comparison;

use super::evidence::Cells;
use super::judged::size;
use super::table::Link;
use crate::format::plural;
use crate::report::At;
use crate::verdict::is_certain;
use crate::{Report, Seen, Table};

/// Sections of a whole page at most, and at least where there are many systems: that keeps it below two megabytes.
const MOST: usize = 40;
const LEAST: usize = 12;

/// The most of a sweep, whose tests have charts of their own.
const MOST_SWEPT: usize = 24;

/// Sections of a brief page where a workload has dozens of steps.
const MOST_BRIEF: usize = 12;
const LEAST_BRIEF: usize = 6;

/// Systems times steps for which a page has room with all that was recorded, where a step shows one kind of operation.
pub(super) const WHOLE_BY_STEP: usize = 180;

/// The same in a page that is made to be short.
pub(super) const BRIEF: usize = 50;

/// Which steps have a section: all, or those that differ most.
pub(super) struct Sections {
    /// By the step's place.
    shown: Vec<bool>,
    /// Steps in which what decides them certainly differs.
    differing: usize,
    /// The step in which it differs most: it stands open.
    pub(super) largest: Option<usize>,
    /// What it is, at the start of a sentence.
    what: &'static str,
}

impl Sections {
    pub(super) fn of(report: &Report<'_>) -> Self {
        let all = report.steps.len();
        let systems = report.systems.len().max(1);
        let most = match (report.is_by_step(), report.is_brief) {
            (false, _) => all,
            (true, true) => (BRIEF / systems).clamp(LEAST_BRIEF, MOST_BRIEF),
            (true, false) => {
                let most = if report.sweep.is_some() { MOST_SWEPT } else { MOST };
                (WHOLE_BY_STEP / systems).clamp(LEAST, most)
            }
        };
        let changes = report.steps.iter().enumerate().filter_map(|(place, step)| {
            let judged = report.candidates_at(step).filter(|at| !at.system.is_control);
            Some((place, largest(judged.filter_map(At::decision))?))
        });
        let mut ranked: Vec<(usize, f64)> = changes.collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (differing, largest) = (ranked.len(), ranked.first().map(|(place, _)| *place));
        let is_whole = !(report.is_brief && report.is_by_step());
        let mut shown = vec![is_whole && all <= most; all];
        if !shown.iter().any(|shown| *shown) {
            for (place, _) in ranked.into_iter().take(most) {
                shown[place] = true;
            }
        }
        let what = if report.is_all_of_throughput() { "Throughput" } else { "The deciding metric" };
        Self { shown, differing, largest, what }
    }

    pub(super) fn has(&self, place: usize) -> bool {
        self.shown.get(place).copied().unwrap_or(false)
    }

    pub(super) fn count(&self) -> usize {
        self.shown.iter().filter(|shown| **shown).count()
    }

    pub(super) fn link(&self, place: usize) -> Link {
        Link { to: self.has(place).then(|| format!("#step-{place}")), cell: None }
    }

    /// What to say about the steps that have none; nothing where all have one.
    pub(super) fn note(&self) -> Markup {
        let shown = self.count();
        html! {
            @if shown < self.shown.len() {
                p.note {
                    (self.what) " certainly differs in " (self.differing) " of "
                    (plural(self.shown.len(), "step")) ". "
                    @if shown == 0 { "No details below" }
                    @else if shown < self.differing { "Details below: the " (shown) " with the largest differences" }
                    @else { "Details below: only these" }
                    "; all are in the tables above."
                }
            }
        }
    }
}

/// How far the ratio of the comparison that certainly differs most is from 1; `None` where none does.
fn largest<'c>(comparisons: impl Iterator<Item = &'c Comparison>) -> Option<f64> {
    comparisons.filter(|c| is_certain(&c.verdict)).map(size).reduce(f64::max)
}

/// Systems times steps for which a page has room with all that was recorded.
const WHOLE: usize = 84;

/// Systems times steps for which a whole page has room with what the steps are about.
const LEAN: usize = 160;

/// Systems that are shown in any case.
const LEAST_SYSTEMS: usize = 4;

/// Systems that tables over all steps have room for, and those of a page that is made to be short.
const LISTED: usize = 16;
const LISTED_BRIEF: usize = 8;

/// Does a page show all that was recorded of its steps? And of which systems, by their places; `None` for all.
pub(super) fn room(report: &Report<'_>, sections: &Sections) -> (bool, Option<BTreeSet<usize>>) {
    let steps = sections.count().max(1);
    let whole = if report.is_by_step() { WHOLE_BY_STEP } else { WHOLE };
    if !report.is_brief && report.systems.len() * steps <= whole {
        return (true, None);
    }
    let most = if report.is_brief { BRIEF } else { LEAN };
    (false, nearest(report, (most / steps).max(LEAST_SYSTEMS)))
}

/// Have tables over all steps room for every system?
pub(super) fn lists_all(report: &Report<'_>) -> bool {
    let most = if report.is_brief { LISTED_BRIEF } else { LISTED };
    report.systems.len() <= most
}

/// The base, the control and the systems that certainly differ most; `None` where there are no more.
fn nearest(report: &Report<'_>, most: usize) -> Option<BTreeSet<usize>> {
    if report.systems.len() <= most {
        return None;
    }
    let change = |system: &Seen<'_>| largest(report.decisions(system).into_iter());
    let others = report.judged().map(|system| (change(system).unwrap_or(0.0), system.index));
    let mut others: Vec<(f64, usize)> = others.collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0));
    let always = report.systems.iter().filter(|s| s.is_base || s.is_control);
    let mut kept: BTreeSet<usize> = always.map(|system| system.index).collect();
    kept.extend(others.into_iter().take(most.saturating_sub(kept.len())).map(|(_, index)| index));
    Some(kept)
}

/// What to say where `shown` has fewer systems than there were before; nothing where it has all.
pub(super) fn note_of_systems(all: &Report<'_>, shown: &Report<'_>, what: &str) -> Markup {
    let (few, every) = (shown.systems.len(), all.systems.len());
    html! {
        @if few < every {
            p.note {
                (what) " has no room for " (plural(every, "system")) ": it shows the " (few)
                " most relevant ones, which are the base, the control, if any, and those with the largest certain differences. For the tables of all: "
                code { "backslide report " (all.input.data.info.id) " -o report.tsv" } "."
            }
        }
    }
}

pub(super) struct Page<'p, 'a> {
    pub(super) all: &'p Report<'a>,
    /// The systems that tables over all steps have room for.
    pub(super) listed: &'p Report<'a>,
    /// The systems that are shown step by step.
    pub(super) near: &'p Report<'a>,
    pub(super) sections: &'p Sections,
    pub(super) cells: &'p Cells,
    pub(super) groups: Option<Table>,
    /// Does it show all that was recorded of a step, not only what the step is about?
    pub(super) is_whole: bool,
}

impl Page<'_, '_> {
    /// From a cell to the section of its step, or elsewhere where it has none; scripts open the evidence instead.
    pub(super) fn link(&self, system: &Seen<'_>, place: usize, elsewhere: &str) -> Link {
        let to = self.sections.link(place).to.unwrap_or_else(|| elsewhere.to_owned());
        Link { to: Some(to), cell: self.cells.key(system, place) }
    }
}

/// A section that people who jump from one to the next know by its heading.
pub(super) fn part(id: &str, title: &str, content: &Markup) -> Markup {
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (title) }
            (content)
        }
    }
}

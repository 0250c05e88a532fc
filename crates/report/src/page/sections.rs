//! Which steps have a section of their own.

use maud::{Markup, html};
use model::Step;

use crate::Report;
use crate::format::plural;
use crate::page::judged::size;
use crate::report::At;
use crate::verdict::is_certain;

/// Sections of a whole page at most, and at least where there are many systems: what keeps it below two
/// megabytes.
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
        let mut ranked: Vec<(usize, f64)> = report
            .steps
            .iter()
            .enumerate()
            .filter_map(|(place, step)| Some((place, change(report, step)?)))
            .collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let differing = ranked.len();
        let is_whole = !(report.is_brief && report.is_by_step());
        let mut shown = vec![is_whole && all <= most; all];
        if !shown.iter().any(|shown| *shown) {
            for (place, _) in ranked.into_iter().take(most) {
                shown[place] = true;
            }
        }
        let what = if report.is_all_of_throughput() { "Throughput" } else { "What decides a step" };
        Self { shown, differing, what }
    }

    pub(super) fn has(&self, place: usize) -> bool {
        self.shown.get(place).copied().unwrap_or(false)
    }

    pub(super) fn count(&self) -> usize {
        self.shown.iter().filter(|shown| **shown).count()
    }

    pub(super) fn link(&self, place: usize) -> Link {
        Link { to: self.target(place), cell: None }
    }

    /// The same from a cell whose evidence scripts open instead; a step without a section is found elsewhere.
    pub(super) fn link_of_cell(&self, place: usize, cell: Option<String>, elsewhere: &str) -> Link {
        let to = self.target(place).unwrap_or_else(|| elsewhere.to_owned());
        Link { to: Some(to), cell }
    }

    fn target(&self, place: usize) -> Option<String> {
        self.has(place).then(|| format!("#step-{place}"))
    }

    /// What to say about the steps that have none; nothing where all have one.
    pub(super) fn note(&self) -> Markup {
        let shown = self.count();
        html! {
            @if shown < self.shown.len() {
                p.note {
                    (self.what) " certainly differs in " (self.differing) " of "
                    (plural(self.shown.len(), "step")) ". "
                    @if shown == 0 { "None is shown by itself" }
                    @else if shown < self.differing { "The " (shown) " in which it differs most are shown one by one below" }
                    @else { "Only these are shown one by one below" }
                    "; all are in the tables above."
                }
            }
        }
    }
}

/// How far the ratio that decides the step is from 1, for the candidate that certainly differs most; `None` where
/// none does.
fn change(report: &Report<'_>, step: &Step) -> Option<f64> {
    let judged = report.candidates_at(step).filter(|at| !at.system.is_control);
    let certain = judged.filter_map(At::decision).filter(|c| is_certain(&c.verdict));
    certain.map(size).reduce(f64::max)
}

/// A place in the page, where it is there.
pub(super) struct Link {
    pub(super) to: Option<String>,
    /// The cell whose evidence scripts open instead.
    pub(super) cell: Option<String>,
}

impl Link {
    /// The content as a link, or as it is.
    pub(super) fn around(&self, content: &Markup) -> Markup {
        html! {
            @if let Some(to) = &self.to { a href=(to) data-cell=[self.cell.as_ref()] { (content) } }
            @else { span.cell { (content) } }
        }
    }
}

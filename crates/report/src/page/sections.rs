//! Which steps have a section of their own.

use maud::{Markup, html};
use model::StepInfo;

use super::room::{BRIEF, WHOLE_BY_STEP, size};
use super::step::Extent;
use crate::format::plural;
use crate::view::View;

/// Sections of a whole page at most, and at least where there are many systems: what keeps it below two
/// megabytes.
const MOST: usize = 40;
const LEAST: usize = 12;

/// The most of a sweep, whose tests have charts of their own.
const MOST_SWEPT: usize = 24;

/// Sections of a brief page where a workload has dozens of steps.
const MOST_BRIEF: usize = 12;
const LEAST_BRIEF: usize = 6;

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
    pub(super) fn of(view: &View<'_>, extent: Extent) -> Self {
        let all = view.steps.len();
        let systems = view.systems.len().max(1);
        let most = match extent {
            Extent::Whole | Extent::Brief if !view.is_by_step() => all,
            Extent::Whole if view.sweep.is_some() => {
                (WHOLE_BY_STEP / systems).clamp(LEAST, MOST_SWEPT)
            }
            Extent::Whole => (WHOLE_BY_STEP / systems).clamp(LEAST, MOST),
            Extent::Brief => (BRIEF / systems).clamp(LEAST_BRIEF, MOST_BRIEF),
        };
        let mut ranked: Vec<(usize, f64)> = view
            .steps
            .iter()
            .enumerate()
            .filter_map(|(place, step)| Some((place, change(view, step)?)))
            .collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let differing = ranked.len();
        let is_whole = extent == Extent::Whole || !view.is_by_step();
        let mut shown = vec![is_whole && all <= most; all];
        if !shown.iter().any(|shown| *shown) {
            for (place, _) in ranked.into_iter().take(most) {
                shown[place] = true;
            }
        }
        let what = if view.steps.iter().all(|step| view.is_of_throughput(step)) {
            "Throughput"
        } else {
            "What decides a step"
        };
        Self {
            shown,
            differing,
            what,
        }
    }

    /// Has this step a section?
    pub(super) fn has(&self, place: usize) -> bool {
        self.shown.get(place).copied().unwrap_or(false)
    }

    /// How many steps have one.
    pub(super) fn count(&self) -> usize {
        self.shown.iter().filter(|shown| **shown).count()
    }

    /// What leads to the section of a step.
    pub(super) fn link(&self, place: usize) -> Link {
        Link {
            to: self.target(place),
            cell: None,
        }
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
fn change(view: &View<'_>, step: &StepInfo) -> Option<f64> {
    let certain = view
        .candidates()
        .filter(|s| !s.is_control)
        .filter_map(|s| view.decision(s.name, step))
        .filter(|c| crate::view::is_certain(&c.verdict));
    certain.map(size).reduce(f64::max)
}

/// A place in the page, where it is there.
pub(super) struct Link {
    to: Option<String>,
    /// The cell whose evidence scripts open instead.
    cell: Option<String>,
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

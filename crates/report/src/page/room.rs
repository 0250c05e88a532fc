//! How much of each step a page has room for, and of which systems, so that it keeps its size.

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::Comparison;

use super::sections::Sections;
use super::step::Extent;
use crate::format::plural;
use crate::view::{Seen, View, is_certain, usable_ratio};

/// Systems times steps for which a page has room with all that was recorded.
const WHOLE: usize = 84;

/// The same where a step shows one kind of operation only.
pub(super) const WHOLE_BY_STEP: usize = 180;

/// Systems times steps for which a whole page has room with what the steps are about.
const LEAN: usize = 160;

/// The same in a page that is made to be short.
pub(super) const BRIEF: usize = 50;

/// Systems that are shown in any case.
const LEAST: usize = 4;

/// Systems that tables over all steps have room for, and those of a page that is made to be short.
const LISTED: usize = 16;
const LISTED_BRIEF: usize = 8;

/// What a page shows of its steps, one by one.
pub(super) struct Room {
    /// How much of each.
    pub(super) extent: Extent,
    /// Of which systems, by their places; `None` where there is room for all.
    pub(super) systems: Option<BTreeSet<usize>>,
}

impl Room {
    pub(super) fn of(view: &View<'_>, sections: &Sections, asked: Extent) -> Self {
        let steps = sections.count().max(1);
        let whole = if view.is_by_step() {
            WHOLE_BY_STEP
        } else {
            WHOLE
        };
        let most = match asked {
            Extent::Whole if view.systems.len() * steps <= whole => {
                return Self {
                    extent: Extent::Whole,
                    systems: None,
                };
            }
            Extent::Whole => LEAN,
            Extent::Brief => BRIEF,
        };
        Self {
            extent: Extent::Brief,
            systems: nearest(view, (most / steps).max(LEAST)),
        }
    }
}

/// Have tables over all steps room for every system?
pub(super) fn lists_all(view: &View<'_>) -> bool {
    let most = if view.is_brief { LISTED_BRIEF } else { LISTED };
    view.systems.len() <= most
}

/// The base, the control and the systems that certainly differ most; `None` where there are no more.
fn nearest(view: &View<'_>, most: usize) -> Option<BTreeSet<usize>> {
    if view.systems.len() <= most {
        return None;
    }
    let others = view.candidates().filter(|system| !system.is_control);
    let mut others: Vec<(f64, usize)> = others
        .map(|system| (change(view, system), system.index))
        .collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0));
    let always = view.systems.iter().filter(|s| s.is_base || s.is_control);
    let mut kept: BTreeSet<usize> = always.map(|system| system.index).collect();
    let room = most.saturating_sub(kept.len());
    kept.extend(others.into_iter().take(room).map(|(_, index)| index));
    Some(kept)
}

/// The largest certain change of a system; zero where nothing certainly changed.
fn change(view: &View<'_>, system: &Seen<'_>) -> f64 {
    let certain = view.decisions(system.name).into_iter();
    let certain = certain.filter(|comparison| is_certain(&comparison.verdict));
    certain.map(size).fold(0.0, f64::max)
}

/// How far a ratio is from 1; zero where there is none, unless nothing is left.
pub(super) fn size(comparison: &Comparison) -> f64 {
    if comparison.verdict.fell_to_zero() {
        return f64::INFINITY;
    }
    usable_ratio(comparison).map_or(0.0, |ratio| ratio.ln().abs())
}

/// What to say where `shown` has fewer systems than there were before; nothing where it has all.
pub(super) fn note(all: &View<'_>, shown: &View<'_>, what: &str) -> Markup {
    let (few, every) = (shown.systems.len(), all.systems.len());
    html! {
        @if few < every {
            p.note {
                (what) " has no room for " (plural(every, "system")) ": it shows the " (few)
                " that matter most here, which are the base, the control where there is one, and those that certainly differ most. The tables of all: "
                code { "backslide report " (all.input.data.info.id) " -o report.tsv" } "."
            }
        }
    }
}

//! How much of each step a page has room for, and of which systems, so that it keeps its size.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::judged::size;
use super::sections::{BRIEF, Sections, WHOLE_BY_STEP};
use crate::format::plural;
use crate::verdict::is_certain;
use crate::{Report, Seen};

/// Systems times steps for which a page has room with all that was recorded.
const WHOLE: usize = 84;

/// Systems times steps for which a whole page has room with what the steps are about.
const LEAN: usize = 160;

/// Systems that are shown in any case.
const LEAST: usize = 4;

/// Systems that tables over all steps have room for, and those of a page that is made to be short.
const LISTED: usize = 16;
const LISTED_BRIEF: usize = 8;

/// How much of each step the page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All that was recorded.
    Whole,
    /// What the step is about.
    Brief,
}

/// How much a page shows of its steps, one by one, and of which systems, by their places; `None` where there is room
/// for all.
pub(super) fn room(report: &Report<'_>, sections: &Sections) -> (Extent, Option<BTreeSet<usize>>) {
    let steps = sections.count().max(1);
    let whole = if report.is_by_step() { WHOLE_BY_STEP } else { WHOLE };
    if !report.is_brief && report.systems.len() * steps <= whole {
        return (Extent::Whole, None);
    }
    let most = if report.is_brief { BRIEF } else { LEAN };
    (Extent::Brief, nearest(report, (most / steps).max(LEAST)))
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
    let mut others: Vec<(f64, usize)> =
        report.judged().map(|system| (change(report, system), system.index)).collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0));
    let always = report.systems.iter().filter(|s| s.is_base || s.is_control);
    let mut kept: BTreeSet<usize> = always.map(|system| system.index).collect();
    let room = most.saturating_sub(kept.len());
    kept.extend(others.into_iter().take(room).map(|(_, index)| index));
    Some(kept)
}

/// The largest certain change of a system; zero where nothing certainly changed.
fn change(report: &Report<'_>, system: &Seen<'_>) -> f64 {
    let certain = report.decisions(system).into_iter();
    let certain = certain.filter(|comparison| is_certain(&comparison.verdict));
    certain.map(size).fold(0.0, f64::max)
}

/// What to say where `shown` has fewer systems than there were before; nothing where it has all.
pub(super) fn note(all: &Report<'_>, shown: &Report<'_>, what: &str) -> Markup {
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

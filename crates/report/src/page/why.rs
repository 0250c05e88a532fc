//! Why a system is slower than the base, from profiled rounds.

use maud::{Markup, html};

use super::sections::part;
use super::table::folded;
use crate::{Report, tables};

/// Nothing where no round was profiled.
pub(super) fn why(report: &Report<'_>) -> Markup {
    let shown = report.systems.iter();
    let is_shown = |system: &str| shown.clone().any(|one| one.name == system);
    let all: Vec<_> = report.input.why.iter().filter(|one| is_shown(&one.system)).collect();
    if all.is_empty() {
        return html! {};
    }
    let content = html! {
        p.note { "Profiled rounds sample the stacks of the servers. Each line says how much of the change of an operation's time it accounts for." }
        @for one in all { (folded(&tables::why(one))) }
    };
    part("why", "Why", &content)
}

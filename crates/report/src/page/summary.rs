//! What happened, how sure that is, and what to know before believing it.

use maud::{Markup, html};

use crate::view::View;
use crate::{findings, format, sentence};

pub(super) fn summary(view: &View<'_>) -> Markup {
    let sentences = sentence::view_sentences(view);
    let rounds = view.input.comparisons.iter().map(|c| c.rounds).max();
    html! {
        section #summary {
            h2 { "What happened" }
            @if !view.has_candidates() {
                p.lead { "Only one system was measured: there is nothing to compare it with." }
            }
            @for one in &sentences {
                p class={ "lead " (super::table::tone(one.tone).unwrap_or_default()) } {
                    strong { (one.system) } " " (unbroken(&one.text))
                }
            }
            @if let Some(rounds) = rounds {
                p.note {
                    "Ratios are of throughput" (elsewhere(view)) ", over " (format::plural(rounds as usize, "round"))
                    " that each held every system; in brackets their 95 % intervals. A change is called only where it is both certain and large enough to matter."
                }
            }
            p.control { (sentence::view_control(view)) }
            (unequal(view))
            @for finding in findings::view_findings(view) {
                aside.finding { strong { (finding.title) "." } " " (finding.text) }
            }
        }
    }
}

/// What ratios are of where throughput does not decide a step.
fn elsewhere(view: &View<'_>) -> &'static str {
    if view.steps.iter().all(|step| view.is_of_throughput(step)) {
        ""
    } else {
        " (where operations arrive by themselves: of the 99th percentile of response time, where the rate was given, or of the highest rate, where it was looked for)"
    }
}

/// Differences that should not be, unless they are what is compared.
fn unequal(view: &View<'_>) -> Markup {
    let unequal = findings::view_unequal(view);
    html! {
        @if !unequal.is_empty() {
            aside.finding #unequal {
                strong { (findings::UNEQUAL) "." }
                ul {
                    @for warning in unequal {
                        li {
                            strong { (warning.condition) } ": " (warning.line()) ". "
                            span.why { (warning.text) }
                        }
                    }
                }
            }
        }
    }
}

/// Keeps each interval in brackets on one line.
fn unbroken(text: &str) -> String {
    let mut depth = 0usize;
    let keep = |c: char| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == ' ' && depth > 0 { '\u{a0}' } else { c }
    };
    text.chars().map(keep).collect()
}

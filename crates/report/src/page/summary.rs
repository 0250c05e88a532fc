//! What happened, how sure that is, and what to know before believing it.

use maud::{Markup, html};
use model::Step;

use super::overview::leading_picture;
use super::sections::part;
use crate::report::about;
use crate::{Finding, Report, Sentence, findings, format};

/// Sentences of every system, of which the first few stand open, and the picture.
pub(super) fn summary(all: &Report<'_>, listed: &Report<'_>) -> Markup {
    let findings = all.findings();
    let content = html! {
        @if !all.has_candidates() {
            p.lead { "Only one system was measured: there is nothing to compare it with." }
        }
        (sentences(all, listed))
        (warned(all, &findings))
        (leading_picture(listed))
        (step_names(all))
        @if let Some(rounds) = rounds(all) {
            p.note {
                "Ratios are of throughput"
                @if !all.is_all_of_throughput() {
                    " (in open-loop steps: of the 99th percentile of response time at a given rate, or of the highest rate found by a search)"
                }
                ", over " (rounds)
                " measured for both systems, with 95 % intervals in brackets. backslide reports a change only where it is both certain and larger than the margin."
            }
        }
        p.control { (all.control()) }
        div #warnings {
            (unequal(all))
            @for finding in &findings {
                div.finding { strong { (finding.title) "." } " " (finding.text) }
            }
        }
    };
    part("summary", "What happened", &content)
}

/// Titles that one line names.
const MOST_WARNINGS: usize = 5;

/// What to know before believing the numbers, by its titles.
fn warned(report: &Report<'_>, findings: &[Finding]) -> Markup {
    let differ = report.unequal_conditions().iter().map(|one| format!("{} differs", one.condition));
    let titles = differ.chain(findings.iter().map(|finding| finding.title.clone())).collect();
    let titles = format::first(MOST_WARNINGS, titles, |more| format!("{more} more"));
    html! {
        @if !titles.is_empty() {
            p.warned { a href="#warnings" { "Warnings" } ": " (titles.join(" · ")) }
        }
    }
}

/// What each step does; of a test at several client counts once.
fn step_names(report: &Report<'_>) -> Markup {
    let mut steps: Vec<&Step> = report.steps.iter().collect();
    steps.dedup_by_key(|step| &step.test);
    html! {
        @if !steps.is_empty() {
            details {
                summary { "What the steps do" }
                dl.facts { @for step in steps { div { dt { (step.test) } dd { (about(step)) } } } }
            }
        }
    }
}

/// How many rounds ratios rest on: `4 rounds`, `up to 4 rounds` where some have fewer; `None` where none has any.
fn rounds(report: &Report<'_>) -> Option<String> {
    let with_ratio = report.input.comparisons.iter().filter(|c| c.ratio.is_some());
    let rounds: Vec<u32> = with_ratio.map(|comparison| comparison.rounds).collect();
    let (fewest, most) = (rounds.iter().min()?, rounds.iter().max()?);
    let most_in_words = format::plural(*most as usize, "round");
    Some(if fewest == most { most_in_words } else { format!("up to {most_in_words}") })
}

/// Sentences above the picture.
const MOST_OPEN: usize = 4;

fn sentences(all: &Report<'_>, listed: &Report<'_>) -> Markup {
    let sentences = all.sentences();
    let is_listed = |one: &Sentence| listed.systems.iter().any(|s| s.name == one.system);
    let (mut open, mut folded): (Vec<Sentence>, Vec<Sentence>) =
        sentences.into_iter().partition(is_listed);
    folded.splice(0..0, open.split_off(open.len().min(MOST_OPEN)));
    html! {
        @for one in &open {
            p class={ "lead " (super::table::tone(one.tone).unwrap_or_default()) } {
                strong { (one.system) } " " (unbroken(&one.text))
            }
        }
        @if !folded.is_empty() {
            details {
                summary { (format::plural(folded.len(), "other system")) }
                ul.prose { @for one in &folded { li { strong { (one.system) } " " (unbroken(&one.text)) } } }
            }
        }
    }
}

/// Differences that should not be, unless they are what is compared.
fn unequal(report: &Report<'_>) -> Markup {
    let unequal = report.unequal_conditions();
    html! {
        @if !unequal.is_empty() {
            div.finding #unequal {
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

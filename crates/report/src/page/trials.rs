//! Trials that failed, and those that were disturbed and set aside.

use maud::{Markup, html};
use model::{Outcome, TrialRecord};

use super::part::part;
use crate::Report;

pub(super) fn failed(report: &Report<'_>) -> Markup {
    let trials = &report.input.data.trials;
    let told: Vec<Markup> = trials.iter().filter_map(one).collect();
    let has_quarantined = trials.iter().any(|trial| trial.outcome.is_quarantined());
    let content = html! {
        @if told.is_empty() { p.nothing { "None." } }
        @for trial in told { (trial) }
    };
    let title = if has_quarantined { "Failed and quarantined trials" } else { "Failed trials" };
    part("failed", title, &content)
}

fn one(trial: &TrialRecord) -> Option<Markup> {
    match &trial.outcome {
        Outcome::Completed => None,
        Outcome::Quarantined { reason } => Some(html! {
            article.failed {
                h3 { (trial.system) ", round " (trial.round) ": quarantined" }
                p { (reason) }
            }
        }),
        Outcome::Failed { step, reason, log_tail } => Some(html! {
            article.failed {
                h3 { (trial.system) ", round " (trial.round)
                    @if let Some(step) = step { ", in " (step) } }
                p { (reason) }
                @if log_tail.is_empty() {
                    p.nothing { "The server's log has no lines." }
                } @else {
                    p.note { "The server's last lines:" }
                    pre tabindex="0" { (log_tail.join("\n")) }
                }
            }
        }),
    }
}

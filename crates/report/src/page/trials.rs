//! Trials that failed.

use maud::{Markup, html};
use model::{Outcome, TrialRecord};

use crate::view::View;

pub(super) fn failed(view: &View<'_>) -> Markup {
    let failed: Vec<Markup> = view.input.data.trials.iter().filter_map(one).collect();
    html! {
        section #failed {
            h2 { "Failed trials" }
            @if failed.is_empty() { p.nothing { "None." } }
            @for trial in failed { (trial) }
        }
    }
}

fn one(trial: &TrialRecord) -> Option<Markup> {
    let Outcome::Failed {
        step,
        reason,
        log_tail,
    } = &trial.outcome
    else {
        return None;
    };
    Some(html! {
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
    })
}

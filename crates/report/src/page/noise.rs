//! What the same system measured twice says of the noise, and what else may have been at work.

use maud::{Markup, html};
use model::{Comparison, Outcome, TrialRecord};
use stats::{ControlSummary, rates_of_control};

use super::sections::part;
use super::table::{folded, table};
use crate::verdict::{self, is_certain};
use crate::{Cell, Columns, Report, Table, format};

/// Does it say more than the summary? Of an imported run without a control nothing else is known.
pub(super) fn has_noise(report: &Report<'_>) -> bool {
    let mut systems = report.systems.iter();
    !report.input.data.info.is_imported() || systems.any(|system| system.is_control)
}

/// Amounts are those of the systems that tables have room for.
pub(super) fn noise(report: &Report<'_>, listed: &Report<'_>) -> Markup {
    if !has_noise(report) {
        return html! {};
    }
    let control = report.systems.iter().find(|system| system.is_control);
    let content = html! {
        @if let Some(control) = control { (cells(report, control.name)) }
        @if !report.input.data.info.is_imported() { p { (quarantined(report)) } }
        @for told in report.came_to_rest() { p { (told) } }
        @if !report.is_brief {
            @if let Some(left_over) = listed.left_over() {
                div #left-over { (folded(&left_over)) }
            }
        }
    };
    part("noise", "Noise", &content)
}

/// How many trials were disturbed by more than the plan allows.
fn quarantined(report: &Report<'_>) -> String {
    let trials = report.input.data.trials.iter();
    let count = trials.filter(|trial| trial.outcome.is_quarantined()).count();
    match (count, report.input.data.info.plan.course.quarantine) {
        (0, None) => "The plan set no limits on other load during a trial.".to_owned(),
        (0, Some(_)) => "No trial met more noise than the plan allows.".to_owned(),
        (count, _) => format!(
            "Quarantined: {} that met more noise than the plan allows. Listed below, {} tables.",
            format::plural(count, "trial"),
            if report.input.data.counts_disturbed() { "and included in" } else { "excluded from" }
        ),
    }
}

/// How many cells of the control say that something changed, and which.
fn cells(report: &Report<'_>, control: &str) -> Markup {
    let all = rates_of_control(report.input.comparisons, control);
    let comparisons = report.input.comparisons.iter();
    let alarms = comparisons.filter(|c| c.system == control && is_certain(&c.verdict));
    let alarms: Vec<&Comparison> = alarms.collect();
    html! {
        @if all.cells > 0 { p { (said(&all)) } }
        @if !alarms.is_empty() { (table(&false_alarms(&alarms))) }
    }
}

fn said(all: &ControlSummary) -> String {
    let (changed, cells) =
        (all.changed(), format::plural(all.cells as usize, "control comparison"));
    if changed == 0 {
        return format!("0 of {cells} were flagged, as expected.");
    }
    let share = all.false_alarms().unwrap_or_default();
    format!(
        "{changed} of {cells} {} flagged: {} worse, {} better, {} % of all. The systems are the same, so each is a false alarm.",
        if changed == 1 { "was" } else { "were" },
        all.regressed,
        all.improved,
        format::percent(100.0 * share),
    )
}

fn false_alarms(alarms: &[&Comparison]) -> Table {
    Columns::new()
        .words("step", |of: &&&Comparison| Cell::text(of.step.0.clone()))
        .words("metric", |of| Cell::text(of.metric.0.clone()))
        .numbers("ratio, 95 % interval", "", |of| Cell::text(format::ratio_and_interval(of)))
        .numbers("q", "", |of| Cell::text(of.q_value.map_or(String::new(), format::q_value)))
        .words("verdict", |of| verdict::cell(&of.verdict))
        .table(
            "Flagged control comparisons",
            "Do not trust effects of this size in the same metric and step.",
            alarms,
        )
}

pub(super) fn failed(report: &Report<'_>) -> Markup {
    let trials = &report.input.data.trials;
    let has_quarantined = trials.iter().any(|trial| trial.outcome.is_quarantined());
    let content = html! {
        @if trials.iter().all(|trial| trial.outcome.is_completed() || trial.outcome.is_profiled()) { p.nothing { "None." } }
        @for trial in trials { (one(trial)) }
    };
    let title = if has_quarantined { "Failed and quarantined trials" } else { "Failed trials" };
    part("failed", title, &content)
}

fn one(trial: &TrialRecord) -> Markup {
    html! {
        @match &trial.outcome {
            Outcome::Completed | Outcome::Profiled => {}
            Outcome::Quarantined { reason } => article.failed {
                h3 { (trial.system) ", round " (trial.round) ": quarantined" }
                p { (reason) }
            }
            Outcome::Failed { step, reason, log_tail } => article.failed {
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_is_told_in_numbers() {
        let mut all = ControlSummary { cells: 240, regressed: 0, improved: 0 };
        assert_eq!(said(&all), "0 of 240 control comparisons were flagged, as expected.");
        all.regressed = 1;
        assert_eq!(
            said(&all),
            "1 of 240 control comparisons was flagged: 1 worse, 0 better, 0.417 % of all. The systems are the same, so each is a false alarm."
        );
    }
}

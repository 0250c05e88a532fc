//! What the same system measured twice says of the noise, and what else may have been at work.

use maud::{Markup, html};
use model::Comparison;
use stats::{ControlSummary, rates_of_control};

use super::part::part;
use super::table::{folded, table};
use crate::table::{Cell, Header, Table};
use crate::view::{View, is_certain};
use crate::{before, format, sentence, tables};

/// Does it say more than the summary? Of an imported run without a control nothing else is known.
pub(super) fn has_noise(view: &View<'_>) -> bool {
    let mut systems = view.systems.iter();
    !view.input.data.info.is_imported() || systems.any(|system| system.is_control)
}

/// Amounts are those of the systems that tables have room for.
pub(super) fn noise(view: &View<'_>, listed: &View<'_>) -> Markup {
    if !has_noise(view) {
        return html! {};
    }
    let control = view.systems.iter().find(|system| system.is_control);
    let content = html! {
        p { (sentence::view_control(view)) }
        @if let Some(control) = control { (cells(view, control.name)) }
        @if !view.input.data.info.is_imported() { p { (quarantined(view)) } }
        @for told in before::of_run(view) { p { (told) } }
        @if !view.is_brief {
            @if let Some(left_over) = tables::view_left_over(listed) {
                div #left-over { (folded(&left_over)) }
            }
        }
    };
    part("noise", "Noise", &content)
}

/// How many trials were disturbed by more than the plan allows.
fn quarantined(view: &View<'_>) -> String {
    let trials = view.input.data.trials.iter();
    let count = trials
        .filter(|trial| trial.outcome.is_quarantined())
        .count();
    match (count, view.input.data.info.plan.course.quarantine) {
        (0, None) => "The plan set no limits to what else may go on during a trial.".to_owned(),
        (0, Some(_)) => "No trial met more noise than the plan allows.".to_owned(),
        (count, _) => format!(
            "Quarantined: {} that met more noise than the plan allows. They are listed below, and in no table.",
            format::plural(count, "trial")
        ),
    }
}

/// How many cells of the control say that something changed, and which.
fn cells(view: &View<'_>, control: &str) -> Markup {
    let all = rates_of_control(view.input.comparisons, control);
    let comparisons = view.input.comparisons.iter();
    let alarms = comparisons.filter(|c| c.system == control && is_certain(&c.verdict));
    let alarms: Vec<&Comparison> = alarms.collect();
    html! {
        @if all.cells > 0 { p { (said(&all)) } }
        @if !alarms.is_empty() { (table(&false_alarms(&alarms))) }
    }
}

fn said(all: &ControlSummary) -> String {
    let changed = all.changed();
    let cells = format::plural(all.cells as usize, "cell");
    if changed == 0 {
        return format!("Of {cells} of the control none says changed, as it should be.");
    }
    let share = all.false_alarms().unwrap_or_default();
    format!(
        "Of {cells} of the control {changed} {} changed: {} worse, {} better, {} % of all. Nothing differs there, so that each is a false alarm.",
        if changed == 1 { "says" } else { "say" },
        all.regressed,
        all.improved,
        format::percent(100.0 * share),
    )
}

fn false_alarms(alarms: &[&Comparison]) -> Table {
    let row = |comparison: &&Comparison| {
        let verdict = &comparison.verdict;
        vec![
            Cell::text(comparison.step.0.clone()),
            Cell::text(comparison.metric.0.clone()),
            Cell::text(format::ratio_and_interval(comparison)),
            Cell::text(comparison.q_value.map_or(String::new(), format::q_value)),
            Cell::text(tables::verdict_word(verdict)).with_tone(tables::verdict_tone(verdict)),
        ]
    };
    Table {
        title: "Cells of the control that say changed".to_owned(),
        note: "Believe no effect of that size in that metric of that step.".to_owned(),
        headers: vec![
            Header::words("step"),
            Header::words("metric"),
            Header::numbers("ratio, 95 % interval", ""),
            Header::numbers("q", ""),
            Header::words("verdict"),
        ],
        rows: alarms.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_is_told_in_numbers() {
        let mut all = ControlSummary {
            cells: 240,
            regressed: 0,
            improved: 0,
        };
        assert_eq!(
            said(&all),
            "Of 240 cells of the control none says changed, as it should be."
        );
        all.regressed = 1;
        assert_eq!(
            said(&all),
            "Of 240 cells of the control 1 says changed: 1 worse, 0 better, 0.417 % of all. Nothing differs there, so that each is a false alarm."
        );
    }
}

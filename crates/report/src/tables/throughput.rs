//! The three summary tables that readers of the published reports know.

use model::{MetricId, StepInfo, WorkloadSpec};

use super::grid::{absolute_cell, grid, relative_cell};
use crate::format;
use crate::table::{Cell, Table, Tone};
use crate::view::{Seen, View};

pub(crate) fn absolute(view: &View<'_>) -> Table {
    grid(
        view,
        "Throughput".to_owned(),
        "Median over the rounds of inserted or indexed rows per second (l.*) and queries per second (q*).",
        |_| true,
        |step| format::header_unit(view.rate_unit(step)),
        |system, step| {
            let cell = absolute_cell(view, system, step, MetricId::RATE);
            match missed_rounds(view, system, step) {
                Some((missed, _)) if missed > 0 => cell.marked(Tone::Missed, "SLA missed"),
                _ => cell,
            }
        },
    )
}

pub(crate) fn relative(view: &View<'_>) -> Table {
    grid(
        view,
        format!("Throughput relative to {}", view.base),
        "Above 1 is faster than the base. Geometric mean of the paired ratios of all rounds; marked where the verdict is certain and large enough to matter.",
        |_| true,
        |_| "",
        |system, step| relative_cell(view, system, step, MetricId::RATE),
    )
}

pub(crate) fn background(view: &View<'_>) -> Option<Table> {
    if !view.steps.iter().any(has_background) {
        return None;
    }
    let note = format!(
        "Rows per second that the background writers inserted, all clients together, median over the rounds. Missed are the rounds whose mean is below {} % of the target.",
        sla_percent(view)
    );
    let mut table = grid(
        view,
        "Background insert rate against its target".to_owned(),
        &note,
        has_background,
        |_| "rows/s",
        |system, step| achieved(view, system, step),
    );
    let targets = view.steps.iter().filter(|step| has_background(step));
    let cells = targets.map(|step| {
        let target = step.target_rate.unwrap_or_default();
        Cell::number(target as f64, format::count(target)).with_tone(Tone::Muted)
    });
    let row = std::iter::once(Cell::text("target").with_tone(Tone::Muted)).chain(cells);
    table.rows.push(row.collect());
    Some(table)
}

/// Has this step paced writers beside what it is about?
pub(crate) fn has_background(step: &StepInfo) -> bool {
    step.target_rate.is_some() && step.subject != "insert"
}

fn achieved(view: &View<'_>, system: &Seen<'_>, step: &StepInfo) -> Cell {
    let cell = absolute_cell(view, system, step, "rows.insert");
    match missed_rounds(view, system, step) {
        Some((missed, all)) if missed > 0 => {
            cell.marked(Tone::Missed, format!("missed in {missed} of {all}"))
        }
        _ => cell,
    }
}

/// Rounds in which the background writers missed the target, and all; `None` where there is none.
fn missed_rounds(view: &View<'_>, system: &Seen<'_>, step: &StepInfo) -> Option<(usize, usize)> {
    if !has_background(step) {
        return None;
    }
    let share = &view.values(system.name, step, "sla.insert")?.rounds;
    let least = sla_percent(view);
    let missed = share.iter().filter(|(_, v)| *v < f64::from(least)).count();
    Some((missed, share.len()))
}

fn sla_percent(view: &View<'_>) -> u32 {
    match &view.input.data.info.plan.workload {
        WorkloadSpec::Insert(spec) => spec.sla_percent,
    }
}

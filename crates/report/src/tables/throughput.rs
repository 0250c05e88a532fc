//! The three summary tables that readers of the published reports know.

use model::{MetricId, StepInfo, WorkloadSpec};

use super::grid::{Grid, absolute_cell, grid, relative_cell};
use crate::format;
use crate::open_loop::failed_rounds;
use crate::table::{Cell, Table, Tone};
use crate::view::{Seen, View};

pub(crate) fn absolute(view: &View<'_>) -> Table {
    absolute_of(view, |_| true)
}

/// Of the steps for which `has` says yes.
pub(crate) fn absolute_of(view: &View<'_>, has: impl Fn(&StepInfo) -> bool) -> Table {
    let what = Grid {
        title: "Throughput".to_owned(),
        note: absolute_note(view),
        is_relative: false,
    };
    grid(
        view,
        what,
        has,
        |step| view.rate_unit_name(step),
        |system, step| rate_cell(view, system, step),
    )
}

/// What throughput counts.
pub(super) fn absolute_note(view: &View<'_>) -> &'static str {
    match view.input.data.info.plan.workload {
        WorkloadSpec::Insert(_) => {
            "Median over the rounds of inserted or indexed rows per second (l.*) and queries per second (q*)."
        }
        WorkloadSpec::Sql(_) => {
            "Median over the rounds. In steps of one operation its statements are counted, BEGIN and COMMIT among them; in steps that mix several, whole operations; where tables are loaded, indexed or scanned, rows."
        }
        WorkloadSpec::Tpcc(_) => {
            "Median over the rounds of rows per second where tables are loaded and indexed, and of completed New-Orders per second (60 times that is tpmc) where transactions run."
        }
    }
}

/// The throughput of a system in a step, and whether it fell short of what was asked.
pub(super) fn rate_cell(view: &View<'_>, system: &Seen<'_>, step: &StepInfo) -> Cell {
    let cell = absolute_cell(view, system, step, MetricId::RATE);
    if missed_rounds(view, system, step).is_some_and(|(missed, _)| missed > 0) {
        cell.marked(Tone::Missed, "SLA missed")
    } else if failed_rounds(view, system.name, step).is_some_and(|(failed, _)| failed > 0) {
        cell.marked(Tone::Missed, "not sustained")
    } else {
        cell
    }
}

pub(crate) fn relative(view: &View<'_>) -> Table {
    relative_of(view, |_| true)
}

/// Of the steps for which `has` says yes, as far as throughput decides them: where operations arrive by
/// themselves, it is the plan's.
pub(crate) fn relative_of(view: &View<'_>, has: impl Fn(&StepInfo) -> bool) -> Table {
    let what = Grid {
        title: format!("Throughput relative to {}", view.base),
        note: "Above 1 is faster than the base. Geometric mean of the paired ratios of all rounds; marked where the verdict is certain and large enough to matter.",
        is_relative: true,
    };
    grid(
        view,
        what,
        |step| has(step) && view.is_of_throughput(step),
        |_| "",
        |system, step| relative_cell(view, system, step, MetricId::RATE),
    )
}

pub(crate) fn background(view: &View<'_>) -> Option<Table> {
    let least = sla_percent(view).filter(|_| view.steps.iter().any(has_background))?;
    let note = format!(
        "Rows per second that the background writers inserted, all clients together, median over the rounds. Missed are the rounds whose mean is below {least} % of the target."
    );
    let what = Grid {
        title: "Background insert rate against its target".to_owned(),
        note: &note,
        is_relative: false,
    };
    let mut table = grid(
        view,
        what,
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
fn has_background(step: &StepInfo) -> bool {
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
    let least = sla_percent(view).filter(|_| has_background(step))?;
    let share = &view.values(system.name, step, "sla.insert")?.rounds;
    let missed = share.iter().filter(|(_, v)| *v < f64::from(least)).count();
    Some((missed, share.len()))
}

/// `None` where steps have no background writers: open loops have a judgement of their own.
fn sla_percent(view: &View<'_>) -> Option<u32> {
    match &view.input.data.info.plan.workload {
        WorkloadSpec::Insert(spec) => Some(spec.sla_percent),
        WorkloadSpec::Sql(_) | WorkloadSpec::Tpcc(_) => None,
    }
}

//! The three summary tables that readers of the published reports know.

use model::{MetricId, Step};

use super::grid::Grid;
use crate::report::At;
use crate::{Cell, Report, Table, Tone};

impl Report<'_> {
    /// Throughput: systems × steps.
    pub fn absolute(&self) -> Table {
        self.absolute_of(|_| true)
    }

    /// Of the steps for which `has` says yes.
    pub(super) fn absolute_of(&self, has: impl Fn(&Step) -> bool) -> Table {
        let what =
            Grid { title: "Throughput".to_owned(), note: absolute_note(self), is_relative: false };
        let unit = |step: &Step| self.rate_unit_name(step);
        self.grid(what, has, unit, rate_cell)
    }

    /// Throughput relative to the base: systems × steps.
    pub fn relative(&self) -> Table {
        self.relative_of(|_| true)
    }

    /// Of the steps for which `has` says yes, as far as throughput decides them: where operations arrive by
    /// themselves, it is the plan's.
    pub(super) fn relative_of(&self, has: impl Fn(&Step) -> bool) -> Table {
        let what = Grid {
            title: format!("Throughput relative to {}", self.base),
            note: "Above 1 is faster than the base. Geometric mean of the paired ratios of all rounds; marked where the verdict is certain and large enough to matter.",
            is_relative: true,
        };
        self.grid_of_metric(MetricId::RATE, what, |step| has(step) && step.is_of_throughput())
    }

    /// Achieved background insert rate against its target; `None` where no step has one.
    pub fn background(&self) -> Option<Table> {
        let least = sla_percent(self).filter(|_| self.steps.iter().any(has_background))?;
        let note = format!(
            "Rows per second that the background writers inserted, all clients together, median over the rounds. Missed: rounds whose mean is below {least} % of the target."
        );
        let what = Grid {
            title: "Background insert rate against its target".to_owned(),
            note: &note,
            is_relative: false,
        };
        let mut table = self.grid(what, has_background, |_| "rows/s", achieved);
        let targets = self.steps.iter().filter(|step| has_background(step));
        let cells = targets.map(|step| Cell::count(step.target_rate.unwrap_or_default() as f64));
        let row = std::iter::once(Cell::text("target")).chain(cells);
        table.rows.push(row.map(|cell| cell.with_tone(Tone::Muted)).collect());
        Some(table)
    }
}

pub(super) fn absolute_note(report: &Report<'_>) -> &'static str {
    let workload = &report.input.data.info.plan.workload;
    if workload.insert().is_some() {
        "Median over the rounds of inserted or indexed rows per second (l.*) and queries per second (q*)."
    } else if workload.tpcc().is_none() {
        "Median over the rounds. Steps of one operation count its statements, including BEGIN and COMMIT. Steps that mix several count whole operations. Steps that load, index or scan tables count rows."
    } else {
        "Median over the rounds of rows per second where tables are loaded and indexed, and of completed New-Orders per second (60 times that is tpmc) where transactions run."
    }
}

/// The throughput of a system in a step, and whether it fell short of what was asked.
pub(super) fn rate_cell(at: At<'_>) -> Cell {
    let cell = at.absolute(MetricId::RATE);
    if missed_rounds(at).is_some_and(|(missed, _)| missed > 0) {
        cell.marked(Tone::Missed, "SLA missed")
    } else if at.is_unsustained() {
        cell.marked(Tone::Missed, "not sustained")
    } else {
        cell
    }
}

/// Has this step paced writers beside what it is about?
fn has_background(step: &Step) -> bool {
    step.target_rate.is_some() && step.subject.kind != "insert"
}

fn achieved(at: At<'_>) -> Cell {
    let cell = at.absolute("rows.insert");
    match missed_rounds(at) {
        Some((missed, all)) if missed > 0 => {
            cell.marked(Tone::Missed, format!("missed in {missed} of {all}"))
        }
        _ => cell,
    }
}

/// Rounds in which the background writers missed the target, and all; `None` where there is none.
fn missed_rounds(at: At<'_>) -> Option<(usize, usize)> {
    let least = sla_percent(at.report).filter(|_| has_background(at.step))?;
    let share = &at.values("sla.insert")?.rounds;
    let missed = share.iter().filter(|(_, v)| *v < f64::from(least)).count();
    Some((missed, share.len()))
}

/// `None` where steps have no background writers: open loops have a judgement of their own.
fn sla_percent(report: &Report<'_>) -> Option<u32> {
    report.input.data.info.plan.workload.insert().map(|spec| spec.sla_percent)
}

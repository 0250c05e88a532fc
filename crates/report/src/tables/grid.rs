//! The shape that most tables share: a row a system, a column a step.

use model::{Direction, MetricId, StepInfo, Verdict, describe};

use crate::format;
use crate::table::{Cell, Header, Table, Tone};
use crate::view::{Seen, View};

/// A table systems × steps; steps for which `has` says no are left out.
pub(super) fn grid(
    view: &View<'_>,
    title: String,
    note: &str,
    has: impl Fn(&StepInfo) -> bool,
    unit: impl Fn(&StepInfo) -> &'static str,
    cell: impl Fn(&Seen<'_>, &StepInfo) -> Cell,
) -> Table {
    let steps: Vec<&StepInfo> = view.steps.iter().filter(|step| has(step)).collect();
    let columns = steps
        .iter()
        .map(|step| Header::numbers(view.label(step), unit(step)));
    let rows = view.systems.iter().map(|system| {
        let values = steps.iter().map(|step| cell(system, step));
        std::iter::once(name(system)).chain(values).collect()
    });
    Table {
        title,
        note: note.to_owned(),
        headers: std::iter::once(Header::words("system"))
            .chain(columns)
            .collect(),
        rows: rows.collect(),
    }
}

/// The cell that names a row.
pub(super) fn name(system: &Seen<'_>) -> Cell {
    let cell = Cell::text(system.name);
    if system.is_base {
        cell.marked(Tone::Plain, "base")
    } else if system.is_control && !system.name.contains("control") {
        cell.marked(Tone::Plain, "control")
    } else {
        cell
    }
}

/// The median of a metric over the rounds.
pub(super) fn absolute_cell(
    view: &View<'_>,
    system: &Seen<'_>,
    step: &StepInfo,
    metric: &str,
) -> Cell {
    match (
        view.median(system.name, step, metric),
        view.unit(step, metric),
    ) {
        (Some(value), Some(unit)) => Cell::number(value, format::in_unit(value, unit)),
        _ => Cell::absent(),
    }
}

/// A metric relative to the base: from the comparison; where there is none, from the medians.
pub(super) fn relative_cell(
    view: &View<'_>,
    system: &Seen<'_>,
    step: &StepInfo,
    metric: &str,
) -> Cell {
    let own = view.median(system.name, step, metric);
    if system.is_base {
        // Nothing has a ratio to zero, not even the base.
        return own.filter(|v| *v != 0.0).map_or_else(Cell::absent, |_| {
            Cell::number(1.0, format::ratio(1.0)).with_tone(Tone::Muted)
        });
    }
    let comparison = view.comparison(system.name, step, metric);
    let of_medians = || {
        let base = view.median(view.base, step, metric)?;
        Some(own? / base).filter(|ratio| ratio.is_finite())
    };
    let Some(ratio) = comparison.and_then(|c| c.ratio).or_else(of_medians) else {
        return Cell::absent();
    };
    let cell = Cell::number(ratio, format::ratio(ratio));
    match comparison.map(|c| &c.verdict) {
        Some(Verdict::Regressed) => cell.marked(Tone::Regressed, worse(metric)),
        Some(Verdict::Improved) => cell.marked(Tone::Improved, better(metric)),
        Some(Verdict::Unchanged | Verdict::Inconclusive(_) | Verdict::Incomparable(_)) | None => {
            cell
        }
    }
}

/// The word for a regression of this metric.
pub(crate) fn worse(metric: &str) -> &'static str {
    match direction(metric) {
        Direction::Higher => "slower",
        Direction::Lower | Direction::Neither => "worse",
    }
}

/// The word for an improvement of this metric.
pub(crate) fn better(metric: &str) -> &'static str {
    match direction(metric) {
        Direction::Higher => "faster",
        Direction::Lower | Direction::Neither => "better",
    }
}

fn direction(metric: &str) -> Direction {
    describe(&MetricId::new(metric)).map_or(Direction::Neither, |d| d.direction)
}

//! The shape that most tables share: a row a system, a column a step.

use std::collections::BTreeSet;

use model::{Direction, MetricId, Reason, StepInfo, Verdict, describe};

use super::verdict_word;
use crate::format;
use crate::table::{Cell, Header, Table, Tone};
use crate::view::{Seen, View};

/// What a table of systems and steps is called, and of whom it is.
pub(super) struct Grid<'g> {
    /// What it shows.
    pub(super) title: String,
    /// How to read it.
    pub(super) note: &'g str,
    /// Are its values relative to the base?
    pub(super) is_relative: bool,
}

/// A table of systems and steps; steps for which `has` says no are left out. A row a system and a column
/// a step; in workloads with dozens of steps a row a step under its group's heading and a column a
/// system, which leaves out a base that is 1 in every row.
pub(super) fn grid(
    view: &View<'_>,
    what: Grid<'_>,
    has: impl Fn(&StepInfo) -> bool,
    unit: impl Fn(&StepInfo) -> &'static str,
    cell: impl Fn(&Seen<'_>, &StepInfo) -> Cell,
) -> Table {
    if view.is_by_step() {
        return by_step(view, what, has, unit, cell);
    }
    let steps: Vec<&StepInfo> = view.steps.iter().filter(|step| has(step)).collect();
    let columns = steps
        .iter()
        .map(|step| Header::numbers(view.label(step), unit(step)));
    let rows = view.systems.iter().map(|system| {
        let values = steps.iter().map(|step| cell(system, step));
        std::iter::once(name(system)).chain(values).collect()
    });
    Table {
        title: what.title,
        note: what.note.to_owned(),
        headers: std::iter::once(Header::words("system"))
            .chain(columns)
            .collect(),
        rows: rows.collect(),
    }
}

fn by_step(
    view: &View<'_>,
    what: Grid<'_>,
    has: impl Fn(&StepInfo) -> bool,
    unit: impl Fn(&StepInfo) -> &'static str,
    cell: impl Fn(&Seen<'_>, &StepInfo) -> Cell,
) -> Table {
    let without_base = what.is_relative && view.has_candidates();
    let systems: Vec<&Seen<'_>> = view
        .systems
        .iter()
        .filter(|s| !(s.is_base && without_base))
        .collect();
    let units = Units::of(view.steps.iter().filter(|step| has(step)).map(&unit));
    let mut headers = vec![Header::words("step")];
    headers.extend(units.header());
    headers.extend(systems.iter().map(|system| Header {
        unit: units.common().to_owned(),
        ..column(system)
    }));
    let row = |step: &StepInfo| {
        let mut cells = vec![Cell::text(view.label(step))];
        cells.extend(units.cell(unit(step)));
        cells.extend(systems.iter().map(|system| cell(system, step)));
        cells
    };
    let mut rows = Vec::new();
    for group in &view.groups {
        let steps = group.places.clone();
        let steps = steps.filter_map(|place| view.steps.get(place));
        let of_group: Vec<Vec<Cell>> = steps.filter(|step| has(step)).map(row).collect();
        if !(of_group.is_empty() || group.title.is_empty()) {
            rows.push(Table::heading(&group.title, headers.len()));
        }
        rows.extend(of_group);
    }
    Table {
        title: what.title,
        note: what.note.to_owned(),
        headers,
        rows,
    }
}

/// The units of a table whose rows are steps or tests: one for all values, which their heads name, or a
/// column of them.
pub(super) enum Units {
    /// All values have this one; empty for none.
    Common(&'static str),
    /// Rows have different ones.
    Column,
}

impl Units {
    pub(super) fn of(units: impl Iterator<Item = &'static str>) -> Self {
        let distinct: BTreeSet<&str> = units.collect();
        let mut distinct = distinct.into_iter();
        match (distinct.next(), distinct.next()) {
            (None, _) => Self::Common(""),
            (Some(unit), None) => Self::Common(unit),
            (Some(_), Some(_)) => Self::Column,
        }
    }

    /// What the head of a value's column says.
    pub(super) fn common(&self) -> &'static str {
        match self {
            Self::Common(unit) => unit,
            Self::Column => "",
        }
    }

    /// The head of the column of units, where there is one.
    pub(super) fn header(&self) -> Option<Header> {
        match self {
            Self::Common(_) => None,
            Self::Column => Some(Header::numbers("unit", "")),
        }
    }

    /// The unit of a row, where there is a column of them.
    pub(super) fn cell(&self, unit: &'static str) -> Option<Cell> {
        match self {
            Self::Common(_) => None,
            Self::Column => Some(Cell::text(unit)),
        }
    }
}

/// The head of a system's column.
pub(super) fn column(system: &Seen<'_>) -> Header {
    let role = name(system).mark;
    if role.is_empty() {
        Header::numbers(system.name, "")
    } else {
        Header::numbers(format!("{} ({role})", system.name), "")
    }
}

/// The cell that names a row.
pub(super) fn name(system: &Seen<'_>) -> Cell {
    let cell = Cell::text(system.name);
    if system.is_base {
        cell.marked(Tone::Plain, "base")
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
    let own = view.values(system.name, step, metric).map(|v| v.unit);
    let median = view.median(system.name, step, metric);
    let Some((value, own)) = median.zip(own) else {
        return Cell::absent();
    };
    let text = format::in_unit(value, own);
    if view.unit(step, metric) == Some(own) {
        return Cell::number(value, text);
    }
    // Heads and spreadsheets have the unit of the first system: another stands in the text.
    let unit = format::header_unit(own);
    Cell::text(format!("{text} {unit}").trim_end())
}

/// A metric relative to the base: from the comparison. The medians stand in for one that was not made, and for one
/// that has no ratio because of a zero; what fell to zero is zero, and what could not be compared has no ratio at all.
pub(crate) fn relative_cell(
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
    if let Some(fallen) = comparison.filter(|c| c.verdict.fell_to_zero()) {
        let cell = Cell::number(0.0, format::number(0.0));
        return cell.marked(Tone::Regressed, verdict_word(&fallen.verdict));
    }
    if let Some(refused) = comparison.filter(|c| c.ratio.is_none() && !has_a_zero(&c.verdict)) {
        return Cell::absent().marked(Tone::Muted, refused.verdict.word());
    }
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

/// Is a value of zero all that keeps two from having a ratio?
const fn has_a_zero(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Incomparable(Reason::NoRatio { .. }))
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

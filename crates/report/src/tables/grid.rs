//! The shape that most tables share: a row a system, a column a step.

use std::collections::BTreeSet;

use model::{Direction, MetricId, Reason, Step, Verdict, describe};

use crate::{Cell, Header, Report, Seen, Table, Tone, format, verdict};

/// What a table of systems and steps is called, and of whom it is.
pub(super) struct Grid<'g> {
    pub(super) title: String,
    pub(super) note: &'g str,
    /// Are its values relative to the base?
    pub(super) is_relative: bool,
}

impl Report<'_> {
    /// A row a system: its name, then these cells.
    pub(super) fn by_system(
        &self,
        title: impl Into<String>,
        note: impl Into<String>,
        columns: impl IntoIterator<Item = Header>,
        cells: impl Fn(&Seen<'_>) -> Vec<Cell>,
    ) -> Table {
        let rows = self.systems.iter().map(|system| named(system, cells(system)));
        Table::new(title, note, headers(columns), rows)
    }

    /// Rows under the heading of each step that has any.
    pub(super) fn under_steps<'s>(
        &self,
        steps: impl IntoIterator<Item = &'s Step>,
        columns: usize,
        rows: impl Fn(&'s Step) -> Vec<Vec<Cell>>,
    ) -> Vec<Vec<Cell>> {
        let of_steps = steps.into_iter().map(|step| (self.label(step), rows(step)));
        under_headings(of_steps, columns)
    }

    /// A table of systems and steps; steps for which `has` says no are left out. A row a system and a column
    /// a step; in workloads with dozens of steps a row a step under its group's heading and a column a
    /// system, which leaves out a base that is 1 in every row.
    pub(super) fn grid(
        &self,
        what: Grid<'_>,
        has: impl Fn(&Step) -> bool,
        unit: impl Fn(&Step) -> &'static str,
        cell: impl Fn(&Seen<'_>, &Step) -> Cell,
    ) -> Table {
        if self.is_by_step() {
            return by_step(self, what, has, unit, cell);
        }
        let steps: Vec<&Step> = self.steps.iter().filter(|step| has(step)).collect();
        let columns = steps.iter().map(|step| Header::numbers(self.label(step), unit(step)));
        let cells = |system: &Seen<'_>| steps.iter().map(|step| cell(system, step)).collect();
        self.by_system(what.title, what.note, columns, cells)
    }

    /// One metric in all steps: its medians, or its ratios to the base.
    pub(super) fn grid_of_metric(
        &self,
        metric: &str,
        what: Grid<'_>,
        has: impl Fn(&Step) -> bool,
    ) -> Table {
        let is_relative = what.is_relative;
        let unit = |step: &Step| {
            let unit = self.unit(step, metric).filter(|_| !is_relative);
            unit.map_or("", format::header_unit)
        };
        self.grid(what, has, unit, |system, step| self.cell(system, step, metric, is_relative))
    }

    pub(super) fn cell(
        &self,
        system: &Seen<'_>,
        step: &Step,
        metric: &str,
        is_relative: bool,
    ) -> Cell {
        if is_relative {
            self.relative_cell(system, step, metric)
        } else {
            self.absolute_cell(system, step, metric)
        }
    }
}

pub(super) fn headers(columns: impl IntoIterator<Item = Header>) -> Vec<Header> {
    std::iter::once(Header::words("system")).chain(columns).collect()
}

pub(super) fn named(system: &Seen<'_>, cells: Vec<Cell>) -> Vec<Cell> {
    std::iter::once(name(system)).chain(cells).collect()
}

/// The rows of each part under its heading; parts without rows, and headings without words, are left out.
pub(super) fn under_headings(
    parts: impl IntoIterator<Item = (String, Vec<Vec<Cell>>)>,
    columns: usize,
) -> Vec<Vec<Cell>> {
    let mut all = Vec::new();
    for (heading, rows) in parts {
        if !(rows.is_empty() || heading.is_empty()) {
            all.push(Table::heading(heading, columns));
        }
        all.extend(rows);
    }
    all
}

fn by_step(
    report: &Report<'_>,
    what: Grid<'_>,
    has: impl Fn(&Step) -> bool,
    unit: impl Fn(&Step) -> &'static str,
    cell: impl Fn(&Seen<'_>, &Step) -> Cell,
) -> Table {
    let without_base = what.is_relative && report.has_candidates();
    let systems: Vec<&Seen<'_>> =
        report.systems.iter().filter(|s| !(s.is_base && without_base)).collect();
    let units = Units::of(report.steps.iter().filter(|step| has(step)).map(&unit));
    let mut headers = vec![Header::words("step")];
    headers.extend(units.header());
    headers.extend(
        systems.iter().map(|system| Header { unit: units.common().to_owned(), ..column(system) }),
    );
    let row = |step: &Step| {
        let mut cells = vec![Cell::text(report.label(step))];
        cells.extend(units.cell(unit(step)));
        cells.extend(systems.iter().map(|system| cell(system, step)));
        cells
    };
    let groups = report.groups.iter().map(|group| {
        let steps = report.steps_of(group).iter().filter(|step| has(step));
        (group.title.clone(), steps.map(row).collect())
    });
    let rows = under_headings(groups, headers.len());
    Table::new(what.title, what.note, headers, rows)
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

pub(super) fn column(system: &Seen<'_>) -> Header {
    let role = name(system).mark;
    if role.is_empty() {
        Header::numbers(system.name, "")
    } else {
        Header::numbers(format!("{} ({role})", system.name), "")
    }
}

pub(super) fn name(system: &Seen<'_>) -> Cell {
    let cell = Cell::text(system.name);
    if system.is_base { cell.marked(Tone::Plain, "base") } else { cell }
}

impl Report<'_> {
    /// The median of a metric over the rounds.
    pub(crate) fn absolute_cell(&self, system: &Seen<'_>, step: &Step, metric: &str) -> Cell {
        let own = self.values(system.name, step, metric).map(|v| v.unit);
        let value = self.over_rounds(system.name, step, metric);
        let Some((value, own)) = value.zip(own) else {
            return Cell::absent();
        };
        let text = format::in_unit(value, own);
        if self.unit(step, metric) == Some(own) {
            return Cell::number(value, text);
        }
        // Heads and spreadsheets have the unit of the first system: another stands in the text.
        let unit = format::header_unit(own);
        Cell::text(format!("{text} {unit}").trim_end())
    }

    /// A metric relative to the base: from the comparison. The medians stand in for one that was not made, and for one
    /// that has no ratio because of a zero; what fell to zero is zero, and what could not be compared has no ratio at all.
    pub(crate) fn relative_cell(&self, system: &Seen<'_>, step: &Step, metric: &str) -> Cell {
        let own = self.median(system.name, step, metric);
        if system.is_base {
            // Nothing has a ratio to zero, not even the base.
            return own.filter(|v| *v != 0.0).map_or_else(Cell::absent, |_| {
                Cell::number(1.0, format::ratio(1.0)).with_tone(Tone::Muted)
            });
        }
        let comparison = self.comparison(system.name, step, metric);
        if let Some(fallen) = comparison.filter(|c| c.verdict.fell_to_zero()) {
            let cell = Cell::number(0.0, format::number(0.0));
            return cell.marked(Tone::Regressed, verdict::word(&fallen.verdict));
        }
        if let Some(refused) = comparison.filter(|c| c.ratio.is_none() && !has_a_zero(&c.verdict)) {
            return Cell::absent().marked(Tone::Muted, refused.verdict.word());
        }
        let of_medians = || {
            let base = self.median(self.base, step, metric)?;
            Some(own? / base).filter(|ratio| ratio.is_finite())
        };
        let Some(ratio) = comparison.and_then(|c| c.ratio).or_else(of_medians) else {
            return Cell::absent();
        };
        let cell = Cell::number(ratio, format::ratio(ratio));
        match comparison.map(|c| &c.verdict) {
            Some(Verdict::Regressed) => cell.marked(Tone::Regressed, worse(metric)),
            Some(Verdict::Improved) => cell.marked(Tone::Improved, better(metric)),
            Some(Verdict::Unchanged | Verdict::Inconclusive(_) | Verdict::Incomparable(_))
            | None => cell,
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

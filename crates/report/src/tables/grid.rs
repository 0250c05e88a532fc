//! The shape that most tables share: a row a system, a column a step.

use std::collections::BTreeSet;

use model::{Direction, MetricId, Reason, Step, Verdict, describe};

use crate::report::At;
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
        under_headings(steps.into_iter().map(|step| (self.label(step), rows(step))), columns)
    }

    /// A table of systems and steps; steps for which `has` says no are left out. A row a system and a column
    /// a step; in workloads with dozens of steps a row a step under its group's heading and a column a
    /// system, which leaves out a base that is 1 in every row.
    pub(super) fn grid(
        &self,
        what: Grid<'_>,
        has: impl Fn(&Step) -> bool,
        unit: impl Fn(&Step) -> &'static str,
        cell: impl Fn(At<'_>) -> Cell,
    ) -> Table {
        if !self.is_by_step() {
            let steps: Vec<&Step> = self.steps.iter().filter(|step| has(step)).collect();
            let columns = steps.iter().map(|step| Header::numbers(self.label(step), unit(step)));
            return self.by_system(what.title, what.note, columns, |system| {
                steps.iter().map(|step| cell(self.at(system, step))).collect()
            });
        }
        let without_base = what.is_relative && self.has_candidates();
        let systems = || self.systems.iter().filter(|system| !(system.is_base && without_base));
        let groups = self.groups.iter().map(|group| {
            let steps = self.steps_of(group).iter().filter(|step| has(step));
            let row = |step| NamedRow {
                name: self.label(step),
                unit: unit(step),
                cells: systems().map(|system| cell(self.at(system, step))).collect(),
            };
            (group.title.clone(), steps.map(row).collect())
        });
        let column = |system: &Seen<'_>, unit: &str| {
            let role = if system.is_base { " (base)" } else { "" };
            Header::numbers(format!("{}{role}", system.name), unit)
        };
        let columns = |unit: &str| systems().map(|system| column(system, unit)).collect();
        let (table, _) = with_units("step", columns, groups.collect());
        Table { title: what.title, note: what.note.to_owned(), ..table }
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
        self.grid(what, has, unit, |at| at.cell(metric, is_relative))
    }
}

pub(super) fn headers(columns: impl IntoIterator<Item = Header>) -> Vec<Header> {
    std::iter::once(Header::words("system")).chain(columns).collect()
}

/// The name of a system, then these cells.
pub(super) fn named(system: &Seen<'_>, cells: impl IntoIterator<Item = Cell>) -> Vec<Cell> {
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

/// A row of a table whose rows are steps or tests.
pub(super) struct NamedRow {
    pub(super) name: String,
    /// That of its values; empty for none.
    pub(super) unit: &'static str,
    pub(super) cells: Vec<Cell>,
}

/// A table without title and note of rows under headings, and the unit that all values have in common. Where rows
/// have different ones, there is a column of them. `columns` gets the common unit.
pub(super) fn with_units(
    first: &str,
    columns: impl Fn(&str) -> Vec<Header>,
    groups: Vec<(String, Vec<NamedRow>)>,
) -> (Table, &'static str) {
    let units: BTreeSet<&str> =
        groups.iter().flat_map(|(_, rows)| rows.iter().map(|row| row.unit)).collect();
    let differ = units.len() > 1;
    let common = units.first().copied().filter(|_| !differ).unwrap_or_default();
    let unit = differ.then(|| Header::numbers("unit", ""));
    let mut headers = vec![Header::words(first)];
    headers.extend(unit.into_iter().chain(columns(common)));
    let row = |row: NamedRow| {
        let unit = differ.then(|| Cell::text(row.unit));
        std::iter::once(Cell::text(row.name)).chain(unit).chain(row.cells).collect()
    };
    let parts =
        groups.into_iter().map(|(title, rows)| (title, rows.into_iter().map(row).collect()));
    let rows = under_headings(parts, headers.len());
    (Table::new("", "", headers, rows), common)
}

pub(super) fn name(system: &Seen<'_>) -> Cell {
    let cell = Cell::text(system.name);
    if system.is_base { cell.marked(Tone::Plain, "base") } else { cell }
}

impl At<'_> {
    pub(super) fn cell(self, metric: &str, is_relative: bool) -> Cell {
        if is_relative { self.relative(metric) } else { self.absolute(metric) }
    }

    /// The median of a metric over the rounds.
    pub(crate) fn absolute(self, metric: &str) -> Cell {
        let own = self.values(metric).map(|v| v.unit);
        let Some((value, own)) = self.over_rounds(metric).zip(own) else {
            return Cell::absent();
        };
        let text = format::in_unit(value, own);
        if self.report.unit(self.step, metric) == Some(own) {
            return Cell::number(value, text);
        }
        // Heads and spreadsheets have the unit of the first system: another stands in the text.
        let unit = format::header_unit(own);
        Cell::text(format!("{text} {unit}").trim_end())
    }

    /// A metric relative to the base: from the comparison. The medians stand in for one that was not made, and for one
    /// that has no ratio because of a zero; what fell to zero is zero, and what could not be compared has no ratio at all.
    pub(crate) fn relative(self, metric: &str) -> Cell {
        let own = self.median(metric);
        if self.system.is_base {
            // Nothing has a ratio to zero, not even the base.
            return own.filter(|v| *v != 0.0).map_or_else(Cell::absent, |_| {
                Cell::number(1.0, format::ratio(1.0)).with_tone(Tone::Muted)
            });
        }
        let comparison = self.comparison(metric);
        if let Some(fallen) = comparison.filter(|c| c.verdict.fell_to_zero()) {
            let cell = Cell::number(0.0, format::number(0.0));
            return cell.marked(Tone::Regressed, verdict::word(&fallen.verdict));
        }
        // Is a value of zero all that keeps two from having a ratio?
        let has_a_zero =
            |verdict: &Verdict| matches!(verdict, Verdict::Incomparable(Reason::NoRatio { .. }));
        if let Some(refused) = comparison.filter(|c| c.ratio.is_none() && !has_a_zero(&c.verdict)) {
            return Cell::absent().marked(Tone::Muted, refused.verdict.word());
        }
        let of_medians = || {
            let base = self.report.median(self.report.base, self.step, metric)?;
            Some(own? / base).filter(|ratio| ratio.is_finite())
        };
        let Some(ratio) = comparison.and_then(|c| c.ratio).or_else(of_medians) else {
            return Cell::absent();
        };
        let cell = Cell::number(ratio, format::ratio(ratio));
        let (worse, better) = match describe(&MetricId::new(metric)).map(|is| is.direction) {
            Some(Direction::Higher) => ("slower", "faster"),
            Some(Direction::Lower | Direction::Neither) | None => ("worse", "better"),
        };
        match comparison.map(|c| &c.verdict) {
            Some(Verdict::Regressed) => cell.marked(Tone::Regressed, worse),
            Some(Verdict::Improved) => cell.marked(Tone::Improved, better),
            Some(Verdict::Unchanged | Verdict::Inconclusive(_) | Verdict::Incomparable(_))
            | None => cell,
        }
    }
}

//! The shape that most tables share: a row a system, a column a step.

use std::collections::BTreeSet;

use model::{Direction, MetricId, Reason, Step, Verdict, describe};

use crate::names::short_names;
use crate::report::At;
use crate::{Cell, Columns, Header, Report, Seen, Table, Tone, format, verdict};

impl Report<'_> {
    /// Systems × steps for which `has` says yes. In workloads with dozens of steps a row a step under its group's
    /// heading, and a column a system without a base that is 1 in every row.
    pub(super) fn grid(
        &self,
        (title, note): (String, &str),
        is_relative: bool,
        has: impl Fn(&Step) -> bool,
        unit: impl Fn(&Step) -> &'static str,
        cell: impl Fn(At<'_>) -> Cell,
    ) -> Table {
        let (has, unit, cell) = (&has, &unit, &cell);
        if !self.is_by_step() {
            let steps: Vec<&Step> = self.steps.iter().filter(|step| has(step)).collect();
            // Names alone are no table.
            let rows = if steps.is_empty() { &[][..] } else { &self.systems };
            let columns = steps.into_iter().map(|step| {
                let cell = move |system: &&Seen<'_>| cell(self.at(system, step));
                (Header::numbers(self.label(step), unit(step)), cell)
            });
            return systems().each(columns).table(title, note, rows);
        }
        let rows = |group| self.steps_of(group).iter().filter(|step| has(step));
        let steps = Columns::new().words("step", |step: &&Step| Cell::text(self.label(step)));
        let all = self.groups.iter().flat_map(rows);
        let (columns, common) = with_units(steps, all, |step| unit(step));
        let without_base = is_relative && self.has_candidates();
        let systems = || self.systems.iter().filter(|system| !(system.is_base && without_base));
        let short = short_names(&systems().map(|system| system.name).collect::<Vec<_>>());
        let named = systems().zip(short).map(|(system, short)| {
            let role = if system.is_base { " (base)" } else { "" };
            let header = Header::numbers(format!("{}{role}", system.name), common);
            (header.shortened(short + role), move |step: &&Step| cell(self.at(system, step)))
        });
        let parts = self.groups.iter().map(|group| (group.title.clone(), rows(group)));
        columns.each(named).in_parts(title, note, parts)
    }

    /// One metric in all steps: its medians, or its ratios to the base.
    pub(super) fn grid_of_metric(
        &self,
        metric: &str,
        title_and_note: (String, &str),
        is_relative: bool,
        has: impl Fn(&Step) -> bool,
    ) -> Table {
        let unit = |step: &Step| {
            self.unit(step, metric).filter(|_| !is_relative).map_or("", format::header_unit)
        };
        self.grid(title_and_note, is_relative, has, unit, |at| at.cell(metric, is_relative))
    }
}

/// Columns of a table with a row a system, of which this is the first.
pub(super) fn systems<'c, 's>() -> Columns<'c, &'s Seen<'s>> {
    Columns::new().words("system", |system: &&Seen<'_>| name(system))
}

/// The same with a row a system in a step.
pub(super) fn systems_in_step<'c, 'r>() -> Columns<'c, At<'r>> {
    Columns::new().words("system", |at: &At<'_>| name(at.system))
}

/// With the unit that all rows have in common; where their units differ, these have a column.
pub(super) fn with_units<'c, T>(
    columns: Columns<'c, T>,
    rows: impl Iterator<Item = T>,
    unit: impl Fn(&T) -> &'static str + 'c,
) -> (Columns<'c, T>, &'static str) {
    let units: BTreeSet<&str> = rows.map(|row| unit(&row)).collect();
    if units.len() > 1 {
        return (columns.numbers("unit", "", move |row| Cell::text(unit(row))), "");
    }
    (columns, units.first().copied().unwrap_or_default())
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
        let Some((value, own)) = self.over_rounds(metric).zip(own) else { return Cell::absent() };
        let text = format::in_unit(value, own);
        if self.report.unit(self.step, metric) == Some(own) {
            return Cell::number(value, text);
        }
        // Heads and spreadsheets have the unit of the first system: another stands in the text.
        let unit = format::header_unit(own);
        Cell::text(format!("{text} {unit}").trim_end())
    }

    /// From the comparison. The medians stand in for one that was not made, and where a zero leaves it without a ratio;
    /// what fell to zero is zero, and what could not be compared has no ratio.
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

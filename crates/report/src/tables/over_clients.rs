//! Sweeps: tests or systems in rows, client counts in columns.

use std::collections::BTreeSet;

use model::{MetricId, Step};
use stats::Place;

use super::grid::{NamedRow, headers, named, under_headings, with_units};
use super::throughput::{absolute_note, rate_cell};
use super::told_once;
use crate::report::At;
use crate::verdict::{sign, tone};
use crate::{Cell, Columns, Crossover, Header, Report, Seen, Sweep, Table, Test, Tone, format};

impl Report<'_> {
    /// The throughput of a candidate relative to the base: tests × client counts, under the groups'
    /// headings; `None` where there is no sweep and of the base.
    pub fn over_clients(&self, system: &str) -> Option<Table> {
        let sweep = self.sweep.as_ref()?;
        let system = self.candidates().find(|one| one.name == system)?;
        let cell = |step: &Step| signed(self.at(system, step));
        let (mut table, _) = tests(self, sweep, cell, |_| "");
        table.title = format!("{} relative to {}, by number of clients", system.name, self.base);
        table.note.push_str("↓ slower and ↑ faster for certain, ? not decided, unmarked the same. Above 1 is faster than the base.");
        Some(table)
    }

    /// The throughput of a system: tests × client counts; `None` where there is no sweep.
    pub(crate) fn absolute_over_clients(&self, system: &Seen<'_>) -> Option<Table> {
        let sweep = self.sweep.as_ref()?;
        let cell = |step: &Step| rate_cell(self.at(system, step));
        let unit = |step: &Step| self.rate_unit_name(step);
        let (mut table, unit) = tests(self, sweep, cell, unit);
        table.title = by_clients(&format!("Throughput of {}", system.name), unit);
        absolute_note(self).clone_into(&mut table.note);
        Some(table)
    }

    /// Systems × client counts of one test: throughput relative to the base.
    pub(crate) fn relative_of_test(&self, test: &Test) -> Table {
        let title = by_clients(&format!("{}, relative to {}", test.name, self.base), "");
        let columns = test.steps(self).map(|step| column_of(step.clients));
        self.by_system(title, "", columns, |system| {
            test.steps(self).map(|step| self.at(system, step).relative(MetricId::RATE)).collect()
        })
    }

    /// Systems × client counts of one test: throughput.
    pub(crate) fn absolute_of_test(&self, test: &Test) -> Table {
        let unit = test.steps(self).next().map_or("", |step| self.rate_unit_name(step));
        let title = by_clients(&format!("{}, throughput", test.name), unit);
        let columns = test.steps(self).map(|step| column_of(step.clients));
        self.by_system(title, "", columns, |system| {
            test.steps(self).map(|step| rate_cell(self.at(system, step))).collect()
        })
    }

    /// Throughput of every system over that at the smallest client count; `None` where there is no sweep.
    pub fn scale_up(&self) -> Option<Table> {
        self.scale_up_of(&self.sweep.as_ref()?.tests)
    }

    /// The same in these tests: a row a system under the heading of each test where there are several; `None`
    /// without any.
    pub(crate) fn scale_up_of(&self, of: &[Test]) -> Option<Table> {
        let clients = of.iter().flat_map(|test| test.steps(self).map(|step| step.clients));
        let clients: BTreeSet<u32> = clients.collect();
        let smallest = clients.first()?;
        let headers = headers(clients.iter().copied().map(column_of));
        let parts = of.iter().map(|test| {
            let heading = if of.len() > 1 { test.name.clone() } else { String::new() };
            let rows = self.systems.iter().map(|system| {
                let cell = |step| scaled(test, self.at(system, step));
                let steps = clients.iter().map(|count| test.at(self, *count));
                named(system, steps.map(|step| step.map_or_else(Cell::absent, cell)))
            });
            (heading, rows.collect())
        });
        let rows = under_headings(parts, headers.len());
        let title = match of {
            [test] => &format!("{}, scale-up", test.name),
            _ => "Scale-up",
        };
        let note = format!(
            "Throughput over that at {}, of the same system in the same round: geometric mean of the rounds with its 95 % interval. Twice the clients would ideally do twice as much.",
            format::plural(*smallest as usize, "client")
        );
        Some(Table::new(by_clients(title, ""), note, headers, rows))
    }

    /// Where candidates pass the base, for programs and spreadsheets; `None` where none does.
    pub fn crossover_table(&self) -> Option<Table> {
        let title = format!("Crossovers with {}", self.base);
        let note = "Numbers of clients between which a system passes the base or falls behind it, and the place between them with its 95 % interval.";
        let clients = |n: u32| Cell::count(n.into());
        let place = |at: Option<f64>| Cell::of(at, format::clients);
        let table = Columns::new()
            .words("test", |one: &Crossover| Cell::text(&one.test))
            .words("system", |one| Cell::text(&one.system))
            .words("what it does", |one| {
                Cell::text(if one.rises { "passes" } else { "falls behind" })
            })
            .numbers("from", "", |one| clients(one.between.0))
            .numbers("to", "", |one| clients(one.between.1))
            .numbers("at", "", |one| place(found_at(one).map(|(at, _)| at)))
            .numbers("low", "", |one| place(found_at(one).and_then(|(_, ends)| Some(ends?.0))))
            .numbers("high", "", |one| place(found_at(one).and_then(|(_, ends)| Some(ends?.1))))
            .words("how certain", |one| Cell::text(how_certain(&one.place)));
        table.table(title, note, self.crossovers()).unless_empty()
    }

    /// Throughput of every candidate relative to the base, tests × client counts; none without a sweep.
    pub fn all_over_clients(&self) -> Vec<Table> {
        told_once(self.candidates().filter_map(|system| self.over_clients(system.name)))
    }
}

/// A title that says what the numbers in the heads count, and the unit of all values; empty for none.
fn by_clients(title: &str, unit: &str) -> String {
    if unit.is_empty() {
        format!("{title}, by number of clients")
    } else {
        format!("{title} in {unit}, by number of clients")
    }
}

/// A table without title and note of all tests of a sweep, and the unit that they have in common.
fn tests(
    report: &Report<'_>,
    sweep: &Sweep,
    cell: impl Fn(&Step) -> Cell,
    unit: impl Fn(&Step) -> &'static str,
) -> (Table, &'static str) {
    let row = |test: &Test| {
        let steps = sweep.clients.iter().map(|count| test.at(report, *count));
        NamedRow {
            name: test.name.clone(),
            unit: test.steps(report).next().map_or("", &unit),
            cells: steps.map(|step| step.map_or_else(Cell::absent, &cell)).collect(),
        }
    };
    let groups = sweep.tests.chunk_by(|a, b| a.group == b.group);
    let groups = groups.map(|tests| (tests[0].group.clone(), tests.iter().map(row).collect()));
    let columns = |_: &str| sweep.clients.iter().copied().map(column_of).collect();
    with_units("test", columns, groups.collect())
}

/// The column of a client count. A unit in its head would be taken for that of the count.
fn column_of(clients: u32) -> Header {
    Header::numbers(clients.to_string(), "")
}

/// A ratio with a sign instead of a word, so that many fit beside each other.
fn signed(at: At<'_>) -> Cell {
    let cell = at.relative(MetricId::RATE);
    // What was compared in vain has a mark, and so a sign.
    if cell.value.is_none() && cell.mark.is_empty() {
        return cell;
    }
    let verdict = at.comparison(MetricId::RATE).map(|comparison| &comparison.verdict);
    let (tone, sign) = verdict.map_or((Tone::Muted, "?"), |verdict| (tone(verdict), sign(verdict)));
    // Without a sign there is a space in its place that nothing is broken at, so that digits align.
    let sign = if sign.is_empty() { "\u{a0}" } else { sign };
    Cell { text: format!("{}{sign}", cell.text), value: cell.value, tone, ..Cell::default() }
}

fn scaled(test: &Test, at: At<'_>) -> Cell {
    let smallest = test.steps(at.report).next();
    let Some(scaled) = smallest.and_then(|smallest| at.scale_up(smallest)) else {
        return Cell::absent();
    };
    let ratio = format::ratio(scaled.ratio);
    if smallest.is_some_and(|smallest| smallest.clients == at.step.clients) {
        return Cell::number(1.0, format::ratio(1.0)).with_tone(Tone::Muted);
    }
    let ends = scaled.ends.map_or_else(String::new, |(low, high)| {
        format!(" [{}, {}]", format::ratio(low), format::ratio(high))
    });
    Cell::number(scaled.ratio, format!("{ratio}{ends}"))
}

/// The place of a crossover that was found, with its interval.
const fn found_at(one: &Crossover) -> Option<(f64, Option<(f64, f64)>)> {
    match one.place {
        Place::Found { clients, ends, .. } => Some((clients, ends)),
        Place::Between { .. } | Place::Inconclusive { .. } => None,
    }
}

fn how_certain(place: &Place) -> String {
    match place {
        Place::Found { rounds, .. } => format!("all of {rounds} rounds cross"),
        Place::Between { crossing, rounds } => {
            format!("certain, but {crossing} of {rounds} rounds cross")
        }
        Place::Inconclusive { crossing, rounds } => {
            format!("inconclusive: {crossing} of {rounds} rounds cross")
        }
    }
}

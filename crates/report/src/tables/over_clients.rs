//! Sweeps: tests or systems in rows, client counts in columns.

use std::collections::BTreeSet;

use model::{MetricId, Step};
use stats::Place;

use super::grid::{Units, headers, named, under_headings};
use super::throughput::{absolute_note, rate_cell};
use super::told_once;
use crate::verdict::sign;
use crate::{Cell, Columns, Crossover, Header, Report, Seen, Sweep, Table, Test, Tone, format};

impl Report<'_> {
    /// The throughput of a candidate relative to the base: tests × client counts, under the groups'
    /// headings; `None` where there is no sweep and of the base.
    pub fn over_clients(&self, system: &str) -> Option<Table> {
        let sweep = self.sweep.as_ref()?;
        let system = self.candidates().find(|one| one.name == system)?;
        let cell = |step: &Step| signed(self, system, step);
        let (mut table, _) = tests(self, sweep, cell, |_| "");
        table.title = format!("{} relative to {}, by number of clients", system.name, self.base);
        table.note.push_str("↓ slower and ↑ faster for certain, ? not decided, unmarked the same. Above 1 is faster than the base.");
        Some(table)
    }

    /// The throughput of a system: tests × client counts; `None` where there is no sweep.
    pub(crate) fn absolute_over_clients(&self, system: &Seen<'_>) -> Option<Table> {
        let sweep = self.sweep.as_ref()?;
        let cell = |step: &Step| rate_cell(self, system, step);
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
            let cell = |step| self.relative_cell(system, step, MetricId::RATE);
            test.steps(self).map(cell).collect()
        })
    }

    /// Systems × client counts of one test: throughput.
    pub(crate) fn absolute_of_test(&self, test: &Test) -> Table {
        let unit = test.steps(self).next().map_or("", |step| self.rate_unit_name(step));
        let title = by_clients(&format!("{}, throughput", test.name), unit);
        let columns = test.steps(self).map(|step| column_of(step.clients));
        self.by_system(title, "", columns, |system| {
            test.steps(self).map(|step| rate_cell(self, system, step)).collect()
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
                let step = |count: &u32| test.at(self, *count);
                let cell = |step| scaled(self, test, system, step);
                let cells = clients.iter().map(|n| step(n).map_or_else(Cell::absent, cell));
                named(system, cells.collect())
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
            .numbers("low", "", |one| place(ends_of(one).map(|(low, _)| low)))
            .numbers("high", "", |one| place(ends_of(one).map(|(_, high)| high)))
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
    let first = |test: &Test| test.steps(report).next().map_or("", &unit);
    let units = Units::of(sweep.tests.iter().map(first));
    let mut headers = vec![Header::words("test")];
    headers.extend(units.header());
    headers.extend(sweep.clients.iter().copied().map(column_of));
    let row = |test: &Test| {
        let mut row = vec![Cell::text(&test.name)];
        row.extend(units.cell(first(test)));
        let values = sweep.clients.iter().map(|count| test.at(report, *count));
        row.extend(values.map(|step| step.map_or_else(Cell::absent, &cell)));
        row
    };
    let groups = sweep.tests.chunk_by(|a, b| a.group == b.group);
    let parts = groups.map(|tests| (tests[0].group.clone(), tests.iter().map(row).collect()));
    let rows = under_headings(parts, headers.len());
    (Table::new("", "", headers, rows), units.common())
}

/// The column of a client count. A unit in its head would be taken for that of the count.
fn column_of(clients: u32) -> Header {
    Header::numbers(clients.to_string(), "")
}

/// A ratio with a sign instead of a word, so that many fit beside each other.
fn signed(report: &Report<'_>, system: &Seen<'_>, step: &Step) -> Cell {
    let cell = report.relative_cell(system, step, MetricId::RATE);
    // What was compared in vain has a mark, and so a sign.
    if cell.value.is_none() && cell.mark.is_empty() {
        return cell;
    }
    let comparison = report.comparison(system.name, step, MetricId::RATE);
    let (tone, sign) = comparison.map_or((Tone::Muted, "?"), sign);
    // Without a sign there is a space in its place that nothing is broken at, so that digits align.
    let sign = if sign.is_empty() { "\u{a0}" } else { sign };
    Cell { text: format!("{}{sign}", cell.text), value: cell.value, tone, ..Cell::default() }
}

fn scaled(report: &Report<'_>, test: &Test, system: &Seen<'_>, step: &Step) -> Cell {
    let smallest = test.steps(report).next().map(|step| step.clients);
    let Some(scaled) = test.scale_up(report, system.name, step) else {
        return Cell::absent();
    };
    let ratio = format::ratio(scaled.ratio);
    if smallest == Some(step.clients) {
        return Cell::number(1.0, format::ratio(1.0)).with_tone(Tone::Muted);
    }
    let ends = scaled.ends.map_or_else(String::new, |(low, high)| {
        format!(" [{}, {}]", format::ratio(low), format::ratio(high))
    });
    Cell::number(scaled.ratio, format!("{ratio}{ends}"))
}

type Ends = Option<(f64, f64)>;

/// The place of a crossover that was found, with its interval.
const fn found_at(one: &Crossover) -> Option<(f64, Ends)> {
    match one.place {
        Place::Found { clients, ends, .. } => Some((clients, ends)),
        Place::Between { .. } | Place::Inconclusive { .. } => None,
    }
}

fn ends_of(one: &Crossover) -> Ends {
    found_at(one)?.1
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

//! Sweeps: tests or systems in rows, client counts in columns; where candidates pass the base as the clients become
//! more.

use std::collections::BTreeSet;

use model::{MetricId, Step};
use stats::{Crossing, Place, SweepPoint, crossings, scale_up};

use super::grid::{name, systems, with_units};
use super::throughput::{absolute_note, rate_cell};
use super::told_once;
use crate::report::At;
use crate::verdict::{sign, tone};
use crate::{Cell, Columns, Header, Report, Seen, Table, Test, Tone, format};

impl Report<'_> {
    /// Relative to the base: tests × client counts under the groups' headings; `None` of the base and without a sweep.
    pub fn over_clients(&self, system: &str) -> Option<Table> {
        let system = self.candidates().find(|one| one.name == system)?;
        let (mut table, _) = self.tests(true, |step| signed(self.at(system, step)))?;
        table.title = format!("{} relative to {}, by number of clients", system.name, self.base);
        table.note.push_str("↓ slower and ↑ faster for certain, ? not decided, unmarked the same. Above 1 is faster than the base.");
        Some(table)
    }

    /// The throughput of a system: tests × client counts; `None` where there is no sweep.
    pub(crate) fn absolute_over_clients(&self, system: &Seen<'_>) -> Option<Table> {
        let (mut table, unit) = self.tests(false, |step| rate_cell(self.at(system, step)))?;
        table.title = by_clients(&format!("Throughput of {}", system.name), unit);
        absolute_note(self).clone_into(&mut table.note);
        Some(table)
    }

    /// All tests of a sweep without title and note, and the unit that they share; `None` where there is no sweep.
    fn tests(
        &self,
        is_relative: bool,
        cell: impl Fn(&Step) -> Cell,
    ) -> Option<(Table, &'static str)> {
        let (sweep, cell) = (self.sweep.as_ref()?, &cell);
        let unit = |test: &&Test| {
            let first = test.steps(self).next().filter(|_| !is_relative);
            first.map_or("", |step| self.rate_unit_name(step))
        };
        let tests = Columns::new().words("test", |test: &&Test| Cell::text(&test.name));
        let (columns, common) = with_units(tests, sweep.tests.iter(), unit);
        let counts = sweep.clients.iter().map(|count| {
            let at = move |test: &&Test| test.at(self, *count).map_or_else(Cell::absent, cell);
            (column_of(*count), at)
        });
        let groups = sweep.tests.chunk_by(|a, b| a.group == b.group);
        let parts = groups.map(|tests| (tests[0].group.clone(), tests));
        Some((columns.each(counts).in_parts("", "", parts), common))
    }

    /// Systems × client counts of one test: throughput relative to the base.
    pub(crate) fn relative_of_test(&self, test: &Test) -> Table {
        let title = by_clients(&format!("{}, relative to {}", test.name, self.base), "");
        self.of_test(test, title, |at| at.relative(MetricId::RATE))
    }

    /// Systems × client counts of one test: throughput.
    pub(crate) fn absolute_of_test(&self, test: &Test) -> Table {
        let unit = test.steps(self).next().map_or("", |step| self.rate_unit_name(step));
        let title = by_clients(&format!("{}, throughput", test.name), unit);
        self.of_test(test, title, rate_cell)
    }

    fn of_test(&self, test: &Test, title: String, cell: impl Fn(At<'_>) -> Cell) -> Table {
        let cell = &cell;
        let columns = test.steps(self).map(|step| {
            (column_of(step.clients), move |system: &&Seen<'_>| cell(self.at(system, step)))
        });
        systems().each(columns).table(title, "", &self.systems)
    }

    /// Throughput of every system over that at the smallest client count; `None` where there is no sweep.
    pub fn scale_up(&self) -> Option<Table> {
        self.scale_up_of(&self.sweep.as_ref()?.tests)
    }

    /// A row a system, under the heading of each test where there are several; `None` without any.
    pub(crate) fn scale_up_of(&self, of: &[Test]) -> Option<Table> {
        let clients = of.iter().flat_map(|test| test.steps(self).map(|step| step.clients));
        let clients: BTreeSet<u32> = clients.collect();
        let smallest = clients.first()?;
        let columns = clients.iter().map(|count| {
            let cell = move |(test, system): &(&Test, &Seen<'_>)| {
                let step = test.at(self, *count);
                step.map_or_else(Cell::absent, |step| scaled(test, self.at(system, step)))
            };
            (column_of(*count), cell)
        });
        let parts = of.iter().map(|test| {
            let heading = if of.len() > 1 { test.name.clone() } else { String::new() };
            (heading, self.systems.iter().map(move |system| (test, system)))
        });
        let title = match of {
            [test] => &format!("{}, scale-up", test.name),
            _ => "Scale-up",
        };
        let note = format!(
            "Throughput over that at {}, of the same system in the same round: geometric mean of the rounds with its 95 % interval. Twice the clients would ideally do twice as much.",
            format::plural(*smallest as usize, "client")
        );
        let systems =
            Columns::new().words("system", |(_, system): &(&Test, &Seen<'_>)| name(system));
        Some(systems.each(columns).in_parts(by_clients(title, ""), note, parts))
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
                Cell::text(if one.crossing.rises { "passes" } else { "falls behind" })
            })
            .numbers("from", "", |one| clients(one.crossing.from))
            .numbers("to", "", |one| clients(one.crossing.to))
            .numbers("at", "", |one| place(found_at(one).map(|(at, _)| at)))
            .numbers("low", "", |one| place(found_at(one).and_then(|(_, ends)| Some(ends?.0))))
            .numbers("high", "", |one| place(found_at(one).and_then(|(_, ends)| Some(ends?.1))))
            .words("how certain", |one| Cell::text(how_certain(&one.crossing.place)));
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

/// How much more a system does in this step of a test than in its first.
fn scaled(test: &Test, at: At<'_>) -> Cell {
    let smallest = test.steps(at.report).next();
    let rounds = |step: &Step| {
        let values = at.report.values(at.system.name, step, MetricId::RATE)?;
        Some(values.rounds.as_slice())
    };
    let both = smallest.and_then(rounds).zip(rounds(at.step));
    let Some(scaled) =
        both.and_then(|(from, to)| scale_up(from, to, &at.report.input.data.info.hosts))
    else {
        return Cell::absent();
    };
    if smallest.is_some_and(|smallest| smallest.clients == at.step.clients) {
        return Cell::number(1.0, format::ratio(1.0)).with_tone(Tone::Muted);
    }
    Cell::number(scaled.ratio, format::with_ends(scaled.ratio, scaled.ends, format::ratio))
}

/// The place of a crossover that was found, with its interval.
const fn found_at(one: &Crossover) -> Option<(f64, Option<(f64, f64)>)> {
    match one.crossing.place {
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

impl Test {
    pub(crate) fn steps<'v>(&'v self, report: &'v Report<'_>) -> impl Iterator<Item = &'v Step> {
        self.places.iter().filter_map(move |place| report.steps.get(*place))
    }

    /// The place of its step at a client count among the report's.
    pub(crate) fn place_at(&self, report: &Report<'_>, clients: u32) -> Option<usize> {
        let has_count = |place: &usize| report.steps[*place].clients == clients;
        self.places.iter().copied().find(has_count)
    }

    pub(crate) fn at<'v>(&self, report: &'v Report<'_>, clients: u32) -> Option<&'v Step> {
        report.steps.get(self.place_at(report, clients)?)
    }
}

/// A candidate that passes the base, or falls behind it, as the clients become more.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossover {
    pub test: String,
    pub system: String,
    pub crossing: Crossing,
    /// All of it in a sentence without its full stop, beginning with the candidate.
    pub text: String,
}

impl Report<'_> {
    /// Of throughput in a sweep, by test, then by system, without the control; none where there is no sweep.
    pub fn crossovers(&self) -> Vec<Crossover> {
        let tests = self.sweep.iter().flat_map(|sweep| &sweep.tests);
        tests
            .flat_map(|test| self.judged().flat_map(move |system| of_system(self, test, system)))
            .collect()
    }
}

fn of_system(report: &Report<'_>, test: &Test, system: &Seen<'_>) -> Vec<Crossover> {
    let compared =
        test.steps(report).filter_map(|step| report.at(system, step).comparison(MetricId::RATE));
    let points: Vec<SweepPoint> = compared.filter_map(SweepPoint::of).collect();
    let crossovers =
        crossings(&points, &report.input.data.info.hosts).into_iter().map(|crossing| Crossover {
            test: test.name.clone(),
            system: system.name.to_owned(),
            crossing,
            text: sentence(system.name, report.base, &crossing),
        });
    crossovers.collect()
}

fn sentence(system: &str, base: &str, crossing: &Crossing) -> String {
    let does = |passes: &str, falls: &str| {
        let verb = if crossing.rises { passes } else { falls };
        format!("{system} {verb} {base} between {} and {} clients", crossing.from, crossing.to)
    };
    let of_rounds = |crossing: u32, rounds: u32| {
        let rounds = format::plural(rounds as usize, "round");
        format!("{crossing} of {rounds} cross there")
    };
    match crossing.place {
        Place::Found { clients, ends, .. } => {
            let ends = ends.map_or_else(String::new, |(low, high)| {
                format!(", 95 %: {} to {}", format::clients(low), format::clients(high))
            });
            let passes = does("passes", "falls behind");
            format!("{passes} (at about {}{ends})", format::clients(clients))
        }
        Place::Between { crossing, rounds } => {
            let (passes, rounds) = (does("passes", "falls behind"), of_rounds(crossing, rounds));
            format!("{passes}; where is not clear: {rounds}")
        }
        Place::Inconclusive { crossing, rounds } => {
            let (may, rounds) = (does("may pass", "may fall behind"), of_rounds(crossing, rounds));
            format!("{may}: inconclusive, {rounds}")
        }
    }
}

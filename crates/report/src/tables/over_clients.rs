//! Sweeps: tests or systems in rows, client counts in columns.

use model::{Comparison, MetricId, Reason, StepInfo, Verdict};
use stats::Place;

use super::grid::{Units, name, relative_cell};
use super::throughput::{absolute_note, rate_cell};
use crate::format;
use crate::sweep::{Crossover, Sweep, Test, view_crossovers};
use crate::table::{Align, Cell, Header, Table, Tone};
use crate::view::{Seen, View};

/// The throughput of a candidate relative to the base: tests × client counts, under the groups'
/// headings; `None` where there is no sweep.
pub(crate) fn relative_over_clients(view: &View<'_>, system: &Seen<'_>) -> Option<Table> {
    let sweep = view.sweep.as_ref().filter(|_| !system.is_base)?;
    let cell = |step: &StepInfo| signed(view, system, step);
    let (mut table, _) = tests(view, sweep, cell, |_| "");
    table.title = format!(
        "{} relative to {}, by number of clients",
        system.name, view.base
    );
    table.note.push_str("↓ slower and ↑ faster for certain, ? not decided, unmarked the same. Above 1 is faster than the base.");
    Some(table)
}

/// The throughput of a system: tests × client counts; `None` where there is no sweep.
pub(crate) fn absolute_over_clients(view: &View<'_>, system: &Seen<'_>) -> Option<Table> {
    let sweep = view.sweep.as_ref()?;
    let cell = |step: &StepInfo| rate_cell(view, system, step);
    let unit = |step: &StepInfo| view.rate_unit_name(step);
    let (mut table, unit) = tests(view, sweep, cell, unit);
    table.title = by_clients(&format!("Throughput of {}", system.name), unit);
    absolute_note(view).clone_into(&mut table.note);
    Some(table)
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
    view: &View<'_>,
    sweep: &Sweep,
    cell: impl Fn(&StepInfo) -> Cell,
    unit: impl Fn(&StepInfo) -> &'static str,
) -> (Table, &'static str) {
    let first = |test: &Test| test.steps(view).next().map_or("", &unit);
    let units = Units::of(sweep.tests.iter().map(first));
    let mut headers = vec![Header::words("test")];
    headers.extend(units.header());
    headers.extend(counts(&sweep.clients));
    let mut rows = Vec::new();
    let mut heading = "";
    for test in &sweep.tests {
        if test.group != heading {
            heading = &test.group;
            rows.push(Table::heading(heading, headers.len()));
        }
        let mut row = vec![Cell::text(&test.name)];
        row.extend(units.cell(first(test)));
        let values = sweep.clients.iter().map(|count| test.at(view, *count));
        row.extend(values.map(|step| step.map_or_else(Cell::absent, &cell)));
        rows.push(row);
    }
    let table = Table {
        title: String::new(),
        note: String::new(),
        headers,
        rows,
    };
    (table, units.common())
}

/// A column for each client count. A unit in its head would be taken for that of the count.
fn counts(clients: &[u32]) -> impl Iterator<Item = Header> {
    clients.iter().map(|n| Header::numbers(n.to_string(), ""))
}

/// A ratio with a sign instead of a word, so that many fit beside each other.
fn signed(view: &View<'_>, system: &Seen<'_>, step: &StepInfo) -> Cell {
    let cell = relative_cell(view, system, step, MetricId::RATE);
    // What was compared in vain has a mark, and so a sign.
    if cell.value.is_none() && cell.mark.is_empty() {
        return cell;
    }
    let comparison = view.comparison(system.name, step, MetricId::RATE);
    let (tone, sign) = comparison.map_or((Tone::Muted, "?"), sign);
    // Without a sign there is a space in its place that nothing is broken at, so that digits align.
    let sign = if sign.is_empty() { "\u{a0}" } else { sign };
    Cell {
        text: format!("{}{sign}", cell.text),
        value: cell.value,
        tone,
        ..Cell::default()
    }
}

/// The colour and the sign of a verdict on throughput.
pub(crate) const fn sign(comparison: &Comparison) -> (Tone, &'static str) {
    let verdict = &comparison.verdict;
    match verdict {
        Verdict::Regressed | Verdict::Incomparable(Reason::FellToZero { .. }) => {
            (Tone::Regressed, "↓")
        }
        Verdict::Improved => (Tone::Improved, "↑"),
        Verdict::Unchanged => (Tone::Plain, ""),
        Verdict::Inconclusive(_) | Verdict::Incomparable(_) => (Tone::Muted, "?"),
    }
}

/// Systems × client counts of one test: throughput relative to the base.
pub(crate) fn relative_of_test(view: &View<'_>, test: &Test) -> Table {
    systems(
        view,
        test,
        (&format!("{}, relative to {}", test.name, view.base), ""),
        |system, step| relative_cell(view, system, step, MetricId::RATE),
    )
}

/// Systems × client counts of one test: throughput.
pub(crate) fn absolute_of_test(view: &View<'_>, test: &Test) -> Table {
    let unit = test.steps(view).next();
    let unit = unit.map_or("", |step| view.rate_unit_name(step));
    systems(
        view,
        test,
        (&format!("{}, throughput", test.name), unit),
        |system, step| rate_cell(view, system, step),
    )
}

/// Systems × client counts of one test. With the title comes the unit of all values; empty for none.
fn systems(
    view: &View<'_>,
    test: &Test,
    (title, unit): (&str, &str),
    cell: impl Fn(&Seen<'_>, &StepInfo) -> Cell,
) -> Table {
    let clients: Vec<u32> = test.steps(view).map(|step| step.clients).collect();
    let columns = counts(&clients);
    let rows = view.systems.iter().map(|system| {
        let values = test.steps(view).map(|step| cell(system, step));
        std::iter::once(name(system)).chain(values).collect()
    });
    Table {
        title: by_clients(title, unit),
        note: String::new(),
        headers: std::iter::once(Header::words("system"))
            .chain(columns)
            .collect(),
        rows: rows.collect(),
    }
}

/// Throughput over that at the smallest client count, of every system in these tests: a row a system
/// under the heading of each test where there are several; `None` without any.
pub(crate) fn scale_up(view: &View<'_>, of: &[Test]) -> Option<Table> {
    let mut clients: Vec<u32> = of
        .iter()
        .flat_map(|test| test.steps(view).map(|step| step.clients))
        .collect();
    clients.sort_unstable();
    clients.dedup();
    let smallest = clients.first()?;
    let headers: Vec<Header> = std::iter::once(Header::words("system"))
        .chain(counts(&clients))
        .collect();
    let mut rows = Vec::new();
    for test in of {
        if of.len() > 1 {
            rows.push(Table::heading(&test.name, headers.len()));
        }
        rows.extend(view.systems.iter().map(|system| {
            let values = clients.iter().map(|count| {
                let step = test.at(view, *count);
                step.map_or_else(Cell::absent, |step| scaled(view, test, system, step))
            });
            std::iter::once(name(system)).chain(values).collect()
        }));
    }
    Some(Table {
        title: match of {
            [test] => by_clients(&format!("{}, scale-up", test.name), ""),
            _ => by_clients("Scale-up", ""),
        },
        note: format!(
            "Throughput over that at {}, of the same system in the same round: geometric mean of the rounds with its 95 % interval. Twice the clients would ideally do twice as much.",
            format::plural(*smallest as usize, "client")
        ),
        headers,
        rows,
    })
}

fn scaled(view: &View<'_>, test: &Test, system: &Seen<'_>, step: &StepInfo) -> Cell {
    let smallest = test.steps(view).next().map(|step| step.clients);
    let Some(scaled) = test.scale_up(view, system.name, step) else {
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

/// Where candidates pass the base, for programs and spreadsheets; `None` where none does.
pub(crate) fn crossovers(view: &View<'_>) -> Option<Table> {
    let rows: Vec<Vec<Cell>> = view_crossovers(view).iter().map(crossover).collect();
    let columns = [
        ("test", Align::Left),
        ("system", Align::Left),
        ("what it does", Align::Left),
        ("from", Align::Right),
        ("to", Align::Right),
        ("at", Align::Right),
        ("low", Align::Right),
        ("high", Align::Right),
        ("how certain", Align::Left),
    ];
    (!rows.is_empty()).then(|| Table {
        title: format!("Crossovers with {}", view.base),
        note: "Numbers of clients between which a system passes the base or falls behind it, and the place between them with its 95 % interval.".to_owned(),
        headers: columns
            .map(|(text, align)| Header {
                align,
                ..Header::words(text)
            })
            .to_vec(),
        rows,
    })
}

fn crossover(found: &Crossover) -> Vec<Cell> {
    let clients = |n: u32| Cell::number(f64::from(n), n.to_string());
    let place =
        |at: Option<f64>| at.map_or_else(Cell::absent, |at| Cell::number(at, format::clients(at)));
    let (at, ends, certain) = match found.place {
        Place::Found {
            clients,
            ends,
            rounds,
        } => (Some(clients), ends, format!("all of {rounds} rounds cross")),
        Place::Between { crossing, rounds } => (
            None,
            None,
            format!("certain, but {crossing} of {rounds} rounds cross"),
        ),
        Place::Inconclusive { crossing, rounds } => (
            None,
            None,
            format!("inconclusive: {crossing} of {rounds} rounds cross"),
        ),
    };
    vec![
        Cell::text(&found.test),
        Cell::text(&found.system),
        Cell::text(if found.rises {
            "passes"
        } else {
            "falls behind"
        }),
        clients(found.between.0),
        clients(found.between.1),
        place(at),
        place(ends.map(|(low, _)| low)),
        place(ends.map(|(_, high)| high)),
        Cell::text(certain),
    ]
}

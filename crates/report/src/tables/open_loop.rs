//! What became of operations that arrive whether clients are free or not.

use model::{MetricId, StepInfo};

use super::grid::{name, relative_cell};
use crate::format;
use crate::open_loop::{achieved, rounds};
use crate::spread::median;
use crate::table::{Cell, Header, Table, Tone};
use crate::view::{Seen, View};

/// A row a system under the heading of each step with arrivals; `None` where clients start the next
/// operation themselves.
pub(crate) fn open_loop(view: &View<'_>) -> Option<Table> {
    let has_highest = view.has(MetricId::HIGHEST_RATE);
    let headers = headers(has_highest);
    let mut rows = Vec::new();
    for step in &view.steps {
        let of_step: Vec<Vec<Cell>> = view
            .systems
            .iter()
            .filter_map(|system| row(view, system, step, has_highest))
            .collect();
        if !of_step.is_empty() {
            rows.push(Table::heading(view.label(step), headers.len()));
            rows.extend(of_step);
        }
    }
    (!rows.is_empty()).then(|| Table {
        title: "Offered rates".to_owned(),
        note: note(has_highest),
        headers,
        rows,
    })
}

fn note(has_highest: bool) -> String {
    let mut note = "Operations arrive by themselves and wait in one queue; a transaction is one operation. Offered and achieved are medians over the rounds. Shed are arrivals of all rounds that found the queue full; waiting is the most that still waited at the end of a round. A rate is sustained where nothing is shed and no more waits at the end than arrives in a tenth of a second.".to_owned();
    if has_highest {
        note.push_str(" Highest is the median of the highest rates that kept the limit on response time; it is the rate that is offered in the measured window.");
    }
    note
}

fn headers(has_highest: bool) -> Vec<Header> {
    let mut headers = vec![
        Header::words("system"),
        Header::numbers("offered", "ops/s"),
        Header::numbers("achieved", "ops/s"),
        Header::numbers("shed", "count"),
        Header::numbers("waiting", "count"),
        Header::words("sustained"),
    ];
    if has_highest {
        headers.push(Header::numbers("highest", "ops/s"));
        headers.push(Header::numbers("to the base", ""));
    }
    headers
}

fn row(
    view: &View<'_>,
    system: &Seen<'_>,
    step: &StepInfo,
    has_highest: bool,
) -> Option<Vec<Cell>> {
    let rounds = rounds(view, system.name, step);
    let offered = median(rounds.iter().map(|round| round.per_second as f64))?;
    let rate = |value: f64| Cell::number(value, format::number(value));
    let count = |value: u64| {
        let cell = Cell::number(value as f64, format::count(value));
        cell.with_tone(if value > 0 { Tone::Missed } else { Tone::Plain })
    };
    let kept = rounds.iter().filter(|round| round.is_sustained()).count();
    let sustained = if kept == rounds.len() {
        Cell::text("yes")
    } else {
        Cell::text(format!("in {kept} of {}", rounds.len())).with_tone(Tone::Missed)
    };
    let waiting = rounds.iter().map(|round| round.waiting).max();
    let waiting = waiting.unwrap_or_default();
    let mut cells = vec![
        name(system),
        rate(offered),
        achieved(view, system.name, step).map_or_else(Cell::absent, rate),
        count(rounds.iter().map(|round| round.shed).sum()),
        Cell::number(waiting as f64, format::count(waiting)),
        sustained,
    ];
    if has_highest {
        let highest = view.median(system.name, step, MetricId::HIGHEST_RATE);
        cells.push(match highest {
            None => Cell::absent(),
            Some(value) if value > 0.0 => rate(value),
            Some(none) => Cell::number(none, "none".to_owned()).with_tone(Tone::Missed),
        });
        cells.push(relative_cell(view, system, step, MetricId::HIGHEST_RATE));
    }
    Some(cells)
}

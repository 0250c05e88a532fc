//! What became of operations that arrive whether clients are free or not.

use model::{MetricId, OpenLoop, SqlPace, StepInfo, StepNote, Unit};

use super::grid::{name, relative_cell};
use crate::format;
use crate::open_loop::{achieved, rounds};
use crate::spread::median;
use crate::table::{Cell, Header, Table, Tone};
use crate::view::{Seen, View};

/// The unit of what arrives.
const UNIT: &str = "ops/s";

/// Which columns the table has beside those of every open loop.
#[derive(Clone, Copy)]
struct Columns {
    /// What a ramp keeps and finds.
    ramp: bool,
    /// The ratio to the base.
    base: bool,
}

/// A row a system under the heading of each step with arrivals; `None` where clients start the next
/// operation themselves.
pub(crate) fn open_loop(view: &View<'_>) -> Option<Table> {
    let columns = Columns {
        ramp: view.has(MetricId::HIGHEST_RATE),
        base: view.has_candidates(),
    };
    let headers = headers(columns);
    let mut rows = Vec::new();
    for step in &view.steps {
        let of_step: Vec<Vec<Cell>> = view
            .systems
            .iter()
            .filter_map(|system| row(view, system, step, columns))
            .collect();
        if !of_step.is_empty() {
            rows.push(Table::heading(view.label(step), headers.len()));
            rows.extend(of_step);
        }
    }
    (!rows.is_empty()).then(|| Table {
        title: "Offered rates".to_owned(),
        note: note(columns),
        headers,
        rows,
    })
}

fn note(columns: Columns) -> String {
    let mut note = "Operations arrive by themselves and wait in one queue. A transaction is one operation here, whatever statements it sends; tables of throughput count its statements. Offered and achieved are medians over the rounds, and so are p50 and p99 of response time, which counts from the arrival. Shed are arrivals of all rounds that found the queue full; waiting is the most that still waited at the end of a round. A rate is sustained where nothing is shed and no more waits at the end than arrives in a tenth of a second.".to_owned();
    if columns.ramp {
        note.push_str(" Highest is the median of the highest rates that kept the limit on response time while it was looked for; it is the rate that is offered in the measured window, whose response time stands beside the limit.");
    }
    if columns.base {
        note.push_str(" Relative to the base is what decides the step: the highest rate where it is looked for (above 1 is better), else p99 of response time (below 1 is better).");
    }
    note
}

fn headers(columns: Columns) -> Vec<Header> {
    let mut headers = vec![
        Header::words("system"),
        Header::numbers("offered", UNIT),
        Header::numbers("achieved", UNIT),
        Header::numbers("shed", "count"),
        Header::numbers("waiting", "count"),
        Header::words("sustained"),
        Header::numbers("p50", ""),
        Header::numbers("p99", ""),
    ];
    if columns.ramp {
        headers.push(Header::words("limit"));
        headers.push(Header::numbers("highest", UNIT));
    }
    if columns.base {
        headers.push(Header::numbers("to the base", ""));
    }
    headers
}

fn row(view: &View<'_>, system: &Seen<'_>, step: &StepInfo, columns: Columns) -> Option<Vec<Cell>> {
    let rounds = rounds(view, system.name, step);
    let offered = median(rounds.iter().map(|round| round.per_second as f64))?;
    let shed: u64 = rounds.iter().map(|round| round.shed).sum();
    let waiting = rounds.iter().map(|round| round.waiting).max();
    let waiting = waiting.unwrap_or_default();
    let missed = |count| if count > 0 { Tone::Missed } else { Tone::Plain };
    let mut cells = vec![
        name(system),
        rate(offered),
        achieved(view, system.name, step).map_or_else(Cell::absent, rate),
        Cell::number(shed as f64, format::count(shed)).with_tone(missed(shed)),
        Cell::number(waiting as f64, format::count(waiting)),
        sustained(&rounds),
        response(view, system, step, "p50"),
        response(view, system, step, "p99"),
    ];
    if columns.ramp {
        cells.push(limit(view, system, step).unwrap_or_else(Cell::absent));
        cells.push(highest(view, system, step));
    }
    if columns.base {
        cells.push(relative_cell(view, system, step, &view.deciding(step).0));
    }
    Some(cells)
}

fn rate(value: f64) -> Cell {
    Cell::number(value, format::number(value))
}

fn sustained(rounds: &[OpenLoop]) -> Cell {
    let kept = rounds.iter().filter(|round| round.is_sustained()).count();
    if kept == rounds.len() {
        Cell::text("yes")
    } else {
        Cell::text(format!("in {kept} of {}", rounds.len())).with_tone(Tone::Missed)
    }
}

fn highest(view: &View<'_>, system: &Seen<'_>, step: &StepInfo) -> Cell {
    match view.median(system.name, step, MetricId::HIGHEST_RATE) {
        None => Cell::absent(),
        Some(value) if value > 0.0 => rate(value),
        Some(none) => Cell::number(none, "none".to_owned()).with_tone(Tone::Missed),
    }
}

/// A percentile of response time of what the step is about.
fn response(view: &View<'_>, system: &Seen<'_>, step: &StepInfo, part: &str) -> Cell {
    let metric = response_metric(step, part);
    let value = view.median(system.name, step, &metric);
    value.map_or_else(Cell::absent, |v| {
        Cell::number(v, format::in_unit(v, Unit::Micros))
    })
}

fn response_metric(step: &StepInfo, part: &str) -> String {
    format!("response.{}.{part}", step.subject)
}

/// The percentile that a ramp limits as it was in the measured window, and whether that keeps the limit:
/// `p99 4.10ms within 5.00ms`; `None` where there is no limit or it was not measured.
fn limit(view: &View<'_>, system: &Seen<'_>, step: &StepInfo) -> Option<Cell> {
    let workload = &view.input.data.info.plan.workload;
    let Some(SqlPace::Ramp {
        permille,
        limit_micros,
        ..
    }) = workload.pace_of(step)
    else {
        return None;
    };
    let part = percentile(*permille);
    let limit = *limit_micros as f64;
    let window = view.values(system.name, step, &response_metric(step, &part))?;
    let over = window.rounds.iter().filter(|(_, v)| *v > limit).count();
    let at = format::micros(median(window.rounds.iter().map(|(_, v)| *v))?);
    let limit = format::micros(limit);
    Some(if over == 0 {
        Cell::text(format!("{part} {at} within {limit}"))
    } else {
        let rounds = window.rounds.len();
        Cell::text(format!("{part} {at}, over {limit} in {over} of {rounds}"))
            .with_tone(Tone::Missed)
    })
}

/// The last part of a percentile's metric: `p50`, `p999`.
fn percentile(permille: u32) -> String {
    if permille.is_multiple_of(10) {
        format!("p{}", permille / 10)
    } else {
        format!("p{permille}")
    }
}

/// A row a trial with the rates that it tried, in the order of the tries, under the heading of each step that
/// looks for the highest rate; `None` where none does.
pub(crate) fn tried(view: &View<'_>) -> Option<Table> {
    let headers = vec![
        Header::words("system"),
        Header::numbers("round", ""),
        Header::words("rates in the order of the tries"),
    ];
    let mut rows = Vec::new();
    for step in &view.steps {
        let of_step = tried_in(view, step);
        if !of_step.is_empty() {
            rows.push(Table::heading(view.label(step), headers.len()));
            rows.extend(of_step);
        }
    }
    (!rows.is_empty()).then(|| Table {
        title: "Rates that were tried".to_owned(),
        note: "Operations per second, with the percentile of response time that has the limit."
            .to_owned(),
        headers,
        rows,
    })
}

fn tried_in(view: &View<'_>, step: &StepInfo) -> Vec<Vec<Cell>> {
    let notes = view.input.data.notes.iter();
    let notes: Vec<&StepNote> = notes
        .filter(|note| note.what == StepNote::RAMP && note.step == step.step)
        .collect();
    let same = |a: &&StepNote, b: &&StepNote| (&a.system, a.round) == (&b.system, b.round);
    let trials = notes.chunk_by(same).filter_map(|tries| {
        let first = tries.first()?;
        let texts: Vec<&str> = tries.iter().map(|note| note.text.as_str()).collect();
        Some(vec![
            Cell::text(first.system.clone()),
            Cell::number(f64::from(first.round), first.round.to_string()),
            Cell::text(texts.join("; ")),
        ])
    });
    trials.collect()
}

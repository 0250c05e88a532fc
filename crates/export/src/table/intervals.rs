//! One operation kind in one interval a row.

use model::{IntervalNumbers, KindNumbers, RunId, StepPlace};

use super::PLACE;
use crate::{Column, Value};

/// The columns.
pub const COLUMNS: &[Column] = &[
    PLACE[0],
    PLACE[1],
    PLACE[2],
    PLACE[3],
    PLACE[4],
    PLACE[5],
    Column::count("interval"),
    Column::count("start_ns"),
    Column::count("length_ns"),
    Column::text("kind"),
    Column::count("ops"),
    Column::count("rows"),
    Column::count("errors"),
    Column::count("retries"),
    Column::count("p50_ns"),
    Column::count("p99_ns"),
    Column::count("max_ns"),
    Column::count("stalled_ns"),
];

/// The rows of one interval, one for each kind of its step.
pub fn rows<'a>(
    run: &'a RunId,
    place: &'a StepPlace,
    interval: &'a IntervalNumbers,
) -> impl Iterator<Item = [Value<'a>; 18]> {
    let kinds = place.kinds.iter().zip(&interval.kinds);
    kinds.map(move |(kind, numbers)| row(run, place, interval, kind, numbers))
}

fn row<'a>(
    run: &'a RunId,
    place: &'a StepPlace,
    interval: &IntervalNumbers,
    kind: &'a str,
    numbers: &KindNumbers,
) -> [Value<'a>; 18] {
    let [run, round, position, system, step, clients] = super::place(run, place);
    [
        run,
        round,
        position,
        system,
        step,
        clients,
        interval.index.into(),
        Value::Count(interval.start.0),
        Value::Count(interval.length.0),
        Value::Text(kind),
        Value::Count(numbers.ops),
        Value::Count(numbers.rows),
        Value::Count(numbers.errors),
        Value::Count(numbers.retries),
        Value::Count(numbers.p50.0),
        Value::Count(numbers.p99.0),
        Value::Count(numbers.max.0),
        Value::Count(interval.stalled.0),
    ]
}

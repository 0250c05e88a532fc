//! One bucket of one merged histogram a row.

use model::{RunId, StepHistogram, StepPlace};

use super::PLACE;
use crate::{Clock, Column, Value};

/// The columns.
pub const COLUMNS: &[Column] = &[
    PLACE[0],
    PLACE[1],
    PLACE[2],
    PLACE[3],
    PLACE[4],
    PLACE[5],
    Column::text("kind"),
    Column::text("clock"),
    Column::count("value_ns"),
    Column::count("count"),
];

/// The rows of one histogram, in rising order; empty buckets have none.
pub fn rows<'a>(
    run: &'a RunId,
    place: &'a StepPlace,
    histogram: &'a StepHistogram,
) -> impl Iterator<Item = [Value<'a>; 10]> {
    let [run, round, position, system, step, clients] = super::place(run, place);
    let kind = Value::Text(&histogram.kind);
    let clock = Value::Text(Clock::of(histogram.is_response).word());
    let counts = histogram.latency.counts();
    counts.map(move |(value, count)| {
        [
            run,
            round,
            position,
            system,
            step,
            clients,
            kind,
            clock,
            Value::Count(value.0),
            Value::Count(count),
        ]
    })
}

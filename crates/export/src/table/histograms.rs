//! One bucket of one merged histogram a row.

use model::{Clock, RunId, StepHistogram, StepPlace};

use super::{after_place, with_place};
use crate::{Column, Value};

pub const COLUMNS: &[Column] = &after_place::<4, 10>([
    Column::text("kind"),
    Column::text("clock"),
    Column::count("value_ns"),
    Column::count("count"),
]);

/// The rows of one histogram, in rising order; empty buckets have none.
pub fn rows<'a>(
    run: &'a RunId,
    place: &'a StepPlace,
    histogram: &'a StepHistogram,
) -> impl Iterator<Item = [Value<'a>; 10]> {
    let kind = Value::Text(&histogram.kind);
    let clock = Value::Text(Clock::of(histogram.is_response).word());
    histogram.latency.counts().map(move |(value, count)| {
        with_place(run, place, [kind, clock, Value::Count(value.0), Value::Count(count)])
    })
}

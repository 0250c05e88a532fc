//! One operation kind in one interval a row.

use model::{IntervalNumbers, RunId, StepPlace};

use super::{after_place, with_place};
use crate::{Column, Value};

pub const COLUMNS: &[Column] = &after_place::<12, 18>([
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
]);

/// The rows of one interval, one for each kind of its step.
pub fn rows<'a>(
    run: &'a RunId,
    place: &'a StepPlace,
    interval: &'a IntervalNumbers,
) -> impl Iterator<Item = [Value<'a>; 18]> {
    place.kinds.iter().zip(&interval.kinds).map(move |(kind, numbers)| {
        let own = [
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
        ];
        with_place(run, place, own)
    })
}

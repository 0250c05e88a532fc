//! One comparison a row.

use model::{Comparison, RunId};

use crate::{Column, Value};

/// The columns.
pub const COLUMNS: &[Column] = &[
    Column::text("run"),
    Column::text("step"),
    Column::count("clients"),
    Column::text("metric"),
    Column::text("unit"),
    Column::text("base"),
    Column::text("system"),
    Column::maybe("ratio"),
    Column::maybe("low"),
    Column::maybe("high"),
    Column::count("rounds"),
    Column::maybe("q_value"),
    Column::text("verdict"),
    Column::text("reason"),
];

/// The row of one comparison; `reason` is that of its verdict.
pub fn row<'a>(run: &'a RunId, comparison: &'a Comparison, reason: &'a str) -> [Value<'a>; 14] {
    [
        Value::Text(&run.0),
        Value::Text(&comparison.step.0),
        comparison.clients.into(),
        Value::Text(&comparison.metric.0),
        Value::Text(comparison.unit.name()),
        Value::Text(&comparison.base),
        Value::Text(&comparison.system),
        Value::maybe(comparison.ratio),
        Value::maybe(comparison.low),
        Value::maybe(comparison.high),
        comparison.rounds.into(),
        Value::maybe(comparison.q_value),
        Value::Text(comparison.verdict.word()),
        Value::Text(reason),
    ]
}

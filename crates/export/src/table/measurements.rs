//! One measurement a row.

use model::{Cell, RunId};

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
    Column::text("metric"),
    Column::text("unit"),
    Column::number("value"),
];

/// The row of one measurement.
pub fn row<'a>(run: &'a RunId, cell: &'a Cell) -> [Value<'a>; 9] {
    [
        Value::Text(&run.0),
        cell.round.into(),
        cell.position.into(),
        Value::Text(&cell.system),
        Value::Text(&cell.step.0),
        cell.clients.into(),
        Value::Text(&cell.metric.0),
        Value::Text(cell.unit.name()),
        Value::Number(cell.value),
    ]
}

//! One measurement a row.

use model::{Cell, RunId};

use super::after_place;
use crate::{Column, Value};

pub const COLUMNS: &[Column] =
    &after_place::<3, 9>([Column::text("metric"), Column::text("unit"), Column::number("value")]);

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

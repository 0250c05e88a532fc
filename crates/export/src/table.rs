//! The tables: the columns of each, and how one piece of a run becomes its row.

pub mod comparisons;
pub mod histograms;
pub mod intervals;
pub mod measurements;

use model::{RunId, StepPlace};

use crate::{Column, Value};

/// The columns with which a table of steps begins.
const PLACE: [Column; 6] = [
    Column::text("run"),
    Column::count("round"),
    Column::count("position"),
    Column::text("system"),
    Column::text("step"),
    Column::count("clients"),
];

fn place<'a>(run: &'a RunId, place: &'a StepPlace) -> [Value<'a>; 6] {
    [
        Value::Text(&run.0),
        place.trial.round.into(),
        place.trial.position.into(),
        Value::Text(&place.trial.system),
        Value::Text(&place.step.0),
        place.clients.into(),
    ]
}

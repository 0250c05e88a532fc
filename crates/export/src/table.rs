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

/// These columns, then its own.
const fn after_place<const OWN: usize, const ALL: usize>(own: [Column; OWN]) -> [Column; ALL] {
    let mut all = [PLACE[0]; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < PLACE.len() { PLACE[at] } else { own[at - PLACE.len()] };
        at += 1;
    }
    all
}

/// The place of a row, then its own values.
fn with_place<'a, const OWN: usize, const ALL: usize>(
    run: &'a RunId,
    place: &'a StepPlace,
    own: [Value<'a>; OWN],
) -> [Value<'a>; ALL] {
    let place = [
        Value::Text(&run.0),
        place.trial.round.into(),
        place.trial.position.into(),
        Value::Text(&place.trial.system),
        Value::Text(&place.step.0),
        place.clients.into(),
    ];
    std::array::from_fn(|at| if at < PLACE.len() { place[at] } else { own[at - PLACE.len()] })
}

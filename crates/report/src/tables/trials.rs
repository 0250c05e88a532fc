//! All trials in the order in which they started.

use model::Outcome;

use crate::format;
use crate::table::{Cell, Header, Table, Tone};
use crate::view::View;

pub(crate) fn trials(view: &View<'_>) -> Table {
    let rows = view.input.data.trials.iter().map(|trial| {
        let outcome = match &trial.outcome {
            Outcome::Completed => Cell::text("completed"),
            Outcome::Failed { step, .. } => {
                let place = step.as_ref().map_or(String::new(), |s| format!(" in {s}"));
                Cell::text(format!("failed{place}")).with_tone(Tone::Missed)
            }
        };
        vec![
            Cell::text(trial.system.clone()),
            whole(trial.round),
            whole(trial.position),
            Cell::text(trial.started.clone()),
            Cell::number(trial.duration.as_secs_f64(), trial.duration.to_string()),
            outcome,
        ]
    });
    Table {
        title: "Trials in the order in which they started".to_owned(),
        note: "Each round holds every system once, in random order.".to_owned(),
        headers: vec![
            Header::words("system"),
            Header::numbers("round", ""),
            Header::numbers("place", ""),
            Header::words("started"),
            Header::numbers("took", ""),
            Header::words("outcome"),
        ],
        rows: rows.collect(),
    }
}

fn whole(value: u32) -> Cell {
    Cell::number(f64::from(value), format::count(u64::from(value)))
}

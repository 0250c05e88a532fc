//! All trials in the order in which they started.

use model::{Nanos, Outcome};

use crate::format;
use crate::rounds;
use crate::table::{Cell, Header, Table, Tone};
use crate::view::View;

const ORDER: &str =
    "Each round holds every system once, in random order or in the reverse of the round before.";

pub(crate) fn trials(view: &View<'_>) -> Table {
    let data = view.input.data;
    let is_imported = data.info.is_imported();
    let rows = data.trials.iter().map(|trial| {
        let outcome = match &trial.outcome {
            Outcome::Completed => Cell::text("completed"),
            Outcome::Failed { step, .. } => {
                let place = step.as_ref().map_or(String::new(), |s| format!(" in {s}"));
                Cell::text(format!("failed{place}")).with_tone(Tone::Missed)
            }
            Outcome::Quarantined { .. } => Cell::text("quarantined").with_tone(Tone::Missed),
        };
        vec![
            Cell::text(trial.system.clone()),
            whole(trial.round),
            whole(trial.position),
            Cell::text(trial.started.clone()),
            took(trial.duration),
            outcome,
        ]
    });
    Table {
        title: if is_imported {
            "Trials as they were imported".to_owned()
        } else {
            "Trials in the order in which they started".to_owned()
        },
        note: if is_imported {
            "In which order they were measured is not known. How long they took is the sum of the steps, where files say it.".to_owned()
        } else if rounds::again(data) > 0 {
            format!(
                "{ORDER} Rounds after {} take the place of disturbed ones.",
                data.info.plan.rounds
            )
        } else {
            ORDER.to_owned()
        },
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

/// Zero where it is not known.
fn took(duration: Nanos) -> Cell {
    if duration.0 == 0 {
        Cell::text("–")
    } else {
        Cell::number(duration.as_secs_f64(), duration.to_string())
    }
}

fn whole(value: u32) -> Cell {
    Cell::number(f64::from(value), format::count(u64::from(value)))
}

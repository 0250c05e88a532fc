//! All trials in the order in which they started.

use model::{Nanos, Outcome, TrialRecord};

use crate::{Cell, Columns, Report, Table, Tone, rounds};

const ORDER: &str =
    "Each round holds every system once, in random order or in the reverse of the round before.";

impl Report<'_> {
    /// All trials in the order in which they started, with their outcome.
    pub fn trials(&self) -> Table {
        let data = self.input.data;
        let is_imported = data.info.is_imported();
        let (title, note) = if is_imported {
            (
                "Trials as they were imported",
                "In which order they were measured is not known. How long they took is the sum of the steps, where files say it.".to_owned(),
            )
        } else {
            let planned = data.info.plan.rounds;
            let again = match rounds::again(data) {
                0 => String::new(),
                _ => format!(" Rounds after {planned} take the place of disturbed ones."),
            };
            ("Trials in the order in which they started", format!("{ORDER}{again}"))
        };
        Columns::new()
            .words("system", |trial: &&TrialRecord| Cell::text(&trial.system))
            .numbers("round", "", |trial| Cell::count(trial.round.into()))
            .numbers("place", "", |trial| Cell::count(trial.position.into()))
            .words("started", |trial| Cell::text(&trial.started))
            .numbers("took", "", |trial| took(trial.duration))
            .words("outcome", |trial| outcome(&trial.outcome))
            .table(title, note, &data.trials)
    }
}

fn outcome(outcome: &Outcome) -> Cell {
    match outcome {
        Outcome::Completed => Cell::text("completed"),
        Outcome::Failed { step, .. } => {
            let place = step.as_ref().map_or(String::new(), |s| format!(" in {s}"));
            Cell::text(format!("failed{place}")).with_tone(Tone::Missed)
        }
        Outcome::Quarantined { .. } => Cell::text("quarantined").with_tone(Tone::Missed),
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

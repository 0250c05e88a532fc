//! How warm-ups and settle phases ended, round by round.

use std::collections::BTreeSet;

use model::{StepId, StepInfo, StepNote};

use super::grid::name;
use crate::before::Before;
use crate::table::{Cell, Header, Table, Tone};
use crate::view::View;

/// Systems × rounds of a step: how long its warm-up took; `None` where its time ended it.
pub(crate) fn warm_ups(view: &View<'_>, step: &StepInfo) -> Option<Table> {
    let notes = Before::WarmUp.notes(view);
    let notes: Vec<&StepNote> = notes.filter(|note| note.step == step.step).collect();
    let rounds = rounds(&notes);
    (!notes.is_empty()).then(|| Table {
        title: "Warm-up of each round".to_owned(),
        note: "How long the clients ran unseen until their rate was steady; where it was not, what they did up to the limit.".to_owned(),
        headers: headers(&rounds),
        rows: rows(view, Before::WarmUp, &notes, &rounds),
    })
}

/// Systems × rounds under the heading of each settle phase: what was left over; `None` where there was none.
pub(crate) fn left_over(view: &View<'_>) -> Option<Table> {
    let notes: Vec<&StepNote> = Before::Settle.notes(view).collect();
    let rounds = rounds(&notes);
    let headers = headers(&rounds);
    let mut phases: Vec<&StepId> = Vec::new();
    for note in &notes {
        if !phases.contains(&&note.step) {
            phases.push(&note.step);
        }
    }
    let mut all = Vec::new();
    for phase in phases {
        let of_phase = notes.iter().copied().filter(|note| note.step == *phase);
        let of_phase: Vec<&StepNote> = of_phase.collect();
        all.push(Table::heading(&phase.0, headers.len()));
        all.extend(rows(view, Before::Settle, &of_phase, &rounds));
    }
    (!all.is_empty()).then(|| Table {
        title: "Left over when settle phases ended".to_owned(),
        note: "What writes had left for the server to do, and how long after the last work of the phase that was; what was not drained went on beneath the steps after.".to_owned(),
        headers,
        rows: all,
    })
}

fn rounds(notes: &[&StepNote]) -> Vec<u32> {
    let rounds: BTreeSet<u32> = notes.iter().map(|note| note.round).collect();
    rounds.into_iter().collect()
}

fn headers(rounds: &[u32]) -> Vec<Header> {
    let columns = rounds
        .iter()
        .map(|round| Header::words(format!("round {round}")));
    std::iter::once(Header::words("system"))
        .chain(columns)
        .collect()
}

/// A row for each system that has any of these notes.
fn rows(view: &View<'_>, what: Before, notes: &[&StepNote], rounds: &[u32]) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for system in &view.systems {
        let own = notes.iter().filter(|note| note.system == system.name);
        let own: Vec<&StepNote> = own.copied().collect();
        if own.is_empty() {
            continue;
        }
        let cells = rounds.iter().map(|round| {
            let note = own.iter().find(|note| note.round == *round);
            note.map_or_else(Cell::absent, |note| cell(what, note))
        });
        rows.push(std::iter::once(name(system)).chain(cells).collect());
    }
    rows
}

/// Of a warm-up with a steady rate, its time says all.
fn cell(what: Before, note: &StepNote) -> Cell {
    if what.in_time(note) == Some(false) {
        return Cell::text(&note.text).marked(Tone::Missed, note.what.clone());
    }
    Cell::text(match what {
        Before::WarmUp => note.text.split(',').next().unwrap_or_default(),
        Before::Settle => note.text.as_str(),
    })
}

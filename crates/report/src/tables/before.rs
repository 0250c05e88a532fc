//! How warm-ups and settle phases ended, round by round.

use std::collections::BTreeSet;

use model::{Step, StepId, StepNote};

use super::grid::{headers, named, under_headings};
use crate::before::Before;
use crate::{Cell, Header, Report, Table, Tone};

impl Report<'_> {
    /// Systems × rounds of a step: how long its warm-up took; `None` where its time ended it.
    pub(crate) fn warm_ups(&self, step: &Step) -> Option<Table> {
        let notes = Before::WarmUp.notes(self).filter(|note| note.step == step.id);
        let notes: Vec<&StepNote> = notes.collect();
        let rounds = rounds(&notes);
        let rows = rows(self, Before::WarmUp, &notes, &rounds);
        let note = "How long the clients ran unseen until their rate was steady; where it was not, what they did up to the limit.";
        Table::new("Warm-up of each round", note, columns(&rounds), rows).unless_empty()
    }

    /// Systems × rounds under the heading of each settle phase: what was left over; `None` where there was none.
    pub(crate) fn left_over(&self) -> Option<Table> {
        let notes: Vec<&StepNote> = Before::Settle.notes(self).collect();
        let rounds = rounds(&notes);
        let headers = columns(&rounds);
        let mut phases: Vec<&StepId> = Vec::new();
        for note in &notes {
            if !phases.contains(&&note.step) {
                phases.push(&note.step);
            }
        }
        let parts = phases.into_iter().map(|phase| {
            let of_phase = notes.iter().copied().filter(|note| note.step == *phase);
            let of_phase: Vec<&StepNote> = of_phase.collect();
            (phase.0.clone(), rows(self, Before::Settle, &of_phase, &rounds))
        });
        let rows = under_headings(parts, headers.len());
        let note = "What writes had left for the server to do, and how long after the last work of the phase that was; what was not drained went on beneath the steps after.";
        Table::new("Left over when settle phases ended", note, headers, rows).unless_empty()
    }
}

fn rounds(notes: &[&StepNote]) -> Vec<u32> {
    let rounds: BTreeSet<u32> = notes.iter().map(|note| note.round).collect();
    rounds.into_iter().collect()
}

fn columns(rounds: &[u32]) -> Vec<Header> {
    headers(rounds.iter().map(|round| Header::words(format!("round {round}"))))
}

/// A row for each system that has any of these notes.
fn rows(report: &Report<'_>, what: Before, notes: &[&StepNote], rounds: &[u32]) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for system in &report.systems {
        let own = notes.iter().filter(|note| note.system == system.name);
        let own: Vec<&StepNote> = own.copied().collect();
        if own.is_empty() {
            continue;
        }
        let cells = rounds.iter().map(|round| {
            let note = own.iter().find(|note| note.round == *round);
            note.map_or_else(Cell::absent, |note| cell(what, note))
        });
        rows.push(named(system, cells.collect()));
    }
    rows
}

/// Of a warm-up with a steady rate, its time says all.
fn cell(what: Before, note: &StepNote) -> Cell {
    if what.in_time(note) == Some(false) {
        return Cell::text(&note.text).marked(Tone::Missed, note.what.to_string());
    }
    Cell::text(match what {
        Before::WarmUp => note.text.split(',').next().unwrap_or_default(),
        Before::Settle => note.text.as_str(),
    })
}

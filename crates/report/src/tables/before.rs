//! What went before measured windows and ended when the server had come to rest, as trials note it: warm-ups and
//! settle phases, in sentences and round by round.

use std::collections::BTreeSet;

use model::{NoteKind, Step, StepId, StepNote, StepTask};

use super::grid::{headers, named, under_headings};
use crate::format::plural;
use crate::{Cell, Header, Report, Table, Tone};

/// What ends when the server has come to rest, or at its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// A warm-up that a steady rate ends.
    WarmUp,
    /// A settle phase, which waits until little is left over.
    Settle,
}

impl Before {
    /// Did it end before its limit? `None` where the note is of something else.
    fn in_time(self, note: &StepNote) -> Option<bool> {
        let (in_time, at_limit) = match self {
            Self::WarmUp => (NoteKind::WarmedUp, NoteKind::NotSteady),
            Self::Settle => (NoteKind::LeftOver, NoteKind::NotDrained),
        };
        let is_in_time = note.what == in_time;
        (is_in_time || note.what == at_limit).then_some(is_in_time)
    }

    /// How it ended each time, of the report's systems: in a step or phase, or in all.
    fn notes<'v>(self, report: &'v Report<'_>, of: Option<&StepId>) -> Vec<&'v StepNote> {
        let of_system = |note: &StepNote| report.systems.iter().any(|s| note.system == s.name);
        let notes = report.input.data.notes.iter();
        let notes = notes.filter(|note| of.is_none_or(|of| note.step == *of));
        notes.filter(|note| self.in_time(note).is_some() && of_system(note)).collect()
    }

    /// `11 of 12 warm-ups ended with a steady rate; the others ran into their limit.` `which` says more of what
    /// is counted; `None` without any note.
    fn told(self, notes: &[&StepNote], which: &str) -> Option<String> {
        let in_time = notes.iter().filter(|note| self.in_time(note) == Some(true)).count();
        let (what, how) = match self {
            Self::WarmUp => ("warm-up", "with a steady rate"),
            Self::Settle => ("settle phase", "with little pending work"),
        };
        let others = match notes.len() - in_time {
            0 => "",
            1 => "; the other ran into its limit",
            _ => "; the others ran into their limit",
        };
        let all = plural(notes.len(), what);
        (!notes.is_empty()).then(|| format!("{in_time} of {all}{which} ended {how}{others}."))
    }

    /// A row for each system that has any of these notes.
    fn rows(self, report: &Report<'_>, notes: &[&StepNote], rounds: &[u32]) -> Vec<Vec<Cell>> {
        let rows = report.systems.iter().filter_map(|system| {
            let own = || notes.iter().filter(|note| note.system == system.name);
            own().next()?;
            let in_round = |round: &u32| own().find(|note| note.round == *round);
            let cell = |round| in_round(round).map_or_else(Cell::absent, |note| self.cell(note));
            Some(named(system, rounds.iter().map(cell)))
        });
        rows.collect()
    }

    /// Of a warm-up with a steady rate, its time says all.
    fn cell(self, note: &StepNote) -> Cell {
        if self.in_time(note) == Some(false) {
            return Cell::text(&note.text).marked(Tone::Missed, note.what.to_string());
        }
        Cell::text(match self {
            Self::WarmUp => note.text.split(',').next().unwrap_or_default(),
            Self::Settle => note.text.as_str(),
        })
    }
}

impl Report<'_> {
    /// How the warm-ups of a step ended; `None` where their time ended them.
    pub(crate) fn warmed_up(&self, step: &Step) -> Option<String> {
        Before::WarmUp.told(&Before::WarmUp.notes(self, Some(&step.id)), "")
    }

    /// How the settle phases before a step ended, and whether more may have been left since; `None` where trials
    /// had none, as on clones of a template.
    pub(crate) fn settled(&self, step: &Step) -> Option<String> {
        let planned = &self.input.data.info.plan.steps;
        let place = planned.iter().position(|one| one.id == step.id)?;
        let before = planned.get(..place)?;
        let last = before.iter().rposition(|one| one.task == StepTask::Settle)?;
        let phase = &before.get(last)?.id;
        let which = format!(" before it ({phase})");
        let told = Before::Settle.told(&Before::Settle.notes(self, Some(phase)), &which)?;
        let since = if before.iter().skip(last + 1).any(Step::writes) {
            " Steps that write have run since, and nothing waited for what they left."
        } else {
            ""
        };
        Some(format!("{told}{since}"))
    }

    /// How all warm-ups and all settle phases of the run ended, a sentence each.
    pub(crate) fn came_to_rest(&self) -> impl Iterator<Item = String> {
        let all = [Before::WarmUp, Before::Settle].into_iter();
        all.filter_map(|what| what.told(&what.notes(self, None), ""))
    }

    /// Systems × rounds of a step: how long its warm-up took; `None` where its time ended it.
    pub(crate) fn warm_ups(&self, step: &Step) -> Option<Table> {
        let notes = Before::WarmUp.notes(self, Some(&step.id));
        let rounds = rounds(&notes);
        let rows = Before::WarmUp.rows(self, &notes, &rounds);
        let note = "How long the clients ran unseen until their rate was steady; where it was not, what they did up to the limit.";
        Table::new("Warm-up of each round", note, columns(&rounds), rows).unless_empty()
    }

    /// Systems × rounds under the heading of each settle phase: what was left over; `None` where there was none.
    pub(crate) fn left_over(&self) -> Option<Table> {
        let notes = Before::Settle.notes(self, None);
        let rounds = rounds(&notes);
        let headers = columns(&rounds);
        let mut phases: Vec<&StepId> = Vec::new();
        for note in &notes {
            if !phases.contains(&&note.step) {
                phases.push(&note.step);
            }
        }
        let parts = phases.into_iter().map(|phase| {
            let of_phase = Before::Settle.notes(self, Some(phase));
            (phase.0.clone(), Before::Settle.rows(self, &of_phase, &rounds))
        });
        let rows = under_headings(parts, headers.len());
        let note = "Work that writes left pending in the server, and the time since the last work of the phase; work not drained overlapped later steps.";
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

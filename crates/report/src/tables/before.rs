//! What went before measured windows and ended when the server had come to rest, as trials note it: warm-ups and
//! settle phases, in sentences and round by round.

use std::collections::BTreeSet;

use model::{NoteKind, Step, StepId, StepNote, StepTask};

use super::grid::name;
use crate::format::plural;
use crate::{Cell, Columns, Header, Report, Seen, Table, Tone};

/// What ends when the server has come to rest, or at its limit.
struct Before {
    what: &'static str,
    /// How it ends before its limit.
    how: &'static str,
    in_time: NoteKind,
    at_limit: NoteKind,
}

/// A warm-up that a steady rate ends.
const WARM_UP: Before = Before {
    what: "warm-up",
    how: "with a steady rate",
    in_time: NoteKind::WarmedUp,
    at_limit: NoteKind::NotSteady,
};

/// A settle phase, which waits until little is left over.
const SETTLE: Before = Before {
    what: "settle phase",
    how: "with little pending work",
    in_time: NoteKind::LeftOver,
    at_limit: NoteKind::NotDrained,
};

impl Before {
    /// How it ended each time, of the report's systems: in a step or phase, or in all.
    fn notes<'v>(&self, report: &'v Report<'_>, of: Option<&StepId>) -> Vec<&'v StepNote> {
        let of_system = |note: &StepNote| report.systems.iter().any(|s| note.system == s.name);
        let notes = report.input.data.notes.iter();
        let notes = notes.filter(|note| of.is_none_or(|of| note.step == *of));
        let is_own = |note: &StepNote| note.what == self.in_time || note.what == self.at_limit;
        notes.filter(|note| is_own(note) && of_system(note)).collect()
    }

    /// `11 of 12 warm-ups ended with a steady rate; the other ran into its limit.` `which` says more of what counts.
    fn told(&self, notes: &[&StepNote], which: &str) -> Option<String> {
        let in_time = notes.iter().filter(|note| note.what == self.in_time).count();
        let others = match notes.len() - in_time {
            0 => "",
            1 => "; the other ran into its limit",
            _ => "; the others ran into their limit",
        };
        let (all, how) = (plural(notes.len(), self.what), self.how);
        (!notes.is_empty()).then(|| format!("{in_time} of {all}{which} ended {how}{others}."))
    }

    /// Systems × rounds: how it ended. A part under the heading that `heading` gives it for each phase with notes.
    fn table(
        &self,
        report: &Report<'_>,
        (title, note): (&str, &str),
        notes: &[&StepNote],
        heading: impl Fn(&StepId) -> String,
    ) -> Option<Table> {
        let rounds: BTreeSet<u32> = notes.iter().map(|note| note.round).collect();
        let columns = rounds.into_iter().map(|round| {
            let cell = move |(_, own): &(&Seen<'_>, Vec<&StepNote>)| {
                let in_round = own.iter().find(|note| note.round == round);
                in_round.map_or_else(Cell::absent, |note| self.cell(note))
            };
            (Header::words(format!("round {round}")), cell)
        });
        let mut seen = BTreeSet::new();
        let phases = notes.iter().map(|note| &note.step).filter(|phase| seen.insert(*phase));
        let parts = phases.map(|phase| {
            let rows = report.systems.iter().map(move |system| {
                let own = notes.iter().filter(|n| n.system == system.name && n.step == *phase);
                (system, own.copied().collect())
            });
            (heading(phase), rows.filter(|(_, own): &(_, Vec<_>)| !own.is_empty()))
        });
        let systems =
            Columns::new().words("system", |(system, _): &(&Seen<'_>, Vec<_>)| name(system));
        systems.each(columns).in_parts(title, note, parts).unless_empty()
    }

    /// Of a warm-up with a steady rate, its time says all.
    fn cell(&self, note: &StepNote) -> Cell {
        if note.what == self.at_limit {
            return Cell::text(&note.text).marked(Tone::Missed, note.what.to_string());
        }
        let is_warm_up = note.what == NoteKind::WarmedUp;
        let text = if is_warm_up { note.text.split(',').next() } else { Some(note.text.as_str()) };
        Cell::text(text.unwrap_or_default())
    }
}

impl Report<'_> {
    /// How the warm-ups of a step ended; `None` where their time ended them.
    pub(crate) fn warmed_up(&self, step: &Step) -> Option<String> {
        WARM_UP.told(&WARM_UP.notes(self, Some(&step.id)), "")
    }

    /// How those before a step ended, and whether more may have been left since; `None` without any, as on clones.
    pub(crate) fn settled(&self, step: &Step) -> Option<String> {
        let planned = &self.input.data.info.plan.steps;
        let place = planned.iter().position(|one| one.id == step.id)?;
        let before = planned.get(..place)?;
        let last = before.iter().rposition(|one| one.task == StepTask::Settle)?;
        let phase = &before.get(last)?.id;
        let which = format!(" before it ({phase})");
        let told = SETTLE.told(&SETTLE.notes(self, Some(phase)), &which)?;
        let since = if before.iter().skip(last + 1).any(Step::writes) {
            " Steps that write have run since, and nothing waited for their pending work."
        } else {
            ""
        };
        Some(format!("{told}{since}"))
    }

    /// How all warm-ups and all settle phases of the run ended, a sentence each.
    pub(crate) fn came_to_rest(&self) -> impl Iterator<Item = String> {
        let all = [WARM_UP, SETTLE].into_iter();
        all.filter_map(|what| what.told(&what.notes(self, None), ""))
    }

    /// Systems × rounds of a step: how long its warm-up took; `None` where its time ended it.
    pub(crate) fn warm_ups(&self, step: &Step) -> Option<Table> {
        let notes = WARM_UP.notes(self, Some(&step.id));
        let note = "Unrecorded time until the rate was steady; if it never was, what the clients did up to the limit.";
        WARM_UP.table(self, ("Warm-up of each round", note), &notes, |_| String::new())
    }

    /// Systems × rounds under the heading of each settle phase: what was left over; `None` where there was none.
    pub(crate) fn left_over(&self) -> Option<Table> {
        let notes = SETTLE.notes(self, None);
        let note = "Work that writes left pending in the server, and the time since the last work of the phase; work not drained overlapped later steps.";
        let title = "Pending work after settle phases";
        SETTLE.table(self, (title, note), &notes, |phase| phase.0.clone())
    }
}

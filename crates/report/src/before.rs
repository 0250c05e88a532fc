//! What went before measured windows and ended when the server had come to rest. Trials note how it ended.

use model::{NoteKind, Step, StepNote, StepTask};

use crate::Report;
use crate::format::plural;

/// What ends when the server has come to rest, or at its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// A warm-up that a steady rate ends.
    WarmUp,
    /// A settle phase, which waits until little is left over.
    Settle,
}

impl Before {
    /// Did it end before its limit? `None` where the note is of something else.
    pub(crate) fn in_time(self, note: &StepNote) -> Option<bool> {
        let (in_time, at_limit) = match self {
            Self::WarmUp => (NoteKind::WarmedUp, NoteKind::NotSteady),
            Self::Settle => (NoteKind::LeftOver, NoteKind::NotDrained),
        };
        let is_in_time = note.what == in_time;
        (is_in_time || note.what == at_limit).then_some(is_in_time)
    }

    /// How it ended each time, of the report's systems.
    pub(crate) fn notes<'v>(self, report: &'v Report<'_>) -> impl Iterator<Item = &'v StepNote> {
        let notes = report.input.data.notes.iter();
        notes.filter(move |note| {
            let mut systems = report.systems.iter();
            self.in_time(note).is_some() && systems.any(|system| note.system == system.name)
        })
    }

    /// `11 of 12 warm-ups ended with a steady rate; the others ran into their limit.` `which` says more of what
    /// is counted; `None` without any note.
    fn told<'n>(self, notes: impl Iterator<Item = &'n StepNote>, which: &str) -> Option<String> {
        let ended: Vec<bool> = notes.filter_map(|note| self.in_time(note)).collect();
        let in_time = ended.iter().filter(|in_time| **in_time).count();
        let (what, how) = match self {
            Self::WarmUp => ("warm-up", "with a steady rate"),
            Self::Settle => ("settle phase", "with little pending work"),
        };
        let others = match ended.len() - in_time {
            0 => "",
            1 => "; the other ran into its limit",
            _ => "; the others ran into their limit",
        };
        let all = plural(ended.len(), what);
        (!ended.is_empty()).then(|| format!("{in_time} of {all}{which} ended {how}{others}."))
    }
}

/// How the warm-ups of a step ended; `None` where their time ended them.
pub(crate) fn warmed_up(report: &Report<'_>, step: &Step) -> Option<String> {
    let notes = Before::WarmUp.notes(report);
    Before::WarmUp.told(notes.filter(|note| note.step == step.id), "")
}

/// How the settle phases before a step ended, and whether more may have been left since; `None` where trials
/// had none, as on clones of a template.
pub(crate) fn settled(report: &Report<'_>, step: &Step) -> Option<String> {
    let (phase, wrote_since) = last_settle(report, step)?;
    let notes = Before::Settle.notes(report);
    let of_phase = notes.filter(|note| note.step.0 == phase);
    let told = Before::Settle.told(of_phase, &format!(" before it ({phase})"))?;
    let since = if wrote_since {
        " Steps that write have run since, and nothing waited for what they left."
    } else {
        ""
    };
    Some(format!("{told}{since}"))
}

/// The same of all steps of a run, a sentence each.
pub(crate) fn of_run(report: &Report<'_>) -> impl Iterator<Item = String> {
    let all = [Before::WarmUp, Before::Settle].into_iter();
    all.filter_map(move |what| what.told(what.notes(report), ""))
}

/// The last settle phase before a step, and whether steps that write come between them.
fn last_settle<'v>(report: &'v Report<'_>, step: &Step) -> Option<(&'v str, bool)> {
    let planned = &report.input.data.info.plan.steps;
    let place = planned.iter().position(|one| one.id == step.id)?;
    let mut wrote_since = false;
    for before in planned.iter().take(place).rev() {
        if before.task == StepTask::Settle {
            return Some((before.id.0.as_str(), wrote_since));
        }
        wrote_since |= before.writes();
    }
    None
}

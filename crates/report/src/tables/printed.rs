//! What scripts of sysbench printed.

use model::{NoteKind, StepNote};

use crate::{Cell, Columns, Report, Table, plain};

/// A report shows at most this many lines of a trial's step, characters of a line, and lines in all.
const LINES: usize = 10;
const CHARACTERS: usize = 200;
const ALL: usize = 200;

impl Report<'_> {
    /// One row per line, in the order of the trials; `None` if no script printed anything.
    pub(crate) fn printed(&self) -> Option<Table> {
        let is_own = |note: &&StepNote| {
            let is_line = note.what == NoteKind::Script && !note.text.trim().is_empty();
            is_line && self.systems.iter().any(|system| note.system == system.name)
        };
        let notes: Vec<&StepNote> = self.input.data.notes.iter().filter(is_own).collect();
        let same = |a: &&StepNote, b: &&StepNote| {
            (a.round, &a.system, &a.step) == (b.round, &b.system, &b.step)
        };
        let first = notes.chunk_by(same).flat_map(|lines| lines.iter().take(LINES));
        let shown: Vec<&StepNote> = first.take(ALL).copied().collect();
        let note = format!(
            "{} of {} lines: at most {LINES} of each step of a trial. The command show prints more.",
            shown.len(),
            notes.len()
        );
        Columns::new()
            .words("step", |note: &&StepNote| Cell::text(&note.step.0))
            .words("system", |note| Cell::text(&note.system))
            .numbers("round", "", |note| Cell::count(note.round.into()))
            .words("line", |note| Cell::text(cut(&note.text)))
            .table("Printed by the script", note, shown)
            .unless_empty()
    }
}

fn cut(text: &str) -> String {
    let mut cut: String = plain::line(text).chars().take(CHARACTERS).collect();
    if text.chars().nth(CHARACTERS).is_some() {
        cut.push('…');
    }
    cut
}

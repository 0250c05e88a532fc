//! Operations that failed or had to be repeated.

use model::{Metric, Part, Step, metrics};

use crate::{Cell, Header, Report, Seen, Table, Tone};

/// What can go wrong with operations: the columns of every table of them.
pub(super) fn columns() -> impl Iterator<Item = &'static Metric> {
    metrics().filter(|metric| matches!(metric.part, Part::Errors { .. }))
}

impl Report<'_> {
    /// Failed and repeated operations, all rounds together; `None` when there were none.
    pub fn errors(&self) -> Option<Table> {
        let mut rows = Vec::new();
        for step in self.steps.iter() {
            for kind in self.kinds(step) {
                for system in &self.systems {
                    let cells: Vec<Cell> =
                        columns().map(|metric| self.tally(system, step, metric, &kind)).collect();
                    if cells.iter().any(|cell| cell.value.is_some_and(|sum| sum > 0.0)) {
                        let names = [system.name, &self.label(step), &kind].map(Cell::text);
                        let none = |cell: Cell| {
                            if cell.value.is_some() { cell } else { Cell::count(0.0) }
                        };
                        rows.push(names.into_iter().chain(cells.into_iter().map(none)).collect());
                    }
                }
            }
        }
        let words = ["system", "step", "operation"].map(Header::words).into_iter();
        let headers = words.chain(columns().map(|metric| Header::numbers(metric.head, "count")));
        let note = "All rounds together. Failed operations are in no rate and no latency.";
        let title = "Failed and repeated operations";
        Table::new(title, note, headers.collect(), rows).unless_empty()
    }

    /// The sum over the rounds, marked where operations were lost.
    pub(super) fn tally(
        &self,
        system: &Seen<'_>,
        step: &Step,
        metric: &Metric,
        kind: &str,
    ) -> Cell {
        let Some(sum) = self.over_rounds(system.name, step, &metric.of_kind(kind).0) else {
            return Cell::absent();
        };
        let is_lost = metric.part == Part::Errors { lost: true } && sum > 0.0;
        Cell::count(sum).with_tone(if is_lost { Tone::Missed } else { Tone::Plain })
    }
}

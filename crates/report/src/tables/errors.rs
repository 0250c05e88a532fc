//! Operations that failed or had to be repeated.

use crate::format;
use crate::table::{Cell, Header, Table, Tone};
use crate::view::View;

pub(crate) fn errors(view: &View<'_>) -> Option<Table> {
    let mut rows = Vec::new();
    for step in &view.steps {
        for kind in view.kinds(step) {
            for system in &view.systems {
                let sum = |family: &str| {
                    let values = view.values(system.name, step, &format!("{family}.{kind}"));
                    values.map_or(0.0, |v| v.rounds.iter().map(|(_, n)| n).sum())
                };
                let (failed, repeated) = (sum("errors"), sum("retries"));
                if failed + repeated > 0.0 {
                    rows.push(vec![
                        Cell::text(system.name),
                        Cell::text(view.label(step)),
                        Cell::text(kind.clone()),
                        tally(failed).with_tone(if failed > 0.0 {
                            Tone::Missed
                        } else {
                            Tone::Plain
                        }),
                        tally(repeated),
                    ]);
                }
            }
        }
    }
    (!rows.is_empty()).then(|| Table {
        title: "Failed and repeated operations".to_owned(),
        note: "All rounds together. Failed operations are in no rate and no latency.".to_owned(),
        headers: vec![
            Header::words("system"),
            Header::words("step"),
            Header::words("operation"),
            Header::numbers("failed", "count"),
            Header::numbers("repeated", "count"),
        ],
        rows,
    })
}

fn tally(sum: f64) -> Cell {
    Cell::number(sum, format::count(sum as u64))
}

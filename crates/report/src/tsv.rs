//! The tables for a spreadsheet, and the comparisons for programs.

use model::{Comparison, Group, guarded};
use serde::Serialize;

use crate::{Cell, Report, Table, format, object, plain, pretty_json, tables};

impl Report<'_> {
    /// The summary tables, tab separated. Each begins with a line `# title` and a line of column names
    /// (with the unit in brackets) and ends with an empty line. Numbers are unrounded, without marks. Headings
    /// above rows become a column `group`, the first.
    pub fn tsv(&self) -> String {
        let mut all = vec![
            self.verdicts(&tables::Shown { all_metrics: true, ..tables::Shown::default() }),
            self.absolute(),
            self.relative(),
        ];
        all.extend(self.transaction_tables(tables::Which::All));
        all.extend(self.group_summary());
        all.extend(self.background());
        all.extend(self.open_loop());
        all.extend(self.scale_up());
        all.extend(self.crossover_table());
        for group in [Group::Server, Group::Host, Group::Client] {
            all.extend(self.costs(group, false));
            all.extend(self.costs(group, true));
        }
        all.extend(self.sizes());
        all.extend(self.errors());
        all.push(self.trials());
        all.iter().map(table).collect()
    }
}

impl Report<'_> {
    /// All comparisons as a JSON list of `{step, metric, unit, base, system, ratio, low, high, rounds, q_value,
    /// verdict, reason, evidence}`, indented, with a newline at its end. Missing values are `null`, a missing reason
    /// is empty. These fields are a contract: `docs/formats.md`.
    pub fn json(&self) -> String {
        let all: Vec<_> = self.input.comparisons.iter().map(fields).collect();
        pretty_json(&all)
    }
}

fn fields(one: &Comparison) -> impl Serialize {
    let finite = |value: Option<f64>| value.filter(|v| v.is_finite());
    object! {
        step: &one.step.0,
        metric: &one.metric.0,
        unit: one.unit.name(),
        base: &one.base,
        system: &one.system,
        ratio: finite(one.ratio),
        low: finite(one.low),
        high: finite(one.high),
        rounds: one.rounds,
        q_value: finite(one.q_value),
        verdict: one.verdict.word(),
        reason: one.verdict.reason(),
        evidence: &one.evidence,
    }
}

fn table(table: &Table) -> String {
    // What stands above rows for people is a column of its own in a spreadsheet.
    let has_headings = table.rows.iter().any(|row| Table::is_heading(row));
    let names = table.headers.iter().map(|h| {
        if h.unit.is_empty() {
            guarded(&plain::line(&h.text)).into_owned()
        } else {
            guarded(&plain::line(&format!("{} ({})", h.text, h.unit))).into_owned()
        }
    });
    let group = has_headings.then(|| "group".to_owned());
    let head: Vec<String> = group.into_iter().chain(names).collect();
    let mut heading = String::new();
    let mut rows = String::new();
    for row in &table.rows {
        if Table::is_heading(row) {
            heading = row.first().map(cell).unwrap_or_default();
            continue;
        }
        let group = has_headings.then(|| heading.clone());
        let cells: Vec<String> = group.into_iter().chain(row.iter().map(cell)).collect();
        rows.push_str(&cells.join("\t"));
        rows.push('\n');
    }
    format!("# {}\n{}\n{rows}\n", plain::line(&table.title), head.join("\t"))
}

fn cell(cell: &Cell) -> String {
    match cell.value {
        Some(value) => format::exact(value),
        None if cell.text == format::ABSENT => String::new(),
        None => guarded(&plain::line(&cell.text)).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Header, Tone};

    #[test]
    fn no_cell_with_text_is_a_formula_for_a_spreadsheet() {
        let text = table(&Table {
            title: "A table".to_owned(),
            headers: vec![Header::words("=a"), Header::words("b"), Header::words("c")],
            rows: vec![
                vec![Cell::text("@group").with_tone(Tone::Heading)],
                vec![
                    Cell::text("=cmd|' /C calc'!A0"),
                    Cell::number(-1.5, "−1.5".to_owned()),
                    Cell::absent(),
                ],
            ],
            note: String::new(),
        });
        assert_eq!(text, "# A table\ngroup\t'=a\tb\tc\n'@group\t'=cmd|' /C calc'!A0\t-1.5\t\n\n");
    }
}

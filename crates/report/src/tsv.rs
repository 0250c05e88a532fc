//! The tables for a spreadsheet.

use model::{Group, guarded};

use crate::{Cell, Report, Table, format, plain, tables};

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

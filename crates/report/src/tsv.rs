//! The tables for a spreadsheet.

use model::Group;

use crate::view::View;
use crate::{Cell, Input, Table, format, tables};

/// The summary tables, tab separated. Each begins with a line `# title` and a line of column names
/// (with the unit in brackets) and ends with an empty line. Numbers are unrounded, without marks.
pub fn tsv(input: &Input<'_>) -> String {
    let view = View::new(input);
    let mut all = vec![
        tables::view_verdicts(
            &view,
            &tables::Shown {
                all_metrics: true,
                ..tables::Shown::default()
            },
        ),
        tables::view_absolute(&view),
        tables::view_relative(&view),
    ];
    all.extend(tables::view_background(&view));
    for group in [Group::Server, Group::Host, Group::Client] {
        all.extend(tables::view_costs(&view, group, false));
        all.extend(tables::view_costs(&view, group, true));
    }
    all.extend(tables::view_sizes(&view));
    all.extend(tables::view_errors(&view));
    all.push(tables::view_trials(&view));
    all.iter().map(table).collect()
}

fn table(table: &Table) -> String {
    let head: Vec<String> = table
        .headers
        .iter()
        .map(|h| {
            if h.unit.is_empty() {
                one_field(&h.text)
            } else {
                one_field(&format!("{} ({})", h.text, h.unit))
            }
        })
        .collect();
    let rows: String = table
        .rows
        .iter()
        .map(|row| {
            let cells: Vec<String> = row.iter().map(cell).collect();
            cells.join("\t") + "\n"
        })
        .collect();
    format!(
        "# {}\n{}\n{rows}\n",
        one_field(&table.title),
        head.join("\t")
    )
}

fn cell(cell: &Cell) -> String {
    match cell.value {
        Some(value) => format::exact(value),
        None if cell.text == format::ABSENT => String::new(),
        None => one_field(&cell.text),
    }
}

/// Tabs and line ends would split a field.
fn one_field(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}

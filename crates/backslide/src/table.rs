//! A report's table in the terminal.

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, Table as Grid, presets,
};
use report::{Align, Table, Tone};

use crate::printer::Printer;

/// Prints a table to stdout, wrapped to the terminal's width.
pub(crate) fn print(printer: Printer, table: &Table) {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING);
    // Colour is taken out again by the printer where nobody would see it.
    grid.enforce_styling();
    grid.set_content_arrangement(ContentArrangement::Dynamic);
    grid.set_width(printer.width());
    grid.set_header(table.headers.iter().map(|header| {
        let unit = if header.unit.is_empty() {
            String::new()
        } else {
            format!(" {}", header.unit)
        };
        Cell::new(format!("{}{unit}", header.text))
            .add_attribute(Attribute::Bold)
            .set_alignment(alignment(header.align))
    }));
    for row in &table.rows {
        let cells = row.iter().zip(&table.headers);
        grid.add_row(cells.map(|(cell, header)| {
            let shown = Cell::new(cell.shown()).set_alignment(alignment(header.align));
            match cell.tone {
                Tone::Plain => shown,
                Tone::Regressed => shown.fg(Color::Yellow),
                Tone::Improved => shown.fg(Color::Blue),
                Tone::Missed => shown.add_attribute(Attribute::Underlined),
                Tone::Muted => shown.add_attribute(Attribute::Dim),
            }
        }));
    }
    if !table.title.is_empty() {
        printer.result(&format!("\n{}", table.title));
    }
    printer.result(&grid.trim_fmt());
    if !table.note.is_empty() {
        printer.note(&table.note);
    }
}

const fn alignment(align: Align) -> CellAlignment {
    match align {
        Align::Left => CellAlignment::Left,
        Align::Right => CellAlignment::Right,
    }
}

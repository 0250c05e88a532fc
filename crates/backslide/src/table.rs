//! A report's table in the terminal.

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, Table as Grid, presets,
};
use report::{Align, Header, Table, Tone};

use crate::printer::Printer;
use crate::wrap;

/// Columns between two cells, and as many in a row as there are cells.
const BETWEEN: usize = 2;

/// Prints a table to stdout, wrapped to the terminal's width.
pub(crate) fn print(printer: Printer, table: &Table) {
    if !table.title.is_empty() {
        printer.result(&format!("\n{}", printer.wrapped(&table.title)));
    }
    printer.result(&text(table, printer.width()));
    if !table.note.is_empty() {
        printer.note(&printer.wrapped(&table.note));
    }
}

/// The table without title and note, at most as wide as its names allow. Only sentences and names that
/// have joints are wrapped; under headings rows are indented.
pub(crate) fn text(table: &Table, width: u16) -> String {
    let has_headings = table.rows.iter().any(|row| Table::is_heading(row));
    let heads: Vec<String> = table.headers.iter().map(head).collect();
    let rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|row| {
            let is_inner = has_headings && !Table::is_heading(row);
            let indent = if is_inner { "  " } else { "" };
            let shown = row.iter().map(report::Cell::shown).enumerate();
            shown
                .map(|(place, text)| match place {
                    0 => format!("{indent}{text}"),
                    _ => text,
                })
                .collect()
        })
        .collect();
    let aligned: Vec<Align> = table.headers.iter().map(|header| header.align).collect();
    let widths = widths(&heads, &rows, &aligned, usize::from(width));
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING);
    // Colour is taken out again by the printer where nobody would see it.
    grid.enforce_styling();
    grid.set_content_arrangement(ContentArrangement::Disabled);
    let heads = heads.iter().zip(&table.headers).zip(&widths);
    grid.set_header(heads.map(|((text, header), width)| {
        Cell::new(wrap::cell(text, *width))
            .add_attribute(Attribute::Bold)
            .set_alignment(alignment(header.align))
    }));
    for (row, texts) in table.rows.iter().zip(&rows) {
        let cells = row.iter().zip(texts).zip(&table.headers).zip(&widths);
        grid.add_row(cells.map(|(((cell, text), header), width)| {
            let shown = Cell::new(wrap::cell(text, *width));
            toned(shown.set_alignment(alignment(header.align)), cell.tone)
        }));
    }
    grid.trim_fmt()
}

fn toned(cell: Cell, tone: Tone) -> Cell {
    match tone {
        Tone::Plain => cell,
        Tone::Regressed => cell.fg(Color::Yellow),
        Tone::Improved => cell.fg(Color::Blue),
        Tone::Missed => cell.add_attribute(Attribute::Underlined),
        Tone::Muted => cell.add_attribute(Attribute::Dim),
        Tone::Heading => cell.add_attribute(Attribute::Bold),
    }
}

fn head(header: &Header) -> String {
    if header.unit.is_empty() {
        header.text.clone()
    } else {
        format!("{} {}", header.text, header.unit)
    }
}

/// What each column gets of the width. Where it is not enough, heads give way before what stands below.
fn widths(heads: &[String], rows: &[Vec<String>], aligned: &[Align], width: usize) -> Vec<usize> {
    let of_columns = |of_head: fn(&str) -> usize, of_cell: fn(&str) -> usize| -> Vec<usize> {
        let columns = heads.iter().enumerate();
        columns
            .map(|(column, head)| {
                let cells = rows.iter().filter_map(|row| row.get(column));
                let widest = cells.map(|text| of_cell(text)).max().unwrap_or(0);
                widest.max(of_head(head))
            })
            .collect()
    };
    let room = width.saturating_sub(BETWEEN * heads.len());
    let whole = of_columns(longest_line, longest_line);
    if whole.iter().sum::<usize>() <= room {
        return whole;
    }
    let wished = of_columns(wrap::least, longest_line);
    let broken = of_columns(wrap::least, wrap::least);
    // Numbers stay on one line as long as words can give way.
    let whole_numbers: Vec<usize> = aligned
        .iter()
        .zip(wished.iter().zip(&broken))
        .map(|(align, (wished, broken))| match align {
            Align::Left => *broken,
            Align::Right => *wished,
        })
        .collect();
    if whole_numbers.iter().sum::<usize>() <= room {
        wrap::columns(&wished, &whole_numbers, room)
    } else {
        wrap::columns(&wished, &broken, room)
    }
}

fn longest_line(text: &str) -> usize {
    text.split('\n').map(wrap::length).max().unwrap_or(0)
}

const fn alignment(align: Align) -> CellAlignment {
    match align {
        Align::Left => CellAlignment::Left,
        Align::Right => CellAlignment::Right,
    }
}

#[cfg(test)]
mod tests;

//! A report's table in the terminal.

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, Table as Grid, presets,
};
use report::{Align, Header, Table, Tone, printable};

use crate::printer::Printer;
use crate::wrap;

/// Columns between two cells, and as many in a row as there are cells.
const BETWEEN: usize = 2;
/// Where a table is divided, names get this fraction of the width: one part of three.
const NAMES: usize = 3;

/// Prints a table to stdout, wrapped to the terminal's width, with what explains its marks.
pub(crate) fn print(printer: Printer, table: &Table) {
    if !table.title.is_empty() {
        printer.result(&format!("\n{}", printer.wrapped(&table.title)));
    }
    let (shown, left_out) = with_room(table, usize::from(printer.width()));
    printer.styled(&text(&shown, printer.width()));
    if !left_out.is_empty() {
        printer.note(&printer.wrapped(&format!(
            "no room for {}: a wider terminal shows more",
            left_out.join(", ")
        )));
    }
    let (signs, others) = table.note_lines();
    for sign in signs {
        printer.prose(sign);
    }
    if !others.is_empty() {
        printer.note(&printer.wrapped(&others.join("\n")));
    }
}

/// The table without title and note. Only sentences and names that have joints are wrapped; under headings rows
/// are indented. Columns that have no room beside the others stand below them, each time after the names.
pub(crate) fn text(table: &Table, width: u16) -> String {
    let width = usize::from(width);
    let parts = parts(&Texts::of(table), width);
    let parts = parts
        .iter()
        .map(|columns| grid(&part(table, columns), width));
    parts.collect::<Vec<_>>().join("\n\n")
}

/// The table without the columns that give way, as far as there is no room for them, and the heads of these.
pub(crate) fn with_room(table: &Table, width: usize) -> (Table, Vec<String>) {
    let mut kept: Vec<usize> = (0..table.headers.len()).collect();
    let mut left_out = Vec::new();
    loop {
        let shown = part(table, &kept);
        let spare = |column: &usize| table.headers[*column].spare;
        let next = kept.iter().copied().max_by_key(spare);
        match next.filter(|next| spare(next) > 0 && parts(&Texts::of(&shown), width).len() > 1) {
            Some(next) => {
                kept.retain(|column| *column != next);
                left_out.push(head(&table.headers[next]));
            }
            None => return (shown, left_out),
        }
    }
}

/// What is written in a table.
struct Texts {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
    aligned: Vec<Align>,
}

impl Texts {
    fn of(table: &Table) -> Self {
        let has_headings = table.rows.iter().any(|row| Table::is_heading(row));
        let row = |row: &Vec<report::Cell>| {
            let is_inner = has_headings && !Table::is_heading(row);
            let indent = if is_inner { "  " } else { "" };
            let shown = row.iter().map(report::Cell::shown).enumerate();
            shown
                .map(|(place, text)| match place {
                    0 => format!("{indent}{text}"),
                    _ => text,
                })
                .collect()
        };
        Self {
            heads: table.headers.iter().map(head).collect(),
            rows: table.rows.iter().map(row).collect(),
            aligned: table.headers.iter().map(|header| header.align).collect(),
        }
    }
}

/// The columns that stand beside each other: all, where the narrowest they can be has room.
fn parts(texts: &Texts, width: usize) -> Vec<Vec<usize>> {
    let Widths { wished, broken, .. } = Widths::of(texts);
    let narrowest = whole_numbers(texts, &wished, &broken);
    let taken = |columns: &[usize]| columns.iter().map(|width| width + BETWEEN).sum::<usize>();
    if taken(&narrowest) <= width || broken.len() < 2 {
        return vec![(0..broken.len()).collect()];
    }
    // Where there are several parts, names need not be broken to the last.
    let names = broken[0].max(wished[0].min(width / NAMES));
    let mut parts = Vec::new();
    let mut part = vec![0];
    let mut left = 0;
    for (column, column_width) in wished.iter().enumerate().skip(1) {
        let needed = column_width + BETWEEN;
        if needed > left {
            // A part has one column besides the names, however wide that is.
            if part.len() > 1 {
                parts.push(std::mem::replace(&mut part, vec![0]));
            }
            left = width.saturating_sub(names + BETWEEN);
        }
        part.push(column);
        left = left.saturating_sub(needed);
    }
    parts.push(part);
    parts
}

/// These columns of a table.
fn part(table: &Table, columns: &[usize]) -> Table {
    let rows = table.rows.iter().map(|row| {
        let cells = columns.iter().filter_map(|column| row.get(*column));
        cells.cloned().collect()
    });
    let headers = columns
        .iter()
        .filter_map(|column| table.headers.get(*column));
    Table {
        title: String::new(),
        note: String::new(),
        headers: headers.cloned().collect(),
        rows: rows.collect(),
    }
}

fn grid(table: &Table, width: usize) -> String {
    let texts = Texts::of(table);
    let widths = widths(&texts, width);
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING);
    // Colour is taken out again by the printer where nobody would see it.
    grid.enforce_styling();
    grid.set_content_arrangement(ContentArrangement::Disabled);
    let heads = texts.heads.iter().zip(&table.headers).zip(&widths);
    grid.set_header(heads.map(|((text, header), width)| {
        Cell::new(wrap::cell(text, *width))
            .add_attribute(Attribute::Bold)
            .set_alignment(alignment(header.align))
    }));
    for (row, texts) in table.rows.iter().zip(&texts.rows) {
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
        printable(&header.text)
    } else {
        printable(&format!("{} {}", header.text, header.unit))
    }
}

/// How wide columns are.
struct Widths {
    /// With nothing wrapped.
    whole: Vec<usize>,
    /// With heads wrapped where they can be.
    wished: Vec<usize>,
    /// With all wrapped that can be.
    broken: Vec<usize>,
}

impl Widths {
    fn of(texts: &Texts) -> Self {
        let of_columns = |of_head: fn(&str) -> usize, of_cell: fn(&str) -> usize| -> Vec<usize> {
            let columns = texts.heads.iter().enumerate();
            columns
                .map(|(column, head)| {
                    let cells = texts.rows.iter().filter_map(|row| row.get(column));
                    let widest = cells.map(|text| of_cell(text)).max().unwrap_or(0);
                    widest.max(of_head(head))
                })
                .collect()
        };
        Self {
            whole: of_columns(longest_line, longest_line),
            wished: of_columns(wrap::least, longest_line),
            broken: of_columns(wrap::least, wrap::least),
        }
    }
}

/// What each column gets of the width. Where it is not enough, heads give way before what stands below.
fn widths(texts: &Texts, width: usize) -> Vec<usize> {
    let room = width.saturating_sub(BETWEEN * texts.heads.len());
    let Widths {
        whole,
        wished,
        broken,
    } = Widths::of(texts);
    if whole.iter().sum::<usize>() <= room {
        return whole;
    }
    // Numbers stay on one line as long as words can give way.
    let whole_numbers = whole_numbers(texts, &wished, &broken);
    if whole_numbers.iter().sum::<usize>() <= room {
        wrap::columns(&wished, &whole_numbers, room)
    } else {
        wrap::columns(&wished, &broken, room)
    }
}

/// The widths with numbers on one line, and all wrapped else that can be.
fn whole_numbers(texts: &Texts, wished: &[usize], broken: &[usize]) -> Vec<usize> {
    let widths = wished.iter().zip(broken);
    let columns = texts.aligned.iter().zip(widths);
    columns
        .map(|(align, (wished, broken))| match align {
            Align::Left => *broken,
            Align::Right => *wished,
        })
        .collect()
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

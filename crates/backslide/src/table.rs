//! A report's table in the terminal.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use model::Nanos;
use report::{Align, Cell, Header, Table, Tone, format, printable};

use crate::printer::Printer;
use crate::wrap;

/// Columns between two cells, and as many in a row as there are cells.
const BETWEEN: usize = 2;
/// Names get at most this fraction of the width, one part of three, where there is no room for all.
const NAMES: usize = 3;

pub(crate) fn time(time: Nanos) -> Cell {
    Cell::number(time.as_secs_f64(), time.to_string())
}

pub(crate) fn count(value: u64) -> Cell {
    Cell::number(value as f64, format::count(value))
}

/// Prints a table to stdout, wrapped to the terminal's width, with what explains its marks.
pub(crate) fn print(printer: Printer, table: &Table) {
    if !table.title.is_empty() {
        printer.result(&format!("\n{}", printer.wrapped(&table.title)));
    }
    let (text, left_out) = fitted(table, printer.width());
    printer.styled(&text);
    if !left_out.is_empty() {
        let left_out: Vec<String> = left_out.iter().map(|head| format!("`{head}`")).collect();
        let left_out = left_out.join(", ");
        let told = format!("no room for {left_out}: a wider terminal shows more");
        printer.note(&printer.wrapped(&told));
    }
    let (signs, others) = table.note_lines();
    for sign in signs {
        printer.prose(sign);
    }
    if !others.is_empty() {
        printer.note(&printer.wrapped(&others.join("\n")));
    }
}

/// The table without title and note, and the heads of the columns left out for lack of room. Only sentences and names
/// with joints are wrapped; under headings rows are indented. Other columns without room stand below, after the names.
pub(crate) fn fitted(table: &Table, width: u16) -> (String, Vec<String>) {
    let (mut texts, width) = (Texts::of(table, head), usize::from(width));
    let mut kept: Vec<usize> = (0..table.headers.len()).collect();
    if !texts.fit(width) && table.headers.iter().any(|header| !header.short.is_empty()) {
        texts = Texts::of(table, short_head);
    }
    let mut left_out = Vec::new();
    let spare = |column: &usize| table.headers[*column].spare;
    while let Some(next) = kept.iter().copied().max_by_key(spare)
        && spare(&next) > 0
        && (texts.parts(&kept, width).len() > 1
            || spare(&next) >= Header::FEW_MISS && texts.breaks_names(&kept, width))
    {
        kept.retain(|column| *column != next);
        left_out.push(texts.heads[next].clone());
    }
    (texts.text(&kept, width), left_out)
}

/// The texts of a table and the widths of its columns, each measured once: tables have tens of thousands of rows.
struct Texts {
    heads: Vec<String>,
    rows: Vec<Vec<(String, Tone)>>,
    columns: Vec<Column>,
}

#[derive(Clone, Copy)]
struct Column {
    align: Align,
    /// See [`Header::whole`].
    is_whole: bool,
    /// Width with nothing wrapped.
    whole: usize,
    /// Width with the head wrapped where it can be.
    wished: usize,
    /// Width with all wrapped that can be.
    broken: usize,
}

impl Column {
    fn of(header: &Header, head: &str) -> Self {
        // A unit such as rows/s has no joints.
        let unit = header.unit.split(' ').map(wrap::length).max().unwrap_or(0);
        let least = wrap::least(head).max(unit);
        let (align, is_whole) = (header.align, header.whole);
        Self { align, is_whole, whole: longest_line(head), wished: least, broken: least }
    }

    fn see(&mut self, text: &str) {
        let longest = longest_line(text);
        self.whole = self.whole.max(longest);
        self.wished = self.wished.max(longest);
        // What is no longer than the least so far cannot have a longer part.
        if longest > self.broken {
            self.broken = self.broken.max(wrap::least(text));
        }
    }

    /// Numbers and whole names stay on one line as long as words can give way.
    const fn narrowest(self) -> usize {
        match self.align {
            Align::Left if !self.is_whole => self.broken,
            Align::Left | Align::Right => self.wished,
        }
    }
}

impl Texts {
    fn of(table: &Table, head: fn(&Header) -> String) -> Self {
        let has_headings = table.rows.iter().any(|row| Table::is_heading(row));
        let heads: Vec<String> = table.headers.iter().map(head).collect();
        let columns = table.headers.iter().zip(&heads);
        let mut columns: Vec<Column> = columns.map(|(of, head)| Column::of(of, head)).collect();
        let mut rows = Vec::with_capacity(table.rows.len());
        for row in &table.rows {
            let indent = if has_headings && !Table::is_heading(row) { "  " } else { "" };
            let texts = row.iter().enumerate().map(|(place, cell)| match place {
                0 => (format!("{indent}{}", cell.shown()), cell.tone),
                _ => (cell.shown(), cell.tone),
            });
            let texts: Vec<(String, Tone)> = texts.collect();
            for (column, (text, _)) in columns.iter_mut().zip(&texts) {
                column.see(text);
            }
            rows.push(texts);
        }
        Self { heads, rows, columns }
    }

    /// Is there room for all columns with nothing wrapped?
    fn fit(&self, width: usize) -> bool {
        self.columns.iter().map(|one| one.whole + BETWEEN).sum::<usize>() <= width
    }

    /// Have the names of the rows too little room beside the narrowest that the other columns can be?
    fn breaks_names(&self, kept: &[usize], width: usize) -> bool {
        let others = kept.iter().skip(1).map(|place| self.columns[*place].narrowest());
        let names = kept.first().map_or(0, |place| self.columns[*place].wished);
        others.fold(names + BETWEEN, |sum, one| sum + one + BETWEEN) > width
    }

    /// The columns that stand beside each other: all, where the narrowest they can be has room.
    fn parts(&self, kept: &[usize], width: usize) -> Vec<Vec<usize>> {
        let all = kept.iter().map(|place| self.columns[*place]);
        if all.map(|one| one.narrowest() + BETWEEN).sum::<usize>() <= width || kept.len() < 2 {
            return vec![kept.to_vec()];
        }
        // Where there are several parts, names need not be broken to the last.
        let first = self.columns[kept[0]];
        let names = first.broken.max(first.wished.min(width / NAMES));
        let mut parts = Vec::new();
        let mut part = vec![kept[0]];
        let mut left = 0;
        for place in kept.iter().skip(1) {
            let needed = self.columns[*place].wished + BETWEEN;
            if needed > left {
                // A part has one column besides the names, however wide that is.
                if part.len() > 1 {
                    parts.push(std::mem::replace(&mut part, vec![kept[0]]));
                }
                left = width.saturating_sub(names + BETWEEN);
            }
            part.push(*place);
            left = left.saturating_sub(needed);
        }
        parts.push(part);
        parts
    }

    fn text(&self, kept: &[usize], width: usize) -> String {
        let parts = self.parts(kept, width);
        parts.iter().map(|part| self.grid(part, width)).collect::<Vec<_>>().join("\n\n")
    }

    fn grid(&self, part: &[usize], width: usize) -> String {
        let mut widths = self.widths(part, width);
        let head = self.heads.iter().map(|head| (head.as_str(), Style::new().bold()));
        let head: Vec<(&str, Style)> = head.collect();
        let rows = self.rows.iter().map(|row| -> Vec<(&str, Style)> {
            row.iter().map(|(text, tone)| (text.as_str(), style(*tone))).collect()
        });
        let wrapped = |row: Vec<(&str, Style)>| -> Vec<(String, Style)> {
            let cells = part.iter().filter_map(|at| row.get(*at)).zip(&widths);
            cells.map(|((text, style), width)| (wrap::cell(text, *width), *style)).collect()
        };
        let rows: Vec<Vec<(String, Style)>> =
            std::iter::once(head).chain(rows).map(wrapped).collect();
        // Lines may be shorter than they may be.
        for (at, width) in widths.iter_mut().enumerate() {
            let column = rows.iter().filter_map(|row| row.get(at));
            *width = column.map(|(text, _)| longest_line(text)).max().unwrap_or(0);
        }
        let aligned = part.iter().map(|place| self.columns[*place].align);
        let columns: Vec<(usize, Align)> = widths.into_iter().zip(aligned).collect();
        rows.iter().flat_map(|row| lines(row, &columns)).collect::<Vec<_>>().join("\n")
    }

    /// What each column gets of the width. Where it is not enough, heads give way before what stands below.
    fn widths(&self, part: &[usize], width: usize) -> Vec<usize> {
        let room = width.saturating_sub(BETWEEN * part.len());
        let of = |width: fn(Column) -> usize| -> Vec<usize> {
            part.iter().map(|place| width(self.columns[*place])).collect()
        };
        let fits = |widths: &[usize]| widths.iter().sum::<usize>() <= room;
        let whole = of(|column| column.whole);
        if fits(&whole) {
            return whole;
        }
        let narrowest = of(Column::narrowest);
        // Short names, too, while there is room for the rest.
        let mut named = narrowest.clone();
        if let (Some(first), Some(place)) = (named.first_mut(), part.first()) {
            *first = self.columns[*place].wished.min(width / NAMES).max(*first);
        }
        let least = [named, narrowest].into_iter().find(|least| fits(least));
        let least = least.unwrap_or_else(|| of(|column| column.broken));
        wrap::columns(&of(|column| column.wished), &least, room)
    }
}

/// The lines of a row. Colour is taken out again by the printer where nobody would see it.
fn lines(row: &[(String, Style)], columns: &[(usize, Align)]) -> Vec<String> {
    let height = row.iter().map(|(text, _)| text.split('\n').count()).max().unwrap_or(0);
    let line = |at: usize| {
        let mut line = String::new();
        for ((text, style), (width, align)) in row.iter().zip(columns) {
            let text = text.split('\n').nth(at).unwrap_or_default();
            let style = if text.is_empty() { Style::new() } else { *style };
            let space = " ".repeat(width.saturating_sub(wrap::length(text)));
            let (before, after) = match align {
                Align::Left => ("", space.as_str()),
                Align::Right => (space.as_str(), ""),
            };
            let _infallible = write!(line, "{style} {before}{text}{after} {style:#}");
        }
        line.truncate(line.trim_end().len());
        line
    };
    (0..height).map(line).collect()
}

const fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Regressed => AnsiColor::BrightYellow.on_default(),
        Tone::Improved => AnsiColor::BrightBlue.on_default(),
        Tone::Missed => Style::new().underline(),
        Tone::Muted => Style::new().dimmed(),
        Tone::Heading => Style::new().bold(),
    }
}

fn head(header: &Header) -> String {
    with_unit(&header.text, &header.unit)
}

fn short_head(header: &Header) -> String {
    let text = if header.short.is_empty() { &header.text } else { &header.short };
    with_unit(text, &header.unit)
}

fn with_unit(text: &str, unit: &str) -> String {
    if unit.is_empty() { printable(text) } else { printable(&format!("{text} {unit}")) }
}

fn longest_line(text: &str) -> usize {
    text.split('\n').map(wrap::length).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;

//! A table as plain data: the page, the terminal, Markdown and TSV all print the same one.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::format;
use crate::plain::printable;

/// What a cell's colour says. It never says it alone: a cell with a tone carries a mark or a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Regressed,
    Improved,
    /// A target was missed, or something failed.
    Missed,
    /// The base itself, a target, a value that is absent.
    Muted,
    /// It names the rows that follow, up to the next such cell; see [`Table::is_heading`].
    Heading,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub text: String,
    /// What stands for the text where a terminal has no room; empty for the text itself.
    pub short: String,
    /// The unit of its values; empty for none.
    pub unit: String,
    pub align: Align,
    /// Where a terminal has no room for all columns, that with the highest number goes first; one with 0 stays.
    /// From [`Self::FEW_MISS`] on, it also gives way so that the names of the rows stay on one line.
    pub spare: u8,
    /// Are its texts names that stay on one line as long as other columns can give way?
    pub whole: bool,
}

impl Header {
    pub const FEW_MISS: u8 = 4;

    pub fn words(text: impl Into<String>) -> Self {
        Self { align: Align::Left, ..Self::numbers(text, "") }
    }

    /// A column of numbers in this unit (empty for none).
    pub fn numbers(text: impl Into<String>, unit: impl Into<String>) -> Self {
        let (text, unit) = (text.into(), unit.into());
        Self { text, short: String::new(), unit, align: Align::Right, spare: 0, whole: false }
    }

    #[must_use]
    pub fn shortened(self, short: impl Into<String>) -> Self {
        Self { short: short.into(), ..self }
    }

    #[must_use]
    pub fn spared(self, spare: u8) -> Self {
        Self { spare, ..self }
    }

    #[must_use]
    pub fn kept_whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// `margin (%)`.
    pub(crate) fn with_unit(&self) -> String {
        match self.unit.as_str() {
            "" => self.text.clone(),
            unit => format!("{} ({unit})", self.text),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    pub text: String,
    pub tone: Tone,
    /// What the tone says in a word, or what a note below the table explains; printed after the text, often empty.
    pub mark: Cow<'static, str>,
    /// The unrounded number behind the text, for sorting and for spreadsheets.
    pub value: Option<f64>,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub fn number(value: f64, text: String) -> Self {
        Self { text, value: Some(value).filter(|v| v.is_finite()), ..Self::default() }
    }

    pub(crate) fn of(value: Option<f64>, text: impl FnOnce(f64) -> String) -> Self {
        value.map_or_else(Self::absent, |value| Self::number(value, text(value)))
    }

    /// A whole number with grouped thousands.
    pub(crate) fn count(value: f64) -> Self {
        Self::number(value, format::count(value as u64))
    }

    pub fn absent() -> Self {
        Self::text(format::ABSENT).with_tone(Tone::Muted)
    }

    #[must_use]
    pub fn with_tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// The same with a tone and the word for it.
    #[must_use]
    pub fn marked(mut self, tone: Tone, mark: impl Into<Cow<'static, str>>) -> Self {
        self.tone = tone;
        self.mark = mark.into();
        self
    }

    /// The same, marked where it missed what was asked in some of all rounds.
    pub(crate) fn missed_in(self, rounds: Option<(usize, usize)>) -> Self {
        match rounds {
            Some((missed, all)) if missed > 0 => {
                self.marked(Tone::Missed, format!("missed in {missed} of {all}"))
            }
            _ => self,
        }
    }

    /// Text and mark, without what a terminal would obey: `0.31 worse`.
    pub fn shown(&self) -> String {
        let text = printable(&self.text);
        if self.mark.is_empty() { text } else { format!("{text} {}", self.mark) }
    }
}

/// Every row has as many cells as there are headers; the first names the row. Headings may divide the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub title: String,
    /// How to read it, in a line or several; may be empty.
    pub note: String,
    pub headers: Vec<Header>,
    /// Its rows, headings between them included.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(
        title: impl Into<String>,
        note: impl Into<String>,
        headers: Vec<Header>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        let rows = rows.into_iter().collect();
        Self { title: title.into(), note: note.into(), headers, rows }
    }

    /// Only where it has any row but headings.
    pub(crate) fn unless_empty(self) -> Option<Self> {
        self.has_rows().then_some(self)
    }

    /// Is it a heading above the rows that follow? Its first cell says what they are, the others are empty.
    pub fn is_heading(row: &[Cell]) -> bool {
        row.first().is_some_and(|cell| cell.tone == Tone::Heading)
    }

    /// The lines that explain a mark of a cell, then the others. Whoever leaves notes out still needs the former.
    pub fn note_lines(&self) -> (Vec<&str>, Vec<&str>) {
        let cells = self.rows.iter().flatten();
        let marks: BTreeSet<&str> = cells.map(|cell| cell.mark.as_ref()).collect();
        self.note.lines().partition(|line| {
            let first = line.split(' ').next().unwrap_or_default();
            !first.is_empty() && marks.contains(first)
        })
    }

    /// The rows of each part under its heading; parts without rows, and headings without words, are left out.
    pub(crate) fn in_parts(
        title: impl Into<String>,
        note: impl Into<String>,
        headers: Vec<Header>,
        parts: impl IntoIterator<Item = (String, Vec<Vec<Cell>>)>,
    ) -> Self {
        let mut all = Vec::new();
        for (heading, rows) in parts {
            if !(rows.is_empty() || heading.is_empty()) {
                let mut row = vec![Cell::text(heading).with_tone(Tone::Heading)];
                row.resize(headers.len(), Cell::default());
                all.push(row);
            }
            all.extend(rows);
        }
        Self::new(title, note, headers, all)
    }

    pub(crate) fn has_rows(&self) -> bool {
        !self.rows.iter().all(|row| Self::is_heading(row))
    }
}

type CellOf<'c, T> = Box<dyn Fn(&T) -> Cell + 'c>;

/// The columns of a table whose rows are each made from a `T`.
pub struct Columns<'c, T>(Vec<(Header, CellOf<'c, T>)>);

impl<'c, T> Columns<'c, T> {
    #[expect(clippy::new_without_default, reason = "a table without columns is of no use")]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    #[must_use]
    pub fn column(mut self, header: Header, cell: impl Fn(&T) -> Cell + 'c) -> Self {
        self.0.push((header, Box::new(cell)));
        self
    }

    #[must_use]
    pub fn words(self, head: &str, cell: impl Fn(&T) -> Cell + 'c) -> Self {
        self.column(Header::words(head), cell)
    }

    #[must_use]
    pub fn numbers(self, head: &str, unit: &str, cell: impl Fn(&T) -> Cell + 'c) -> Self {
        self.column(Header::numbers(head, unit), cell)
    }

    #[must_use]
    pub(crate) fn each<F: Fn(&T) -> Cell + 'c>(
        self,
        columns: impl IntoIterator<Item = (Header, F)>,
    ) -> Self {
        columns.into_iter().fold(self, |all, (header, cell)| all.column(header, cell))
    }

    pub fn row(&self, of: &T) -> Vec<Cell> {
        self.0.iter().map(|(_, cell)| cell(of)).collect()
    }

    pub fn headers(&self) -> Vec<Header> {
        self.0.iter().map(|(header, _)| header.clone()).collect()
    }

    pub fn table(
        self,
        title: impl Into<String>,
        note: impl Into<String>,
        rows: impl IntoIterator<Item = T>,
    ) -> Table {
        self.in_parts(title, note, [(String::new(), rows)])
    }

    /// Rows under headings, as [`Table::in_parts`] has them.
    pub(crate) fn in_parts<R: IntoIterator<Item = T>>(
        self,
        title: impl Into<String>,
        note: impl Into<String>,
        parts: impl IntoIterator<Item = (String, R)>,
    ) -> Table {
        let rows = |rows: R| rows.into_iter().map(|of| self.row(&of)).collect();
        let parts = parts.into_iter().map(|(heading, of)| (heading, rows(of)));
        Table::in_parts(title, note, self.headers(), parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_explains_a_mark_is_told_from_the_others() {
        let marked = Cell::text("regressed").marked(Tone::Regressed, "*");
        let table = |cell: Cell| Table {
            title: String::new(),
            note: "q is a p-value.\n* Outlying: round 3.".to_owned(),
            headers: vec![Header::words("verdict")],
            rows: vec![vec![cell]],
        };
        let (signs, others) = (vec!["* Outlying: round 3."], vec!["q is a p-value."]);
        assert_eq!(table(marked).note_lines(), (signs, others));
        let unmarked = table(Cell::text("regressed"));
        assert_eq!(unmarked.note_lines().0, Vec::<&str>::new());
    }
}

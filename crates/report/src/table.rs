//! A table as plain data: the page, the terminal, Markdown and TSV all print the same one.

use std::borrow::Cow;

use crate::format;

/// What a cell's colour says. It never says it alone: a cell with a tone carries a mark or a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing to say.
    #[default]
    Plain,
    /// Certainly worse.
    Regressed,
    /// Certainly better.
    Improved,
    /// A target was missed, or something failed.
    Missed,
    /// The base itself, a target, a value that is absent.
    Muted,
}

/// How a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its name.
    pub text: String,
    /// The unit of its values; empty for none.
    pub unit: String,
    /// How it is set.
    pub align: Align,
}

impl Header {
    /// A column of words.
    pub fn words(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            unit: String::new(),
            align: Align::Left,
        }
    }

    /// A column of numbers in this unit (empty for none).
    pub fn numbers(text: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            unit: unit.into(),
            align: Align::Right,
        }
    }
}

/// One value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// What a person reads.
    pub text: String,
    /// What its colour says.
    pub tone: Tone,
    /// What the tone says in a word, printed after the text where colour may be missing; often empty.
    pub mark: Cow<'static, str>,
    /// The unrounded number behind the text, for sorting and for spreadsheets.
    pub value: Option<f64>,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A number and how it reads.
    pub fn number(value: f64, text: String) -> Self {
        Self {
            text,
            value: Some(value).filter(|v| v.is_finite()),
            ..Self::default()
        }
    }

    /// No value.
    pub fn absent() -> Self {
        Self::text(format::ABSENT).with_tone(Tone::Muted)
    }

    /// The same with a tone.
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

    /// Text and mark: `0.31 worse`.
    pub fn shown(&self) -> String {
        if self.mark.is_empty() {
            self.text.clone()
        } else {
            format!("{} {}", self.text, self.mark)
        }
    }
}

/// A table. Every row has as many cells as there are headers; the first cell names the row.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// How to read it, in a sentence; may be empty.
    pub note: String,
    /// Its columns.
    pub headers: Vec<Header>,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
}

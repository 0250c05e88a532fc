//! Compares a server's rows with what the seed and the steps so far allow, column by column.

use drivers::{Row, Value};
use model::{SqlTable, mix};

use super::checksum::Form;
use super::rows::Rows;
use super::schema::{self, column};
use super::sink::Cells;
use super::values::Seal;

/// What may have become of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// No statement wrote it.
    Kept,
    /// Statements added to it: its sum is known.
    Added,
    /// Clients wrote sealed texts into some rows; see `Seal`.
    Sealed,
    Free,
}

impl Fate {
    /// Of a column that has met both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Kept, other) | (other, Self::Kept) => other,
            (Self::Added, Self::Added) => Self::Added,
            (Self::Sealed, Self::Sealed) => Self::Sealed,
            (Self::Added | Self::Sealed | Self::Free, _) => Self::Free,
        }
    }
}

/// May an inserted row have the number of a loaded one?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Replaced {
    #[default]
    No,
    /// The server may give the numbers of removed rows again.
    IfRemoved,
    Yes,
}

/// What may have become of a table, all of its copies alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fates {
    pub columns: Vec<Fate>,
    /// Of each column in rows that clients inserted; `None` where they inserted none.
    pub inserted: Option<Vec<Fate>>,
    /// May loaded rows be missing?
    pub removed: bool,
    pub replaced: Replaced,
    /// Did a statement run that is not understood?
    pub unknown: bool,
}

impl Fates {
    pub fn untouched(table: &SqlTable) -> Self {
        Self { columns: vec![Fate::Kept; table.columns.len()], ..Self::default() }
    }

    /// Are the loaded rows all there, and no other has one of their numbers?
    pub const fn is_complete(&self) -> bool {
        !self.removed && !matches!(self.replaced, Replaced::Yes) && !self.unknown
    }

    pub fn has_sum(&self, column: usize) -> bool {
        let is_added = self.columns.get(column) == Some(&Fate::Added);
        is_added && self.is_complete() && self.inserted.is_none()
    }

    pub fn merge(&mut self, other: &Self) {
        merge(&mut self.columns, &other.columns);
        match (&mut self.inserted, &other.inserted) {
            (_, None) => {}
            (Some(own), Some(other)) => merge(own, other),
            (own @ None, Some(other)) => *own = Some(other.clone()),
        }
        self.removed |= other.removed;
        self.replaced = self.replaced.max(other.replaced);
        self.unknown |= other.unknown;
        self.reuse();
    }

    /// Where numbers of removed rows are given again, an inserted row may have that of a loaded one.
    pub fn reuse(&mut self) {
        if self.removed
            && self.replaced == Replaced::IfRemoved
            && let Some(inserted) = &self.inserted
        {
            self.replaced = Replaced::Yes;
            merge(&mut self.columns, inserted);
        }
    }
}

pub fn merge(own: &mut [Fate], other: &[Fate]) {
    for (own, other) in own.iter_mut().zip(other) {
        *own = own.and(*other);
    }
}

/// Characters of a value that are shown.
const CHARACTERS: usize = 24;

/// Knows the rows of one table, whose numbers tell which is which.
pub struct Judge {
    pub rows: Rows,
    columns: Vec<Column>,
    /// Place of the column that numbers the rows.
    pub number: usize,
    loaded: u64,
    pub fates: Fates,
}

struct Column {
    name: String,
    form: Form,
    seal: Option<Seal>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WrongRow {
    number: Option<i64>,
    why: String,
}

impl std::fmt::Display for WrongRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.number {
            Some(number) => write!(f, "row {number}: {}", self.why),
            None => write!(f, "a row: {}", self.why),
        }
    }
}

impl Judge {
    /// Of the workload's table `index`. `None` where its rows cannot be told apart or nothing is known.
    pub fn new(table: &SqlTable, index: usize, seed: u64, fates: &Fates) -> Option<Self> {
        let number = column(table, schema::number_column(table)?)?;
        if fates.unknown || fates.columns.get(number) != Some(&Fate::Kept) {
            return None;
        }
        let columns = table.columns.iter().map(|column| Column {
            name: column.name.clone(),
            form: Form::of(column.kind),
            seal: Seal::of_draw(&column.value),
        });
        Some(Self {
            rows: Rows::new(table, index, seed),
            columns: columns.collect(),
            number,
            loaded: table.rows,
            fates: fates.clone(),
        })
    }

    pub fn is_loaded(&self, number: i64) -> bool {
        u64::try_from(number).is_ok_and(|number| (1..=self.loaded).contains(&number))
    }

    pub fn form(&self, column: usize) -> Form {
        self.columns[column].form
    }

    /// Looks at a row with all columns of the table, in order; returns its number. `cells` is reused memory.
    pub fn see(&self, copy: u32, row: &dyn Row, cells: &mut Cells) -> Result<i64, WrongRow> {
        let Some(number) = row.value(self.number).as_int() else {
            let why = format!("it has no {}", self.columns[self.number].name);
            return Err(WrongRow { number: None, why });
        };
        let wrong = |why| WrongRow { number: Some(number), why };
        if !self.is_loaded(number) && self.fates.inserted.is_none() {
            return Err(wrong("neither loaded nor inserted by a client".to_owned()));
        }
        let is_loaded = self.is_loaded(number);
        if is_loaded {
            cells.clear();
            self.rows.put(copy, number as u64, cells);
        }
        for column in 0..self.columns.len() {
            let expected = is_loaded.then(|| cells.value(column));
            if let Some(why) = self.value(column, row.value(column), expected) {
                return Err(wrong(why));
            }
        }
        Ok(number)
    }

    /// What is wrong with a value of a column; `loaded` is what the row was loaded with, where it was.
    fn value(&self, column: usize, found: Value<'_>, loaded: Option<Value<'_>>) -> Option<String> {
        let of = &self.columns[column];
        let has_seal = || match (&of.seal, found) {
            (Some(seal), Value::Bytes(text)) => seal.holds(text),
            (_, Value::Bytes(_) | Value::Int(_) | Value::Real(_) | Value::Null) => false,
        };
        let is_loaded = |loaded: Value<'_>| of.form.is_same(found, loaded);
        let fate = self.fates.columns[column];
        let (holds, expected) = match (fate, loaded) {
            (Fate::Added | Fate::Free, _) => return None,
            (Fate::Kept, Some(loaded)) => (is_loaded(loaded), shown(loaded)),
            (Fate::Sealed, Some(loaded)) => {
                (is_loaded(loaded) || has_seal(), format!("{} or a client's text", shown(loaded)))
            }
            (Fate::Kept | Fate::Sealed, None) => {
                let inserted = self.fates.inserted.as_ref();
                if inserted.and_then(|fates| fates.get(column)) != Some(&Fate::Sealed) {
                    return None;
                }
                (has_seal(), "a client's text".to_owned())
            }
        };
        (!holds).then(|| format!("{} is {}, expected {expected}", of.name, shown(found)))
    }

    /// What is wrong with a value that none of the loaded rows in question has. `inserted`: may a client's row have it?
    pub fn other(&self, column: usize, found: Value<'_>, inserted: bool) -> Option<String> {
        let of = &self.columns[column];
        let by_client = match (self.fates.columns[column], &of.seal, found) {
            (Fate::Added | Fate::Free, _, _) => true,
            (Fate::Sealed, Some(seal), Value::Bytes(text)) => seal.holds(text),
            (Fate::Sealed | Fate::Kept, _, _) => false,
        };
        let is_right = by_client || inserted && self.fates.inserted.is_some();
        let what = "which no row that was asked for can have";
        (!is_right).then(|| format!("{} is {}, {what}", of.name, shown(found)))
    }
}

pub fn shown(value: Value<'_>) -> String {
    let Some(text) = value.to_text() else {
        return "NULL".to_owned();
    };
    let text = text.trim_end();
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub rows: u64,
    pub wrong: u64,
    pub first: Option<WrongRow>,
    /// Loaded rows and the sum of a hash of their numbers: are they all there, each once?
    loaded: u64,
    numbers: u64,
}

impl Seen {
    pub fn row(&mut self, judge: &Judge, seen: Result<i64, WrongRow>) {
        self.rows += 1;
        let number = match seen {
            Ok(number) => Some(number),
            Err(wrong) => {
                self.wrong += 1;
                let number = wrong.number;
                if self.first.as_ref().is_none_or(|first| wrong < *first) {
                    self.first = Some(wrong);
                }
                number
            }
        };
        if let Some(number) = number.filter(|number| judge.is_loaded(*number)) {
            self.loaded += 1;
            self.numbers = self.numbers.wrapping_add(mix(0, &[number as u64]));
        }
    }

    pub fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.wrong += other.wrong;
        self.first = match (self.first.take(), other.first) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        };
        self.loaded += other.loaded;
        self.numbers = self.numbers.wrapping_add(other.numbers);
    }

    /// Which of the loaded rows `first` to `last` are missing or duplicated.
    pub fn misfit(&self, first: u64, last: u64) -> Option<String> {
        let count = (last + 1).saturating_sub(first);
        let numbers = (first..=last).fold(0u64, |sum, n| sum.wrapping_add(mix(0, &[n])));
        if self.loaded == count && self.numbers == numbers {
            return None;
        }
        let what = match self.loaded.cmp(&count) {
            std::cmp::Ordering::Less => format!("{} are missing", count - self.loaded),
            std::cmp::Ordering::Greater => format!("{} are there twice", self.loaded - count),
            std::cmp::Ordering::Equal => "some are there twice and others missing".to_owned(),
        };
        Some(format!("of rows {first} to {last} {what}"))
    }
}

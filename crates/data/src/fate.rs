//! What may have become of the rows that were loaded: which columns still hold what the seed says.

use model::SqlTable;

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

/// What may have become of a table, all of its copies alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fates {
    pub columns: Vec<Fate>,
    /// Of each column in rows that clients inserted; `None` where they inserted none.
    pub inserted: Option<Vec<Fate>>,
    /// May loaded rows be missing?
    pub removed: bool,
    /// May an inserted row have the number of a loaded one?
    pub replaced: bool,
    /// Did a statement run that is not understood?
    pub unknown: bool,
}

impl Fates {
    pub fn untouched(table: &SqlTable) -> Self {
        Self {
            columns: vec![Fate::Kept; table.columns.len()],
            inserted: None,
            removed: false,
            replaced: false,
            unknown: false,
        }
    }

    /// Are the loaded rows all there, and no other has one of their numbers?
    pub const fn is_complete(&self) -> bool {
        !self.removed && !self.replaced && !self.unknown
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
        self.replaced |= other.replaced;
        self.unknown |= other.unknown;
    }
}

pub fn merge(own: &mut [Fate], other: &[Fate]) {
    for (own, other) in own.iter_mut().zip(other) {
        *own = own.and(*other);
    }
}

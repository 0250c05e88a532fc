//! A key of a plan is one row: its name, what it takes, its default, a sentence, and what it sets. Reading,
//! errors, `plan --keys` and the reference in `docs/` all follow from the rows.

use std::ops::RangeInclusive;

use crate::Result;
use crate::document::Node;
use crate::error::grouped;
use crate::fields::{Fields, Item};

/// The default of a key that must be there.
pub(crate) const NEEDED: &str = "needed";

/// A row: a key of a table that is read into a `T`.
pub(crate) struct Key<T: 'static> {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes<T>,
    /// As a plan would write it, or in words; [`NEEDED`] where there is none.
    pub(crate) default: &'static str,
    /// Markdown, without a full stop.
    pub(crate) meaning: &'static str,
}

pub(crate) type Words<T> = &'static [(&'static str, fn(&mut T))];
pub(crate) type Set<T> = fn(&mut T, Item<'_>) -> Result<()>;

pub(crate) enum Takes<T: 'static> {
    Small(RangeInclusive<u32>, fn(&mut T, u32)),
    Count(RangeInclusive<u64>, fn(&mut T, u64)),
    Switch(fn(&mut T, bool)),
    /// What the words are, and each with its effect.
    Words(&'static str, Words<T>),
    /// In Markdown, and its reader.
    Other(&'static str, Set<T>),
    /// In Markdown; whoever knows what it depends on reads it.
    Later(&'static str),
}

impl<T> Key<T> {
    const fn new(name: &'static str, takes: Takes<T>) -> Self {
        Self { name, takes, default: "", meaning: "" }
    }

    pub(crate) const fn small(
        name: &'static str,
        range: RangeInclusive<u32>,
        set: fn(&mut T, u32),
    ) -> Self {
        Self::new(name, Takes::Small(range, set))
    }

    pub(crate) const fn count(
        name: &'static str,
        range: RangeInclusive<u64>,
        set: fn(&mut T, u64),
    ) -> Self {
        Self::new(name, Takes::Count(range, set))
    }

    pub(crate) const fn switch(name: &'static str, set: fn(&mut T, bool)) -> Self {
        Self::new(name, Takes::Switch(set))
    }

    pub(crate) const fn words(name: &'static str, what: &'static str, words: Words<T>) -> Self {
        Self::new(name, Takes::Words(what, words))
    }

    pub(crate) const fn other(name: &'static str, takes: &'static str, set: Set<T>) -> Self {
        Self::new(name, Takes::Other(takes, set))
    }

    pub(crate) const fn later(name: &'static str, takes: &'static str) -> Self {
        Self::new(name, Takes::Later(takes))
    }

    pub(crate) const fn says(mut self, default: &'static str, meaning: &'static str) -> Self {
        self.default = default;
        self.meaning = meaning;
        self
    }

    fn set(&self, target: &mut T, item: Item<'_>) -> Result<()> {
        match &self.takes {
            Takes::Small(range, set) => set(target, item.small(range.clone())?),
            Takes::Count(range, set) => set(target, item.count(range.clone())?),
            Takes::Switch(set) => set(target, item.switch()?),
            Takes::Words(what, words) => item.word(what, words)?(target),
            Takes::Other(_, set) => set(target, item)?,
            Takes::Later(_) => {}
        }
        Ok(())
    }
}

impl<T> Takes<T> {
    pub(crate) fn shown(&self) -> String {
        let range = |low, high| format!("{} to {}", with_commas(low), with_commas(high));
        match self {
            Self::Small(numbers, _) => {
                range(u64::from(*numbers.start()), u64::from(*numbers.end()))
            }
            Self::Count(numbers, _) => range(*numbers.start(), *numbers.end()),
            Self::Switch(_) => "`true`, `false`".to_owned(),
            Self::Words(_, words) => {
                words.iter().map(|(word, _)| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ")
            }
            Self::Other(text, _) | Self::Later(text) => (*text).to_owned(),
        }
    }
}

fn with_commas(number: u64) -> String {
    grouped(number).replace('_', ",")
}

/// Lets the table's values change `target`, in the order of the rows: a key that stands for several others
/// comes first, and these can still be set apart from it.
pub(crate) fn apply<T>(keys: &[Key<T>], fields: &Fields<'_>, target: &mut T) -> Result<()> {
    keys.iter().try_for_each(|key| match fields.get(key.name) {
        Some(item) => key.set(target, item),
        None => Ok(()),
    })
}

/// Reads the table in `node`, which people call `context` and which has no other keys, into `target`.
pub(crate) fn read<'a, T>(
    keys: &[Key<T>],
    node: &'a Node,
    context: &'static str,
    target: &mut T,
) -> Result<Fields<'a>> {
    let fields = Fields::new(node, context, &names(keys))?;
    apply(keys, &fields, target)?;
    Ok(fields)
}

pub(crate) fn names<T>(keys: &[Key<T>]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}

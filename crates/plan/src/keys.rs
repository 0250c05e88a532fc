//! A key of a plan is one row: its name, what it takes, and what it sets. Reading and errors follow from the rows. What
//! people read of each key is in `keys.toml`.

use std::ops::RangeInclusive;

use model::Words;

use crate::document::Node;
use crate::error::grouped;
use crate::fields::{Fields, Item};
use crate::{PlanError, Result};

/// A row: a key of a table that is read into a `T`, and what it takes.
pub(crate) struct Key<T: 'static>(pub(crate) &'static str, pub(crate) Takes<T>);

pub(crate) enum Takes<T: 'static> {
    Small(RangeInclusive<u32>, fn(&mut T, u32)),
    Count(RangeInclusive<u64>, fn(&mut T, u64)),
    Switch(fn(&mut T, bool)),
    /// What the words are, and their effect.
    Word(&'static str, fn(&mut T, &str) -> Result<(), Words>),
    Other(fn(&mut T, Item<'_>) -> Result<()>),
    /// Whoever knows what it depends on reads it.
    Later,
}

impl<T> Takes<T> {
    fn set(&self, target: &mut T, item: Item<'_>) -> Result<()> {
        match self {
            Self::Small(range, set) => set(target, item.small(range.clone())?),
            Self::Count(range, set) => set(target, item.count(range.clone())?),
            Self::Switch(set) => set(target, item.switch()?),
            Self::Word(what, set) => item.variant(what, |word| set(target, word))?,
            Self::Other(set) => set(target, item)?,
            Self::Later => {}
        }
        Ok(())
    }

    /// In Markdown; `None` where only `keys.toml` says it.
    pub(crate) fn shown(&self) -> Option<String> {
        let (low, high) = match self {
            Self::Small(range, _) => ((*range.start()).into(), (*range.end()).into()),
            Self::Count(range, _) => (*range.start(), *range.end()),
            Self::Switch(_) => return Some("`true`, `false`".to_owned()),
            Self::Word(..) | Self::Other(_) | Self::Later => return None,
        };
        Some(format!("{} to {}", grouped(low), grouped(high)).replace('_', ","))
    }
}

/// Lets the table's values change `target`, in the order of the rows: a key that stands for several others
/// comes first, and these can still be set apart from it. The error has the mistakes of all keys.
pub(crate) fn apply<T>(keys: &[Key<T>], fields: &Fields<'_>, target: &mut T) -> Result<()> {
    let set = keys.iter().filter_map(|Key(name, takes)| Some(takes.set(target, fields.get(name)?)));
    PlanError::collected(set).map(drop)
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
    keys.iter().map(|Key(name, _)| *name).collect()
}

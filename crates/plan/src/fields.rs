//! Reading a table: only known keys, each of its type and within its range.

use std::ops::RangeInclusive;

use model::Words;

use crate::document::{Entry, Node, Value};
use crate::error::{Choices, grouped};
use crate::{Place, PlanError, Result};

/// Whole numbers of a `Float` up to here are the ones that were written.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// A table that has no keys besides the ones it may have.
pub(crate) struct Fields<'a> {
    context: &'static str,
    place: &'a Place,
    entries: &'a [Entry],
}

impl<'a> Fields<'a> {
    /// The table in `node`, which people call `context`. Unknown keys come first: they often cause what else is wrong.
    pub(crate) fn new(node: &'a Node, context: &'static str, keys: &[&str]) -> Result<Self> {
        let entries = Item { key: context, node }.table("a table")?;
        let unknown = entries.iter().filter(|e| !keys.contains(&e.key.as_str()));
        let unknown = unknown.map(|entry| PlanError::UnknownKey {
            place: entry.place.clone(),
            key: entry.key.clone(),
            context,
            choices: Choices::new(&entry.key, keys.iter().copied()),
        });
        PlanError::collected::<()>(unknown.map(Err))?;
        Ok(Self { context, place: &node.place, entries })
    }

    /// A table whose keys are names that its writer chose.
    pub(crate) fn named(item: Item<'a>) -> Result<Self> {
        Ok(Self { context: "", place: &item.node.place, entries: item.table("a table")? })
    }

    /// The value under a name that `item` mentions; `what` is the kind of thing that it should have named.
    pub(crate) fn find(&self, item: Item<'_>, what: &str, name: &str) -> Result<Item<'a>> {
        let names = || self.all().map(|item| item.key);
        self.get(name).ok_or_else(|| item.unknown(what, name, names()))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = Item<'a>> + use<'a> {
        self.entries.iter().map(|entry| Item { key: &entry.key, node: &entry.node })
    }

    pub(crate) fn get(&self, key: &str) -> Option<Item<'a>> {
        let entry = self.entries.iter().find(|e| e.key == key)?;
        Some(Item { key: &entry.key, node: &entry.node })
    }

    pub(crate) fn maybe<T>(
        &self,
        key: &str,
        read: impl FnOnce(Item<'a>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.get(key).map(read).transpose()
    }

    /// What `read` makes of each value of the list under a key; nothing where there is none.
    pub(crate) fn each<T>(
        &self,
        key: &str,
        read: impl FnMut(Item<'a>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.get(key).map_or(Ok(Vec::new()), |list| list.each(read))
    }

    pub(crate) fn tables<T>(
        &self,
        key: &'static str,
        keys: &[&str],
        read: impl Fn(&Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.each(key, |item| read(&Fields::new(item.node, key, keys)?))
    }

    /// `true` only where the key says so.
    pub(crate) fn switch(&self, key: &str) -> Result<bool> {
        self.get(key).map_or(Ok(false), Item::switch)
    }

    pub(crate) fn text(&self, key: &'static str) -> Result<&'a str> {
        self.need(key)?.text()
    }

    /// The value of the only one of `keys` that is there; `None` where there are more, or none.
    pub(crate) fn exactly_one(&self, keys: &[&str]) -> Option<Item<'a>> {
        let mut given = keys.iter().filter_map(|key| self.get(key));
        given.next().filter(|_| given.next().is_none())
    }

    pub(crate) fn need(&self, key: &'static str) -> Result<Item<'a>> {
        self.get(key).ok_or_else(|| PlanError::MissingKey {
            place: self.place.clone(),
            key,
            context: self.context,
        })
    }

    pub(crate) fn only_one(&self, keys: &[&str]) -> Result<()> {
        let mut given = keys.iter().filter_map(|key| self.get(key));
        match (given.next(), given.next()) {
            (Some(one), Some(other)) => Err(other.conflict(format!(
                "`{}` and `{}` exclude each other: leave one of them out",
                one.key, other.key
            ))),
            _ => Ok(()),
        }
    }

    pub(crate) fn first(&self, keys: &[&str]) -> Option<Item<'a>> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// Where the first of `keys` that is present stands; otherwise where the table begins.
    pub(crate) fn place_of(&self, keys: &[&str]) -> Place {
        self.first(keys).map_or_else(|| self.place.clone(), Item::place)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mention {
    pub(crate) name: String,
    pub(crate) place: Place,
}

#[derive(Clone, Copy)]
pub(crate) struct Item<'a> {
    pub(crate) key: &'a str,
    pub(crate) node: &'a Node,
}

impl<'a> Item<'a> {
    pub(crate) fn place(self) -> Place {
        self.node.place.clone()
    }

    pub(crate) fn wrong(self, expected: &str) -> PlanError {
        self.wrong_as(expected, self.found())
    }

    /// The same where a whole number was expected: the error says how to write one in another form.
    pub(crate) fn no_whole_number(self, expected: &str) -> PlanError {
        let found = match self.node.value {
            Value::Float(number) if number.fract() == 0.0 && number.abs() < MAX_EXACT => {
                format!("{number:.1}: write {number:.0}")
            }
            _ => self.found(),
        };
        self.wrong_as(expected, found)
    }

    /// The error that says what it should have been, and what it is in the words of `found`.
    pub(crate) fn wrong_as(self, expected: &str, found: String) -> PlanError {
        let (place, key) = (self.place(), self.key.to_owned());
        PlanError::BadValue { place, key, expected: expected.to_owned(), found }
    }

    fn found(self) -> String {
        match &self.node.value {
            Value::Text(text) => format!("{text:?}"),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Switch(on) => on.to_string(),
            Value::List(items) if items.is_empty() => "an empty one".to_owned(),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
            Value::Other(text) => text.clone(),
        }
    }

    pub(crate) fn text(self) -> Result<&'a str> {
        match &self.node.value {
            Value::Text(text) if !text.trim().is_empty() => Ok(text),
            _ => Err(self.wrong("text")),
        }
    }

    pub(crate) fn mention(self) -> Result<Mention> {
        Ok(self.named(self.text()?))
    }

    pub(crate) fn named(self, name: &str) -> Mention {
        Mention { name: name.to_owned(), place: self.place() }
    }

    /// What `read` makes of a text; the error says what was expected where that is nothing.
    pub(crate) fn text_as<T>(
        self,
        expected: &str,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T> {
        read(self.text()?).ok_or_else(|| self.wrong(expected))
    }

    pub(crate) fn fitting(self, expected: &str, fits: impl FnOnce(&str) -> bool) -> Result<String> {
        self.text_as(expected, |text| fits(text).then(|| text.to_owned()))
    }

    pub(crate) fn switch(self) -> Result<bool> {
        match self.node.value {
            Value::Switch(on) => Ok(on),
            _ => Err(self.wrong("true or false")),
        }
    }

    pub(crate) fn count(self, range: RangeInclusive<u64>) -> Result<u64> {
        let number = match self.node.value {
            Value::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        };
        number.filter(|n| range.contains(n)).ok_or_else(|| {
            let (low, high) = (grouped(*range.start()), grouped(*range.end()));
            self.no_whole_number(&format!("a whole number from {low} to {high}"))
        })
    }

    pub(crate) fn small(self, range: RangeInclusive<u32>) -> Result<u32> {
        let wide = u64::from(*range.start())..=u64::from(*range.end());
        self.count(wide).map(|n| n as u32)
    }

    /// A number with at most so many decimals, counted in units of the last, if it is within `range`.
    pub(crate) fn decimal(self, digits: i32, range: RangeInclusive<u32>) -> Option<u32> {
        let scaled = 10_f64.powi(digits)
            * match self.node.value {
                Value::Integer(number) => number as f64,
                Value::Float(number) => number,
                _ => f64::NAN,
            };
        let whole = scaled.round();
        let is_within = (f64::from(*range.start())..=f64::from(*range.end())).contains(&whole);
        (is_within && (scaled - whole).abs() < 1e-6).then_some(whole as u32)
    }

    pub(crate) fn list(self) -> Result<Vec<Self>> {
        match &self.node.value {
            Value::List(nodes) if !nodes.is_empty() => {
                Ok(nodes.iter().map(|node| Self { key: self.key, node }).collect())
            }
            _ => Err(self.wrong("a list with at least one value")),
        }
    }

    pub(crate) fn each<T>(self, read: impl FnMut(Self) -> Result<T>) -> Result<Vec<T>> {
        self.list()?.into_iter().map(read).collect()
    }

    /// The entries of a table; `expected` says what it should have been.
    pub(crate) fn table(self, expected: &str) -> Result<&'a [Entry]> {
        match &self.node.value {
            Value::Table(entries) => Ok(entries),
            _ => Err(self.wrong(expected)),
        }
    }

    pub(crate) const fn is_table(self) -> bool {
        matches!(self.node.value, Value::Table(_))
    }

    pub(crate) fn word<T: Copy>(self, what: &str, words: &[(&str, T)]) -> Result<T> {
        let at = self.one_of(what, self.text()?, words.iter().map(|(word, _)| *word))?;
        Ok(words[at].1)
    }

    /// What `read` makes of a word; `what` is the kind of thing that it stands for.
    pub(crate) fn variant<T>(
        self,
        what: &str,
        read: impl FnOnce(&'a str) -> Result<T, Words>,
    ) -> Result<T> {
        let word = self.text()?;
        read(word).map_err(|words| self.unknown(what, word, words.iter().copied()))
    }

    /// Which of `names` has this name; `what` is the kind of thing that they name.
    pub(crate) fn one_of<'n>(
        self,
        what: &str,
        name: &str,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Result<usize> {
        let found = names.clone().position(|other| other == name);
        found.ok_or_else(|| self.unknown(what, name, names))
    }

    pub(crate) fn unknown<S: Into<String>>(
        self,
        what: &str,
        name: &str,
        names: impl IntoIterator<Item = S>,
    ) -> PlanError {
        PlanError::unknown(&self.node.place, what, name, names)
    }

    pub(crate) fn conflict(self, message: impl Into<String>) -> PlanError {
        self.node.place.conflict(message)
    }
}

//! TOML text as a tree whose every node knows its line.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::{Place, Result};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// A value of TOML; dates are text, because nothing here takes a date.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Switch(bool),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// A date, or a number too large for 64 bits: valid TOML, valid nowhere here.
    Other(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) place: Place,
    pub(crate) node: Node,
}

impl Node {
    pub(crate) fn of_argument(argument: &str, value: Value) -> Self {
        Self { place: Place::argument(argument), value }
    }

    pub(crate) fn child(&mut self, key: &str) -> Option<&mut Self> {
        let Value::Table(entries) = &mut self.value else { return None };
        entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
    }

    pub(crate) fn put(&mut self, key: &str, node: Self) {
        if let Some(old) = self.child(key) {
            *old = node;
        } else if let Value::Table(entries) = &mut self.value {
            entries.push(Entry { key: key.to_owned(), place: node.place.clone(), node });
        }
    }
}

impl Default for Value {
    fn default() -> Self {
        Self::Table(Vec::new())
    }
}

impl Value {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// What stands for a setting: its value, or `true` where it takes none.
    pub(crate) fn setting(value: Option<&str>) -> Self {
        value.map_or(Self::Switch(true), Self::text)
    }
}

/// Parses `text`, which people know as `origin`. The result is a table.
pub(crate) fn parse(text: &str, origin: &str) -> Result<Node> {
    let lines = Lines::new(text, origin);
    match DeTable::parse(text) {
        Ok(table) => Ok(lines.table(table.get_ref(), table.span().start)),
        Err(error) => {
            let span = error.span().unwrap_or_default();
            let message = error.message().trim().replace('\n', ", ");
            // The parser does not say which one.
            let key = text.get(span.clone()).filter(|_| message == "duplicate key");
            let key = key.map_or_else(String::new, |key| format!(" `{key}`"));
            Err(lines.place(span.start).conflict(format!("{message}{key}")))
        }
    }
}

struct Lines {
    origin: Arc<str>,
    /// Offsets at which a line ends.
    ends: Vec<usize>,
}

impl Lines {
    fn new(text: &str, origin: &str) -> Self {
        Self { origin: origin.into(), ends: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.ends.partition_point(|end| *end < offset) + 1;
        Place::new(Arc::clone(&self.origin), line)
    }

    fn table(&self, table: &DeTable<'_>, start: usize) -> Node {
        let mut pairs: Vec<_> = table.iter().collect();
        pairs.sort_by_key(|(key, _)| key.span().start);
        let entries = pairs.into_iter().map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            place: self.place(key.span().start),
            node: self.node(value),
        });
        Node { place: self.place(start), value: Value::Table(entries.collect()) }
    }

    fn node(&self, value: &Spanned<DeValue<'_>>) -> Node {
        let start = value.span().start;
        let found = match value.get_ref() {
            DeValue::Table(table) => return self.table(table, start),
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
                .map_or_else(|_| Value::Other(digits.as_str().to_owned()), Value::Integer),
            DeValue::Float(digits) => digits
                .as_str()
                .parse()
                .map_or_else(|_| Value::Other(digits.as_str().to_owned()), Value::Float),
            DeValue::Boolean(on) => Value::Switch(*on),
            DeValue::Datetime(date) => Value::Other(date.to_string()),
            DeValue::Array(items) => {
                Value::List(items.iter().map(|item| self.node(item)).collect())
            }
        };
        Node { place: self.place(start), value: found }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_node_knows_its_line() {
        let root = parse("a = 1\n\n[b]\nc = [\n  2,\n]\n", "x").unwrap();
        let Value::Table(entries) = root.value else { panic!("a document is a table") };
        let places: Vec<String> = entries.iter().map(|e| e.place.to_string()).collect();
        assert_eq!(places, ["x:1", "x:3"]);
        let Value::Table(inner) = &entries[1].node.value else { panic!("b is a table") };
        assert_eq!(inner[0].place.to_string(), "x:4");
        let Value::List(items) = &inner[0].node.value else { panic!("c is a list") };
        assert_eq!(items[0].place.to_string(), "x:5");
    }

    #[test]
    fn a_syntax_error_has_its_line() {
        let error = parse("a = 1\nb = = 2\n", "x").unwrap_err().to_string();
        assert!(error.starts_with("x:2: "), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }

    #[test]
    fn numbers_keep_their_value() {
        let root = parse("a = 1_000\nb = 0x10\nc = 99999999999999999999\nd = -1.5", "x").unwrap();
        let Value::Table(entries) = root.value else { panic!("a document is a table") };
        let values: Vec<Value> = entries.into_iter().map(|e| e.node.value).collect();
        assert_eq!(
            values,
            [
                Value::Integer(1000),
                Value::Integer(16),
                Value::Other("99999999999999999999".into()),
                Value::Float(-1.5)
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "\\PC*") {
            let _ = parse(&text, "x");
        }
    }
}

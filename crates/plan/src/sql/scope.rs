//! The variables of a step, and the numbers that follow from them.

use std::ops::RangeInclusive;

use super::expression::{Fault, evaluate};
use super::names::identifier_key;
use super::scan::is_word;
use crate::document::Value;
use crate::error::grouped;
use crate::fields::{Fields, Item};
use crate::{Place, PlanError, Result};

const EITHER: [&str; 2] = ["exact", "compat"];

/// Variables that are there without a file's doing.
const GIVEN: [&str; 7] = [
    "rows",
    "tables",
    "clients",
    "read_seconds",
    "write_seconds",
    "scan_seconds",
    "warmup_seconds",
];

/// Variables are counts of something; sums and products of some of them still fit into 64 bits.
const MAX_VALUE: i64 = 1_000_000_000_000;

#[derive(Clone, Debug)]
pub(crate) struct Scope {
    variables: Vec<(String, i64)>,
    /// Is the original's behaviour asked for where it differs?
    compat: bool,
    /// What the variables are of, as errors name it: ``step `scan` ``.
    owner: String,
    rows_place: Option<Place>,
}

impl Scope {
    pub(crate) fn new(compat: bool, rows_place: Option<Place>) -> Self {
        Self { variables: Vec::new(), compat, owner: "the workload".to_owned(), rows_place }
    }

    /// The same variables, for a part of the workload to add its own.
    pub(crate) fn of(&self, owner: String) -> Self {
        Self { owner, ..self.clone() }
    }

    /// Gives a variable its value; one of that name gets another.
    pub(crate) fn set(&mut self, name: &str, value: i64) {
        match self.variables.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = value,
            None => self.variables.push((name.to_owned(), value)),
        }
    }

    /// Gives a variable of a file its value, which may depend on those before it.
    pub(crate) fn declare(&mut self, item: Item<'_>, value: Item<'_>) -> Result<()> {
        let name = identifier_key(item.key, &item.node.place)?;
        if GIVEN.contains(&name.as_str()) {
            return Err(item.conflict(format!(
                "`{name}` cannot be a variable of the file: it has a meaning already"
            )));
        }
        let value = self.within(value, -MAX_VALUE..=MAX_VALUE)?;
        self.set(&name, value);
        Ok(())
    }

    fn get(&self, name: &str) -> Option<i64> {
        let found = self.variables.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| *value)
    }

    /// Of `{ exact = …, compat = … }` the one that is asked for; anything else as it is.
    pub(crate) fn chosen<'a>(&self, item: Item<'a>) -> Result<Item<'a>> {
        let Value::Table(entries) = &item.node.value else {
            return Ok(item);
        };
        if !entries.iter().any(|e| EITHER.contains(&e.key.as_str())) {
            return Ok(item);
        }
        let fields = Fields::new(item.node, "a value that is another in the original", &EITHER)?;
        let (exact, compat) = (fields.need("exact")?, fields.need("compat")?);
        let chosen = if self.compat { compat } else { exact };
        Ok(Item { key: item.key, node: chosen.node })
    }

    /// The error for too few rows: it stands where the plan says how many there are, if it does.
    pub(crate) fn too_small(&self, item: Item<'_>, what: &str) -> PlanError {
        PlanError::TooFewRows {
            place: self.rows_place.clone().unwrap_or_else(|| item.place()),
            message: format!("{} {what}", self.owner),
            enough: None,
        }
    }

    pub(crate) fn number(&self, item: Item<'_>) -> Result<i64> {
        let item = self.chosen(item)?;
        let text = match &item.node.value {
            Value::Integer(number) => return Ok(*number),
            Value::Text(text) => text,
            _ => return Err(item.no_whole_number(EXPECTED)),
        };
        evaluate(text, &|name| self.get(name)).map_err(|fault| match fault {
            Fault::Syntax => item.wrong(EXPECTED),
            Fault::Unknown(name) => {
                item.unknown("variable", &name, self.variables.iter().map(|(n, _)| n))
            }
            Fault::TooLarge => {
                item.conflict(format!("`{text}` is more than 64 bits hold{}", self.values_in(text)))
            }
            Fault::Division => {
                item.conflict(format!("`{text}` divides by zero{}", self.values_in(text)))
            }
        })
    }

    /// The same, within `range`.
    pub(crate) fn within(&self, item: Item<'_>, range: RangeInclusive<i64>) -> Result<i64> {
        let item = self.chosen(item)?;
        let number = self.number(item)?;
        if range.contains(&number) {
            return Ok(number);
        }
        let found = match &item.node.value {
            Value::Text(text) => format!("`{text}`, which is {}", signed(number)),
            _ => signed(number),
        };
        let (low, high) = (signed(*range.start()), signed(*range.end()));
        Err(item.wrong_as(&format!("a whole number from {low} to {high}"), found))
    }

    /// The same, of 32 bits.
    pub(crate) fn small(&self, item: Item<'_>, range: RangeInclusive<u32>) -> Result<u32> {
        let wide = i64::from(*range.start())..=i64::from(*range.end());
        self.within(item, wide).map(|number| number as u32)
    }

    /// The variables that `text` mentions, for messages: `, with rows = 1_000`; empty where there is none.
    pub(crate) fn values_in(&self, text: &str) -> String {
        let words: Vec<&str> = text.split(|c| !is_word(c)).collect();
        let mentioned = self.variables.iter();
        let mentioned: Vec<String> = mentioned
            .filter(|(name, _)| words.contains(&name.as_str()))
            .map(|(name, value)| format!("{name} = {}", signed(*value)))
            .collect();
        if mentioned.is_empty() {
            String::new()
        } else {
            format!(", with {}", mentioned.join(", "))
        }
    }
}

const EXPECTED: &str = "a whole number, or an expression such as \"rows / 2 + 1\"";

/// A number in groups of digits, as TOML takes it: `-1_000`.
pub(crate) fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(number.unsigned_abs()))
}

//! The variables of a step, and the numbers that follow from them: `rows / 2 + 1`.

use std::ops::RangeInclusive;

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
/// Parentheses and signs within each other; more is no expression that a person wrote.
const MAX_DEPTH: u32 = 32;

#[derive(Clone, Debug)]
pub(crate) struct Scope {
    variables: Vec<(String, i64)>,
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
                "`{name}` is reserved: give the variable of the file another name"
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
        let Value::Table(entries) = &item.node.value else { return Ok(item) };
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

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    Syntax,
    Unknown(String),
    /// More than 64 bits.
    TooLarge,
    Division,
}

/// The value of `text`: integers, variables, `+ - * /` and parentheses. A quotient is rounded towards zero.
fn evaluate(text: &str, get: &dyn Fn(&str) -> Option<i64>) -> Result<i64, Fault> {
    let mut parser = Parser { rest: text, depth: 0, get };
    let value = parser.sum()?;
    if parser.peek().is_some() {
        return Err(Fault::Syntax);
    }
    Ok(value)
}

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
    get: &'a dyn Fn(&str) -> Option<i64>,
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.rest = &self.rest[wanted.len_utf8()..];
        }
        there
    }

    fn one_of(&mut self, signs: [char; 2]) -> Option<char> {
        signs.into_iter().find(|sign| self.eat(*sign))
    }

    fn sum(&mut self) -> Result<i64, Fault> {
        let mut value = self.product()?;
        while let Some(sign) = self.one_of(['+', '-']) {
            let other = self.product()?;
            let sum = if sign == '+' { value.checked_add(other) } else { value.checked_sub(other) };
            value = sum.ok_or(Fault::TooLarge)?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<i64, Fault> {
        let mut value = self.factor()?;
        while let Some(sign) = self.one_of(['*', '/']) {
            let product = match (sign, self.factor()?) {
                ('/', 0) => return Err(Fault::Division),
                ('/', divisor) => value.checked_div(divisor),
                (_, factor) => value.checked_mul(factor),
            };
            value = product.ok_or(Fault::TooLarge)?;
        }
        Ok(value)
    }

    fn factor(&mut self) -> Result<i64, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::Syntax);
        }
        let value = if self.eat('-') {
            self.factor()?.checked_neg().ok_or(Fault::TooLarge)
        } else if self.eat('(') {
            let value = self.sum()?;
            if self.eat(')') { Ok(value) } else { Err(Fault::Syntax) }
        } else {
            self.atom()
        };
        self.depth -= 1;
        value
    }

    fn atom(&mut self) -> Result<i64, Fault> {
        self.peek();
        let word = self.word();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = word.replace('_', "");
            let is_number = digits.bytes().all(|b| b.is_ascii_digit());
            return match digits.parse() {
                Ok(number) => Ok(number),
                Err(_) if is_number => Err(Fault::TooLarge),
                Err(_) => Err(Fault::Syntax),
            };
        }
        match (self.get)(word) {
            _ if word.is_empty() => Err(Fault::Syntax),
            Some(value) => Ok(value),
            None => Err(Fault::Unknown(word.to_owned())),
        }
    }

    /// The letters, digits and underscores that come next; empty where there are none.
    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(text: &str) -> Result<i64, Fault> {
        evaluate(text, &|name| match name {
            "rows" => Some(1000),
            "range" => Some(7),
            _ => None,
        })
    }

    #[test]
    fn products_come_before_sums() {
        let table = [
            ("1", 1),
            (" 1_000 ", 1000),
            ("rows / 2 + 1", 501),
            ("rows - range + 1", 994),
            ("2 * (range - 1)", 12),
            ("-range + 10", 3),
            ("10 - 3 - 2", 5),
            ("100 / 7 / 2", 7),
            ("-7 / 2", -3),
            ("- - 5", 5),
            ("((range))", 7),
        ];
        for (text, expected) in table {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_says_why() {
        for text in ["", " ", "1 +", "* 2", "(1", "1)", "1 2", "1x", "a b", "é", "1.5"] {
            assert!(matches!(value(text), Err(Fault::Syntax | Fault::Unknown(_))), "{text}");
        }
        assert_eq!(value("row"), Err(Fault::Unknown("row".to_owned())));
        assert_eq!(value("rows / (range - 7)"), Err(Fault::Division));
        assert_eq!(value("9223372036854775807 + 1"), Err(Fault::TooLarge));
        assert_eq!(value("99999999999999999999"), Err(Fault::TooLarge));
        assert_eq!(value(&"(".repeat(100_000)), Err(Fault::Syntax));
        assert_eq!(value(&"-".repeat(100_000)), Err(Fault::Syntax));
    }

    proptest! {
        #[test]
        fn any_text_has_a_value_or_not(text in "[0-9a-z+*/() _-]{0,40}") {
            let _ = value(&text);
        }

        #[test]
        fn sums_and_products_are_those_of_integers(a in -999i64..999, b in -999i64..999, c in 1i64..99) {
            prop_assert_eq!(value(&format!("{a} + {b} * {c}")), Ok(a + b * c));
            prop_assert_eq!(value(&format!("({a} - {b}) / {c}")), Ok((a - b) / c));
        }
    }
}

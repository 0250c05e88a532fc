//! Whole numbers that may depend on variables: `rows / 2 + 1`.

use super::scan::is_word;

/// Parentheses and signs within each other; more is no expression that a person wrote.
const MAX_DEPTH: u32 = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Syntax,
    Unknown(String),
    /// More than 64 bits.
    TooLarge,
    Division,
}

/// The value of `text`: integers, variables, `+ - * /` and parentheses. A quotient is rounded towards
/// zero. `get` gives the value of a variable.
pub(crate) fn evaluate(text: &str, get: &dyn Fn(&str) -> Option<i64>) -> Result<i64, Fault> {
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

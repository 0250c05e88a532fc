//! Proof that a table holds what was to be loaded: the sum of a hash of each row, which does not depend on
//! the order of the rows, once over what the server returns and once over what the generator makes.
//!
//! Servers write the same value differently: MySQL strips the blanks that a CHAR is filled up with and
//! PostgreSQL does not; SQLite returns `12.5` for `12.50`. Each value is brought into one form first.

use std::fmt;

use drivers::{Row, Value};
use model::ColumnKind;
use serde::{Deserialize, Serialize};

use crate::decimal::parse;

/// The form into which the values of a column are brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An integer of 64 bits.
    Integer,
    /// A decimal number without zeros at the end of its fraction.
    Decimal,
    /// A decimal number with this number of decimals, as an integer of its units, which SQLite keeps.
    Units(u8),
    /// Text without blanks at its end.
    Padded,
    Exact,
}

impl Form {
    /// Are both values the same, however servers write them?
    pub fn is_same(self, one: Value<'_>, other: Value<'_>) -> bool {
        RowHash::of(self, one) == RowHash::of(self, other)
    }

    pub const fn of(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Int | ColumnKind::Bigint => Self::Integer,
            ColumnKind::Decimal(..) => Self::Decimal,
            ColumnKind::Char(_) => Self::Padded,
            ColumnKind::Varchar(_) | ColumnKind::Text | ColumnKind::Datetime => Self::Exact,
        }
    }
}

/// Rows, and the sum of their hashes, whatever their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum {
    pub rows: u64,
    /// The sum modulo 2^64.
    pub hash: u64,
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x} of {} rows", self.hash, self.rows)
    }
}

impl Sum {
    pub const fn add_row(&mut self, hash: u64) {
        self.rows += 1;
        self.hash = self.hash.wrapping_add(hash);
    }

    pub const fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.hash = self.hash.wrapping_add(other.hash);
    }
}

/// The hash of one row, fed with its values in order.
///
/// A multiplication and a shift for each eight bytes. Both can be undone, so rows that differ in one word
/// never have the same hash; for others the chance is that of 64 bits. It is no defence against forgery.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowHash(u64);

/// Odd, with about as many ones as zeros: the golden ratio's fraction.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl RowHash {
    pub const fn finish(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ (mixed >> 32)
    }

    /// That of the columns of a row from `first` on, which have these forms.
    pub fn of_row(forms: &[Form], row: &dyn Row, first: usize) -> u64 {
        let mut hash = Self::default();
        for (column, form) in forms.iter().enumerate() {
            hash.value(*form, row.value(first + column));
        }
        hash.finish()
    }

    pub fn of(form: Form, value: Value<'_>) -> u64 {
        let mut hash = Self::default();
        hash.value(form, value);
        hash.finish()
    }

    #[inline]
    pub fn value(&mut self, form: Form, value: Value<'_>) {
        match value {
            Value::Int(int) => self.int(form, int),
            Value::Bytes(text) => self.text(form, text),
            Value::Real(real) => self.text(form, real.to_string().as_bytes()),
            // It must differ from the empty text and from zero; no loaded integer is -1.
            Value::Null => self.word(u64::MAX),
        }
    }

    #[inline]
    pub fn int(&mut self, form: Form, value: i64) {
        match form {
            Form::Integer | Form::Units(_) => self.word(value as u64),
            Form::Decimal | Form::Padded | Form::Exact => {
                self.bytes(itoa::Buffer::new().format(value).as_bytes());
            }
        }
    }

    #[inline]
    pub fn text(&mut self, form: Form, text: &[u8]) {
        match form {
            Form::Integer => self.word_or_bytes(Value::Bytes(text).as_int(), text),
            Form::Units(decimals) => self.word_or_bytes(parse(text, decimals.into()), text),
            Form::Decimal => self.bytes(decimal(text)),
            Form::Padded => {
                let last = text.iter().rposition(|byte| *byte != b' ');
                self.bytes(&text[..last.map_or(0, |last| last + 1)]);
            }
            Form::Exact => self.bytes(text),
        }
    }

    #[inline]
    fn word_or_bytes(&mut self, word: Option<i64>, text: &[u8]) {
        match word {
            Some(word) => self.word(word as u64),
            None => self.bytes(text),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let rest = rest.iter().rev();
        self.word(rest.fold(0, |word, byte| word << 8 | u64::from(*byte)));
        // Where a value ends is part of the row.
        self.word(bytes.len() as u64);
    }

    #[inline]
    const fn word(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(MULTIPLIER);
        // A shift alone would leave a row of zeros at zero, however long.
        self.0 = (mixed ^ (mixed >> 32)).wrapping_add(MULTIPLIER);
    }
}

/// A decimal number without the zeros at the end of its fraction; zero has no sign.
fn decimal(text: &[u8]) -> &[u8] {
    let mut number = text;
    if text.contains(&b'.') {
        while let [before @ .., b'0'] = number {
            number = before;
        }
        number = number.strip_suffix(b".").unwrap_or(number);
    }
    if number == b"-0" { b"0" } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(values: &[(Form, Value<'_>)]) -> u64 {
        let mut hash = RowHash::default();
        for (form, value) in values {
            hash.value(*form, *value);
        }
        hash.finish()
    }

    fn text(form: Form, text: &str) -> u64 {
        hash(&[(form, Value::Bytes(text.as_bytes()))])
    }

    #[test]
    fn what_servers_write_differently_is_the_same() {
        assert_eq!(text(Form::Padded, "abc   "), text(Form::Padded, "abc"));
        assert_eq!(text(Form::Padded, "   "), text(Form::Padded, ""));
        assert_eq!(text(Form::Integer, "-17"), hash(&[(Form::Integer, Value::Int(-17))]));
        let twelve = text(Form::Decimal, "12.50");
        assert_eq!(twelve, hash(&[(Form::Decimal, Value::Real(12.5))]));
        assert_eq!(twelve, text(Form::Decimal, "12.5"));
        assert_eq!(text(Form::Decimal, "120.00"), hash(&[(Form::Decimal, Value::Int(120))]));
        assert_eq!(text(Form::Decimal, "-0.00"), text(Form::Decimal, "0"));
        assert_eq!(text(Form::Exact, "7"), hash(&[(Form::Exact, Value::Int(7))]));
    }

    #[test]
    fn what_is_different_stays_so() {
        assert_ne!(text(Form::Exact, "abc "), text(Form::Exact, "abc"));
        assert_ne!(text(Form::Padded, " abc"), text(Form::Padded, "abc"));
        assert_ne!(text(Form::Padded, "abc\t"), text(Form::Padded, "abc"));
        assert_ne!(text(Form::Exact, ""), hash(&[(Form::Exact, Value::Null)]));
        assert_ne!(text(Form::Exact, "a"), text(Form::Exact, "a\0"));
        assert_ne!(text(Form::Decimal, "100"), text(Form::Decimal, "1"));
        let pair = |a: &str, b: &str| {
            let value = |text: &str| Value::Bytes(text.as_bytes()).to_text().unwrap();
            let (a, b) = (value(a), value(b));
            hash(&[
                (Form::Exact, Value::Bytes(a.as_bytes())),
                (Form::Exact, Value::Bytes(b.as_bytes())),
            ])
        };
        assert_ne!(pair("ab", "c"), pair("a", "bc"));
        assert_ne!(pair("a", "b"), pair("b", "a"));
        let zeros = [(Form::Integer, Value::Int(0)); 3];
        assert_ne!(hash(&zeros), hash(&zeros[..2]));
    }

    #[test]
    fn one_changed_bit_changes_the_hash() {
        let row: Vec<u8> = (0..61).collect();
        let mut seen = std::collections::BTreeSet::new();
        for bit in 0..row.len() * 8 {
            let mut changed = row.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(seen.insert(hash(&[(Form::Exact, Value::Bytes(&changed))])));
        }
        assert!(seen.insert(hash(&[(Form::Exact, Value::Bytes(&row))])));
    }

    #[test]
    fn the_order_of_rows_does_not_matter() {
        let rows = [3u64, 1 << 63, 77, u64::MAX];
        let sum = |order: [usize; 4]| {
            let mut sum = Sum::default();
            for row in order {
                sum.add_row(rows[row]);
            }
            sum
        };
        let whole = sum([0, 1, 2, 3]);
        assert_eq!(whole, sum([3, 1, 0, 2]));
        let mut parts = Sum::default();
        for row in rows {
            let mut one = Sum::default();
            one.add_row(row);
            parts.add(one);
        }
        assert_eq!(parts, whole);
    }
}

//! Makes the values of columns and statements, by a seeded generator.
//!
//! A value is appended to what the caller keeps, so that making one allocates nothing.

use drivers::ParamType;
use model::{Distribution, Draw, Rng};

use super::checksum::{Form, RowHash};
use super::distribution::Ints;

#[derive(Clone, Debug)]
pub struct Maker(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Row,
    Cycle(u64),
    Constant(i64),
    Int(Ints),
    Template(Template),
    Sealed(Seal),
    Text(Ints),
    Fixed(String),
    Decimal { units: Ints, scale: usize },
    Datetime(Ints),
}

impl Maker {
    /// A maker for a draw. Those that need other values ([`Draw::Plus`], [`Draw::Next`]) are zero here.
    pub fn new(draw: &Draw) -> Self {
        let uniform = |low, high| Ints::new(low, high, Distribution::Uniform);
        Self(match draw {
            Draw::Row => Kind::Row,
            Draw::Cycle(length) => Kind::Cycle((*length).max(1)),
            Draw::Int { low, high, by } => Kind::Int(Ints::new(*low, *high, *by)),
            Draw::From(first) => Kind::Constant(*first),
            Draw::Plus { .. } | Draw::Next => Kind::Constant(0),
            Draw::Template(text) => Kind::Template(Template::new(text)),
            Draw::Text { min, max } => Kind::Text(uniform(i64::from(*min), i64::from(*max))),
            Draw::Fixed(text) => Kind::Fixed(text.clone()),
            Draw::Decimal { low, high, scale } => {
                Kind::Decimal { units: uniform(*low, *high), scale: *scale as usize }
            }
            Draw::Datetime { low, high } => Kind::Datetime(uniform(
                (*low).clamp(FIRST_SECOND, LAST_SECOND),
                (*high).clamp(FIRST_SECOND, LAST_SECOND),
            )),
        })
    }

    /// The same for values that clients write: texts of a template are sealed where that can be done.
    pub fn sealed(draw: &Draw) -> Self {
        Seal::of_draw(draw).map_or_else(|| Self::new(draw), |seal| Self(Kind::Sealed(seal)))
    }

    /// Are its values texts, made by [`Maker::text`]? Otherwise they are integers, made by [`Maker::int`].
    pub fn is_text(&self) -> bool {
        self.param_type() != ParamType::Int
    }

    pub fn param_type(&self) -> ParamType {
        match self.0 {
            Kind::Row | Kind::Cycle(_) | Kind::Constant(_) | Kind::Int(_) => ParamType::Int,
            Kind::Template(_) | Kind::Sealed(_) | Kind::Text(_) | Kind::Fixed(_) => ParamType::Text,
            Kind::Decimal { .. } => ParamType::Decimal,
            Kind::Datetime(_) => ParamType::DateTime,
        }
    }

    /// An integer; zero where its values are texts. `row`: the row's number, from 1, for draws that follow it.
    #[inline]
    pub fn int(&self, rng: &mut Rng, row: u64) -> i64 {
        match &self.0 {
            Kind::Int(ints) => ints.draw(rng),
            Kind::Row => row as i64,
            Kind::Cycle(length) => (row % length + 1) as i64,
            Kind::Constant(value) => *value,
            Kind::Template(_)
            | Kind::Sealed(_)
            | Kind::Text(_)
            | Kind::Fixed(_)
            | Kind::Decimal { .. }
            | Kind::Datetime(_) => 0,
        }
    }

    /// Appends a text; an integer in digits where its values are integers. `row` as for [`Maker::int`].
    pub fn text(&self, rng: &mut Rng, row: u64, out: &mut String) {
        match &self.0 {
            Kind::Template(template) => template.write(rng, out),
            Kind::Sealed(seal) => seal.write(rng, out),
            Kind::Text(lengths) => {
                let length = lengths.draw(rng) as usize;
                write_characters::<36, CHARACTERS_OF_SHARE>(CHARACTERS, length, rng, out);
            }
            Kind::Fixed(text) => out.push_str(text),
            Kind::Decimal { units, scale } => write_decimal(units.draw(rng), *scale, out),
            Kind::Datetime(seconds) => write_datetime(seconds.draw(rng), out),
            Kind::Row | Kind::Cycle(_) | Kind::Constant(_) | Kind::Int(_) => {
                out.push_str(itoa::Buffer::new().format(self.int(rng, row)));
            }
        }
    }
}

/// Bytes that are made at once; a power of two.
const CHUNK: usize = 128;

/// A random number of 64 bits, as a share of 2^64 that is used up bit by bit. Sixteen digits are taken of
/// one, eleven letters or ten characters: their strings share its 2^64 values, 1844 or 1845 for each string
/// of digits and more for the others, so that the chance of each is within 0.06 % of the right one; that
/// of each single character is right to nine digits.
struct Share(u64);

const DIGITS_OF_SHARE: usize = 16;
const LETTERS_OF_SHARE: usize = 11;
const CHARACTERS_OF_SHARE: usize = 10;

const CHARACTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

impl Share {
    /// A number below `bound`: the whole part of share × bound. The fraction is the share that is left.
    #[inline]
    fn below(&mut self, bound: u64) -> usize {
        let product = u128::from(self.0) * u128::from(bound);
        self.0 = product as u64;
        (product >> 64) as usize
    }
}

/// The two digits of each number below a hundred.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// A text with places for random digits and letters.
#[derive(Clone, Debug)]
struct Template(Vec<Chunk>);

/// At most [`CHUNK`] bytes of a template, whole characters.
#[derive(Clone, Debug)]
struct Chunk {
    text: String,
    digits: Vec<u8>,
    letters: Vec<u8>,
}

impl Template {
    /// `#` is a place for a digit, `@` for a lower-case letter; any other character stands for itself.
    fn new(text: &str) -> Self {
        let mut chunks = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (chunk, others) = rest.split_at(rest.floor_char_boundary(CHUNK));
            chunks.push(Chunk::new(chunk));
            rest = others;
        }
        Self(chunks)
    }

    fn write(&self, rng: &mut Rng, out: &mut String) {
        for chunk in &self.0 {
            chunk.write(rng, out);
        }
    }
}

impl Chunk {
    fn new(text: &str) -> Self {
        let places = |kind| {
            let bytes = text.bytes().zip(0u8..);
            bytes.filter(|(byte, _)| *byte == kind).map(|(_, place)| place).collect()
        };
        Self { text: text.to_owned(), digits: places(b'#'), letters: places(b'@') }
    }

    fn write(&self, rng: &mut Rng, out: &mut String) {
        let mut bytes = [0; CHUNK];
        let (made, _) = bytes.split_at_mut(self.text.len());
        made.copy_from_slice(self.text.as_bytes());
        // All places are below CHUNK; the remainder spares the program to look.
        let at = |place: u8| usize::from(place) % CHUNK;
        for places in self.digits.chunks(DIGITS_OF_SHARE) {
            let mut share = Share(rng.next_u64());
            for pair in places.chunks(2) {
                let [first, second] = PAIRS[share.below(100)];
                if let [a, b] = *pair {
                    bytes[at(a)] = first;
                    bytes[at(b)] = second;
                } else if let [a] = *pair {
                    bytes[at(a)] = first;
                }
            }
        }
        for places in self.letters.chunks(LETTERS_OF_SHARE) {
            let mut share = Share(rng.next_u64());
            for place in places {
                bytes[at(*place)] = b'a' + share.below(26) as u8;
            }
        }
        let (made, _) = bytes.split_at(self.text.len());
        push_utf8(made, out);
    }
}

/// A template whose last digits follow from all that comes before them, so that a text proves by itself that
/// a client of ours wrote it, however often rows are overwritten and by whom. What is loaded is not sealed: it
/// follows from the seed, and a loaded text in another row is found out.
#[derive(Clone, Debug)]
pub struct Seal {
    head: Template,
    head_bytes: usize,
    /// From the first digit that follows on.
    tail: String,
}

/// Digits that follow: another text passes with a chance of one in a hundred million.
const SEAL_DIGITS: usize = 8;

/// Digits that stay random, at least.
const RANDOM_DIGITS: usize = 16;

impl Seal {
    /// That of the texts that a draw makes; `None` where they are not sealed.
    pub fn of_draw(draw: &Draw) -> Option<Self> {
        let Draw::Template(text) = draw else { return None };
        Self::of(text)
    }

    /// `None` for a template with too few digits, or with letters behind the last ones.
    pub fn of(text: &str) -> Option<Self> {
        let digits: Vec<usize> = text.match_indices('#').map(|(at, _)| at).collect();
        let random = digits.len().checked_sub(SEAL_DIGITS)?;
        let (head, tail) = text.split_at(*digits.get(random)?);
        let can_be = random >= RANDOM_DIGITS && !tail.contains('@');
        can_be.then(|| Self {
            head: Template::new(head),
            head_bytes: head.len(),
            tail: tail.to_owned(),
        })
    }

    fn write(&self, rng: &mut Rng, out: &mut String) {
        let start = out.len();
        self.head.write(rng, out);
        let mut share = Share(Self::digest(&out.as_bytes()[start..]));
        for character in self.tail.chars() {
            out.push(match character {
                '#' => char::from(b'0' + share.below(10) as u8),
                other => other,
            });
        }
    }

    /// Is this a text that `Seal::write` made? Blanks at its end do not count.
    pub fn holds(&self, text: &[u8]) -> bool {
        let text = text.trim_ascii_end();
        let Some((head, tail)) = text.split_at_checked(self.head_bytes) else {
            return false;
        };
        let mut share = Share(Self::digest(head));
        let expected = self.tail.trim_ascii_end().bytes().map(|byte| match byte {
            b'#' => b'0' + share.below(10) as u8,
            other => other,
        });
        expected.eq(tail.iter().copied())
    }

    #[inline]
    fn digest(head: &[u8]) -> u64 {
        let mut hash = RowHash::default();
        hash.text(Form::Exact, head);
        hash.finish()
    }
}

/// Appends random characters of an alphabet, `OF_SHARE` of each random number.
#[inline]
pub fn write_characters<const N: usize, const OF_SHARE: usize>(
    alphabet: &[u8; N],
    length: usize,
    rng: &mut Rng,
    out: &mut String,
) {
    let mut bytes = [0; CHUNK];
    let mut left = length;
    while left > 0 {
        let (made, _) = bytes.split_at_mut(left.min(CHUNK));
        for places in made.chunks_mut(OF_SHARE) {
            let mut share = Share(rng.next_u64());
            for place in places {
                *place = alphabet[share.below(N as u64)];
            }
        }
        push_utf8(made, out);
        left -= made.len();
    }
}

/// Appends bytes that are text, as all here are: other bytes than the template's own are ASCII.
fn push_utf8(bytes: &[u8], out: &mut String) {
    out.push_str(std::str::from_utf8(bytes).unwrap_or_default());
}

/// A number of smallest units with `scale` digits after the point: `-0.05`.
fn write_decimal(units: i64, scale: usize, out: &mut String) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(units.unsigned_abs());
    if units < 0 {
        out.push('-');
    }
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(scale));
    out.push_str(if whole.is_empty() { "0" } else { whole });
    if scale > 0 {
        out.push('.');
        (fraction.len()..scale).for_each(|_| out.push('0'));
        out.push_str(fraction);
    }
}

/// 0001-01-01 00:00:00 and 9999-12-31 23:59:59: moments of four digits' years.
const FIRST_SECOND: i64 = -62_135_596_800;
const LAST_SECOND: i64 = 253_402_300_799;

/// Seconds since 1970-01-01 00:00:00 as `2026-11-21 10:00:00`.
pub fn write_datetime(seconds: i64, out: &mut String) {
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400) as usize;
    let mut text = *b"0000-00-00 00:00:00";
    let parts = [
        (0, year / 100),
        (2, year % 100),
        (5, month),
        (8, day),
        (11, of_day / 3600),
        (14, of_day / 60 % 60),
        (17, of_day % 60),
    ];
    for (at, number) in parts {
        if let (Some(place), Some(pair)) = (text.get_mut(at..at + 2), PAIRS.get(number)) {
            place.copy_from_slice(pair);
        }
    }
    push_utf8(&text, out);
}

/// Year, month and day of the Gregorian calendar, `days` after 1970-01-01. Years are counted from
/// March in cycles of 400: H. Hinnant, *chrono-compatible low-level date algorithms* (2013), `civil_from_days`.
fn civil(days: i64) -> (usize, usize, usize) {
    let days = days + 719_468;
    let cycle = days.div_euclid(146_097);
    let of_cycle = days.rem_euclid(146_097);
    let year = (of_cycle - of_cycle / 1_460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    // From March to January.
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = cycle * 400 + year + later;
    (year as usize, month as usize, day as usize)
}

#[cfg(test)]
mod tests;

//! The rows of the Insert Benchmark: a pure function of seed, client and row number.
//!
//! Value domains are those of the original. `data` is filler followed by random base64 characters,
//! about 65 % constant, so it compresses well. The original slices a 4 MiB buffer of base64 text at
//! random offsets; here the characters come straight from the generator, with the same alphabet and
//! the same distribution. `dateandtime` is the original's wall clock there; here it advances a second
//! every 10,000 rows of a client, so that the same plan gives the same rows.

use std::ops::Range;

use data::values::write_datetime;
use model::{InsertSpec, Rng, mix};

/// Distinct values of `cashregisterid`.
pub(super) const REGISTERS: u64 = 1_000;
/// Distinct values of `customerid`.
const CUSTOMERS: u64 = 100_000;
/// Distinct values of `productid`.
pub(super) const PRODUCTS: u64 = 10_000;
/// Distinct values of `price`.
pub(super) const PRICES: u64 = 500;

const ROWS_PER_SECOND: u64 = 10_000;
/// Characters of six bits that 64 random bits give.
const CHARACTERS: usize = 10;
/// What `data` begins with.
const FILLER: &[u8; 32] = &[b'a'; 32];
/// Characters of `2026-01-01 00:00:00`.
const DATE_AND_TIME: usize = 19;
/// Bytes of a row without its `data`, at most.
const LONGEST_HEAD: usize = 64;
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// One row without its key, which the server gives.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) cashregister: u64,
    pub(super) customer: u64,
    pub(super) product: u64,
    pub(super) price: u64,
    pub(super) data: &'a str,
}

/// The same before its `data` is made.
struct Draw {
    cashregister: u64,
    customer: u64,
    product: u64,
    price: u64,
    filler: usize,
    random: usize,
    /// Gives the random characters.
    rng: Rng,
}

/// The rows of one client, by number.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    seed: u64,
    data_min: u64,
    data_max: u64,
    random_percent: u64,
    /// What is being written: one `data`, or the rows of a statement.
    text: Text,
}

impl Rows {
    pub(super) fn new(spec: &InsertSpec, seed: u64, client: u32) -> Self {
        Self {
            seed: mix(seed, &[u64::from(client), 1]),
            data_min: u64::from(spec.data_min),
            data_max: u64::from(spec.data_max),
            random_percent: u64::from(spec.data_random_percent),
            text: Text::default(),
        }
    }

    #[inline]
    fn draw(&self, number: u64) -> Draw {
        let mut rng = Rng::new(mix(self.seed, &[number]));
        let cashregister = rng.below(REGISTERS);
        let customer = rng.below(CUSTOMERS);
        let product = rng.below(PRODUCTS);
        let price = rng.below(PRICES);
        let length = self.data_min + rng.below(self.data_max - self.data_min + 1);
        // floor(length × 0.75 × share): three quarters make up for base64 in the original.
        let random = length * 3 * self.random_percent / 400;
        Draw {
            cashregister,
            customer,
            product,
            price,
            filler: (length - random) as usize,
            random: random as usize,
            rng,
        }
    }

    pub(super) fn row(&mut self, number: u64) -> Row<'_> {
        let draw = self.draw(number);
        let Draw { cashregister, customer, product, price, .. } = draw;
        self.text.clear(self.data_max as usize);
        self.text.data(draw);
        Row { cashregister, customer, product, price, data: ascii(self.text.written()) }
    }

    /// Appends `('2026-…',1,2,3,4.00,'aaaX'),…` for these rows; prices have two decimals, as in the original.
    pub(super) fn append(&mut self, sql: &mut String, date: &str, numbers: Range<u64>) {
        // A variable of its own stays in registers.
        let mut text = std::mem::take(&mut self.text);
        let rows = (numbers.end - numbers.start) as usize;
        text.clear(rows * (LONGEST_HEAD + self.data_max as usize));
        let (head, length) = head(date);
        for number in numbers {
            let draw = self.draw(number);
            text.put(&head, length);
            text.number(draw.cashregister, b",");
            text.number(draw.customer, b",");
            text.number(draw.product, b",");
            text.number(draw.price, b".00,'");
            text.data(draw);
            text.put(b"'),", 3);
        }
        let (_, without_comma) = text.written().split_last().unwrap_or((&0, &[]));
        sql.push_str(ascii(without_comma));
        self.text = text;
    }
}

/// `('2026-…',`, and its length.
fn head(date: &str) -> ([u8; DATE_AND_TIME + 4], usize) {
    let text = format!("('{date}',");
    let mut head = [0; DATE_AND_TIME + 4];
    head[..text.len()].copy_from_slice(text.as_bytes());
    (head, text.len())
}

/// All that is written here is.
fn ascii(text: &[u8]) -> &str {
    std::str::from_utf8(text).unwrap_or_default()
}

/// The digits of each number below 1,000: three bytes in text order, and above them the leading zeros.
const DIGITS: [u32; 1_000] = {
    let mut digits = [0; 1_000];
    let mut n = 0;
    while n < 1_000 {
        let zeros = (n < 100) as u32 + (n < 10) as u32;
        let [hundreds, tens, ones] = [n / 100, n / 10 % 10, n % 10];
        digits[n as usize] = 0x30_3030 + hundreds + (tens << 8) + (ones << 16) + (zeros << 24);
        n += 1;
    }
    digits
};

/// Two characters for each number of twelve bits, the lower six first.
const PAIRS: [[u8; 2]; 4096] = {
    let mut pairs = [[0; 2]; 4096];
    let mut n = 0;
    while n < 4096 {
        pairs[n] = [BASE64[n % 64], BASE64[n / 64]];
        n += 1;
    }
    pairs
};

/// Ten characters, from the lowest six bits upwards.
fn characters(bits: u64) -> [u8; CHARACTERS] {
    let mut characters = [0; CHARACTERS];
    for (i, pair) in characters.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        *pair = PAIRS[(bits >> (12 * i) & 4095) as usize];
    }
    characters
}

/// Bytes under way. It is written in pieces of a fixed size, of which only the front is kept: that takes a few
/// instructions, where a copy of any length is a call.
#[derive(Clone, Debug, Default)]
struct Text {
    bytes: Vec<u8>,
    length: usize,
}

impl Text {
    /// Empties it, and makes room for this many bytes and for what the last piece writes behind them.
    fn clear(&mut self, room: usize) {
        self.length = 0;
        let room = room + FILLER.len();
        if self.bytes.len() < room {
            self.bytes.resize(room, 0);
        }
    }

    /// Writes a piece and keeps its first bytes.
    #[expect(clippy::inline_always, reason = "a call costs as much as the work")]
    #[inline(always)]
    fn put<const N: usize>(&mut self, piece: &[u8; N], kept: usize) {
        let end = self.length + N;
        self.bytes[self.length..end].copy_from_slice(piece);
        self.length += kept;
    }

    /// Writes a number below a million, with some bytes behind it: a library's way to format takes more instructions.
    #[expect(clippy::inline_always, reason = "a call costs as much as the work")]
    #[inline(always)]
    fn number<const N: usize>(&mut self, number: u64, end: &[u8; N]) {
        let ones = DIGITS[(number % 1_000) as usize];
        if number < 1_000 {
            self.digits(ones, ones >> 24);
        } else {
            let thousands = DIGITS[(number / 1_000 % 1_000) as usize];
            self.digits(thousands, thousands >> 24);
            self.digits(ones, 0);
        }
        self.put(end, N);
    }

    /// Writes three digits without the first ones.
    #[inline]
    fn digits(&mut self, digits: u32, without: u32) {
        self.put(&(digits >> (8 * without)).to_le_bytes(), 3 - without as usize);
    }

    #[inline]
    fn data(&mut self, mut draw: Draw) {
        while draw.filler > 0 {
            let count = draw.filler.min(FILLER.len());
            self.put(FILLER, count);
            draw.filler -= count;
        }
        while draw.random > 0 {
            let count = draw.random.min(CHARACTERS);
            self.put(&characters(draw.rng.next_u64()), count);
            draw.random -= count;
        }
    }

    fn written(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// `dateandtime` of one statement after the other: made anew only when it changes.
#[derive(Debug, Default)]
pub(super) struct Date {
    second: Option<u64>,
    text: String,
}

impl Date {
    /// That of all rows of the statement that begins with this row.
    pub(super) fn of(&mut self, first_row: u64) -> &str {
        let second = first_row / ROWS_PER_SECOND;
        if self.second != Some(second) {
            *self = Self { second: Some(second), text: date_and_time(first_row) };
        }
        &self.text
    }

    /// The one asked for last.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// 2026-01-01 00:00:00, in seconds since 1970.
const FIRST_SECOND: u64 = 1_767_225_600;

/// `dateandtime` of all rows of the statement that begins with row `number`: 19 ASCII characters.
pub(super) fn date_and_time(number: u64) -> String {
    let mut text = String::with_capacity(DATE_AND_TIME);
    write_datetime((FIRST_SECOND + number / ROWS_PER_SECOND) as i64, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn values_stay_in_their_domains() {
        let mut rows = Rows::new(&spec(), 42, 0);
        let mut prices = std::collections::BTreeSet::new();
        for n in 0..20_000 {
            let row = rows.row(n);
            assert!(row.cashregister < 1000 && row.customer < 100_000 && row.product < 10_000);
            assert!((10..=20).contains(&row.data.len()), "{}", row.data);
            let random = row.data.len() * 3 * 50 / 400;
            assert!((3..=7).contains(&random));
            assert!(row.data.starts_with(&"a".repeat(row.data.len() - random)));
            prices.insert(row.price);
        }
        assert_eq!(prices.len(), 500);
    }

    #[test]
    fn the_same_seed_gives_the_same_rows_and_another_gives_others() {
        let row = |seed, client| format!("{:?}", Rows::new(&spec(), seed, client).row(7));
        assert_eq!(row(1, 0), row(1, 0));
        assert_ne!(row(1, 0), row(2, 0));
        assert_ne!(row(1, 0), row(1, 1));
        // Pinned: a change of this line is a change of everybody's data.
        assert_eq!(row(1, 0), PINNED);
    }

    const PINNED: &str = "Row { cashregister: 439, customer: 28253, product: 2492, price: 213, \
                          data: \"aaaaaaaaIbwj\" }";

    /// As text and as values they are the same rows.
    #[test]
    fn the_text_of_rows_holds_their_values() {
        for (data_max, data_random_percent) in [(20, 50), (400, 100), (10, 0)] {
            let spec = InsertSpec { data_max, data_random_percent, ..spec() };
            let mut rows = Rows::new(&spec, 42, 3);
            let mut texts = Vec::new();
            for number in 7..5_007 {
                let Row { cashregister, customer, product, price, data } = rows.row(number);
                texts
                    .push(format!("('D',{cashregister},{customer},{product},{price}.00,'{data}')"));
            }
            let mut sql = "VALUES ".to_owned();
            rows.append(&mut sql, "D", 7..5_007);
            assert_eq!(sql, format!("VALUES {}", texts.join(",")));
        }
    }

    #[test]
    fn each_number_has_its_digits() {
        for number in (0..10_000).chain((10_000..1_000_000).step_by(97)) {
            let mut text = Text::default();
            text.clear(7);
            text.number(number, b".");
            assert_eq!(ascii(text.written()), format!("{number}."));
        }
    }

    #[test]
    fn dates_are_valid_and_rise() {
        assert_eq!(date_and_time(0), "2026-01-01 00:00:00");
        assert_eq!(date_and_time(10_000 * (86_400 * 59 + 3_661)), "2026-03-01 01:01:01");
        assert_eq!(date_and_time(10_000 * 86_400 * 365), "2027-01-01 00:00:00");
    }
}

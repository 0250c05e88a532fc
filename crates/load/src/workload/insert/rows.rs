//! The rows of the Insert Benchmark: a pure function of seed, client and row number.
//!
//! Value domains are those of the original. `data` is filler followed by random base64 characters,
//! about 65 % constant, so it compresses well. The original slices a 4 MiB buffer of base64 text at
//! random offsets; here the characters come straight from the generator, with the same alphabet and
//! the same distribution. `dateandtime` is the original's wall clock there; here it advances a second
//! every 10,000 rows of a client, so that the same plan gives the same rows.

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

/// The rows of one client, by number.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    seed: u64,
    data_min: u64,
    data_max: u64,
    random_percent: u64,
    /// As long as the longest `data`.
    filler: String,
    data: String,
}

impl Rows {
    pub(super) fn new(spec: &InsertSpec, seed: u64, client: u32) -> Self {
        Self {
            seed: mix(seed, &[u64::from(client), 1]),
            data_min: u64::from(spec.data_min),
            data_max: u64::from(spec.data_max),
            random_percent: u64::from(spec.data_random_percent),
            filler: "a".repeat(spec.data_max as usize),
            data: String::new(),
        }
    }

    /// Row `number` of this client.
    pub(super) fn row(&mut self, number: u64) -> Row<'_> {
        let mut rng = Rng::new(mix(self.seed, &[number]));
        let cashregister = rng.below(REGISTERS);
        let customer = rng.below(CUSTOMERS);
        let product = rng.below(PRODUCTS);
        let price = rng.below(PRICES);
        let length = self.data_min + rng.below(self.data_max - self.data_min + 1);
        // floor(length × 0.75 × share): three quarters make up for base64 in the original.
        let random = length * 3 * self.random_percent / 400;
        self.data.clear();
        self.data
            .push_str(&self.filler[random as usize..length as usize]);
        let mut bits = 0u64;
        for i in 0..random {
            if i % 10 == 0 {
                bits = rng.next_u64();
            }
            self.data.push(char::from(BASE64[(bits & 63) as usize]));
            bits >>= 6;
        }
        Row {
            cashregister,
            customer,
            product,
            price,
            data: &self.data,
        }
    }
}

const DAYS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// `dateandtime` of all rows of the statement that begins with row `number`: 19 ASCII characters.
pub(super) fn date_and_time(number: u64) -> String {
    let seconds = number / ROWS_PER_SECOND;
    // Seconds since 2026-01-01 00:00:00, by days of years without leap days in between: the value
    // must be valid and rise, not name a real moment.
    let (mut day, of_day) = (seconds / 86_400, seconds % 86_400);
    let year = 2026 + day / 365;
    day %= 365;
    let mut month = 0;
    while day >= DAYS[month] {
        day -= DAYS[month];
        month += 1;
    }
    format!(
        "{year:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        month + 1,
        day + 1,
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    )
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

    #[test]
    fn dates_are_valid_and_rise() {
        assert_eq!(date_and_time(0), "2026-01-01 00:00:00");
        assert_eq!(
            date_and_time(10_000 * (86_400 * 59 + 3_661)),
            "2026-03-01 01:01:01"
        );
        assert_eq!(date_and_time(10_000 * 86_400 * 365), "2027-01-01 00:00:00");
    }
}

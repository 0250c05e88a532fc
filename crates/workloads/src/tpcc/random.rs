//! Random numbers and texts as the standard has them.

use model::{Rng, mix};

use data::values::write_characters;

/// *A* of [`nurand`] for last names.
pub(super) const OF_NAMES: u32 = 255;

/// *A* of [`nurand`] for numbers of customers.
pub(super) const OF_CUSTOMERS: u32 = 1023;

/// *A* of [`nurand`] for numbers of items.
pub(super) const OF_ITEMS: u32 = 8191;

/// The constants *C* of [`nurand`], fixed for a load or a trial: each rotates which values are the hot ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Constants {
    pub(super) name: u32,
    pub(super) customer: u32,
    pub(super) item: u32,
}

/// Which constants a seed is used for.
const LOAD: u64 = 1;
const RUN: u64 = 2;

impl Constants {
    pub(super) fn of_load(rows_seed: u64) -> Self {
        Self::drawn(&mut Rng::new(mix(rows_seed, &[LOAD])))
    }

    /// Those of a trial with `seed` on rows with `rows_seed`. That for last names differs from the load's
    /// by 65 to 119, but not by 96 or 112: the standard's rule (2.1.6.1), so that the hot names of the run
    /// are not those of which the load made many customers.
    pub(super) fn of_run(rows_seed: u64, seed: u64) -> Self {
        let load = Self::of_load(rows_seed);
        let mut rng = Rng::new(mix(seed, &[RUN]));
        let legal: Vec<u32> =
            (0..=OF_NAMES).filter(|name| is_legal(name.abs_diff(load.name))).collect();
        let drawn = Self::drawn(&mut rng);
        let place = rng.below(legal.len().max(1) as u64) as usize;
        Self { name: legal.get(place).copied().unwrap_or(drawn.name), ..drawn }
    }

    fn drawn(rng: &mut Rng) -> Self {
        Self {
            name: between(rng, 0, OF_NAMES),
            customer: between(rng, 0, OF_CUSTOMERS),
            item: between(rng, 0, OF_ITEMS),
        }
    }
}

fn is_legal(difference: u32) -> bool {
    (65..=119).contains(&difference) && ![96, 112].contains(&difference)
}

/// A number from `low` to `high`, each as likely as the others. `high` must not be less than `low`.
#[inline]
pub(super) fn between(rng: &mut Rng, low: u32, high: u32) -> u32 {
    low + rng.below(u64::from(high - low) + 1) as u32
}

/// A number from `low` to `high`, some far likelier: the standard's `NURand`. `a` is a power of two less one.
#[inline]
pub(super) fn nurand(rng: &mut Rng, a: u32, low: u32, high: u32, c: u32) -> u32 {
    let either = between(rng, 0, a) | between(rng, low, high);
    let range = u64::from(high - low) + 1;
    low + ((u64::from(either) + u64::from(c)) % range) as u32
}

const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

#[inline]
pub(super) fn last_name(number: u32, out: &mut String) {
    for digit in [number / 100, number / 10, number] {
        out.push_str(SYLLABLES[(digit % 10) as usize]);
    }
}

/// Characters taken of one random number: 62^9 strings share its 2^64 values, over a thousand for each.
const OF_SHARE: usize = 9;

/// Appends `min` to `max` random letters and digits.
#[inline]
pub(super) fn letters(rng: &mut Rng, min: u32, max: u32, out: &mut String) {
    const CHARACTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let length = if min == max { min } else { between(rng, min, max) };
    text(rng, length, CHARACTERS, out);
}

#[inline]
pub(super) fn digits(rng: &mut Rng, count: u32, out: &mut String) {
    text(rng, count, b"0123456789", out);
}

pub(super) fn state(rng: &mut Rng, out: &mut String) {
    text(rng, 2, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", out);
}

/// Appends a zip code: four random digits, five ones.
pub(super) fn zip(rng: &mut Rng, out: &mut String) {
    digits(rng, 4, out);
    out.push_str("11111");
}

pub(super) const ORIGINAL: &str = "ORIGINAL";

/// Appends data of an item or stock: 26 to 50 letters and digits, one in ten with [`ORIGINAL`] somewhere.
pub(super) fn data(rng: &mut Rng, out: &mut String) {
    let start = out.len();
    letters(rng, 26, 50, out);
    if rng.below(10) == 0 {
        let places = out.len() - start - ORIGINAL.len() + 1;
        let at = start + rng.below(places as u64) as usize;
        out.replace_range(at..at + ORIGINAL.len(), ORIGINAL);
    }
}

#[inline]
fn text<const N: usize>(rng: &mut Rng, length: u32, alphabet: &[u8; N], out: &mut String) {
    write_characters::<N, OF_SHARE>(alphabet, length as usize, rng, out);
}

#[cfg(test)]
mod tests;

//! Random numbers of scripts: the same numbers as sysbench 1.0.20 for the same seed.
//!
//! xoroshiro128+ (Blackman and Vigna, 2016), seeded by four numbers of glibc's `random()`, which each thread takes in
//! its turn; Zipf's law by rejection-inversion (Hörmann and Derflinger, 1996).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use model::mix;

/// The seeds of the clients of a step.
#[derive(Clone, Debug)]
pub struct Seeds {
    numbers: GlibcRandom,
    unique: Arc<Unique>,
}

impl Seeds {
    /// Those of sysbench's `--rand-seed`.
    pub fn new(seed: u32) -> Self {
        let (index, offset) = (mix(seed.into(), &[0]) as u32, mix(seed.into(), &[1]) as u32);
        Self { numbers: GlibcRandom::new(seed), unique: Arc::new(Unique::new(index, offset)) }
    }

    /// A generator for the next client.
    pub(crate) fn next(&mut self, shape: Shape) -> Random {
        let mut word = || (u64::from(self.numbers.next()) << 32) | u64::from(self.numbers.next());
        Random { words: Words([word(), word()]), shape, unique: Arc::clone(&self.unique) }
    }
}

/// glibc's `random()` of type 3: each number is the sum of the third and the thirty-first before it.
#[derive(Clone, Debug)]
struct GlibcRandom {
    last: [u32; 31],
    place: usize,
}

impl GlibcRandom {
    fn new(seed: u32) -> Self {
        // As glibc, which takes a seed of 0 for 1.
        let mut word = i64::from(seed.max(1) as i32);
        let mut last = [0; 31];
        for place in &mut last {
            *place = word as u32;
            word = (16_807 * word) % 2_147_483_647;
            if word < 0 {
                word += 2_147_483_647;
            }
        }
        let mut random = Self { last, place: 3 };
        for _ in 0..310 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u32 {
        let sum = self.last[self.place].wrapping_add(self.last[(self.place + 28) % 31]);
        self.last[self.place] = sum;
        self.place = (self.place + 1) % 31;
        sum >> 1
    }
}

/// Draws a number from a lowest to a highest one.
pub(crate) type Law = fn(&mut Random, u32, u32) -> u32;

pub(crate) const LAWS: [(&str, Law); 5] = [
    ("uniform", Random::uniform),
    ("gaussian", Random::gaussian),
    ("special", Random::special),
    ("pareto", Random::pareto),
    ("zipfian", Random::zipfian),
];

/// What sysbench's options `--rand-…` say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) law: Law,
    /// `--rand-spec-iter`, `-pct`, `-res`.
    pub(crate) iterations: u32,
    pub(crate) percent: f64,
    pub(crate) special: f64,
    pub(crate) pareto_h: f64,
    pub(crate) zipfian_exponent: f64,
}

/// The state of xoroshiro128+.
#[derive(Clone, Copy, Debug)]
struct Words([u64; 2]);

impl Words {
    fn next(&mut self) -> u64 {
        let [first, mut second] = self.0;
        let word = first.wrapping_add(second);
        second ^= first;
        self.0 = [first.rotate_left(55) ^ second ^ (second << 14), second.rotate_left(36)];
        word
    }

    /// In the interval from 0 to 1, which is never reached: 52 bits are the fraction of a number from 1 to 2.
    fn unit(&mut self) -> f64 {
        f64::from_bits((0x3ff << 52) | (self.next() >> 12)) - 1.0
    }

    /// As [`Random::uniform`] draws it.
    fn byte(&mut self, low: u8, high: u8) -> u8 {
        (f64::from(low) + self.unit() * count(low.into(), high.into())) as u8
    }
}

#[derive(Debug)]
pub(crate) struct Random {
    words: Words,
    pub(crate) shape: Shape,
    unique: Arc<Unique>,
}

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.words.next()
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.words.unit()
    }

    fn uniform(&mut self, low: u32, high: u32) -> u32 {
        cut(f64::from(low) + self.unit() * count(low, high))
    }

    fn gaussian(&mut self, low: u32, high: u32) -> u32 {
        let width = count(low, high);
        let sum: f64 = (0..self.shape.iterations).map(|_| self.unit() * width).sum();
        low.wrapping_add(cut(sum * self.shape.share()))
    }

    fn special(&mut self, low: u32, high: u32) -> u32 {
        let Shape { iterations, percent, special, .. } = self.shape;
        let width = f64::from(high.wrapping_sub(low));
        let drawn = self.unit();
        if drawn * (width * (100.0 / (100.0 - special))) < width {
            let sum: f64 = (0..iterations).map(|_| self.unit()).sum();
            return cut(f64::from(low) + sum * width * self.shape.share());
        }
        // The hot values, in the middle.
        let hot = drawn * (width * (percent / 100.0) + 1.0);
        low.wrapping_add(cut(hot + (width / 2.0 - width * (percent / 200.0))))
    }

    fn pareto(&mut self, low: u32, high: u32) -> u32 {
        let h = self.shape.pareto_h;
        let power = h.ln() / (1.0 - h).ln();
        low.wrapping_add(cut(count(low, high) * self.unit().powf(power)))
    }

    fn zipfian(&mut self, low: u32, high: u32) -> u32 {
        let hat = Hat(self.shape.zipfian_exponent);
        let most = count(low, high).max(1.0);
        let (first, last) = (hat.integral(1.5) - 1.0, hat.integral(most + 0.5));
        let near = 2.0 - hat.inverse(hat.integral(2.5) - hat.at(2.0));
        loop {
            let area = last + self.unit() * (first - last);
            let x = hat.inverse(area);
            let k = (x + 0.5).floor().clamp(1.0, most);
            // Where an absurd exponent makes them no numbers, both comparisons fail, and the loop ends.
            let is_rejected = k - x > near && area < hat.integral(k + 0.5) - hat.at(k);
            if !is_rejected {
                return low.wrapping_add((k as u32).saturating_sub(1));
            }
        }
    }

    pub(crate) fn unique(&self) -> u32 {
        self.unique.next()
    }

    /// Puts a random digit for each `#` and a random letter for each `@`.
    pub(crate) fn fill(&mut self, text: &mut [u8]) {
        // A copy, which stays in registers: an update of sysbench's own scripts draws 109 digits.
        let mut words = self.words;
        for byte in text {
            match byte {
                b'#' => *byte = words.byte(b'0', b'9'),
                b'@' => *byte = words.byte(b'a', b'z'),
                _ => {}
            }
        }
        self.words = words;
    }

    /// Fills the text with bytes from `0` to `z`.
    pub(crate) fn fill_varied(&mut self, text: &mut [u8]) {
        text.fill_with(|| self.words.byte(b'0', b'z'));
    }
}

impl Shape {
    fn share(&self) -> f64 {
        1.0 / f64::from(self.iterations)
    }
}

/// Numbers from `low` to `high`.
fn count(low: u32, high: u32) -> f64 {
    f64::from(high.wrapping_sub(low).wrapping_add(1))
}

/// As C converts it.
fn cut(number: f64) -> u32 {
    number as i64 as u32
}

/// The hat of Zipf's law with this exponent.
struct Hat(f64);

impl Hat {
    fn at(&self, x: f64) -> f64 {
        (-self.0 * x.ln()).exp()
    }

    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let t = (1.0 - self.0) * log;
        let slope = if t.abs() > 1e-8 {
            t.exp_m1() / t
        } else {
            1.0 + t * 0.5 * (1.0 + t / 3.0 * (1.0 + 0.25 * t))
        };
        slope * log
    }

    fn inverse(&self, area: f64) -> f64 {
        let t = (area * (1.0 - self.0)).max(-1.0);
        let slope = if t.abs() > 1e-8 {
            t.ln_1p() / t
        } else {
            1.0 - t * (0.5 - t * (1.0 / 3.0 - 0.25 * t))
        };
        (slope * area).exp()
    }
}

/// A sequence of all clients without repetition (Preshing, public domain).
#[derive(Debug)]
struct Unique {
    index: AtomicU32,
    offset: u32,
}

impl Unique {
    fn new(index: u32, offset: u32) -> Self {
        let start = |seed, step| permuted(permuted(seed).wrapping_add(step));
        Self { index: start(index, 0x682f_0161).into(), offset: start(offset, 0x4679_0905) }
    }

    fn next(&self) -> u32 {
        let index = self.index.fetch_add(1, Ordering::Relaxed);
        permuted(permuted(index).wrapping_add(self.offset) ^ 0x5bf0_3635)
    }
}

fn permuted(x: u32) -> u32 {
    const PRIME: u32 = 4_294_967_291;
    if x >= PRIME {
        return x;
    }
    let residue = (u64::from(x) * u64::from(x) % u64::from(PRIME)) as u32;
    if x <= PRIME / 2 { residue } else { PRIME - residue }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const USUAL: Shape = Shape {
        law: Random::special,
        iterations: 12,
        percent: 1.0,
        special: 75.0,
        pareto_h: 0.2,
        zipfian_exponent: 0.8,
    };

    /// Numbers that sysbench 1.0.20 prints with `--rand-seed=42`, from the first of a thread.
    #[test]
    fn the_numbers_are_those_of_sysbench() {
        let mut random = Seeds::new(42).next(USUAL);
        for expected in [
            ([362_053, 502_040, 618_394, 504_071, 33_580], "047-mor", 7_992_714_955_839_067_604),
            ([306_339, 429_436, 537_852, 502_464, 4_734], "902-eli", 5_136_536_356_311_500_269),
            ([422_155, 503_738, 439_524, 501_969, 17_362], "411-hba", 4_985_265_798_101_327_619),
        ] {
            let laws: [Law; 5] = [
                Random::uniform,
                Random::special,
                Random::gaussian,
                Random::special,
                Random::pareto,
            ];
            let found = laws.map(|law| law(&mut random, 1, 1_000_000));
            let (numbers, text, word) = expected;
            assert_eq!(found, numbers);
            let mut filled = *b"###-@@@";
            random.fill(&mut filled);
            assert_eq!(filled, text.as_bytes());
            random.unit();
            assert_eq!(random.word(), word);
            // What sysbench draws for its histogram when an event ends.
            random.word();
        }
    }

    #[test]
    fn zipf_prefers_the_first_by_its_law() {
        let mut random = Seeds::new(1).next(USUAL);
        let mut seen = [0_u32; 10];
        for _ in 0..100_000 {
            seen[random.zipfian(1, 10) as usize - 1] += 1;
        }
        let whole: f64 = (1..=10).map(|k| f64::from(k).powf(-0.8)).sum();
        for (k, seen) in (1..).zip(seen) {
            let expected = 100_000.0 * f64::from(k).powf(-0.8) / whole;
            assert!((f64::from(seen) - expected).abs() < 5.0 * expected.sqrt(), "{k}: {seen}");
        }
    }

    #[test]
    fn unique_numbers_do_not_repeat_across_clients() {
        let mut seeds = Seeds::new(7);
        let clients = [seeds.next(USUAL), seeds.next(USUAL)];
        let mut seen: Vec<u32> = (0..10_000)
            .flat_map(|_| clients.iter().map(Random::unique).collect::<Vec<_>>())
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 20_000);
    }
}

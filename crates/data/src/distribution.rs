//! Random integers of a range, by the distributions that workloads name.
//!
//! Ranges are those of 64-bit integers, both ends included; setting one up takes no time that grows with
//! it, and drawing allocates nothing. All are made from a uniform generator by integer arithmetic or by
//! inversion, so that a seed decides every draw.

use model::{Distribution, HotValues, Rng};
#[derive(Clone, Debug)]
pub struct Ints {
    low: i64,
    /// Distance from the lowest to the highest.
    last: u64,
    /// `None` where all are alike.
    law: Option<Law>,
}

/// How likely the distances from the lowest are, where they differ.
#[derive(Clone, Debug)]
enum Law {
    Zipfian(Zipfian),
    /// Of so many draws.
    Bell(u32),
    Power(f64),
    Special(Special),
}

impl Ints {
    /// From `low` to `high`; only `low` where `high` is not above it.
    pub fn new(low: i64, high: i64, by: Distribution) -> Self {
        let last = if high > low { high.abs_diff(low) } else { 0 };
        let law = match by {
            Distribution::Uniform => None,
            Distribution::Zipfian { exponent } => {
                Some(Law::Zipfian(Zipfian::new(last, f64::from(exponent) / 1000.0)))
            }
            Distribution::Gaussian { draws } => Some(Law::Bell(draws)),
            Distribution::Pareto { h } => Some(Law::Power(pareto_power(h))),
            Distribution::Special { draws, hot_percent, draws_percent, hot } => {
                Some(Law::Special(Special::new(last, draws, [hot_percent, draws_percent], hot)))
            }
        };
        Self { low, last, law }
    }

    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> i64 {
        // Nearly all that is drawn is uniform, and costs no call.
        let distance = match &self.law {
            None => uniform(self.last, rng),
            Some(law) => law.draw(self.last, rng),
        };
        // Two's complement: what is beyond the highest i64 on the way is within the range at the end.
        self.low.wrapping_add(distance as i64)
    }
}

impl Law {
    /// A distance of at most `last`.
    #[inline(never)]
    fn draw(&self, last: u64, rng: &mut Rng) -> u64 {
        match self {
            Self::Zipfian(zipfian) => zipfian.draw(last, rng),
            Self::Bell(draws) => bell(*draws, last, rng),
            Self::Power(power) => pareto(*power, last, rng),
            Self::Special(special) => special.draw(last, rng),
        }
    }
}

/// A number from 0 to `last`, all alike.
#[inline]
fn uniform(last: u64, rng: &mut Rng) -> u64 {
    match last.checked_add(1) {
        Some(count) => rng.below(count),
        None => rng.next_u64(),
    }
}

/// From here on a real number decides the block of a number only.
const LARGE: u64 = 1 << 32;

/// Binary digits of a large number that name its block.
const DIGITS: u32 = 24;

/// `number`, at most `last`, without holes. A real number has 53 bits, of which a function leaves fewer, so
/// that not every large number can come of it. Large numbers that begin with the same digits are as likely
/// as each other to a ten-millionth, so one of them is drawn uniformly.
fn fill(number: f64, last: u64, rng: &mut Rng) -> u64 {
    let number = (number as u64).min(last);
    if number < LARGE {
        return number;
    }
    let block = 1 << (number.ilog2() + 1 - DIGITS);
    let first = number - number % block;
    first + uniform((last - first).min(block - 1), rng)
}

/// Zipf's law by rejection-inversion, which needs no sum over all ranks: W. Hörmann and G. Derflinger,
/// *Rejection-inversion to generate variates from monotone discrete distributions*, ACM Transactions on
/// Modeling and Computer Simulation 6 (1996), 169 to 184. Names as there: h(x) = x^-s, H is its integral.
#[derive(Clone, Debug)]
struct Zipfian {
    exponent: f64,
    ranks: f64,
    /// H(1.5) - h(1) and H(n + 0.5): between these lies what is inverted.
    from: f64,
    to: f64,
    /// So far above the inverted value, a rank needs no further test.
    sure: f64,
}

/// From here on h is straight between ranks to twelve digits: none is rejected, and rounding does not matter.
const STRAIGHT: f64 = 1_048_576.0;

impl Zipfian {
    /// Of `last` + 1 ranks.
    fn new(last: u64, exponent: f64) -> Self {
        let mut zipfian =
            Self { exponent, ranks: last as f64 + 1.0, from: 0.0, to: 0.0, sure: 0.0 };
        zipfian.from = zipfian.integral(1.5) - 1.0;
        zipfian.to = zipfian.integral(zipfian.ranks + 0.5);
        zipfian.sure = 2.0 - zipfian.inverse(zipfian.integral(2.5) - zipfian.height(2.0));
        zipfian
    }

    fn draw(&self, last: u64, rng: &mut Rng) -> u64 {
        loop {
            let area = self.to + rng.unit() * (self.from - self.to);
            let x = self.inverse(area);
            let rank = x.round().clamp(1.0, self.ranks);
            if rank >= STRAIGHT
                || rank - x <= self.sure
                || area >= self.integral(rank + 0.5) - self.height(rank)
            {
                return fill(rank - 1.0, last, rng);
            }
        }
    }

    fn height(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// H: (x^(1-s) - 1) / (1 - s), which is ln x where s is 1, in a form without a gap there.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        log * grown((1.0 - self.exponent) * log)
    }
    fn inverse(&self, area: f64) -> f64 {
        // Rounding must not lead below the least that H can be.
        let scaled = (area * (1.0 - self.exponent)).max(-1.0);
        (area * shrunk(scaled)).exp()
    }
}

/// (e^x - 1) / x, which is 1 at 0.
fn grown(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.exp_m1() / x } else { 1.0 + x / 2.0 }
}

/// ln(1 + x) / x, which is 1 at 0.
fn shrunk(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.ln_1p() / x } else { 1.0 - x / 2.0 }
}

/// The mean of several uniform draws (the Bates distribution), which is nearly Gaussian. Its deviation is
/// that of one draw, divided by the square root of their number. By integers: the same on every machine.
fn bell(draws: u32, last: u64, rng: &mut Rng) -> u64 {
    let draws = draws.max(1);
    let sum: u128 = (0..draws).map(|_| u128::from(rng.next_u64())).sum();
    // The mean as a share of 2^64, then that share of the range.
    let share = sum / u128::from(draws);
    ((share * (u128::from(last) + 1)) >> 64) as u64
}

/// The power to which a uniform number is raised so that a share h of the range gets a share 1 - h of the
/// draws, and within itself likewise: ln h / ln (1 - h).
fn pareto_power(permille: u32) -> f64 {
    let h = f64::from(permille.clamp(1, 999)) / 1000.0;
    h.ln() / (-h).ln_1p()
}

fn pareto(power: f64, last: u64, rng: &mut Rng) -> u64 {
    let share = rng.unit().powf(power);
    fill(share * (last as f64 + 1.0), last, rng)
}

/// What sysbench 1.0 calls `special`, and had as its default: a share of the draws is uniform over a few hot
/// values, the rest is a [`bell`] over the whole range. There, the number that decides whether a draw is hot also
/// decides where it falls in the middle of the range. So only the upper `draws_percent` of the middle
/// `hot_percent` is ever hit: about 150 of 20,000 values, not 200.
#[derive(Clone, Debug)]
struct Special {
    /// Of the bell.
    draws: u32,
    /// Draws that are hot, in per cent.
    draws_percent: u32,
    /// Distance from the lowest value to where the hot ones begin, in parts of [`Special::PARTS`] to a value:
    /// they begin and end between two values, and the value on each edge is hit less often.
    first_hot: u128,
    /// How wide they are, in the same parts.
    width: u128,
}

impl Special {
    /// Per cent of per cent, and halves: begin and end are whole numbers of these.
    const PARTS: u128 = 20_000;

    fn new(last: u64, draws: u32, [middle, draws_percent]: [u32; 2], hot: HotValues) -> Self {
        let last = u128::from(last);
        let percent = u128::from(middle.min(100));
        let often = u128::from(draws_percent.min(100));
        let (first_hot, width) = match hot {
            HotValues::All => {
                let values = ((last + 1) * percent / 100).max(1);
                ((last + 1 - values) / 2 * Self::PARTS, values * Self::PARTS)
            }
            HotValues::Upper => {
                // The middle is (last × percent + 1) wide.
                let middle = last * percent + 100;
                (last * (100 - percent) * 100 + middle * 2 * (100 - often), middle * 2 * often)
            }
        };
        Self { draws, draws_percent, first_hot, width }
    }

    fn draw(&self, last: u64, rng: &mut Rng) -> u64 {
        if rng.below(100) < u64::from(self.draws_percent) {
            let share = u128::from(rng.next_u64());
            // share × width / 2^64, where the product may have more than 128 bits.
            let (high, low) = (self.width >> 32, self.width & u128::from(u32::MAX));
            let into = (share * high + ((share * low) >> 32)) >> 32;
            ((self.first_hot + into) / Self::PARTS) as u64
        } else {
            bell(self.draws, last, rng)
        }
    }
}

#[cfg(test)]
mod tests;

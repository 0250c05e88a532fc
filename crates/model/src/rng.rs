//! Seeded random numbers that are part of the contract: the same plan generates the same rows.
//!
//! SplitMix64 (Steele, Lea & Flood 2014, *Fast splittable pseudorandom number generators*,
//! OOPSLA). Written here, because a library may change its stream between versions and with it
//! every row of every published run.

/// A stream of random numbers that is a pure function of its seed.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        finish(self.0)
    }

    /// A number in `0..bound`; `bound` must not be zero. The bias is below `bound / 2^64`.
    #[inline]
    pub const fn below(&mut self, bound: u64) -> u64 {
        ((self.next_u64() as u128 * bound as u128) >> 64) as u64
    }

    /// A real number in `[0, 1)`, for tests and simulations.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Puts `items` into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// A seed derived from another and a list of numbers, each order and value giving another seed.
pub const fn mix(seed: u64, salt: &[u64]) -> u64 {
    let mut state = finish(seed ^ 0xA076_1D64_78BD_642F);
    let mut i = 0;
    while i < salt.len() {
        state = finish(
            state.wrapping_add(0x9E37_79B9_7F4A_7C15) ^ salt[i].wrapping_mul(0xD6E8_FEB8_6659_FD93),
        );
        i += 1;
    }
    state
}

#[inline]
const fn finish(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Endless orders of the given number of items; each holds every item once. A random order is followed by its
/// mirror image, then comes another one: of two things AB BA, or BA AB. A drift that is even over two orders reaches
/// all things alike; of two things, whatever comes with a place does. No rhythm can fall in with the orders.
#[derive(Clone, Debug)]
pub struct Orders {
    rng: Rng,
    order: Vec<usize>,
    mirrors: bool,
}

impl Orders {
    pub fn new(seed: u64, things: usize) -> Self {
        Self { rng: Rng::new(seed), order: (0..things).collect(), mirrors: false }
    }
}

impl Iterator for Orders {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        if self.mirrors {
            self.order.reverse();
        } else {
            self.rng.shuffle(&mut self.order);
        }
        self.mirrors = !self.mirrors;
        Some(self.order.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        // First outputs of SplitMix64 with seed 1234567, as given with the reference implementation.
        let mut rng = Rng::new(1_234_567);
        let stream: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(
            stream,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut rng = Rng::new(7);
        let mut seen = [0u32; 10];
        for _ in 0..10_000 {
            seen[rng.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (900..1100).contains(n)), "{seen:?}");
    }

    #[test]
    fn derived_seeds_differ() {
        let seeds = [mix(1, &[0, 1]), mix(1, &[1, 0]), mix(2, &[0, 1]), mix(1, &[0]), mix(1, &[])];
        for (i, a) in seeds.iter().enumerate() {
            assert!(seeds[i + 1..].iter().all(|b| a != b));
        }
    }

    fn orders(seed: u64, things: usize) -> Vec<Vec<usize>> {
        Orders::new(seed, things).take(200).collect()
    }

    #[test]
    fn every_order_has_each_thing_once() {
        for things in 1..6 {
            for mut order in orders(7, things) {
                order.sort_unstable();
                assert!(order.into_iter().eq(0..things));
            }
        }
    }

    #[test]
    fn each_order_is_followed_by_its_mirror_image() {
        for things in 1..6 {
            for pair in orders(7, things).chunks(2) {
                let mirrored: Vec<usize> = pair[0].iter().rev().copied().collect();
                assert_eq!(pair[1], mirrored);
            }
        }
    }

    #[test]
    fn of_two_things_each_begins_about_equally_often() {
        let first = orders(7, 2).into_iter().step_by(2).map(|order| order[0]);
        let second_begins: usize = first.sum();
        assert!((30..70).contains(&second_begins), "{second_begins} of 100");
    }

    #[test]
    fn the_orders_are_a_function_of_the_seed() {
        assert_eq!(orders(7, 3), orders(7, 3));
        assert_ne!(orders(7, 3), orders(8, 3));
    }
}

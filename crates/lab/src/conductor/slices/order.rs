//! The order of slices.

use model::{Nanos, Rng, mix};

/// So that the order of slices has nothing to do with what else is drawn from a trial's seed.
const SALT: u32 = u32::from_be_bytes(*b"slic");

/// Laps without end; each has one slice of every system. A random order is followed by its mirror image, then
/// comes another one: of two systems AB BA, or BA AB. A drift that is even over two laps reaches all systems
/// alike, and no rhythm of the machine can fall in with that of the slices.
pub(super) struct Laps {
    rng: Rng,
    order: Vec<usize>,
    /// Is the next lap the mirror image of the last?
    mirrors: bool,
}

impl Laps {
    /// Of so many systems, in step `ordinal` of a round with this seed.
    pub(super) fn new(seed: u64, ordinal: u32, systems: usize) -> Self {
        let salt = [u64::from(SALT), u64::from(ordinal)];
        Self {
            rng: Rng::new(mix(seed, &salt)),
            order: (0..systems).collect(),
            mirrors: false,
        }
    }
}

impl Iterator for Laps {
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

/// How many slices a window of this length is cut into, and how long they are: all alike, and at most `most`.
pub(super) fn cut(length: Nanos, most: Nanos) -> (usize, Nanos) {
    let count = length.0.div_ceil(most.0.max(1)).max(1);
    (count as usize, Nanos(length.0 / count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laps(seed: u64, systems: usize) -> Vec<Vec<usize>> {
        Laps::new(seed, 3, systems).take(200).collect()
    }

    #[test]
    fn every_lap_has_every_system_once() {
        for systems in 1..6 {
            for mut lap in laps(7, systems) {
                lap.sort_unstable();
                assert!(lap.into_iter().eq(0..systems));
            }
        }
    }

    #[test]
    fn each_order_is_followed_by_its_mirror_image() {
        for systems in 1..6 {
            for pair in laps(7, systems).chunks(2) {
                let mirrored: Vec<usize> = pair[0].iter().rev().copied().collect();
                assert_eq!(pair[1], mirrored);
            }
        }
    }

    #[test]
    fn two_systems_begin_about_equally_often() {
        let first = laps(7, 2).into_iter().step_by(2).map(|lap| lap[0]);
        let second_begins: usize = first.sum();
        assert!((30..70).contains(&second_begins), "{second_begins} of 100");
    }

    #[test]
    fn the_order_is_a_function_of_seed_and_step() {
        assert_eq!(laps(7, 3), laps(7, 3));
        assert_ne!(laps(7, 3), laps(8, 3));
        let other: Vec<_> = Laps::new(7, 4, 3).take(200).collect();
        assert_ne!(laps(7, 3), other);
    }

    #[test]
    fn a_window_is_cut_into_equal_slices() {
        let millis = |(count, each): (usize, Nanos)| (count, each.0 / 1_000_000);
        let cut = |length, most| cut(Nanos::from_millis(length), Nanos::from_millis(most));
        assert_eq!(millis(cut(10_000, 250)), (40, 250));
        assert_eq!(millis(cut(1_000, 300)), (4, 250));
        assert_eq!(millis(cut(1_000, 5_000)), (1, 1_000));
        assert_eq!(cut(0, 250), (1, Nanos(0)));
        assert_eq!(cut(1, 0).0, 1_000_000);
    }
}

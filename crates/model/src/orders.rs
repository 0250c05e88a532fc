//! Random orders of systems.

use crate::Rng;

/// Endless orders of the given number of items; each holds every item once. A random order is followed by its
/// mirror image, then comes another one: of two things AB BA, or BA AB. A drift that is even over two orders reaches
/// all things alike; of two things, whatever comes with a place does. No rhythm can fall in with the orders.
#[derive(Clone, Debug)]
pub struct Orders {
    rng: Rng,
    order: Vec<usize>,
    /// Is the next one the mirror image of the last?
    mirrors: bool,
}

impl Orders {
    /// Of the numbers from zero up to `things`; a function of the seed.
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

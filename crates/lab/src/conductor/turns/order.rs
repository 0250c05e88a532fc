//! The order of slices.

use model::{Nanos, Orders, mix};

/// Makes the order of slices independent of other draws from a trial's seed.
const SALT: u32 = u32::from_be_bytes(*b"slic");

/// The orders of the laps of step `ordinal`, of so many systems, in a round with this seed: each lap has one slice
/// of every system.
pub(super) fn laps(seed: u64, ordinal: u32, systems: usize) -> Orders {
    let salt = [u64::from(SALT), u64::from(ordinal)];
    Orders::new(mix(seed, &salt), systems)
}

/// How many slices a window of this length is cut into, and how long they are: all alike, and at most `most`.
pub(super) fn cut(length: Nanos, most: Nanos) -> (usize, Nanos) {
    let count = length.0.div_ceil(most.0.max(1)).max(1);
    (count as usize, Nanos(length.0 / count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_a_function_of_seed_and_step() {
        let order = |seed, ordinal| -> Vec<_> { laps(seed, ordinal, 3).take(200).collect() };
        assert_eq!(order(7, 3), order(7, 3));
        assert_ne!(order(7, 3), order(8, 3));
        assert_ne!(order(7, 3), order(7, 4));
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

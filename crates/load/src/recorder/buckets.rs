//! Counts latencies in as few instructions as it takes, to become a [`Latency`] once a second.

use model::{Latency, Nanos};

/// Latencies have fewer binary digits than this; longer ones are counted at [`BOUND`], as [`Latency`] does.
const LENGTH: u32 = 43;

/// The bound of [`Latency`].
const BOUND: u64 = 1 << 42;

/// Buckets of each power of two, of 1024 in the first ones: at least three significant digits.
const DIGITS: u32 = 10;

/// Buckets in all.
const BUCKETS: usize = place((1 << LENGTH) - 1) + 1;

/// Buckets that are looked at together.
const BLOCK: usize = 64;

/// Latencies of one kind in one interval.
#[derive(Clone, Debug)]
pub(super) struct Buckets(Box<[u32]>);

impl Buckets {
    #[inline]
    pub(super) fn count(&mut self, latency: Nanos) {
        match self.0.get_mut(place(latency.0)) {
            Some(count) => *count += 1,
            None => self.count(Nanos(BOUND)),
        }
    }

    pub(super) fn latency(&self) -> Latency {
        let mut latency = Latency::new();
        // Nearly all buckets are empty; a block of them is looked at in a few instructions.
        for (block, first) in self.0.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
            if block.iter().fold(0, |any, count| any | count) == 0 {
                continue;
            }
            for (count, place) in block.iter().zip(first..) {
                if *count > 0 {
                    latency.record_many(Nanos(lowest(place)), u64::from(*count));
                }
            }
        }
        latency
    }
}

impl Default for Buckets {
    fn default() -> Self {
        Self(vec![0; BUCKETS].into())
    }
}

/// The bucket of a number: its length in binary digits and its first eleven of them. Below 2048 each
/// number has its own; above, 1024 follow for each length.
#[inline]
const fn place(number: u64) -> usize {
    let dropped = (number | (1 << DIGITS)).ilog2() - DIGITS;
    ((dropped as usize) << DIGITS) + (number >> dropped) as usize
}

const fn lowest(place: u64) -> u64 {
    let dropped = (place >> DIGITS).saturating_sub(1);
    (place - (dropped << DIGITS)) << dropped
}

#[cfg(test)]
mod tests {
    use model::Rng;

    use super::*;

    #[test]
    fn each_bucket_begins_where_the_one_before_ends() {
        for bucket in 1..BUCKETS {
            let first = lowest(bucket as u64);
            assert_eq!((place(first), place(first - 1)), (bucket, bucket - 1));
        }
        assert_eq!(place(1 << LENGTH), BUCKETS);
    }

    #[test]
    fn they_become_what_would_have_been_recorded_one_by_one() {
        let mut rng = Rng::new(1);
        let mut buckets = Buckets::default();
        let mut latency = Latency::new();
        let mut see = |number: u64| {
            buckets.count(Nanos(number));
            latency.record(Nanos(number));
        };
        let limit = 1 << LENGTH;
        for number in [0, 1, 2047, 2048, 2049, BOUND, BOUND + 1, limit - 1, limit, u64::MAX] {
            see(number);
        }
        for _ in 0..100_000 {
            let length = rng.below(64);
            see(rng.next_u64() >> length);
        }
        assert_eq!(buckets.latency(), latency);
        assert_eq!(buckets.latency().mean(), latency.mean());
        assert_eq!(buckets.latency().max(), latency.max());
    }
}

//! Totals over parts that come and go: processes and threads.

use std::collections::BTreeMap;

use model::Readings;

/// A total over parts that only grow and that vanish: what a vanished part had last is kept.
#[derive(Debug)]
pub(crate) struct Carry<K> {
    seen: BTreeMap<K, u64>,
    vanished: u64,
}

impl<K> Default for Carry<K> {
    fn default() -> Self {
        Self { seen: BTreeMap::new(), vanished: 0 }
    }
}

impl<K: Ord> Carry<K> {
    /// The total, now that the parts read `now`. A part that reads less than before is a new one under
    /// a used name. `vanished_at_least` is what is known from elsewhere of the vanished parts together;
    /// it may round down, and it may include parts that were never seen.
    pub(crate) fn total(&mut self, now: BTreeMap<K, u64>, vanished_at_least: u64) -> u64 {
        let lost: u64 = self
            .seen
            .iter()
            .filter(|(key, last)| now.get(key).is_none_or(|value| value < last))
            .map(|(_, last)| last)
            .sum();
        self.vanished = (self.vanished + lost).max(vanished_at_least);
        self.seen = now;
        self.vanished + self.seen.values().sum::<u64>()
    }
}

/// Sums that may dip for a moment, when a part moves from one place to another between two reads.
#[derive(Debug, Default)]
pub(crate) struct Floors(BTreeMap<&'static str, u64>);

impl Floors {
    /// Adds a total to the readings: `value`, or the highest value so far.
    pub(crate) fn total(&mut self, readings: &mut Readings, id: &'static str, value: u64) {
        let floor = self.0.entry(id).or_default();
        *floor = value.max(*floor);
        readings.total(id, *floor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts<const N: usize>(parts: [(u32, u64); N]) -> BTreeMap<u32, u64> {
        parts.into()
    }

    #[test]
    fn what_vanished_had_is_kept() {
        let mut carry = Carry::default();
        assert_eq!(carry.total(parts([(1, 10), (2, 5)]), 0), 15);
        assert_eq!(carry.total(parts([(1, 12)]), 0), 17);
        assert_eq!(carry.total(parts([(1, 12), (3, 1)]), 0), 18);
    }

    #[test]
    fn a_reused_name_is_a_new_part() {
        let mut carry = Carry::default();
        carry.total(parts([(1, 10)]), 0);
        assert_eq!(carry.total(parts([(1, 3)]), 0), 13);
    }

    #[test]
    fn the_coarser_knowledge_never_counts_twice() {
        let mut carry = Carry::default();
        carry.total(parts([(1, 127)]), 0);
        // Part 1 ended with 127 by our reading; the coarse source has it as 120.
        assert_eq!(carry.total(parts([]), 120), 127);
        // A part that lived and died unseen is known only to the coarse source.
        assert_eq!(carry.total(parts([]), 200), 200);
    }

    #[test]
    fn floors_hold_the_highest() {
        let mut floors = Floors::default();
        for (value, expected) in [(5, 5), (3, 5), (8, 8)] {
            let mut readings = Readings::default();
            floors.total(&mut readings, "x", value);
            assert_eq!(readings.get("x"), Some(expected));
        }
    }

    proptest! {
        /// Whatever comes and goes, a total never goes down and never misses what is there now.
        #[test]
        fn totals_never_go_down(
            readings in prop::collection::vec(
                (prop::collection::btree_map(0u32..6, 0u64..1000, 0..6), 0u64..2000),
                1..20,
            )
        ) {
            let mut carry = Carry::default();
            let mut last = 0;
            for (now, at_least) in readings {
                let alive: u64 = now.values().sum();
                let total = carry.total(now, at_least);
                prop_assert!(total >= last);
                prop_assert!(total >= alive + at_least);
                last = total;
            }
        }
    }
}

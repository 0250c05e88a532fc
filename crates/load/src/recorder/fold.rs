//! Where samples become intervals and totals.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use model::{ErrorCount, KindInterval, KindSpec, KindTotals, Latency, Nanos};

use super::slot::{NONE, Sample, Slot};

/// What all clients did. Whoever has it locked may take the samples out of the slots.
#[derive(Debug)]
pub(super) struct Fold {
    kinds: Vec<KindSpec>,
    each: Nanos,
    /// Intervals that are not yet handed out, by index.
    open: BTreeMap<u32, Vec<Tally>>,
    /// First interval that is not yet handed out; it also counts samples that come too late for theirs.
    next: u32,
    totals: Vec<KindInterval>,
    late: Vec<u64>,
    errors: BTreeMap<(u8, String, bool), u64>,
    /// When the window closes, as far as is known: what ends later is late.
    closed: Nanos,
}

/// What the operations of one kind did in one interval that is not yet handed out.
#[derive(Debug, Default)]
struct Tally {
    ops: u64,
    rows: u64,
    errors: u64,
    retries: u64,
    service: Buckets,
    /// Only where there is a schedule.
    response: Option<Buckets>,
}

pub(super) struct Failure<'a> {
    pub(super) kind: u8,
    /// The other kind that it is counted in, or [`NONE`].
    pub(super) also: u8,
    pub(super) code: &'a str,
    pub(super) retried: bool,
    pub(super) started: Nanos,
    pub(super) at: Nanos,
}

impl Fold {
    pub(super) fn new(kinds: Vec<KindSpec>, each: Nanos) -> Self {
        Self {
            each,
            open: BTreeMap::new(),
            next: 0,
            totals: blank(&kinds),
            late: vec![0; kinds.len()],
            errors: BTreeMap::new(),
            closed: Nanos(u64::MAX),
            kinds,
        }
    }

    /// Closes the window at `at`, unless it closes before; tells when that is.
    pub(super) fn close(&mut self, at: Nanos) -> Nanos {
        self.closed = self.closed.min(at);
        self.closed
    }

    /// Counts all samples of a slot. Those of a client come by and large in the order of their ends, so
    /// that the interval is looked up once an interval and not once a sample.
    pub(super) fn take(&mut self, slot: &Slot) {
        let mut samples = slot.take();
        let mut next = samples.next();
        while let Some(first) = next {
            if first.end > self.closed {
                self.count_late([first.kind, first.also], first.end - first.service);
                next = samples.next();
                continue;
            }
            let from = self.interval_of(first.end) * self.each.0;
            let until = (from + self.each.0).min(self.closed.0.saturating_add(1));
            let kinds = self.at(first.end);
            count(kinds, &first);
            next = samples.next();
            while let Some(sample) = next
                && (from..until).contains(&sample.end.0)
            {
                count(kinds, &sample);
                next = samples.next();
            }
        }
    }

    pub(super) fn fail(&mut self, failure: &Failure<'_>) {
        let Failure { kind, also, code, retried, started, at } = *failure;
        if at > self.closed {
            // One that is repeated is late when it ends, not with each try.
            if !retried {
                self.count_late([kind, also], started);
            }
            return;
        }
        let key = (kind, code.to_owned(), retried);
        *self.errors.entry(key).or_default() += 1;
        let kinds = self.at(at);
        for kind in [kind, also] {
            if let Some(kind) = kinds.get_mut(usize::from(kind)) {
                kind.retries += u64::from(retried);
                kind.errors += u64::from(!retried);
            }
        }
    }

    /// Hands out interval `index`: everything that ended before its end and was not handed out yet.
    pub(super) fn hand_out(&mut self, index: u32) -> Vec<KindInterval> {
        let mut handed: Option<Vec<KindInterval>> = None;
        while let Some(entry) = self.open.first_entry().filter(|e| *e.key() <= index) {
            let kinds = entry.remove().into_iter().map(KindInterval::from);
            match &mut handed {
                None => handed = Some(kinds.collect()),
                Some(sums) => add(sums, kinds),
            }
        }
        self.next = index + 1;
        let handed = handed.unwrap_or_else(|| blank(&self.kinds));
        add(&mut self.totals, &handed);
        handed
    }

    /// The sums of all intervals that were handed out, and the errors of the whole window.
    pub(super) fn totals(&self) -> (Vec<KindTotals>, Vec<ErrorCount>) {
        let totals = self.kinds.iter().zip(&self.totals).zip(&self.late);
        let totals = totals.map(|((spec, sums), late)| KindTotals {
            spec: spec.clone(),
            sums: sums.clone(),
            late: *late,
        });
        let errors = self.errors.iter().filter_map(|((kind, code, retried), count)| {
            Some(ErrorCount {
                kind: self.kinds.get(usize::from(*kind))?.name.clone(),
                code: code.clone(),
                count: *count,
                retried: *retried,
            })
        });
        (totals.collect(), errors.collect())
    }

    /// An operation that ended after the window: late if it began before it closed, otherwise ignored.
    pub(super) fn count_late(&mut self, kinds: [u8; 2], started: Nanos) {
        if started > self.closed {
            return;
        }
        for kind in kinds {
            if let Some(late) = self.late.get_mut(usize::from(kind)) {
                *late += 1;
            }
        }
    }

    /// The interval in which something ended; the closing edge itself belongs to the interval before it.
    fn interval_of(&self, end: Nanos) -> u64 {
        end.0.min(self.closed.0.saturating_sub(1)) / self.each.0
    }

    fn at(&mut self, end: Nanos) -> &mut [Tally] {
        let index = (self.interval_of(end) as u32).max(self.next);
        let tally = |kind: &KindSpec| Tally {
            response: kind.scheduled.then(Buckets::default),
            ..Tally::default()
        };
        self.open.entry(index).or_insert_with(|| self.kinds.iter().map(tally).collect())
    }
}

impl From<Tally> for KindInterval {
    fn from(tally: Tally) -> Self {
        Self {
            ops: tally.ops,
            rows: tally.rows,
            errors: tally.errors,
            retries: tally.retries,
            service: tally.service.latency(),
            response: tally.response.map(|buckets| buckets.latency()),
        }
    }
}

#[inline]
fn count(kinds: &mut [Tally], sample: &Sample) {
    count_in(kinds, sample.kind, sample);
    if sample.also != NONE {
        count_in(kinds, sample.also, sample);
    }
}

#[inline]
fn count_in(kinds: &mut [Tally], kind: u8, sample: &Sample) {
    let Some(kind) = kinds.get_mut(usize::from(kind)) else {
        return;
    };
    kind.ops += 1;
    kind.rows += sample.rows;
    kind.service.count(sample.service);
    if let Some(response) = &mut kind.response {
        response.count(sample.response);
    }
}

fn add(sums: &mut [KindInterval], parts: impl IntoIterator<Item = impl Borrow<KindInterval>>) {
    for (sum, part) in sums.iter_mut().zip(parts) {
        sum.merge(part.borrow());
    }
}

fn blank(kinds: &[KindSpec]) -> Vec<KindInterval> {
    let blank = |kind: &KindSpec| KindInterval {
        response: kind.scheduled.then(Default::default),
        ..KindInterval::default()
    };
    kinds.iter().map(blank).collect()
}

/// Latencies have fewer binary digits than this; longer ones are counted at [`BOUND`], as [`Latency`] does.
const LENGTH: u32 = 43;

/// The bound of [`Latency`].
const BOUND: u64 = 1 << 42;

/// Buckets of each power of two, of 1024 in the first ones: at least three significant digits.
const DIGITS: u32 = 10;

const BUCKETS: usize = place((1 << LENGTH) - 1) + 1;

const BLOCK: usize = 64;

/// Latencies of one kind in one interval, counted in few instructions; a [`Latency`] once a second.
#[derive(Clone, Debug)]
struct Buckets(Box<[u32]>);

impl Buckets {
    #[inline]
    fn count(&mut self, latency: Nanos) {
        match self.0.get_mut(place(latency.0)) {
            Some(count) => *count += 1,
            None => self.count(Nanos(BOUND)),
        }
    }

    fn latency(&self) -> Latency {
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

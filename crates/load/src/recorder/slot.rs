//! The samples of one client on their way into the intervals.
//!
//! One thread writes them, another one takes them away, and neither waits for the other: a sample is
//! written first and then said to be there. All taking is done under the lock of the fold, so it is one
//! thread's work at a time. Cells are used from the first to the last; when all are, the client itself
//! takes what is left and begins again at the first.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use model::Nanos;

/// In place of a second kind: there is none. No step has so many kinds.
pub(super) const NONE: u8 = u8::MAX;

/// One operation, or a part of one, that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) end: Nanos,
    pub(super) service: Nanos,
    /// Zero where there is no schedule.
    pub(super) response: Nanos,
    pub(super) rows: u64,
    pub(super) kind: u8,
    /// The other kind that it is counted in, or [`NONE`].
    pub(super) also: u8,
}

/// The buffer between one client and the fold.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// Start of the operation under way plus one; zero when idle.
    busy_since: AtomicU64,
    /// Cells that hold a sample. The client raises it.
    filled: AtomicUsize,
    /// Cells whose sample was taken. Changed only under the lock of the fold.
    taken: AtomicUsize,
    cells: Box<[Cell]>,
}

impl Slot {
    pub(super) fn new(places: usize) -> Self {
        Self { cells: (0..places).map(|_| Cell::default()).collect(), ..Self::default() }
    }

    #[inline]
    pub(super) fn places(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn filled(&self) -> usize {
        self.filled.load(Ordering::Acquire)
    }

    /// Writes a sample into cell `place`, the first one that holds none. Only for the slot's client.
    #[inline]
    pub(super) fn put(&self, place: usize, sample: Sample) {
        if let Some(cell) = self.cells.get(place) {
            cell.write(sample);
            self.filled.store(place + 1, Ordering::Release);
        }
    }

    /// Takes all samples that were not taken yet. Only under the lock of the fold.
    pub(super) fn take(&self) -> impl Iterator<Item = Sample> {
        let filled = self.filled();
        let taken = self.taken.load(Ordering::Relaxed);
        self.taken.store(filled, Ordering::Relaxed);
        let cells = self.cells.get(taken..filled).unwrap_or_default();
        cells.iter().map(Cell::read)
    }

    /// Begins again at the first cell, all samples being taken. Only for its client, with the fold locked.
    pub(super) fn begin_again(&self) {
        self.taken.store(0, Ordering::Relaxed);
        self.filled.store(0, Ordering::Relaxed);
    }

    /// An operation is under way since `started`.
    #[inline]
    pub(super) fn set_busy(&self, started: Nanos) {
        self.busy_since.store(started.0 + 1, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn set_idle(&self) {
        self.busy_since.store(0, Ordering::Relaxed);
    }

    /// When the operation under way started; `None` when there is none.
    pub(super) fn busy_since(&self) -> Option<Nanos> {
        self.busy_since.load(Ordering::Relaxed).checked_sub(1).map(Nanos)
    }
}

/// A sample as four words. The last one holds rows, second kind and kind: 48, 8 and 8 bits.
#[derive(Debug, Default)]
struct Cell([AtomicU64; 4]);

impl Cell {
    #[inline]
    fn write(&self, sample: Sample) {
        let [end, service, response, what] = &self.0;
        let kinds = (u64::from(sample.also) << 8) | u64::from(sample.kind);
        end.store(sample.end.0, Ordering::Relaxed);
        service.store(sample.service.0, Ordering::Relaxed);
        response.store(sample.response.0, Ordering::Relaxed);
        what.store((sample.rows << 16) | kinds, Ordering::Relaxed);
    }

    #[inline]
    fn read(&self) -> Sample {
        let [end, service, response, what] =
            self.0.each_ref().map(|word| word.load(Ordering::Relaxed));
        Sample {
            end: Nanos(end),
            service: Nanos(service),
            response: Nanos(response),
            rows: what >> 16,
            kind: what as u8,
            also: (what >> 8) as u8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: u64) -> Sample {
        Sample {
            end: Nanos(n),
            service: Nanos(n + 1),
            response: Nanos(n + 2),
            rows: (1 << 48) - 1 - n,
            kind: 3,
            also: NONE,
        }
    }

    #[test]
    fn samples_are_taken_once_and_as_they_were_put() {
        let slot = Slot::new(3);
        slot.put(0, sample(1));
        slot.put(1, sample(2));
        assert_eq!(slot.take().collect::<Vec<_>>(), [sample(1), sample(2)]);
        assert_eq!(slot.take().count(), 0);
        slot.put(2, sample(3));
        assert_eq!(slot.take().collect::<Vec<_>>(), [sample(3)]);
        slot.begin_again();
        slot.put(0, sample(4));
        assert_eq!(slot.take().collect::<Vec<_>>(), [sample(4)]);
    }

    #[test]
    fn what_is_taken_while_the_client_writes_is_whole() {
        let slot = Slot::new(100_000);
        let mut seen = 0;
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for n in 0..100_000u64 {
                    slot.put(n as usize, sample(n));
                }
            });
            while !writer.is_finished() || slot.filled() > seen {
                for taken in slot.take() {
                    assert_eq!(taken, sample(seen as u64));
                    seen += 1;
                }
            }
        });
        assert_eq!(seen, 100_000);
    }

    #[test]
    fn an_operation_that_started_with_the_window_is_under_way() {
        let slot = Slot::new(1);
        assert_eq!(slot.busy_since(), None);
        slot.set_busy(Nanos(0));
        assert_eq!(slot.busy_since(), Some(Nanos(0)));
        slot.set_idle();
        assert_eq!(slot.busy_since(), None);
    }
}

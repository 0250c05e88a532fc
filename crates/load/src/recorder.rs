//! What clients record, cut into intervals.
//!
//! Each client appends samples to a buffer of its own, behind a lock that nobody else holds except
//! for the moment in which the collector takes the samples away, once a second. A sample carries
//! its own end time, so it is counted in the interval in which it ended, whenever it is collected.
//! A full buffer is folded by its own client, so memory does not depend on the rate.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{ErrorCount, Interval, KindInterval, KindSpec, KindTotals, Nanos, Readings};

use crate::StepClock;

/// Samples of a client between two folds. 512 × 40 bytes keep 600 threads under 13 MB.
const BUFFER: usize = 512;

/// Length of an interval.
const SECOND: u64 = Nanos::SECOND.0;

/// All recording of one step.
#[derive(Debug)]
pub struct Recorder {
    kinds: Vec<KindSpec>,
    slots: Vec<Arc<Slot>>,
    fold: Arc<Mutex<Fold>>,
}

/// One client's end of the recorder.
#[derive(Debug)]
pub struct ClientRecorder {
    clock: StepClock,
    slot: Arc<Slot>,
    fold: Arc<Mutex<Fold>>,
}

#[derive(Debug, Default)]
struct Slot {
    /// Start of the operation under way plus one; zero when idle.
    busy_since: AtomicU64,
    buffer: Mutex<Vec<Sample>>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    end: Nanos,
    service: Nanos,
    /// Zero where there is no schedule.
    response: Nanos,
    rows: u64,
    kind: u8,
}

/// Where samples become intervals and totals.
#[derive(Debug)]
struct Fold {
    scheduled: Vec<bool>,
    /// Intervals that are not yet handed out, by index.
    open: BTreeMap<u32, Vec<KindInterval>>,
    /// First interval that is not yet handed out; a sample that comes later than its interval is
    /// counted in this one.
    next: u32,
    totals: Vec<KindInterval>,
    late: Vec<u64>,
    errors: BTreeMap<(u8, String, bool), u64>,
    /// Set when the window closes; what ends later is late.
    closed: Option<Nanos>,
}

impl Recorder {
    /// A recorder for `clients` clients and these operation kinds.
    pub fn new(kinds: Vec<KindSpec>, clients: usize) -> Self {
        let fold = Fold {
            scheduled: kinds.iter().map(|k| k.scheduled).collect(),
            open: BTreeMap::new(),
            next: 0,
            totals: blank(&kinds),
            late: vec![0; kinds.len()],
            errors: BTreeMap::new(),
            closed: None,
        };
        let slots = (0..clients).map(|_| Arc::default()).collect();
        Self {
            kinds,
            slots,
            fold: Arc::new(Mutex::new(fold)),
        }
    }

    /// The recording end of client `index`.
    pub fn client(&self, index: usize, clock: StepClock) -> ClientRecorder {
        let slot = Arc::clone(&self.slots[index]);
        ClientRecorder {
            clock,
            slot,
            fold: Arc::clone(&self.fold),
        }
    }

    /// Closes the window now, by this clock, and tells when that was. Everything folded before
    /// ended before: the lock is held while the clock is read.
    pub fn close(&self, clock: &StepClock) -> Nanos {
        let mut fold = lock(&self.fold);
        *fold.closed.get_or_insert_with(|| clock.now())
    }

    /// Hands out interval `index`, `length` long: everything that ended before its end.
    pub fn interval(&self, index: u32, length: Nanos, now: Nanos) -> Interval {
        let mut stalled = Nanos(0);
        for slot in &self.slots {
            let busy = slot.busy_since.load(Ordering::Relaxed);
            if busy > 0 {
                stalled = stalled.max(now.saturating_sub(Nanos(busy - 1)));
            }
        }
        let mut fold = lock(&self.fold);
        self.collect(&mut fold);
        let mut kinds = blank(&self.kinds);
        while let Some(entry) = fold.open.first_entry().filter(|e| *e.key() <= index) {
            for (sum, part) in kinds.iter_mut().zip(entry.remove()) {
                sum.merge(&part);
            }
        }
        fold.next = index + 1;
        for (total, part) in fold.totals.iter_mut().zip(&kinds) {
            total.merge(part);
        }
        let start = Nanos(u64::from(index) * SECOND);
        Interval {
            index,
            start,
            length,
            kinds,
            stalled,
            readings: Readings::default(),
        }
    }

    /// What happened in the whole window. To be called when all clients have ended and the last
    /// interval was handed out.
    pub fn totals(&self) -> (Vec<KindTotals>, Vec<ErrorCount>) {
        let mut fold = lock(&self.fold);
        self.collect(&mut fold);
        let fold = &*fold;
        let totals = self.kinds.iter().zip(&fold.totals).zip(&fold.late);
        let totals = totals
            .map(|((spec, sums), late)| KindTotals {
                spec: spec.clone(),
                sums: sums.clone(),
                late: *late,
            })
            .collect();
        let errors = fold
            .errors
            .iter()
            .map(|((kind, code, retried), count)| ErrorCount {
                kind: self.kinds[usize::from(*kind)].name.clone(),
                code: code.clone(),
                count: *count,
                retried: *retried,
            });
        (totals, errors.collect())
    }

    fn collect(&self, fold: &mut Fold) {
        for slot in &self.slots {
            fold.take(&mut lock(&slot.buffer));
        }
    }
}

impl ClientRecorder {
    /// The step's clock.
    pub fn clock(&self) -> &StepClock {
        &self.clock
    }

    /// An operation starts now.
    #[inline]
    pub fn begin(&self) -> Nanos {
        let now = self.clock.now();
        self.slot.busy_since.store(now.0 + 1, Ordering::Relaxed);
        now
    }

    /// The operation that started at `started` succeeded; it touched `rows` rows. `intended` is when
    /// the schedule wanted it to start.
    #[inline]
    pub fn done(&mut self, kind: usize, started: Nanos, intended: Option<Nanos>, rows: u64) {
        let end = self.clock.now();
        self.record(kind, started, intended, end, rows);
    }

    /// As [`ClientRecorder::done`], with the end given: for simulations.
    pub fn record(
        &mut self,
        kind: usize,
        started: Nanos,
        intended: Option<Nanos>,
        end: Nanos,
        rows: u64,
    ) {
        let response = intended.map_or(Nanos(0), |intended| end.saturating_sub(intended));
        let service = end.saturating_sub(started);
        self.slot.busy_since.store(0, Ordering::Relaxed);
        let mut buffer = lock(&self.slot.buffer);
        buffer.push(Sample {
            end,
            service,
            response,
            rows,
            kind: kind as u8,
        });
        if buffer.len() >= BUFFER {
            // The order of locks is fold before buffer, as in the collector.
            drop(buffer);
            let mut fold = lock(&self.fold);
            fold.take(&mut lock(&self.slot.buffer));
        }
    }

    /// The operation failed with this code; `retried` if it is repeated, and then still under way.
    pub fn failed(&mut self, kind: usize, code: &str, retried: bool) {
        let now = self.clock.now();
        if !retried {
            self.abandoned();
        }
        lock(&self.fold).fail(kind, code, retried, now);
    }

    /// No operation is under way any more.
    pub fn abandoned(&mut self) {
        self.slot.busy_since.store(0, Ordering::Relaxed);
    }
}

impl Fold {
    /// Counts and removes all samples. Those of a client come in the order of their ends, so that the
    /// interval is looked up once a second and not once a sample.
    fn take(&mut self, samples: &mut Vec<Sample>) {
        if let Some(closed) = self.closed {
            samples.retain(|sample| {
                let in_time = sample.end <= closed;
                self.late[usize::from(sample.kind)] += u64::from(!in_time);
                in_time
            });
        }
        for together in samples.chunk_by(|a, b| a.end.0 / SECOND == b.end.0 / SECOND) {
            let Some(first) = together.first() else {
                continue;
            };
            let cells = self.at(first.end);
            for sample in together {
                let cell = &mut cells[usize::from(sample.kind)];
                cell.ops += 1;
                cell.rows += sample.rows;
                cell.service.record(sample.service);
                if let Some(response) = &mut cell.response {
                    response.record(sample.response);
                }
            }
        }
        samples.clear();
    }

    fn fail(&mut self, kind: usize, code: &str, retried: bool, at: Nanos) {
        if self.is_late(at) {
            self.late[kind] += 1;
            return;
        }
        *self
            .errors
            .entry((kind as u8, code.to_owned(), retried))
            .or_default() += 1;
        let cell = &mut self.at(at)[kind];
        if retried {
            cell.retries += 1;
        } else {
            cell.errors += 1;
        }
    }

    fn is_late(&self, end: Nanos) -> bool {
        self.closed.is_some_and(|closed| end > closed)
    }

    fn at(&mut self, end: Nanos) -> &mut Vec<KindInterval> {
        // What ended exactly on the closing edge belongs to the second before it.
        let end = self
            .closed
            .map_or(end, |closed| end.min(Nanos(closed.0.saturating_sub(1))));
        let index = ((end.0 / SECOND) as u32).max(self.next);
        let scheduled = &self.scheduled;
        self.open
            .entry(index)
            .or_insert_with(|| scheduled.iter().map(|s| blank_kind(*s)).collect())
    }
}

fn blank(kinds: &[KindSpec]) -> Vec<KindInterval> {
    kinds.iter().map(|k| blank_kind(k.scheduled)).collect()
}

fn blank_kind(scheduled: bool) -> KindInterval {
    KindInterval {
        response: scheduled.then(Default::default),
        ..KindInterval::default()
    }
}

/// A client that panicked leaves its buffer whole: each sample is pushed at once.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds() -> Vec<KindSpec> {
        [("query", false), ("insert", true)]
            .map(|(name, scheduled)| KindSpec {
                name: name.to_owned(),
                scheduled,
            })
            .to_vec()
    }

    #[test]
    fn a_sample_counts_in_the_second_in_which_it_ended() {
        let recorder = Recorder::new(kinds(), 1);
        let mut client = recorder.client(0, StepClock::start());
        let s = Nanos::from_millis;
        client.record(0, s(100), None, s(900), 1);
        client.record(0, s(900), None, s(1100), 1);
        client.record(1, s(500), Some(s(200)), s(700), 50);
        let first = recorder.interval(0, Nanos::SECOND, s(1200));
        assert_eq!((first.kinds[0].ops, first.kinds[1].rows), (1, 50));
        let response = first.kinds[1].response.as_ref().unwrap();
        assert_eq!(response.quantile(1.0).unwrap().0 / 1_000_000, 500);
        let second = recorder.interval(1, Nanos::SECOND, s(2200));
        assert_eq!(second.kinds[0].ops, 1);
    }

    #[test]
    fn a_sample_that_comes_late_is_not_lost() {
        let recorder = Recorder::new(kinds(), 1);
        let mut client = recorder.client(0, StepClock::start());
        recorder.interval(0, Nanos::SECOND, Nanos::from_secs(1));
        client.record(0, Nanos(1), None, Nanos::from_millis(999), 1);
        assert_eq!(
            recorder
                .interval(1, Nanos::SECOND, Nanos::from_secs(2))
                .kinds[0]
                .ops,
            1
        );
        assert_eq!(recorder.totals().0[0].sums.ops, 1);
    }

    #[test]
    fn what_ends_after_the_window_is_in_no_number() {
        let recorder = Recorder::new(kinds(), 1);
        let clock = StepClock::start();
        let mut client = recorder.client(0, clock);
        client.record(0, Nanos(0), None, Nanos(1), 1);
        let closed = recorder.close(&clock);
        client.record(0, Nanos(0), None, Nanos(closed.0 + 1), 1);
        recorder.interval(0, closed, closed);
        let (totals, _) = recorder.totals();
        assert_eq!((totals[0].sums.ops, totals[0].late), (1, 1));
    }

    #[test]
    fn intervals_add_up_to_the_totals_and_errors_stay_apart() {
        let recorder = Recorder::new(kinds(), 3);
        let clock = StepClock::start();
        let mut clients: Vec<_> = (0..3).map(|i| recorder.client(i, clock)).collect();
        for n in 0..5000u64 {
            let end = Nanos(n * 1_000_000);
            clients[n as usize % 3].record(0, Nanos(0), None, end, 2);
        }
        clients[0].failed(0, "1213", true);
        clients[0].failed(0, "1062", false);
        let intervals: Vec<_> = (0..5)
            .map(|i| recorder.interval(i, Nanos::SECOND, Nanos::from_secs(6)))
            .collect();
        let sum: u64 = intervals.iter().map(|i| i.kinds[0].ops).sum();
        let (totals, errors) = recorder.totals();
        assert_eq!(
            (sum, totals[0].sums.ops, totals[0].sums.rows),
            (5000, 5000, 10_000)
        );
        assert_eq!(totals[0].sums.service.count(), 5000);
        assert_eq!((totals[0].sums.errors, totals[0].sums.retries), (1, 1));
        assert_eq!(errors.len(), 2);
    }

    #[test]
    fn a_stall_shows_while_it_lasts() {
        let recorder = Recorder::new(kinds(), 1);
        let client = recorder.client(0, StepClock::start());
        let began = client.begin();
        let interval = recorder.interval(0, Nanos::SECOND, Nanos(began.0 + 700_000_000));
        assert_eq!(interval.stalled, Nanos(700_000_000));
    }
}

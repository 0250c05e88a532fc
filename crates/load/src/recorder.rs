//! What clients record, cut into intervals.
//!
//! Each client appends samples to a buffer of its own, from which the collector takes them once a
//! second. A sample carries its own end time, so it is counted in the interval in which it ended,
//! whenever it is taken. A client folds its own full buffer, so memory does not depend on the rate.

mod fold;
mod slot;

use std::sync::{Arc, Mutex};

use model::{ErrorCount, Interval, KindSpec, KindTotals, Nanos, Readings};

use self::fold::{Failure, Fold};
use self::slot::{NONE, Sample, Slot};
use crate::{StepClock, lock};

pub const MOST_KINDS: usize = NONE as usize;

/// Samples in the buffers of all clients together, where there are many of them: 2 MiB.
const ALL_BUFFERS: usize = 1 << 16;

/// Samples in the buffer of one client: enough that its share of a fold is small.
const BUFFER: (usize, usize) = (64, 512);

/// Places that are free when an operation begins: the parts of most operations are recorded without a
/// fold between them, which would count into their times.
const ROOM: usize = 32;

#[derive(Debug)]
pub struct Recorder {
    each: Nanos,
    slots: Vec<Arc<Slot>>,
    fold: Arc<Mutex<Fold>>,
}

/// One client's end of the recorder.
///
/// A client in a closed loop reads the clock once an operation: [`ClientRecorder::done`] tells when it
/// ended, and the next one begins there ([`ClientRecorder::begin_after`]).
#[derive(Debug)]
pub struct ClientRecorder {
    clock: StepClock,
    slot: Arc<Slot>,
    fold: Arc<Mutex<Fold>>,
    filled: usize,
    /// Operations so far, without their parts.
    recorded: u64,
    /// The kind that operations are counted in besides their own, or [`NONE`].
    also: u8,
}

impl Recorder {
    /// A recorder for so many clients and at most 255 operation kinds, with intervals of the length `each`.
    pub fn new(kinds: Vec<KindSpec>, clients: usize, each: Nanos) -> Self {
        let (least, most) = BUFFER;
        let places = (ALL_BUFFERS / clients.max(1)).clamp(least, most);
        Self {
            each,
            slots: (0..clients).map(|_| Arc::new(Slot::new(places))).collect(),
            fold: Arc::new(Mutex::new(Fold::new(kinds, each))),
        }
    }

    /// The recording end of client `index`; one at a time for each.
    pub fn client(&self, index: usize, clock: &StepClock) -> ClientRecorder {
        let slot = Arc::clone(&self.slots[index]);
        ClientRecorder {
            clock: clock.clone(),
            filled: slot.filled(),
            recorded: 0,
            slot,
            fold: Arc::clone(&self.fold),
            also: NONE,
        }
    }

    /// Closes the window now, by this clock, unless it is closed already; tells when that was.
    /// Everything folded before ended before: the lock is held while the clock is read.
    pub fn close(&self, clock: &StepClock) -> Nanos {
        let mut fold = lock(&self.fold);
        fold.close(clock.now())
    }

    /// The window will close after `length`, or before: what ends later is late from the start.
    pub fn close_at(&self, length: Nanos) {
        lock(&self.fold).close(length);
    }

    /// Hands out interval `index`. `now` is the age of the window, to tell how long operations have been under way.
    pub fn interval(&self, index: u32, length: Nanos, now: Nanos) -> Interval {
        let stalled = self.oldest().map_or(Nanos(0), |since| now.saturating_sub(since));
        let mut fold = lock(&self.fold);
        self.collect(&mut fold);
        Interval {
            index,
            start: Nanos(u64::from(index) * self.each.0),
            length,
            kinds: fold.hand_out(index),
            stalled,
            readings: Readings::default(),
        }
    }

    /// When the oldest of the operations started that are under way; `None` when there is none.
    pub fn oldest(&self) -> Option<Nanos> {
        self.slots.iter().filter_map(|slot| slot.busy_since()).min()
    }

    /// What happened in the whole window, once all clients have ended and every interval was handed out.
    pub fn totals(&self) -> (Vec<KindTotals>, Vec<ErrorCount>) {
        let mut fold = lock(&self.fold);
        self.collect(&mut fold);
        fold.totals()
    }

    fn collect(&self, fold: &mut Fold) {
        for slot in &self.slots {
            fold.take(slot);
        }
    }
}

impl ClientRecorder {
    pub fn clock(&self) -> &StepClock {
        &self.clock
    }

    /// Operations that succeeded in this window.
    pub const fn recorded(&self) -> u64 {
        self.recorded
    }

    /// From now on each operation, but not its parts, is counted in this kind too: the sum of several.
    pub fn count_also_in(&mut self, kind: usize) {
        self.also = kind as u8;
    }

    /// An operation starts now, or when the next turn begins.
    #[inline]
    pub fn begin(&self) -> Nanos {
        self.clock.turns().await_turn();
        let now = self.clock.now();
        self.slot.set_busy(now);
        now
    }

    /// An operation starts where the last one or a wait ended, at `end`. Tells when it starts: later than
    /// that only when samples had to be folded in between, or a turn was over, which is no operation's time.
    #[inline]
    pub fn begin_after(&mut self, end: Nanos) -> Nanos {
        if self.filled + ROOM > self.slot.places() {
            self.fold();
            return self.begin();
        }
        if self.clock.turns().is_shut() {
            return self.begin();
        }
        self.slot.set_busy(end);
        end
    }

    /// An operation succeeded now; `intended` is when the schedule wanted it to start. Tells when it ended.
    #[inline]
    pub fn done(
        &mut self,
        kind: usize,
        started: Nanos,
        intended: Option<Nanos>,
        rows: u64,
    ) -> Nanos {
        let end = self.clock.now();
        self.record(kind, started, intended, end, rows);
        end
    }

    /// A part of an operation that is still under way succeeded now. Tells when it ended: the next part starts there.
    #[inline]
    pub fn part(&mut self, kind: usize, started: Nanos, rows: u64) -> Nanos {
        let end = self.clock.now();
        self.push(Sample {
            end,
            service: end.saturating_sub(started),
            response: Nanos(0),
            rows,
            kind: kind as u8,
            also: NONE,
        });
        end
    }

    /// As [`ClientRecorder::done`], with a given end: that of the last part, or a simulated one.
    #[inline]
    pub fn record(
        &mut self,
        kind: usize,
        started: Nanos,
        intended: Option<Nanos>,
        end: Nanos,
        rows: u64,
    ) {
        self.slot.set_idle();
        self.recorded += 1;
        self.push(Sample {
            end,
            service: end.saturating_sub(started),
            response: intended.map_or(Nanos(0), |intended| end.saturating_sub(intended)),
            rows,
            kind: kind as u8,
            also: self.also,
        });
    }

    /// The operation failed with this code; `retried` if it is repeated, and then still under way.
    pub fn failed(&mut self, kind: usize, code: &str, retried: bool) {
        let at = self.clock.now();
        let started = self.slot.busy_since().unwrap_or(at);
        if !retried {
            self.abandoned();
        }
        lock(&self.fold).fail(&Failure {
            kind: kind as u8,
            also: self.also,
            code,
            retried,
            started,
            at,
        });
    }

    /// The step was over before the operation of this kind that is under way succeeded: it is late.
    pub fn cut_off(&mut self, kind: usize) {
        if let Some(started) = self.slot.busy_since() {
            self.slot.set_idle();
            lock(&self.fold).count_late([kind as u8, self.also], started);
        }
    }

    pub fn abandoned(&mut self) {
        self.slot.set_idle();
    }

    #[inline]
    fn push(&mut self, sample: Sample) {
        if self.filled == self.slot.places() {
            self.fold();
        }
        self.slot.put(self.filled, sample);
        self.filled += 1;
    }

    #[cold]
    #[inline(never)]
    fn fold(&mut self) {
        let mut fold = lock(&self.fold);
        fold.take(&self.slot);
        self.slot.begin_again();
        self.filled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds() -> Vec<KindSpec> {
        [("query", false), ("insert", true)]
            .map(|(name, scheduled)| KindSpec { name: name.to_owned(), scheduled })
            .to_vec()
    }

    #[test]
    fn a_sample_counts_in_the_second_in_which_it_ended() {
        let recorder = Recorder::new(kinds(), 1, Nanos::SECOND);
        let mut client = recorder.client(0, &StepClock::start());
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
        let recorder = Recorder::new(kinds(), 1, Nanos::SECOND);
        let mut client = recorder.client(0, &StepClock::start());
        recorder.interval(0, Nanos::SECOND, Nanos::from_secs(1));
        client.record(0, Nanos(1), None, Nanos::from_millis(999), 1);
        assert_eq!(recorder.interval(1, Nanos::SECOND, Nanos::from_secs(2)).kinds[0].ops, 1);
        assert_eq!(recorder.totals().0[0].sums.ops, 1);
    }

    #[test]
    fn what_ends_after_the_window_is_in_no_number() {
        let recorder = Recorder::new(kinds(), 1, Nanos::SECOND);
        let clock = StepClock::start();
        let mut client = recorder.client(0, &clock);
        client.record(0, Nanos(0), None, Nanos(1), 1);
        let closed = recorder.close(&clock);
        client.record(0, Nanos(0), None, Nanos(closed.0 + 1), 1);
        recorder.interval(0, closed, closed);
        let (totals, _) = recorder.totals();
        assert_eq!((totals[0].sums.ops, totals[0].late), (1, 1));
    }

    #[test]
    fn only_what_was_under_way_at_the_close_is_late() {
        let recorder = Recorder::new(kinds(), 1, Nanos::SECOND);
        recorder.close_at(Nanos(1000));
        let mut client = recorder.client(0, &StepClock::start());
        client.record(0, Nanos(900), None, Nanos(1000), 1);
        client.record(0, Nanos(1000), None, Nanos(1001), 1);
        client.record(0, Nanos(1001), None, Nanos(1002), 1);
        recorder.interval(0, Nanos(1000), Nanos(1000));
        let (totals, _) = recorder.totals();
        assert_eq!((totals[0].sums.ops, totals[0].late), (1, 1));
    }

    #[test]
    fn an_operation_that_is_tried_again_after_the_close_is_late_once() {
        let recorder = Recorder::new(kinds(), 2, Nanos::SECOND);
        let clock = StepClock::start();
        let mut clients = [0, 1].map(|index| recorder.client(index, &clock));
        let started = clients.each_ref().map(ClientRecorder::begin);
        let closed = recorder.close(&clock);
        while clock.now() <= closed {}
        for client in &mut clients {
            client.count_also_in(1);
            client.failed(0, "1213", true);
            client.failed(0, "1213", true);
        }
        let [succeeds, gives_up] = &mut clients;
        succeeds.done(0, started[0], None, 1);
        gives_up.cut_off(0);
        gives_up.cut_off(0);
        recorder.interval(0, closed, closed);
        let (totals, errors) = recorder.totals();
        assert_eq!([totals[0].late, totals[1].late], [2, 2]);
        assert!(errors.is_empty() && totals[0].sums.retries == 0);
    }

    #[test]
    fn a_window_with_a_length_closes_then_or_before() {
        let recorder = Recorder::new(kinds(), 1, Nanos::SECOND);
        let clock = StepClock::start();
        recorder.close_at(Nanos(1));
        assert_eq!(recorder.close(&clock), Nanos(1));
        let recorder = Recorder::new(kinds(), 1, Nanos::SECOND);
        recorder.close_at(Nanos::from_secs(3600));
        let closed = recorder.close(&clock);
        assert!(closed < Nanos::from_secs(3600));
        assert_eq!(recorder.close(&clock), closed, "only once");
    }

    #[test]
    fn what_ends_with_the_window_is_in_its_last_second() {
        let recorder = Recorder::new(kinds(), 1, Nanos::SECOND);
        recorder.close_at(Nanos::from_secs(2));
        let mut client = recorder.client(0, &StepClock::start());
        for end in [1_999_999_999, 2_000_000_000, 2_000_000_001] {
            client.record(0, Nanos(0), None, Nanos(end), 1);
        }
        let ops = |index| recorder.interval(index, Nanos::SECOND, Nanos(0)).kinds[0].ops;
        assert_eq!((ops(0), ops(1)), (0, 2));
    }

    #[test]
    fn intervals_add_up_to_the_totals_and_errors_stay_apart() {
        let recorder = Recorder::new(kinds(), 3, Nanos::SECOND);
        let clock = StepClock::start();
        let mut clients: Vec<_> = (0..3).map(|i| recorder.client(i, &clock)).collect();
        for n in 0..5000u64 {
            let end = Nanos(n * 1_000_000);
            clients[n as usize % 3].record(0, Nanos(0), None, end, 2);
        }
        clients[0].failed(0, "1213", true);
        clients[0].failed(0, "1062", false);
        let intervals: Vec<_> =
            (0..5).map(|i| recorder.interval(i, Nanos::SECOND, Nanos::from_secs(6))).collect();
        let sum: u64 = intervals.iter().map(|i| i.kinds[0].ops).sum();
        assert!(intervals.iter().all(|i| i.kinds[0].ops == 1000));
        let (totals, errors) = recorder.totals();
        assert_eq!((sum, totals[0].sums.ops, totals[0].sums.rows), (5000, 5000, 10_000));
        assert_eq!(totals[0].sums.service.count(), 5000);
        assert_eq!((totals[0].sums.errors, totals[0].sums.retries), (1, 1));
        assert_eq!(errors.len(), 2);
    }

    #[test]
    fn a_stall_shows_while_it_lasts() {
        let recorder = Recorder::new(kinds(), 2, Nanos::SECOND);
        let clock = StepClock::start();
        let (client, mut other) = (recorder.client(0, &clock), recorder.client(1, &clock));
        let began = client.begin();
        other.begin_after(Nanos(began.0 + 500_000_000));
        let interval = recorder.interval(0, Nanos::SECOND, Nanos(began.0 + 700_000_000));
        assert_eq!(interval.stalled, Nanos(700_000_000));
    }

    #[test]
    fn a_sum_holds_its_operations_and_their_failures_and_no_parts() {
        let names = ["operation", "read", "write", "begin"]
            .map(|name| KindSpec { name: name.to_owned(), scheduled: false });
        let recorder = Recorder::new(names.to_vec(), 1, Nanos::SECOND);
        let mut client = recorder.client(0, &StepClock::start());
        client.count_also_in(0);
        let started = client.begin();
        let end = client.part(3, started, 0);
        let interval = recorder.interval(0, Nanos::SECOND, end + Nanos(10));
        assert_eq!(interval.stalled, end + Nanos(10) - started, "still under way");
        client.record(1, started, None, end, 5);
        client.done(2, end, None, 1);
        client.failed(2, "1213", true);
        client.failed(2, "1213", false);
        recorder.interval(1, Nanos::SECOND, end);
        let (totals, errors) = recorder.totals();
        let ops = totals.iter().map(|t| t.sums.ops).collect::<Vec<_>>();
        assert_eq!(ops, [2, 1, 1, 1]);
        assert_eq!((totals[0].sums.rows, totals[0].sums.service.count()), (6, 2));
        assert_eq!((totals[0].sums.errors, totals[0].sums.retries), (1, 1));
        assert!(errors.iter().all(|e| e.kind == "write"), "each error once");
    }

    #[test]
    fn the_next_operation_begins_where_the_last_one_ended_unless_samples_are_folded() {
        let recorder = Recorder::new(kinds(), 1, Nanos::SECOND);
        let mut client = recorder.client(0, &StepClock::start());
        let (_, most) = BUFFER;
        let mut later = 0;
        for _ in 0..10 * most {
            let end = client.clock().now();
            let started = client.begin_after(end);
            later += u64::from(started > end);
            client.record(0, started, None, started, 1);
        }
        assert_eq!(later, 10 * most as u64 / (most - ROOM + 1) as u64);
        let interval = recorder.interval(0, Nanos::SECOND, Nanos(0));
        assert_eq!(interval.kinds[0].ops, 10 * most as u64);
    }

    #[test]
    fn many_parts_of_one_operation_are_all_counted() {
        let recorder = Recorder::new(kinds(), 2000, Nanos::SECOND);
        let mut client = recorder.client(7, &StepClock::start());
        let mut at = client.begin();
        for _ in 0..1000 {
            at = client.part(0, at, 1);
        }
        let interval = recorder.interval(0, Nanos::SECOND, at);
        assert_eq!(interval.kinds[0].ops, 1000);
    }
}

//! Cuts a step's window into intervals while its clients run.

use model::{Edge, Nanos};

use super::client::Crew;
use super::setup::{End, Observer};
use super::shared::Shared;
use crate::recorder::Recorder;
use crate::{StepClock, Stop};

/// How long the collector waits after an interval's end before it collects, so that a client that
/// read its clock just before the end has stored its sample.
const GRACE: Nanos = Nanos::from_millis(5);

/// At most this share of an interval: what ends meanwhile is counted in the next one, but its CPU time in this one.
const GRACE_SHARE: u64 = 16;

pub(super) struct Cut {
    pub(super) length: Nanos,
    /// How long the oldest of the operations had taken that were under way at the end.
    pub(super) under_way: Nanos,
    pub(super) short: bool,
}

pub(super) struct Collector<'a> {
    pub(super) recorder: &'a Recorder,
    pub(super) shared: &'a Shared,
    pub(super) crew: &'a Crew<'a>,
    pub(super) stop: &'a Stop,
    pub(super) clock: StepClock,
}

impl Collector<'_> {
    pub(super) fn run(&self, end: End, observer: &mut dyn Observer) -> Cut {
        let (seconds, short) = self.while_open(end, observer);
        let closed = self.recorder.close(&self.clock);
        let oldest = self.recorder.oldest();
        self.crew.end();
        observer.edge(Edge::Close);
        {
            let _rest = self.stop.turns().rest();
            self.shared.wait(None, |s| s.running == 0);
        }
        self.last_intervals(seconds, closed, oldest, observer);
        let under_way = oldest.map_or(Nanos(0), |since| closed.saturating_sub(since));
        Cut { length: closed, under_way, short }
    }

    /// Hands out each interval until the window closes; how many, and whether the limit cut the work short.
    fn while_open(&self, end: End, observer: &mut dyn Observer) -> (u32, bool) {
        let each = self.stop.turns().length();
        let grace = GRACE.min(Nanos(each.0 / GRACE_SHARE));
        let mut index = 0u32;
        loop {
            let tick = Nanos(each.0 * (u64::from(index) + 1));
            self.wait_until((tick + grace).min(end.at_latest()), end);
            if self.stop.is_asked() {
                self.shared.give_up();
            }
            let now = self.clock.now();
            let at_limit = now >= end.at_latest();
            let state = self.shared.state();
            let done = end.when_done() && state.awaited == 0;
            let given_up = state.given_up;
            drop(state);
            if done || given_up || at_limit {
                return (index, at_limit && !end.is_timed() && !done);
            }
            if now < tick {
                continue;
            }
            let interval = self.recorder.interval(index, each, now);
            index += 1;
            if observer.interval(interval).is_break() {
                self.shared.give_up();
            }
        }
    }

    fn wait_until(&self, at: Nanos, end: End) {
        let turns = self.stop.turns();
        let is_reached = || {
            let _rest = turns.rest();
            self.shared.wait(Some((&self.clock, at)), |s| {
                (end.when_done() && s.awaited == 0) || s.given_up || self.stop.is_asked()
            })
        };
        while !is_reached() {
            turns.await_turn_a_while();
        }
    }

    /// The intervals between the last tick and the window's end; the last one may be short. `oldest` is when
    /// the oldest of the operations started that were under way at that end.
    fn last_intervals(
        &self,
        mut index: u32,
        closed: Nanos,
        oldest: Option<Nanos>,
        observer: &mut dyn Observer,
    ) {
        let each = self.stop.turns().length();
        loop {
            let start = Nanos(each.0 * u64::from(index));
            let length = closed.saturating_sub(start).min(each);
            if length.0 == 0 && index > 0 {
                break;
            }
            let mut interval = self.recorder.interval(index, length, closed);
            // By now all clients have ended.
            interval.stalled =
                oldest.map_or(Nanos(0), |since| (start + length).saturating_sub(since));
            index += 1;
            if observer.interval(interval).is_break() {
                self.shared.give_up();
                break;
            }
        }
    }
}

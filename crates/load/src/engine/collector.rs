//! Cuts a step's window into intervals while its clients run.

use model::{Edge, Interval, Nanos};

use super::client::Crew;
use super::setup::{End, Observer, Pace};
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
    /// Seconds on target and seconds in all, where there was a pace.
    pub(super) on_target: Option<(u32, u32)>,
    pub(super) short: bool,
}

/// What the collecting thread works with while the window is open.
pub(super) struct Collector<'a> {
    pub(super) recorder: &'a Recorder,
    pub(super) shared: &'a Shared,
    pub(super) crew: &'a Crew<'a>,
    pub(super) stop: &'a Stop,
    pub(super) clock: StepClock,
    pub(super) pace: Option<Pace>,
}

impl Collector<'_> {
    pub(super) fn run(&self, end: End, observer: &mut dyn Observer) -> Cut {
        let mut on_target = OnTarget::of(self.pace);
        let (seconds, short) = self.while_open(end, &mut on_target, observer);
        let closed = self.recorder.close(&self.clock);
        let oldest = self.recorder.oldest();
        self.crew.end();
        observer.edge(Edge::Close);
        {
            let _rest = self.stop.turns().rest();
            self.shared.wait(None, |s| s.running == 0);
        }
        self.last_intervals(seconds, closed, oldest, &mut on_target, observer);
        Cut { length: closed, on_target: on_target.result(), short }
    }

    /// Hands out each interval until the window closes; how many, and whether the limit cut the work short.
    fn while_open(
        &self,
        end: End,
        on_target: &mut OnTarget,
        observer: &mut dyn Observer,
    ) -> (u32, bool) {
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
                return (index, at_limit && end.when_done() && !done);
            }
            if now < tick {
                continue;
            }
            let interval = self.recorder.interval(index, each, now);
            on_target.see(&interval);
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
        on_target: &mut OnTarget,
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
            if length == each {
                on_target.see(&interval);
            }
            index += 1;
            if observer.interval(interval).is_break() {
                self.shared.give_up();
                break;
            }
        }
    }
}

/// Counts the seconds at whose end the writers were not behind their schedule.
struct OnTarget {
    pace: Option<Pace>,
    rows: u64,
    /// Of the second that is not over.
    time: Nanos,
    met: u32,
    seconds: u32,
}

impl OnTarget {
    const fn of(pace: Option<Pace>) -> Self {
        Self { pace, rows: 0, time: Nanos(0), met: 0, seconds: 0 }
    }

    fn see(&mut self, interval: &Interval) {
        let Some(pace) = self.pace else { return };
        self.rows += interval.kinds[pace.kind].rows;
        self.time += interval.length;
        if self.time < Nanos::SECOND {
            return;
        }
        self.time = Nanos(0);
        self.seconds += 1;
        let tolerance = pace.rows_per_second * pace.tolerance_percent / 100;
        let on_time = |due| self.rows + pace.slack + tolerance >= due;
        if pace.catches_up {
            self.met += u32::from(on_time(pace.rows_per_second * u64::from(self.seconds)));
        } else {
            self.met += u32::from(on_time(pace.rows_per_second));
            self.rows = 0;
        }
    }

    fn result(&self) -> Option<(u32, u32)> {
        (self.seconds > 0 && self.pace.is_some()).then_some((self.met, self.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_behind_schedule_are_counted_until_caught_up() {
        assert_eq!(on_target(true), Some((4, 6)));
    }

    #[test]
    fn writers_that_never_catch_up_are_judged_by_the_second() {
        assert_eq!(on_target(false), Some((4, 6)));
    }

    fn on_target(catches_up: bool) -> Option<(u32, u32)> {
        let mut on_target = OnTarget::of(Some(Pace {
            catches_up,
            kind: 0,
            rows_per_second: 100,
            slack: 50,
            tolerance_percent: 5,
        }));
        for rows in [100, 50, 0, 0, 350, 100] {
            let kind = model::KindInterval { rows, ..model::KindInterval::default() };
            on_target.see(&Interval {
                index: 0,
                start: Nanos(0),
                length: Nanos::SECOND,
                kinds: vec![kind],
                stalled: Nanos(0),
                readings: model::Readings::default(),
            });
        }
        on_target.result()
    }
}

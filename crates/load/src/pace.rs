//! Steps whose writers must keep a pace: in how many seconds of the window they did, wherever they run.

use std::ops::ControlFlow;

use model::{Edge, Interval, Nanos, StepRecord};

use crate::{Crew, Observer, Result, Stop, Window};

/// The pace that a step's writers must keep, for the share of seconds on target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    pub kind: usize,
    /// Rows per second of all clients together.
    pub rows_per_second: u64,
    /// Rows that may be under way at the end of a second without being late: a statement a client.
    pub slack: u64,
    /// Share of a second's rows that may be missing, in per cent.
    pub tolerance_percent: u64,
    /// Do writers make up for lost time? Then a second is on target by all rows so far, otherwise by its own.
    pub catches_up: bool,
}

/// Runs a window of clients whose writers keep this pace, if they keep one. Errors as of [`crate::run`].
pub fn run_paced(
    crew: &mut dyn Crew,
    pace: Option<Pace>,
    window: Window,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepRecord> {
    let Some(pace) = pace else {
        return crew.window(window, stop, observer);
    };
    let mut on_target = OnTarget::of(pace, stop.turns().length(), observer);
    let record = crew.window(window, stop, &mut on_target)?;
    Ok(StepRecord { seconds_on_target: on_target.result(), timed: true, ..record })
}

/// Counts the seconds at whose end the writers were not behind their schedule.
struct OnTarget<'a> {
    pace: Pace,
    /// Length of an interval that is not cut off by the window's end.
    each: Nanos,
    observer: &'a mut dyn Observer,
    rows: u64,
    /// Of the second that is not over.
    time: Nanos,
    met: u32,
    seconds: u32,
}

impl<'a> OnTarget<'a> {
    fn of(pace: Pace, each: Nanos, observer: &'a mut dyn Observer) -> Self {
        Self { pace, each, observer, rows: 0, time: Nanos(0), met: 0, seconds: 0 }
    }

    fn see(&mut self, interval: &Interval) {
        let Self { pace, .. } = *self;
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
        (self.seconds > 0).then_some((self.met, self.seconds))
    }
}

impl Observer for OnTarget<'_> {
    fn edge(&mut self, edge: Edge) {
        self.observer.edge(edge);
    }

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        if interval.length == self.each {
            self.see(&interval);
        }
        self.observer.interval(interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Blind;

    #[test]
    fn seconds_behind_schedule_are_counted_until_caught_up() {
        assert_eq!(on_target(true), Some((4, 6)));
    }

    #[test]
    fn writers_that_never_catch_up_are_judged_by_the_second() {
        assert_eq!(on_target(false), Some((4, 6)));
    }

    fn on_target(catches_up: bool) -> Option<(u32, u32)> {
        let pace =
            Pace { catches_up, kind: 0, rows_per_second: 100, slack: 50, tolerance_percent: 5 };
        let mut blind = Blind;
        let mut on_target = OnTarget::of(pace, Nanos::SECOND, &mut blind);
        let whole = [100, 50, 0, 0, 350, 100].map(|rows| (rows, Nanos::SECOND));
        for (rows, length) in whole.into_iter().chain([(0, Nanos::from_millis(999))]) {
            let kind = model::KindInterval { rows, ..model::KindInterval::default() };
            let _ = on_target.interval(Interval {
                index: 0,
                start: Nanos(0),
                length,
                kinds: vec![kind],
                stalled: Nanos(0),
                readings: model::Readings::default(),
            });
        }
        on_target.result()
    }
}

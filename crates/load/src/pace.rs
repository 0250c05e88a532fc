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
    /// Of all seconds that are over.
    whole: Nanos,
    met: u32,
    seconds: u32,
}

impl<'a> OnTarget<'a> {
    fn of(pace: Pace, each: Nanos, observer: &'a mut dyn Observer) -> Self {
        let (rows, time, whole, met, seconds) = Default::default();
        Self { pace, each, observer, rows, time, whole, met, seconds }
    }

    fn see(&mut self, interval: &Interval) {
        let Self { pace, .. } = *self;
        self.rows += interval.kinds[pace.kind].rows;
        self.time += interval.length;
        if self.time < Nanos::SECOND {
            return;
        }
        // Turns need not add up to exactly one second: it may be longer.
        let second = std::mem::take(&mut self.time);
        self.seconds += 1;
        self.whole += second;
        let counted = if pace.catches_up { self.whole } else { second };
        let due = u128::from(pace.rows_per_second) * u128::from(counted.0);
        let due = (due / u128::from(Nanos::SECOND.0)) as u64;
        let tolerance = pace.rows_per_second * pace.tolerance_percent / 100;
        self.met += u32::from(self.rows + pace.slack + tolerance >= due);
        if !pace.catches_up {
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

    fn ended(&mut self) {
        self.observer.ended();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Blind;

    #[test]
    fn seconds_behind_schedule_are_counted_until_caught_up() {
        assert_eq!(on_target(true, &rows_by_the_second()), Some((4, 6)));
    }

    #[test]
    fn writers_that_never_catch_up_are_judged_by_the_second() {
        assert_eq!(on_target(false, &rows_by_the_second()), Some((4, 6)));
    }

    #[test]
    fn a_second_of_turns_that_do_not_fill_it_is_due_for_all_of_its_time() {
        let four_fifths = [(25, Nanos(312_500_000)); 16];
        assert_eq!(on_target(true, &four_fifths), Some((2, 4)));
        assert_eq!(on_target(false, &four_fifths), Some((4, 4)));
        let less = [(17, Nanos(312_500_000)); 16];
        assert_eq!(on_target(false, &less), Some((0, 4)));
    }

    fn rows_by_the_second() -> Vec<(u64, Nanos)> {
        let whole = [100, 50, 0, 0, 350, 100].map(|rows| (rows, Nanos::SECOND));
        whole.into_iter().chain([(0, Nanos::from_millis(999))]).collect()
    }

    fn on_target(catches_up: bool, intervals: &[(u64, Nanos)]) -> Option<(u32, u32)> {
        let pace =
            Pace { catches_up, kind: 0, rows_per_second: 100, slack: 50, tolerance_percent: 5 };
        let mut blind = Blind;
        let mut on_target = OnTarget::of(pace, intervals[0].1, &mut blind);
        for &(rows, length) in intervals {
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

//! Steps that are measured in slices: a part of the window at a time, by clients that stay connected.

use std::ops::ControlFlow;

use model::{Edge, Interval, Nanos};

use super::measure::{Crew, unseen};
use crate::engine::{End, Observer, Stop, Window, pass};
use crate::{StepError, StepResult};

/// How long clients work before each slice at most, unseen: meanwhile others had the CPUs and their caches.
const LONGEST_LEAD_IN: Nanos = Nanos::from_millis(50);

/// How long they do before a slice of this length: a fifth of it, so that short slices do not take longer than
/// long ones.
fn lead_in(length: Nanos) -> Nanos {
    LONGEST_LEAD_IN.min(Nanos(length.0 / 5))
}

/// A step whose clients are connected and warm, and whose window is measured a slice at a time. While no
/// slice is measured its clients send nothing. When it is dropped they are disconnected.
pub trait SlicedStep {
    /// Measures so much more of the window; what was in it. The clients work a moment before, which is in
    /// no number. The observer is told as of a step, with intervals that go on where the slice before
    /// ended: the window is all slices, one after the other, without the time between them.
    fn slice(
        &mut self,
        length: Nanos,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Window, StepError>;

    /// Disconnects the clients and checks what they left; the result of all slices together.
    fn finish(self: Box<Self>) -> Result<StepResult, StepError>;
}

/// Clients of a step, and its slices so far.
pub(super) struct Slices {
    crew: Crew,
    /// All slices as one window; `None` before the first.
    all: Option<Window>,
    /// How many they are.
    count: u32,
    /// Intervals of them.
    intervals: u32,
}

impl Slices {
    /// Of clients that are connected and warm.
    pub(super) fn new(crew: Crew) -> Self {
        Self {
            crew,
            all: None,
            count: 0,
            intervals: 0,
        }
    }

    /// Measures one slice more, as [`SlicedStep::slice`] says.
    pub(super) fn slice(
        &mut self,
        length: Nanos,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<Window, StepError> {
        unseen(&mut self.crew, None, lead_in(length), stop)?;
        let mut continued = Continued {
            observer,
            intervals: self.intervals,
            before: self.all.as_ref().map_or(Nanos(0), |all| all.length),
        };
        let Crew { kinds, clients } = &mut self.crew;
        let end = End::After(length);
        let slice = pass(kinds, clients, None, end, stop, &mut continued)?;
        self.intervals = continued.intervals;
        self.count += 1;
        match &mut self.all {
            Some(all) => all.extend(&slice),
            None => self.all = Some(slice.clone()),
        }
        Ok(slice)
    }

    /// Disconnects the clients; all slices as one window, and a note of how many they are. An error where
    /// there was none.
    pub(super) fn finish(self) -> Result<(Window, (String, String)), StepError> {
        let window = self.all.ok_or(StepError::Interrupted)?;
        let count = self.count.max(1);
        let each = Nanos(window.length.0 / u64::from(count));
        let note = ("slices".to_owned(), format!("{count} of {each}"));
        Ok((window, note))
    }
}

/// Sees intervals as those of a window that went on since the slice before.
struct Continued<'a> {
    observer: &'a mut dyn Observer,
    /// Intervals so far.
    intervals: u32,
    /// Length of the slices before.
    before: Nanos,
}

impl Observer for Continued<'_> {
    fn edge(&mut self, edge: Edge) {
        self.observer.edge(edge);
    }

    fn interval(&mut self, interval: Interval) -> ControlFlow<()> {
        let index = self.intervals;
        self.intervals += 1;
        self.observer.interval(Interval {
            index,
            start: self.before + interval.start,
            ..interval
        })
    }
}

#[cfg(test)]
mod tests;

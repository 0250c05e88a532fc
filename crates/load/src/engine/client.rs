//! A client of a step, and what it has while it runs.

use std::time::Duration;

use model::Nanos;

use super::shared::{Shared, sleep};
use super::stop::Stop;
use crate::time::NAP;
use crate::turns::Rest;
use crate::{ClientRecorder, StepError};

/// One client: owns its sessions and generators, runs on its own thread.
pub trait Client: Send {
    /// Does its work: a bounded client until it is done, others until [`ClientContext::is_over`].
    /// Both return early when that is so. Every operation is recorded. An error fails the step.
    ///
    /// Called once in each window: twice where the step has a warm-up, more often where it looks for a
    /// rate or is measured in slices. Times of [`ClientContext`] count from the opening of that window.
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError>;
}

/// What a client is to its step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// For messages: `insert 3`.
    pub name: String,
    /// Has it a fixed amount of work? The window closes when the last bounded client is done.
    pub bounded: bool,
}

/// What a client has while it runs.
#[derive(Debug)]
pub struct ClientContext<'a> {
    pub recorder: ClientRecorder,
    /// Does the window close when this client and others are done?
    pub(super) closes: bool,
    pub(super) until: Nanos,
    pub(super) shared: &'a Shared,
    pub(super) stop: &'a Stop,
}

impl ClientContext<'_> {
    pub fn is_over(&self) -> bool {
        self.shared.is_over() || self.stop.is_asked()
    }

    /// As [`ClientContext::is_over`], for a client that has just read the clock, `now`: it need not be told
    /// that the time of the window is over, and so does nothing more in the moment until somebody is awake
    /// to tell it. What it did then would be in no rate, but in what the probes say.
    pub fn is_over_at(&self, now: Nanos) -> bool {
        now >= self.until || self.is_over()
    }

    /// Does the window wait for this client's end? Else it closes at its own time, whoever is done.
    pub fn is_awaited(&self) -> bool {
        self.closes
    }

    /// Sleeps until `due` or until the step is over; tells whether `due` was reached. Costs nothing while
    /// it lasts. The kernel wakes a thread some microseconds after it asked for, more on a busy machine.
    pub fn wait_until(&self, due: Nanos) -> bool {
        self.wait_from(self.recorder.clock().now(), due).is_some()
    }

    /// As [`ClientContext::wait_until`], for a client that has just read the clock, `now`. Tells what it
    /// says when `due` is reached, so that it need not be read again.
    pub fn wait_from(&self, mut now: Nanos, due: Nanos) -> Option<Nanos> {
        while !self.is_over() {
            if now >= due {
                return Some(now);
            }
            self.sleep(Duration::from(due - now));
            now = self.recorder.clock().now();
        }
        None
    }

    /// Sleeps for a moment, for a client that looks for what nobody wakes it for.
    pub fn nap(&self) {
        self.sleep(NAP);
    }

    /// While it lives, the client waits for another one, and does nothing.
    pub fn rest(&self) -> Rest<'_> {
        self.stop.turns().rest()
    }

    /// Sleeps so long, and on if its turn is over then.
    fn sleep(&self, left: Duration) {
        let rest = self.rest();
        sleep(left);
        drop(rest);
        self.stop.turns().await_turn_a_while();
    }
}

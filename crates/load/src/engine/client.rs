//! A client of a step, what it has while it runs, and the threads of all: how they begin together, wait and end.
//!
//! There may be thousands, so nobody wakes all of them for the sake of one: clients wait at a gate that
//! opens once, sleep until somebody ends the step, and tell the collecting thread only what it waits
//! for.

use std::any::Any;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::Thread;
use std::time::Duration;

use model::Nanos;

use super::shared::{Shared, sleep};
use crate::recorder::Recorder;
use crate::turns::{Counted, NAP, Quota};
use crate::{ClientRecorder, Result, StepClock, StepError, Stop};

/// One client: owns its sessions and generators, runs on its own thread.
pub trait Client: Send {
    /// Does its work: a bounded client until it is done, others until [`ClientContext::is_over`].
    /// Both return early when that is so. Every operation is recorded. An error fails the step.
    ///
    /// Called once in each window: twice where the step has a warm-up, more often where it looks for a
    /// rate or is measured in slices. Times of [`ClientContext`] count from the opening of that window.
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// For messages: `insert 3`.
    pub name: String,
    /// Has it a fixed amount of work? The window closes when the last bounded client is done.
    pub bounded: bool,
}

#[derive(Debug)]
pub struct ClientContext<'a> {
    pub recorder: ClientRecorder,
    seat: Seat<'a>,
}

/// The place of a client in its window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat<'a> {
    /// Does the window close when this client and others are done?
    pub(super) closes: bool,
    pub(super) until: Nanos,
    pub(super) quota: Option<Quota>,
    pub(super) shared: &'a Shared,
    pub(super) stop: &'a Stop,
}

impl ClientContext<'_> {
    #[inline]
    pub fn is_over(&self) -> bool {
        let Seat { shared, stop, quota, .. } = self.seat;
        shared.is_over() || stop.is_asked() || quota.is_some_and(|it| self.has_done(it))
    }

    fn has_done(&self, quota: Quota) -> bool {
        let done = self.recorder.recorded();
        done >= quota.operations || done > 0 && self.recorder.clock().now() >= quota.at_most
    }

    /// Does the user want the end, whatever is under way?
    pub fn is_interrupted(&self) -> bool {
        self.seat.stop.is_asked()
    }

    /// As [`ClientContext::is_over`], for a client that has just read the clock, `now`: it need not be told
    /// that the time of the window is over, and so does nothing more in the moment until somebody is awake
    /// to tell it. What it did then would be in no rate, but in what the probes say.
    #[inline]
    pub fn is_over_at(&self, now: Nanos) -> bool {
        now >= self.seat.until || self.is_over()
    }

    /// Does the window wait for this client's end? Else it closes at its own time, whoever is done.
    pub fn is_awaited(&self) -> bool {
        self.seat.closes
    }

    /// Sleeps until `due` or until the step is over; tells whether `due` was reached. Costs nothing while
    /// it lasts. The kernel wakes a thread some microseconds after it asked for, more on a busy machine.
    pub fn wait_until(&self, due: Nanos) -> bool {
        self.wait_from(self.recorder.clock().now(), due).is_some()
    }

    /// As [`ClientContext::wait_until`], for a client that has just read the clock, `now`. Tells when it
    /// woke up, or `now` where it need not wait, so that the clock need not be read again.
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
    pub fn rest(&self) -> Counted<'_> {
        self.seat.stop.turns().rest()
    }

    /// Sleeps so long, and on if its turn is over then.
    fn sleep(&self, left: Duration) {
        let rest = self.rest();
        sleep(left);
        drop(rest);
        self.seat.stop.turns().await_turn_a_while();
    }
}

/// The threads of all clients, for the collecting thread. Dropped before they end, it gives the step up.
pub(super) struct Crew<'a> {
    pub(super) shared: &'a Shared,
    pub(super) threads: Vec<Thread>,
}

impl Crew<'_> {
    /// Ends the step for all clients; those that sleep wake up.
    pub(super) fn end(&self) {
        self.shared.close_window();
        self.threads.iter().for_each(Thread::unpark);
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.given_up |= state.running > 0;
        drop(state);
        self.end();
    }
}

pub(super) struct ClientThread<'a> {
    pub(super) index: usize,
    pub(super) role: &'a Role,
    pub(super) recorder: &'a Recorder,
    pub(super) seat: Seat<'a>,
}

impl ClientThread<'_> {
    pub(super) fn run(self, client: &mut dyn Client) {
        // Lets the kernel wake this thread when it asked for, not up to 50 µs later (its timer slack). Where it
        // refuses, operations of a schedule start that much later, which is part of their response time.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        // No clock: given up before this client began, by one that was quicker to fail.
        let Seat { shared, stop, .. } = self.seat;
        if let Some(clock) = shared.pass_gate() {
            let _working = stop.turns().work();
            self.perform(client, &clock);
        }
        shared.leave();
    }

    fn perform(&self, client: &mut dyn Client, clock: &StepClock) {
        let Seat { closes, shared, .. } = self.seat;
        let recorder = self.recorder.client(self.index, clock);
        let mut context = ClientContext { recorder, seat: self.seat };
        let run = AssertUnwindSafe(|| client.run(&mut context));
        let result = catch_unwind(run).unwrap_or_else(|payload| {
            Err(StepError::Bug { client: self.role.name.clone(), message: panic_text(&*payload) })
        });
        if let Err(failure) = result {
            shared.fail(failure);
        }
        if closes && shared.awaited_is_done() {
            // The last one closes the window itself: the collector may be asleep.
            self.recorder.close(clock);
            shared.close_window();
        }
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|t| (*t).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

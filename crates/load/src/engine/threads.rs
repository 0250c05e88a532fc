//! The threads of a step's clients: how they begin together, wait and end.
//!
//! There may be thousands, so nobody wakes all of them for the sake of one: clients wait at a gate that
//! opens once, sleep until somebody ends the step, and tell the collecting thread only what it waits
//! for.

use std::any::Any;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::Thread;

use model::Nanos;

use super::client::{Client, ClientContext, Role};
use super::shared::Shared;
use super::stop::Stop;
use crate::recorder::Recorder;
use crate::{StepClock, StepError};

/// The threads of all clients, as the collecting thread has them. It gives the step up when it leaves
/// before them, however it does.
pub(super) struct Crew<'a> {
    shared: &'a Shared,
    threads: Vec<Thread>,
}

impl<'a> Crew<'a> {
    pub(super) fn new(shared: &'a Shared, clients: usize) -> Self {
        Self { shared, threads: Vec::with_capacity(clients) }
    }

    pub(super) fn add(&mut self, thread: &Thread) {
        self.threads.push(thread.clone());
    }

    /// Ends the step for all clients; those that sleep wake up.
    pub(super) fn end(&self) {
        self.shared.end();
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

/// One client on its own thread.
pub(super) struct ClientThread<'a> {
    pub(super) index: usize,
    pub(super) role: &'a Role,
    pub(super) closes: bool,
    pub(super) until: Nanos,
    pub(super) recorder: &'a Recorder,
    pub(super) shared: &'a Shared,
    pub(super) stop: &'a Stop,
}

impl ClientThread<'_> {
    /// Waits for the window and runs the client.
    pub(super) fn run(self, client: &mut dyn Client) {
        wake_punctually();
        // No clock: given up before this client began, by one that was quicker to fail.
        if let Some(clock) = self.shared.pass_gate() {
            let _working = self.stop.turns().work();
            self.perform(client, &clock);
        }
        self.shared.leave();
    }

    fn perform(&self, client: &mut dyn Client, clock: &StepClock) {
        let mut context = ClientContext {
            recorder: self.recorder.client(self.index, clock),
            closes: self.closes,
            until: self.until,
            shared: self.shared,
            stop: self.stop,
        };
        let run = AssertUnwindSafe(|| client.run(&mut context));
        let result = catch_unwind(run).unwrap_or_else(|payload| {
            Err(StepError::Bug { client: self.role.name.clone(), message: panic_text(&*payload) })
        });
        if let Err(failure) = result {
            self.shared.fail(failure);
        }
        if self.closes && self.shared.awaited_is_done() {
            // The last one closes the window itself: the collector may be asleep.
            self.recorder.close(clock);
            self.shared.close_window();
        }
    }
}

/// Lets the kernel wake this thread when it asked for, not up to 50 µs later (its timer slack). Where it
/// refuses, operations of a schedule start that much later, which is part of their response time.
fn wake_punctually() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|t| (*t).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

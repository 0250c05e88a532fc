//! The threads of a step's clients: how they begin together, wait and end.
//!
//! There may be thousands, so nobody wakes all of them for the sake of one: clients wait at a gate that
//! opens once, sleep until somebody ends the step, and tell the collecting thread only what it waits
//! for.

use std::any::Any;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};
use std::thread::Thread;
use std::time::{Duration, Instant};

use model::Nanos;

use super::{Client, ClientContext, NAP, Role, Stop};
use crate::recorder::Recorder;
use crate::{StepClock, StepError};

/// The longest that a client sleeps at once, whatever its schedule says.
const LONGEST: Duration = Duration::from_secs(10);

/// What clients and the collecting thread share.
#[derive(Debug)]
pub(super) struct Shared {
    over: AtomicBool,
    /// The clock of the window, once it is open. Clients read it; the collecting thread keeps it locked
    /// for writing until then. Unlocking wakes all of them in one system call, and they need no turn.
    gate: RwLock<Option<StepClock>>,
    state: Mutex<State>,
    /// Something happened that the collecting thread waits for; nobody else does.
    changed: Condvar,
}

/// Who is where.
#[derive(Debug)]
pub(super) struct State {
    /// Clients that have not reached the gate.
    pub(super) not_ready: usize,
    /// Clients that the window waits for and that are not done.
    pub(super) awaited: usize,
    /// Clients between the gate and their end.
    pub(super) running: usize,
    /// Is the step given up?
    pub(super) given_up: bool,
    failure: Option<StepError>,
}

impl Shared {
    /// For so many clients, of whom the window waits for so many.
    pub(super) fn new(clients: usize, awaited: usize) -> Self {
        Self {
            over: AtomicBool::new(false),
            gate: RwLock::new(None),
            state: Mutex::new(State {
                not_ready: clients,
                awaited,
                running: 0,
                given_up: false,
                failure: None,
            }),
            changed: Condvar::new(),
        }
    }

    /// Is the window closed, or the step given up?
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Shuts the gate, for the collecting thread. It opens when the guard is dropped: to the window if
    /// there is a clock in it, else to nothing.
    pub(super) fn shut_gate(&self) -> RwLockWriteGuard<'_, Option<StepClock>> {
        self.gate.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the state.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks the collecting thread until `done`, at most until `until`. `done` is asked at least every
    /// [`NAP`], for what nobody tells of.
    pub(super) fn wait(&self, until: Option<Instant>, mut done: impl FnMut(&State) -> bool) {
        let mut state = self.state();
        while !done(&state) {
            let left = until.map_or(NAP, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return;
            }
            state = self
                .changed
                .wait_timeout(state, left.min(NAP))
                .map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state);
        }
    }

    /// Gives the step up.
    pub(super) fn give_up(&self) {
        self.state().given_up = true;
        self.over.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Why the step has failed, if it has.
    pub(super) fn outcome(&self, stop: &Stop) -> Result<(), StepError> {
        let mut state = self.state();
        match state.failure.take() {
            Some(failure) => Err(failure),
            None if state.given_up || stop.is_asked() => Err(StepError::Interrupted),
            None => Ok(()),
        }
    }

    /// Blocks a client until the window opens; `None` when it never will.
    fn pass_gate(&self) -> Option<StepClock> {
        let mut state = self.state();
        state.not_ready -= 1;
        state.running += 1;
        let last = state.not_ready == 0;
        drop(state);
        if last {
            self.changed.notify_one();
        }
        let clock = *self.gate.read().unwrap_or_else(PoisonError::into_inner);
        clock.filter(|_| !self.state().given_up)
    }

    /// The first failure is the cause: others that end because the step is over come after it.
    fn fail(&self, failure: StepError) {
        self.state().failure.get_or_insert(failure);
        self.give_up();
    }

    /// A client that the window waits for is done; was it the last one?
    fn awaited_is_done(&self) -> bool {
        let mut state = self.state();
        state.awaited -= 1;
        state.awaited == 0
    }

    fn close_window(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    fn leave(&self) {
        let mut state = self.state();
        state.running -= 1;
        if state.running == 0 {
            drop(state);
            self.changed.notify_one();
        }
    }
}

/// The threads of all clients, as the collecting thread has them. It gives the step up when it leaves
/// before them, however it does.
pub(super) struct Crew<'a> {
    shared: &'a Shared,
    threads: Vec<Thread>,
}

impl<'a> Crew<'a> {
    pub(super) fn new(shared: &'a Shared, clients: usize) -> Self {
        Self {
            shared,
            threads: Vec::with_capacity(clients),
        }
    }

    pub(super) fn add(&mut self, thread: &Thread) {
        self.threads.push(thread.clone());
    }

    /// Ends the step for all clients; those that sleep wake up.
    pub(super) fn end(&self) {
        self.shared.over.store(true, Ordering::Relaxed);
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

/// Sleeps until `due`, given as what is left, or until somebody wakes this thread.
pub(super) fn sleep(left: Duration) {
    std::thread::park_timeout(left.min(LONGEST));
}

/// One client on its own thread.
pub(super) struct ClientThread<'a> {
    pub(super) index: usize,
    pub(super) role: &'a Role,
    /// Is the client's end awaited by the window?
    pub(super) closes: bool,
    /// When the window closes at the latest.
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
            self.perform(client, clock);
        }
        self.shared.leave();
    }

    fn perform(&self, client: &mut dyn Client, clock: StepClock) {
        let mut context = ClientContext {
            recorder: self.recorder.client(self.index, clock),
            closes: self.closes,
            until: self.until,
            shared: self.shared,
            stop: self.stop,
        };
        let run = AssertUnwindSafe(|| client.run(&mut context));
        let result = catch_unwind(run).unwrap_or_else(|payload| {
            Err(StepError::Bug {
                client: self.role.name.clone(),
                message: panic_text(&*payload),
            })
        });
        if let Err(failure) = result {
            self.shared.fail(failure);
        }
        if self.closes && self.shared.awaited_is_done() {
            // The last one closes the window itself: the collector may be asleep.
            self.recorder.close(&clock);
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
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}

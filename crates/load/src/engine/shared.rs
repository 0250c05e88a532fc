//! What the threads of a step share: a gate at which they begin together, and who has ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

use model::Nanos;

use crate::turns::{NAP, lock};
use crate::{Result, StepClock, StepError, Stop};

/// The longest that a client sleeps at once, whatever its schedule says.
const LONGEST: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct Shared {
    over: AtomicBool,
    /// The clock of the window, once it is open. Clients read it; the collecting thread keeps it locked
    /// for writing until then. Unlocking wakes all of them in one system call, and they need no turn.
    gate: RwLock<Option<StepClock>>,
    state: Mutex<State>,
    /// Something happened that the collecting thread waits for; nobody else does.
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// Clients that have not reached the gate.
    pub(super) not_ready: usize,
    /// Clients that the window waits for and that are not done.
    pub(super) awaited: usize,
    /// Clients between the gate and their end.
    pub(super) running: usize,
    pub(super) given_up: bool,
    failure: Option<StepError>,
}

impl Shared {
    pub(super) fn new(clients: usize, awaited: usize) -> Self {
        let state = State { not_ready: clients, awaited, ..State::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Shuts the gate for the collecting thread. Dropping the guard opens it; no clock: to no window.
    pub(super) fn shut_gate(&self) -> RwLockWriteGuard<'_, Option<StepClock>> {
        self.gate.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Blocks the collecting thread until `done`, asked at least every [`NAP`], or `until` on this clock. False when
    /// the clock stands: the system has no turn.
    pub(super) fn wait(
        &self,
        until: Option<(&StepClock, Nanos)>,
        mut done: impl FnMut(&State) -> bool,
    ) -> bool {
        let mut state = self.state();
        while !done(&state) {
            let left = match until {
                Some((clock, _)) if clock.turns().is_still() => return false,
                Some((clock, until)) => until.saturating_sub(clock.now()).into(),
                None => NAP,
            };
            if left.is_zero() {
                return true;
            }
            let waited = self.changed.wait_timeout(state, left.min(NAP));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    pub(super) fn give_up(&self) {
        self.state().given_up = true;
        self.over.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    pub(super) fn outcome(&self, stop: &Stop) -> Result {
        let mut state = self.state();
        match state.failure.take() {
            Some(failure) => Err(failure),
            None if state.given_up || stop.is_asked() => Err(StepError::Interrupted),
            None => Ok(()),
        }
    }

    /// Blocks a client until the window opens; `None` when it never will.
    pub(super) fn pass_gate(&self) -> Option<StepClock> {
        let mut state = self.state();
        state.not_ready -= 1;
        state.running += 1;
        let last = state.not_ready == 0;
        drop(state);
        if last {
            self.changed.notify_one();
        }
        let clock = self.gate.read().unwrap_or_else(PoisonError::into_inner).clone();
        clock.filter(|_| !self.state().given_up)
    }

    /// The first failure is the cause: others that end because the step is over come after it.
    pub(super) fn fail(&self, failure: StepError) {
        self.state().failure.get_or_insert(failure);
        self.give_up();
    }

    /// A client that the window waits for is done; was it the last one?
    pub(super) fn awaited_is_done(&self) -> bool {
        let mut state = self.state();
        state.awaited -= 1;
        state.awaited == 0
    }

    pub(super) fn close_window(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    pub(super) fn leave(&self) {
        let mut state = self.state();
        state.running -= 1;
        if state.running == 0 {
            drop(state);
            self.changed.notify_one();
        }
    }
}

/// Sleeps until `due`, given as what is left, or until somebody wakes this thread.
pub(super) fn sleep(left: Duration) {
    std::thread::park_timeout(left.min(LONGEST));
}

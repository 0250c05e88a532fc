//! What a step obeys: the turns of its system among those of its round, between which its time stands still;
//! its clock; and the user's wish to stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// How often those look for the end of the step, and for the user's wish to stop, whom nobody wakes.
pub const NAP: Duration = Duration::from_millis(50);

/// Flag of [`Turns::word`]: no operation may begin.
const SHUT: u64 = 1 << 63;
/// Flag of [`Turns::word`]: the clock stands.
const STILL: u64 = 1 << 62;
const TIME: u64 = !(SHUT | STILL);

/// When one system may work, and its clock. The step's threads read it through [`crate::Stop`]; one other
/// thread gives the turns.
///
/// A server that is frozen between its turns holds its clients up by itself: they wait for its answers. Where
/// nothing can be frozen, `gated`, a turn ends when every thread that works has come to the edge of an operation.
#[derive(Debug)]
pub struct Turns {
    /// Length of a turn, and of the intervals of its steps.
    length: Nanos,
    gated: bool,
    /// When it had its first turn, on its own clock.
    origin: Nanos,
    /// Two flags, and nanoseconds: what the clock stands at, or while it goes, how far it is behind
    /// [`monotonic`]. Changed under the lock of `state`.
    word: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Threads that work, where `gated`.
    working: usize,
    /// Has the step ended its turn?
    is_over: bool,
    /// Does the step still read counters of the turn that has ended?
    is_reading: bool,
    /// Are there no more turns? Then the step works until its end.
    is_released: bool,
}

/// One turn without an end.
impl Default for Turns {
    fn default() -> Self {
        Self {
            length: Nanos::SECOND,
            gated: false,
            origin: Nanos(0),
            word: AtomicU64::new(0),
            state: Mutex::new(State { is_released: true, ..State::default() }),
            changed: Condvar::new(),
        }
    }
}

impl Turns {
    /// Before the first turn.
    pub fn new(length: Nanos, gated: bool) -> Self {
        let origin = monotonic();
        let word = AtomicU64::new(SHUT | STILL | origin.0);
        Self { length, gated, origin, word, state: Mutex::default(), ..Self::default() }
    }

    /// Begins a turn, for a server that runs.
    pub fn begin(&self) {
        self.change(|state| {
            state.is_over = false;
            self.open();
        });
    }

    /// No more turns: the step works until its end.
    pub fn release(&self) {
        self.change(|state| {
            state.is_released = true;
            self.open();
        });
    }

    fn open(&self) {
        let word = self.word.load(Ordering::Relaxed);
        let behind = if word & STILL == 0 { word & TIME } else { monotonic().0 - (word & TIME) };
        self.word.store(behind, Ordering::Release);
    }

    /// Waits until the step has ended its turn by itself, but no longer than this.
    pub fn wait_over(&self, at_most: Duration) {
        drop(self.wait_for(at_most, |state| state.is_over));
    }

    /// Ends a turn: shuts the gate and stops the clock; where gated, when nobody works any more. False when
    /// that takes longer than `at_most`: the turn goes on, because one at the gate may block another.
    pub fn end(&self, at_most: Duration) -> bool {
        self.word.fetch_or(SHUT, Ordering::AcqRel);
        let mut state = self.wait_for(at_most, |state| !self.gated || state.working == 0);
        if self.gated && state.working > 0 {
            self.open();
            state.is_over = false;
        } else {
            let now = self.now();
            self.word.store(SHUT | STILL | now.0, Ordering::Release);
        }
        drop(state);
        self.changed.notify_all();
        self.is_still()
    }

    /// Waits until the step has read the counters of the turn that has ended.
    pub fn wait_read(&self, at_most: Duration) {
        drop(self.wait_for(at_most, |state| !state.is_reading));
    }

    /// For the step: ends its turn, and waits for the end. Its counters stand until [`Turns::have_read`].
    pub fn hand_over(&self) {
        let mut state = self.state();
        if state.is_released {
            return;
        }
        (state.is_over, state.is_reading) = (true, true);
        drop(state);
        self.changed.notify_all();
        let _rest = self.rest();
        self.wait_while(|state| !self.is_still() && !state.is_released);
    }

    /// The same in its next turn, if there is none now; it does not end before `tell` returns.
    pub fn hand_over_with(&self, tell: impl FnOnce()) {
        loop {
            self.await_turn();
            let mut state = self.state();
            if self.is_shut() && !state.is_released {
                continue;
            }
            state.is_reading = !state.is_released;
            tell();
            break;
        }
        self.hand_over();
    }

    /// For the step: it has read what it wanted to, in the turn that has ended.
    pub fn have_read(&self) {
        self.change(|state| state.is_reading = false);
    }

    /// For the step: it is done. Its turns are over, but it works on what is left.
    pub fn leave(&self) {
        self.change(|state| (state.is_over, state.is_reading) = (true, false));
    }

    /// For the step: waits for its next turn, if there is none.
    pub fn await_turn(&self) {
        if self.is_shut() {
            let _rest = self.rest();
            self.wait_while(|_| self.is_shut());
        }
    }

    /// The same, but no longer than [`NAP`], for those that also look for something else.
    pub(crate) fn await_turn_a_while(&self) {
        if self.is_shut() {
            let _rest = self.rest();
            drop(self.wait_for(NAP, |_| !self.is_shut()));
        }
    }

    pub const fn length(&self) -> Nanos {
        self.length
    }

    /// Are there no more turns?
    pub fn is_released(&self) -> bool {
        self.state().is_released
    }

    /// How long all turns were so far.
    pub fn active(&self) -> Nanos {
        self.now().saturating_sub(self.origin)
    }

    /// Time in turns, from some point before the first one.
    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        loop {
            let word = self.word.load(Ordering::Acquire);
            if word & STILL != 0 {
                return Nanos(word & TIME);
            }
            let now = monotonic().0;
            // Else a turn ended or began in between, and the two do not belong together.
            if self.word.load(Ordering::Acquire) == word {
                return Nanos(now - (word & TIME));
            }
        }
    }

    #[inline]
    pub(crate) fn is_shut(&self) -> bool {
        self.word.load(Ordering::Relaxed) & SHUT != 0
    }

    pub(crate) fn is_still(&self) -> bool {
        self.word.load(Ordering::Relaxed) & STILL != 0
    }

    /// While it lives, this thread works.
    pub fn work(&self) -> Counted<'_> {
        self.count(true);
        Counted { turns: self, works: true }
    }

    /// While it lives, a thread that works only waits.
    pub fn rest(&self) -> Counted<'_> {
        self.count(false);
        Counted { turns: self, works: false }
    }

    /// One thread more works, or one less.
    fn count(&self, more: bool) {
        if self.gated {
            let mut state = self.state();
            state.working = if more { state.working + 1 } else { state.working.saturating_sub(1) };
            let is_last = state.working == 0;
            drop(state);
            if is_last {
                self.changed.notify_all();
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn wait_while(&self, mut waits: impl FnMut(&State) -> bool) {
        let waited = self.changed.wait_while(self.state(), |state| waits(state));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn wait_for(
        &self,
        at_most: Duration,
        mut done: impl FnMut(&State) -> bool,
    ) -> MutexGuard<'_, State> {
        let waited = self.changed.wait_timeout_while(self.state(), at_most, |state| !done(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A thread that works, as [`Turns::work`] says, or waits, as [`Turns::rest`] says.
#[derive(Debug)]
pub struct Counted<'a> {
    turns: &'a Turns,
    works: bool,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.turns.count(!self.works);
    }
}

/// The clock of one step: it goes while its system has a turn. Copies agree.
#[derive(Clone, Debug)]
pub struct StepClock {
    turns: Arc<Turns>,
    origin: Nanos,
}

impl StepClock {
    /// Of a step that has all of the time.
    pub fn start() -> Self {
        Self::of(&Arc::default())
    }

    pub(crate) fn of(turns: &Arc<Turns>) -> Self {
        Self { turns: Arc::clone(turns), origin: turns.now() }
    }

    #[inline]
    pub fn now(&self) -> Nanos {
        self.turns.now().saturating_sub(self.origin)
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }
}

/// The user's wish to stop, shared with the signal handler. A step in turns has its own, with its turns.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    turns: Arc<Turns>,
    quota: Option<Quota>,
}

/// The work of a client in a window that would otherwise have a length in time: so many operations, or as many as it
/// ends until the first that ends after `at_most`. The window closes when the last operation is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub operations: u64,
    /// What it does in the window before.
    pub warm_up: u64,
    pub at_most: Nanos,
}

impl Quota {
    /// That of the window before, in which clients warm up.
    #[must_use]
    pub const fn before(self) -> Self {
        Self { operations: self.warm_up, ..self }
    }
}

impl Stop {
    /// Of one system among those that take turns.
    pub fn in_turns(turns: Turns) -> Self {
        Self { turns: Arc::new(turns), ..Self::default() }
    }

    /// The same wish for steps whose clients have this quota in each window.
    #[must_use]
    pub fn with_quota(&self, quota: Option<Quota>) -> Self {
        Self { quota, ..self.clone() }
    }

    pub const fn quota(&self) -> Option<Quota> {
        self.quota
    }

    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// A clock that begins now, and stands between the turns.
    pub fn clock(&self) -> StepClock {
        StepClock::of(&self.turns)
    }

    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }

    #[inline]
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

/// Locks what threads share. One that panicked leaves it whole: it is changed by one value at a time.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The clock of `Instant`, which has the same zero in all processes since the machine was started. Read
/// without the checks of `Instant`, which cost as much as the reading: each operation reads it.
#[inline]
pub fn monotonic() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    Nanos(time.tv_sec as u64 * Nanos::SECOND.0 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests;

//! What a step obeys: its time since the window opened, the user's wish to stop, its system's turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::Nanos;

use crate::turns::{NAP, Turns};

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

    /// How long it is until `at`, while the clock goes.
    pub(crate) fn left(&self, at: Nanos) -> Duration {
        if self.turns.is_still() { NAP } else { at.saturating_sub(self.now()).into() }
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }
}

/// The user's wish to stop, shared with the signal handler. A step that is carried out in turns has one of its
/// own, through which it also gets at the turns.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    turns: Arc<Turns>,
}

impl Stop {
    /// Of one system among those that take turns.
    pub fn in_turns(turns: Turns) -> Self {
        Self { asked: Arc::default(), turns: Arc::new(turns) }
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

    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

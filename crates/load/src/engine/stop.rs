//! What a step obeys: the user's wish to stop, and the turns of its system.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::StepClock;
use crate::turns::Turns;

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

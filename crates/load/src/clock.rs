//! Time inside a step, counted from the window's opening edge.

use std::sync::Arc;
use std::time::Duration;

use model::Nanos;

use crate::time::NAP;
use crate::turns::Turns;

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

//! Time inside a step, counted from the window's opening edge.

use std::time::{Duration, Instant};

use model::Nanos;

/// The clock of one step. Copies agree.
#[derive(Clone, Copy, Debug)]
pub struct StepClock {
    origin: Instant,
}

impl StepClock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self {
            origin: Instant::now(),
        }
    }

    /// Time since the start.
    #[inline]
    pub fn now(&self) -> Nanos {
        Nanos::from(self.origin.elapsed())
    }

    /// Sleeps until `due`, at most `longest` at once, and tells whether `due` is reached. Callers
    /// loop, looking at their stop flag in between.
    pub fn sleep_towards(&self, due: Nanos, longest: Duration) -> bool {
        let left = due.saturating_sub(self.now());
        if left.0 == 0 {
            return true;
        }
        std::thread::sleep(Duration::from(left).min(longest));
        self.now() >= due
    }
}

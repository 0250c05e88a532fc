//! Time inside a step, counted from the window's opening edge.

use std::time::Duration;

use model::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// The clock of one step. Copies agree.
#[derive(Clone, Copy, Debug)]
pub struct StepClock {
    origin: Nanos,
}

impl StepClock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self {
            origin: monotonic(),
        }
    }

    /// Time since the start.
    #[inline]
    pub fn now(&self) -> Nanos {
        monotonic().saturating_sub(self.origin)
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

/// The clock of `Instant`, read without the checks and conversions of `Instant`, which take as many
/// instructions as the reading: it is read twice an operation.
#[inline]
fn monotonic() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    Nanos(time.tv_sec as u64 * Nanos::SECOND.0 + time.tv_nsec as u64)
}

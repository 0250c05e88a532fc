//! Time inside a step, counted from the window's opening edge.

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
}

/// The clock of `Instant`, which has the same zero in all processes since the machine was started. Read
/// without the checks and conversions of `Instant`, which take as many instructions as the reading: it is
/// read for each operation.
#[inline]
pub fn monotonic() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    Nanos(time.tv_sec as u64 * Nanos::SECOND.0 + time.tv_nsec as u64)
}

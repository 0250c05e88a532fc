//! The time of the host.

use std::time::Duration;

use model::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// How often those look for the end of the step, and for the user's wish to stop, whom nobody wakes.
pub const NAP: Duration = Duration::from_millis(50);

/// The clock of `Instant`, which has the same zero in all processes since the machine was started. Read
/// without the checks and conversions of `Instant`, which take as many instructions as the reading: it is
/// read for each operation.
#[inline]
pub fn monotonic() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    Nanos(time.tv_sec as u64 * Nanos::SECOND.0 + time.tv_nsec as u64)
}

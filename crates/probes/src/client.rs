//! The load generator's own cost.

use model::{Counter, Readings};
use nix::sys::resource::{UsageWho, getrusage};
use rustix::time::{ClockId, clock_gettime};

use crate::error::{ProbeError, Result};
use crate::probe::{Detail, Probe};
use crate::process::Memory;

/// Reads this process's CPU clock, which is exact to the nanosecond over all its threads.
pub(crate) struct ClientProbe;

impl Probe for ClientProbe {
    fn name(&self) -> &'static str {
        "client"
    }

    fn read(&mut self, _: Detail) -> Result<Readings> {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let usage = getrusage(UsageWho::RUSAGE_SELF).map_err(|cause| ProbeError::System {
            what: "the resource usage of this process",
            cause: cause.into(),
        })?;
        let mut readings = Readings::default();
        readings.total(Counter::CLIENT_CPU, cpu.tv_sec as u64 * 1_000_000_000 + cpu.tv_nsec as u64);
        readings.total(Counter::CLIENT_CS, usage.voluntary_context_switches() as u64);
        readings.level(Counter::CLIENT_RSS, Memory::of("self")?.resident);
        Ok(readings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn work_and_waiting_show() {
        let before = ClientProbe.read(Detail::Second).unwrap();
        let spent = |readings: &Readings| readings.get(Counter::CLIENT_CPU).unwrap();
        let mut after = before.clone();
        while spent(&after) < spent(&before) + 20_000_000 {
            std::thread::sleep(Duration::from_micros(1));
            after = ClientProbe.read(Detail::Second).unwrap();
        }
        let between = after.since(&before);
        assert!(between.get(Counter::CLIENT_CS) > Some(0));
        assert!(after.get(Counter::CLIENT_RSS) > Some(100_000));
    }
}

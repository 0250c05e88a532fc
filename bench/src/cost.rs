//! The cost of this process, by the kernel's exact clocks.

use std::fs;

use anyhow::{Context, Result};
use model::{Bytes, Nanos};
use rustix::time::{ClockId, clock_gettime};

/// CPU time of all threads of this process, user and system.
pub fn process_cpu() -> Nanos {
    nanos(ClockId::ProcessCPUTime)
}

/// CPU time of the calling thread, user and system.
pub fn thread_cpu() -> Nanos {
    nanos(ClockId::ThreadCPUTime)
}

fn nanos(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    Nanos(time.tv_sec as u64 * Nanos::SECOND.0 + time.tv_nsec as u64)
}

/// The largest resident memory of this process since it started or since [`forget_peak`].
pub fn peak_memory() -> Result<Bytes> {
    status("VmHWM")
}

/// The resident memory of this process now.
pub fn resident() -> Result<Bytes> {
    status("VmRSS")
}

/// Resets the peak of memory to the resident size.
pub fn forget_peak() -> Result<()> {
    // 5 resets the peak: proc(5), /proc/pid/clear_refs.
    fs::write("/proc/self/clear_refs", "5").context("cannot reset the peak of memory")
}

fn status(field: &str) -> Result<Bytes> {
    let text = fs::read_to_string("/proc/self/status").context("cannot read /proc/self/status")?;
    let kib = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| *name == field)
        .and_then(|(_, value)| value.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    let kib = kib.with_context(|| format!("/proc/self/status has no {field}"))?;
    Ok(Bytes(kib << 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_on_both_clocks() {
        let (process, thread) = (process_cpu(), thread_cpu());
        while thread_cpu() < thread + Nanos::from_millis(5) {
            std::hint::spin_loop();
        }
        assert!(process_cpu() >= process + Nanos::from_millis(5));
    }

    #[test]
    fn memory_that_was_given_back_stays_in_the_peak_until_it_is_forgotten() {
        let size = 64 << 20;
        let before = resident().unwrap();
        drop(std::hint::black_box(vec![1u8; size]));
        assert!(peak_memory().unwrap().0 >= before.0 + size as u64 / 2);
        forget_peak().unwrap();
        assert!(peak_memory().unwrap().0 < before.0 + size as u64 / 2);
    }
}

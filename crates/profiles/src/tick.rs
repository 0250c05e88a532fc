//! Samples at the kernel's tick, which interrupts a busy CPU anyway.
//!
//! A timer of the software clock is an extra interrupt. In a virtual machine, 199 of them per second took 12 to 25 % of
//! the throughput of point selects.

use std::ffi::CString;
use std::fs;

use rustix::fs::{Mode, OFlags, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use rustix::time::{ClockId, clock_getres};

use crate::kernel::Kernel;

/// The file, within tracefs, that has the number of the event "a timer has expired".
const EVENT: &str = "events/timer/hrtimer_expire_entry/id";
/// The functions that the tick's timer calls; before Linux 6.9, the second one.
const HANDLERS: [&str; 2] = ["tick_nohz_handler", "tick_sched_timer"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tick {
    pub(crate) event: u64,
    /// Address of the function that the tick's timer calls.
    handler: u64,
    /// One of this many ticks is a sample.
    pub(crate) period: u64,
    /// Samples per second.
    pub(crate) hertz: u32,
}

impl Tick {
    /// Finds the tick for about `wanted` samples per second. `None` if the kernel hides its tick from this user, or
    /// does not tick on all CPUs.
    pub(crate) fn find(kernel: &Kernel, wanted: u32) -> Option<Self> {
        // backslide knows only for this architecture where interrupts enter the kernel.
        let without = fs::read_to_string("/sys/devices/system/cpu/nohz_full").unwrap_or_default();
        if !cfg!(target_arch = "x86_64") || !matches!(without.trim(), "" | "(null)") {
            return None;
        }
        let handler = HANDLERS.iter().find_map(|name| kernel.address(name))?;
        // The coarse clocks advance at each tick.
        let length = clock_getres(ClockId::MonotonicCoarse);
        let every_second = 1_000_000_000_u64.checked_div(length.tv_nsec as u64)?;
        let period = (every_second / u64::from(wanted)).max(1);
        let hertz = (every_second / period) as u32;
        Some(Self { event: event()?, handler, period, hertz })
    }

    /// Leaves the kernel's other timers out.
    pub(crate) fn filter(self) -> CString {
        CString::new(format!("function=={:#x}", self.handler)).unwrap_or_default()
    }
}

/// The event's number.
fn event() -> Option<u64> {
    let mounted = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
    let text = mounted.iter().find_map(|at| fs::read_to_string(format!("{at}/{EVENT}")).ok());
    text.or_else(unmounted)?.trim().parse().ok()
}

/// Reads the event's file from a tracefs that is mounted where no other process sees it.
fn unmounted() -> Option<String> {
    let opened = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC).ok()?;
    fsconfig_create(&opened).ok()?;
    let access = MountAttrFlags::MOUNT_ATTR_RDONLY;
    let mounted = fsmount(&opened, FsMountFlags::FSMOUNT_CLOEXEC, access).ok()?;
    let file = openat(mounted, EVENT, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    std::io::read_to_string(fs::File::from(file)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_hides_its_functions_has_no_tick() {
        assert_eq!(Tick::find(&Kernel::parse(""), 199), None);
    }

    #[test]
    fn one_tick_of_some_is_a_sample() {
        let Some(tick) = Tick::find(&Kernel::read(), 199) else { return };
        assert!((100..=398).contains(&tick.hertz), "{tick:?}");
        assert!(tick.filter().to_str().unwrap().starts_with("function==0xffff"), "{tick:?}");
    }
}

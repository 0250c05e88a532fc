//! What the performance monitoring unit (PMU) of the CPUs counts of the server's threads.

use std::ffi::c_ulong;
use std::fs;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use model::{Counter, Readings};
use perf_event_open_sys::bindings::{
    PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_CPU_CYCLES,
    PERF_COUNT_HW_INSTRUCTIONS, PERF_FLAG_FD_CLOEXEC, PERF_FORMAT_TOTAL_TIME_ENABLED,
    PERF_FORMAT_TOTAL_TIME_RUNNING, PERF_TYPE_HARDWARE, perf_event_attr,
};
use perf_event_open_sys::perf_event_open;
use rustix::process::{Resource, getrlimit};

use crate::error::{ProbeError, Result};
use crate::probe::{Detail, Probe};
use crate::tree::{Tree, threads};

/// One event of the kernel, in user code or in the kernel's.
#[derive(Clone, Copy)]
struct Event {
    counter: &'static str,
    kind: u32,
    config: u32,
    counts_user: bool,
    counts_kernel: bool,
}

const fn hardware(counter: &'static str, config: u32, user: bool, kernel: bool) -> Event {
    Event { counter, kind: PERF_TYPE_HARDWARE, config, counts_user: user, counts_kernel: kernel }
}

/// In the order in which they get a place in the PMU, which has few.
const EVENTS: [Event; 6] = [
    hardware(Counter::SERVER_USER_INSTRUCTIONS, PERF_COUNT_HW_INSTRUCTIONS, true, false),
    hardware(Counter::SERVER_KERNEL_INSTRUCTIONS, PERF_COUNT_HW_INSTRUCTIONS, false, true),
    hardware(Counter::SERVER_USER_CYCLES, PERF_COUNT_HW_CPU_CYCLES, true, false),
    hardware(Counter::SERVER_KERNEL_CYCLES, PERF_COUNT_HW_CPU_CYCLES, false, true),
    hardware(Counter::SERVER_BRANCH_MISSES, PERF_COUNT_HW_BRANCH_MISSES, true, true),
    hardware(Counter::SERVER_CACHE_MISSES, PERF_COUNT_HW_CACHE_MISSES, true, true),
];

/// Counts from its first reading on. Threads and processes that the server starts meanwhile are counted with the thread
/// that started them. An event that the PMU could not count all of the time is left out: the kernel's extrapolation is
/// an estimate.
pub(crate) struct PmuProbe {
    tree: Tree,
    /// An event of each thread that the server had at the first reading.
    opened: Option<Vec<(Event, Vec<OwnedFd>)>>,
}

impl PmuProbe {
    /// `None` where [`available`] says no.
    pub(crate) fn new(pid: u32) -> Option<Self> {
        available().is_ok().then(|| Self { tree: Tree::new(pid), opened: None })
    }

    fn open(&mut self, events: &[Event]) -> Result<Vec<(Event, Vec<OwnedFd>)>> {
        let processes = self.tree.read(Detail::Edge)?;
        let threads = processes.iter().filter_map(|process| threads(process.pid).ok());
        let threads: Vec<u32> = threads.flatten().collect();
        leave_room(threads.len() * events.len())?;
        // What this CPU does not have or this user may not count is left out.
        let of_event = |event: &Event| Some((*event, open_all(*event, &threads).ok()?));
        Ok(events.iter().filter_map(of_event).collect())
    }

    fn read_events(&mut self, events: &[Event]) -> Result<Readings> {
        let opened = match self.opened.take() {
            Some(opened) => opened,
            None => self.open(events)?,
        };
        let mut readings = Readings::default();
        for (event, of_threads) in &opened {
            let values = of_threads.iter().map(value).collect::<io::Result<Option<Vec<u64>>>>();
            let values =
                values.map_err(|cause| ProbeError::System { what: "a count of the PMU", cause })?;
            if let Some(values) = values {
                readings.total(event.counter, values.iter().sum());
            }
        }
        self.opened = Some(opened);
        Ok(readings)
    }
}

impl Probe for PmuProbe {
    fn name(&self) -> &'static str {
        "pmu"
    }

    /// At every detail the same.
    fn read(&mut self, _: Detail) -> Result<Readings> {
        self.read_events(&EVENTS)
    }
}

/// Can this user count the instructions of other processes here? Otherwise why not.
pub(crate) fn available() -> io::Result<()> {
    // The first event, of the calling thread.
    open(EVENTS[0], 0).map(drop)
}

/// Threads that end meanwhile have no event.
fn open_all(event: Event, threads: &[u32]) -> io::Result<Vec<OwnedFd>> {
    let opened = threads.iter().map(|thread| open(event, *thread));
    opened.filter(|opened| !matches!(opened, Err(cause) if has_ended(cause))).collect()
}

fn has_ended(cause: &io::Error) -> bool {
    cause.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

/// Clients need files too: at most half of those that this process may still open.
fn leave_room(needed: usize) -> Result<()> {
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let used = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count) as u64;
    if needed as u64 <= most.saturating_sub(used) / 2 {
        return Ok(());
    }
    let cause = io::Error::other(format!("they need {needed} open files; raise `ulimit -n`"));
    Err(ProbeError::System { what: "the PMU's counts", cause })
}

#[expect(unsafe_code, reason = "no safe wrapper has this system call")]
fn open(event: Event, thread: u32) -> io::Result<OwnedFd> {
    const ANY_CPU: i32 = -1;
    let mut attributes = perf_event_attr {
        type_: event.kind,
        size: size_of::<perf_event_attr>() as u32,
        config: event.config.into(),
        read_format: u64::from(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING),
        ..perf_event_attr::default()
    };
    attributes.set_inherit(1);
    // On the PMU whenever the thread runs, or not at all.
    attributes.set_pinned(1);
    attributes.set_exclude_user(u64::from(!event.counts_user));
    attributes.set_exclude_kernel(u64::from(!event.counts_kernel));
    attributes.set_exclude_hv(1);
    let flags = c_ulong::from(PERF_FLAG_FD_CLOEXEC);
    // SAFETY: the attributes outlive the call, and state their own size.
    let descriptor =
        unsafe { perf_event_open(&raw mut attributes, thread as i32, ANY_CPU, -1, flags) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made it, for nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// The count of an event with those of all that its thread started; `None` where the PMU had no place for it.
fn value(event: &OwnedFd) -> io::Result<Option<u64>> {
    let mut bytes = [0_u8; 24];
    if rustix::io::read(event, &mut bytes)? < bytes.len() {
        return Ok(None);
    }
    let [count, enabled, running] = [0, 8, 16].map(|at| {
        let long: [u8; 8] = std::array::from_fn(|byte| bytes[at + byte]);
        u64::from_ne_bytes(long)
    });
    Ok((running == enabled).then_some(count))
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use perf_event_open_sys::bindings::{PERF_COUNT_SW_TASK_CLOCK, PERF_TYPE_SOFTWARE};

    use super::*;

    /// Nanoseconds of CPU, which need no PMU.
    const CLOCK: Event = Event {
        counter: Counter::SERVER_USER_INSTRUCTIONS,
        kind: PERF_TYPE_SOFTWARE,
        config: PERF_COUNT_SW_TASK_CLOCK,
        counts_user: true,
        counts_kernel: true,
    };

    /// A shell that starts another one for each of its rounds.
    struct Shell(Child);

    impl Shell {
        fn start() -> Self {
            let rounds =
                "while :; do sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; done";
            Self(Command::new("sh").args(["-c", rounds]).spawn().unwrap())
        }
    }

    impl Drop for Shell {
        fn drop(&mut self) {
            let _ended = self.0.kill();
            let _status = self.0.wait();
        }
    }

    #[test]
    fn processes_that_a_server_starts_are_counted() {
        let shell = Shell::start();
        let mut probe = PmuProbe { tree: Tree::new(shell.0.id()), opened: None };
        let mut read = || match probe.read_events(&[CLOCK]) {
            Ok(readings) => readings.get(CLOCK.counter),
            Err(error) => panic!("{error}"),
        };
        let Some(first) = read() else { return testkit::not_permitted("no events of the kernel") };
        let since = Instant::now();
        let mut last = first;
        while last - first < 200_000_000 {
            assert!(since.elapsed() < Duration::from_mins(1), "{first} {last}");
            sleep(Duration::from_millis(20));
            let now = read().unwrap();
            assert!(now >= last);
            last = now;
        }
        let passed = since.elapsed().as_nanos() as u64;
        // It runs on one CPU at a time.
        assert!(last - first <= passed + passed / 10, "{first} {last} {passed}");
    }

    #[test]
    fn a_server_that_has_ended_is_gone() {
        let mut probe = PmuProbe { tree: Tree::new(u32::MAX), opened: None };
        assert!(matches!(probe.read(Detail::Edge), Err(ProbeError::Gone { .. })));
    }

    #[test]
    fn clients_keep_half_of_the_files() {
        leave_room(1).unwrap();
        let told = leave_room(usize::MAX / 2).unwrap_err().to_string();
        assert!(told.contains("ulimit -n"), "{told}");
    }
}

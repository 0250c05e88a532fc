//! The kernel's events, with a buffer for each CPU. Threads and processes that the sampled threads start are sampled
//! too.
//!
//! Where the user may, an event watches a whole CPU, and samples of other programs are dropped. An event of a thread
//! starts a timer of the kernel whenever the thread begins to run: two processes that answer each other 50,000 times per
//! second lose a quarter of it to them in a virtual machine.

use std::collections::HashSet;
use std::ffi::{c_int, c_uint, c_ulong};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use model::Placement;
use perf_event_open_sys::bindings::{
    PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_CLOCK, PERF_FLAG_FD_CLOEXEC,
    PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_PERIOD, PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER,
    PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_TYPE_SOFTWARE, PERF_TYPE_TRACEPOINT, perf_event_attr,
};
use perf_event_open_sys::{ioctls, perf_event_open};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::ProfileError;
use crate::ring::Ring;
use crate::sample::{Life, REGISTERS, Record, Way};
use crate::tick::Tick;

/// Samples per second of CPU time. A prime, so that it beats with no timer of a server.
pub(crate) const HERTZ: u32 = 199;

/// Stacks per second of those that leave their CPU, on each CPU: of tens of thousands, a few say as much.
const SWITCH_HERTZ: u32 = 199;

/// Bytes of a stack that a sample copies. Of 32 KiB, the range optimiser of `MySQL` cuts one stack in ten; a record has
/// 64 KiB at most.
const STACK: u32 = 60 << 10;

/// `CLOCK_MONOTONIC`, which tells whether a sample is within a window.
const CLOCK: i32 = 1;

/// Every thread, in the calls that open an event.
const ANY: i32 = -1;

/// What stacks are taken of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// What is on a CPU at moments of the kernel's software clock.
    Clock,
    /// What is on a CPU when the kernel ticks; only of whole CPUs.
    Tick(Tick),
    /// Some of those that leave their CPU; of all, the times of leaving and returning.
    Switches,
}

pub(crate) struct Events {
    rings: Vec<Ring>,
    /// Other events that write into them.
    others: Vec<OwnedFd>,
    /// The threads whose samples count; of all that is sampled where there is none.
    family: Option<HashSet<u32>>,
    /// Samples that count, and those of all programs.
    own: u64,
    all: u64,
}

impl Events {
    /// Starts to sample these threads. Those that end meanwhile are left out.
    pub(crate) fn open(threads: &[i32], what: What) -> Result<Self, ProfileError> {
        match Self::of_cpus(threads, what) {
            Err(ProfileError::NotPermitted { .. }) => Self::of_threads(threads, what),
            events => events,
        }
    }

    /// Events of whole CPUs, which only few users may open.
    pub(crate) fn of_cpus(threads: &[i32], what: What) -> Result<Self, ProfileError> {
        let alive = |thread: &&i32| fs::exists(format!("/proc/{thread}/task")).unwrap_or(false);
        let family: HashSet<u32> =
            threads.iter().filter(alive).map(|thread| *thread as u32).collect();
        if family.is_empty() {
            return Err(ProfileError::Gone);
        }
        Self::of_family(family, what)
    }

    fn of_family(family: HashSet<u32>, what: What) -> Result<Self, ProfileError> {
        let ring = |cpu| Ring::map(open(what, ANY, cpu).map_err(ProfileError::of_open)?);
        let rings = cpus().into_iter().map(ring).collect::<Result<_, _>>()?;
        Self { rings, others: Vec::new(), family: Some(family), own: 0, all: 0 }.begun()
    }

    /// All begin together, when each has its buffer.
    fn begun(self) -> Result<Self, ProfileError> {
        self.resume().map_err(ProfileError::Kernel)?;
        Ok(self)
    }

    /// Events of each thread on each CPU; those of a CPU share a buffer.
    fn of_threads(threads: &[i32], what: What) -> Result<Self, ProfileError> {
        raise_file_limit();
        let mut rings = Vec::new();
        let mut others = Vec::new();
        for cpu in cpus() {
            let mut ring: Option<Ring> = None;
            for thread in threads {
                let event = match open(what, *thread, cpu).map_err(ProfileError::of_open) {
                    Ok(event) => event,
                    Err(ProfileError::Gone) => continue,
                    Err(error) => return Err(error),
                };
                match &ring {
                    None => ring = Some(Ring::map(event)?),
                    Some(ring) => {
                        redirect(&event, ring).map_err(ProfileError::Kernel)?;
                        others.push(event);
                    }
                }
            }
            rings.push(ring.ok_or(ProfileError::Gone)?);
        }
        Self { rings, others, family: None, own: 0, all: 0 }.begun()
    }

    /// Hands over the samples that were written since the last time, and how many had no room: of those of all
    /// programs, the share that the sampled threads have of the others. Returns how many records the kernel made, of
    /// all programs.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(Record<'_>)) -> u64 {
        let mut made = 0;
        let heads: Vec<u64> = self.rings.iter().map(Ring::head).collect();
        self.learn();
        let Self { rings, family, own, all, .. } = self;
        let is_own = |thread: &u32| family.as_ref().is_none_or(|family| family.contains(thread));
        for (ring, head) in rings.iter_mut().zip(heads) {
            ring.drain(head, |record| {
                made += 1;
                match Record::of(record) {
                    Some(Record::Sample(sample)) => {
                        *all += 1;
                        if is_own(&sample.thread) {
                            *own += 1;
                            take(Record::Sample(sample));
                        }
                    }
                    Some(Record::Switch(switch)) if is_own(&switch.thread) => {
                        take(Record::Switch(switch));
                    }
                    Some(Record::Lost(count)) => {
                        made += count;
                        take(Record::Lost(count * *own / (*all).max(1)));
                    }
                    Some(Record::Switch(_)) | None => {}
                }
            });
        }
        made
    }

    /// Events of the same whole CPUs and threads; `None` where these are events of threads.
    pub(crate) fn again(&self, what: What) -> Option<Result<Self, ProfileError>> {
        self.family.clone().map(|family| Self::of_family(family, what))
    }

    pub(crate) const fn is_of_cpus(&self) -> bool {
        self.family.is_some()
    }

    /// The kernel makes no records until [`resume`](Self::resume).
    pub(crate) fn pause(&self) -> io::Result<()> {
        self.request(ioctls::DISABLE)
    }

    pub(crate) fn resume(&self) -> io::Result<()> {
        self.request(ioctls::ENABLE)
    }

    #[expect(unsafe_code, reason = "no safe wrapper has these requests")]
    fn request(&self, request: unsafe fn(c_int, c_uint) -> c_int) -> io::Result<()> {
        let rings = self.rings.iter().map(|ring| ring.as_fd().as_raw_fd());
        for event in rings.chain(self.others.iter().map(AsRawFd::as_raw_fd)) {
            // SAFETY: an open event, and the request takes a number.
            if unsafe { request(event, 0) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }

    /// Copies the threads that other events saw start: paused events miss some.
    pub(crate) fn learn_of(&mut self, others: &Self) {
        self.family.clone_from(&others.family);
    }

    /// How many CPUs it watches.
    pub(crate) fn cpus(&self) -> usize {
        self.rings.len()
    }

    /// A new thread may have samples in one buffer and its start in another: starts are looked for up to now, before
    /// samples are taken up to a moment ago.
    fn learn(&mut self) {
        let Some(family) = &mut self.family else { return };
        let mut starts = Vec::new();
        for ring in &mut self.rings {
            ring.each(ring.head(), Life::LENGTH, |record| {
                starts.extend(Life::of(record).filter(|life| life.way == Way::Started));
            });
        }
        starts.sort_unstable_by_key(|start| start.time);
        for start in starts {
            if family.contains(&start.parent) {
                family.insert(start.thread);
            } else {
                // Another one has the number of a thread that has ended.
                family.remove(&start.thread);
            }
        }
    }
}

fn attributes(what: What) -> perf_event_attr {
    let (type_, config) = match what {
        What::Clock => (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK.into()),
        What::Switches => (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES.into()),
        What::Tick(tick) => (PERF_TYPE_TRACEPOINT, tick.event),
    };
    let mut attributes = perf_event_attr {
        type_,
        size: size_of::<perf_event_attr>() as u32,
        config,
        sample_type: u64::from(
            PERF_SAMPLE_TID
                | PERF_SAMPLE_TIME
                | PERF_SAMPLE_PERIOD
                | PERF_SAMPLE_CALLCHAIN
                | PERF_SAMPLE_REGS_USER
                | PERF_SAMPLE_STACK_USER,
        ),
        sample_regs_user: REGISTERS,
        sample_stack_user: STACK,
        clockid: CLOCK,
        ..perf_event_attr::default()
    };
    if let What::Tick(tick) = what {
        attributes.__bindgen_anon_1.sample_period = tick.period;
    } else {
        let hertz = if what == What::Clock { HERTZ } else { SWITCH_HERTZ };
        attributes.__bindgen_anon_1.sample_freq = u64::from(hertz);
        attributes.set_freq(1);
    }
    attributes.set_disabled(1);
    attributes.set_inherit(1);
    attributes.set_exclude_idle(1);
    attributes.set_task(1);
    if what == What::Switches {
        attributes.set_context_switch(1);
        // All events end in their thread and time.
        attributes.set_sample_id_all(1);
    }
    attributes.set_use_clockid(1);
    // Unwound by us: few programs keep frame pointers.
    attributes.set_exclude_callchain_user(1);
    attributes
}

#[expect(unsafe_code, reason = "no safe wrapper has this system call")]
fn open(what: What, thread: i32, cpu: i32) -> io::Result<OwnedFd> {
    let mut attributes = attributes(what);
    let flags = c_ulong::from(PERF_FLAG_FD_CLOEXEC);
    // SAFETY: the attributes outlive the call, and state their own size.
    let descriptor = unsafe { perf_event_open(&raw mut attributes, thread, cpu, -1, flags) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made it, for nobody else.
    let event = unsafe { OwnedFd::from_raw_fd(descriptor) };
    if let What::Tick(tick) = what {
        let mut filter = tick.filter().into_bytes_with_nul();
        // SAFETY: the request reads a text up to its end.
        if unsafe { ioctls::SET_FILTER(event.as_raw_fd(), filter.as_mut_ptr().cast()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(event)
}

/// Lets an event write into the buffer of another one of the same CPU.
#[expect(unsafe_code, reason = "no safe wrapper has this request")]
fn redirect(event: &OwnedFd, ring: &Ring) -> io::Result<()> {
    let target = ring.as_fd().as_raw_fd();
    // SAFETY: both are open events, and the request takes a number.
    match unsafe { ioctls::SET_OUTPUT(event.as_raw_fd(), target) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// As many files as the user may have: the usual limit is too low for a server with hundreds of threads.
fn raise_file_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _as_it_was = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// The CPUs that are online.
fn cpus() -> Vec<i32> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let cpus = parse_cpus(&text);
    if cpus.is_empty() { vec![0] } else { cpus }
}

/// `0-2,5`
fn parse_cpus(text: &str) -> Vec<i32> {
    text.split(',').filter_map(Placement::range).flatten().map(|cpu| cpu as i32).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use rustix::thread::gettid;
    use rustix::time::{ClockId, clock_gettime};

    use super::*;

    #[test]
    fn cpus_are_listed_in_ranges() {
        assert_eq!(parse_cpus("0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(parse_cpus("0\n"), [0]);
        assert!(parse_cpus("").is_empty() && !cpus().is_empty());
    }

    /// Uses so much CPU time.
    fn spin(length: Duration) {
        let used = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
        let end = used() + length;
        while used() < end {}
    }

    /// Samples a thread that starts another one, and none of a third.
    fn samples_of_a_family(open: fn(&[i32], What) -> Result<Events, ProfileError>) {
        let (tell, told) = mpsc::channel();
        let stranger = thread::spawn(move || spin(told.recv().unwrap()));
        let parent = gettid().as_raw_nonzero().get();
        let mut events = match open(&[parent], What::Clock) {
            Ok(events) => events,
            Err(error) => return testkit::not_permitted(&error.to_string()),
        };
        tell.send(Duration::from_millis(300)).unwrap();
        let child = thread::spawn(|| {
            spin(Duration::from_millis(300));
            gettid().as_raw_nonzero().get()
        });
        let mut samples = BTreeMap::<u32, u64>::new();
        let (mut is_last, mut lost) = (false, 0);
        while !is_last {
            is_last = child.is_finished() && stranger.is_finished();
            events.drain(|record| match record {
                Record::Sample(sample) => *samples.entry(sample.thread).or_default() += 1,
                Record::Switch(switch) => {
                    assert!(matches!(switch.way, Way::Started | Way::Ended), "{switch:?}");
                }
                Record::Lost(count) => lost += count,
            });
            thread::sleep(Duration::from_millis(10));
        }
        stranger.join().unwrap();
        samples.remove(&(parent as u32));
        let found = samples.remove(&(child.join().unwrap() as u32)).unwrap_or_default();
        // About 60 of a thread that has a CPU for itself.
        assert!(found <= 90 && found + lost >= 25, "{found} {lost}");
        assert!(samples.is_empty(), "{samples:?}");
    }

    #[test]
    fn samples_are_those_of_threads_that_sampled_ones_start() {
        samples_of_a_family(Events::of_cpus);
        samples_of_a_family(Events::of_threads);
    }

    #[test]
    fn a_thread_that_has_ended_is_no_target() {
        for open in [Events::open, Events::of_threads] {
            assert!(matches!(
                open(&[i32::MAX - 1], What::Switches).err(),
                Some(ProfileError::Gone)
            ));
        }
    }
}

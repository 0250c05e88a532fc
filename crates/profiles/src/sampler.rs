//! The thread that samples.

use std::fs;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use model::Profile;

use crate::error::ProfileError;
use crate::events::{Events, What};
use crate::seen::{Seen, now};
use crate::switches::Switches;

/// How often the buffers are emptied: they hold the samples of a third of a second.
const NAP: Duration = Duration::from_millis(50);

/// What is sampled, together with all that it starts from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// All threads of these processes.
    Processes(Vec<u32>),
    /// The threads that the calling thread starts, without itself.
    OwnThreads,
}

/// Samples until it is finished. Only what it sees between [`open`](Self::open) and [`close`](Self::close) counts.
pub struct Sampler {
    shared: Arc<Shared>,
    thread: JoinHandle<Vec<Profile>>,
}

/// Moments of the monotonic clock, in nanoseconds.
struct Shared {
    opened: AtomicU64,
    closed: AtomicU64,
    is_over: AtomicBool,
}

impl Shared {
    /// What counts; nothing before it is open.
    fn window(&self) -> Range<u64> {
        self.opened.load(Ordering::Relaxed)..self.closed.load(Ordering::Relaxed)
    }
}

impl Sampler {
    /// `serving` are functions of the threads and processes that work for a client: what others sleep in says nothing.
    ///
    /// # Errors
    /// Where the kernel does not allow it, or the processes have ended.
    pub fn start(target: &Target, serving: &[String]) -> Result<Self, ProfileError> {
        let moment = || AtomicU64::new(u64::MAX);
        let shared = Shared { opened: moment(), closed: moment(), is_over: AtomicBool::new(false) };
        let shared = Arc::new(shared);
        let own = rustix::thread::gettid().as_raw_nonzero().get();
        let (processes, own_thread) = match target {
            Target::Processes(processes) => (processes.clone(), None),
            Target::OwnThreads => (vec![std::process::id()], Some(own)),
        };
        let (ready, started) = mpsc::sync_channel(1);
        let (seen, serving) = (Arc::clone(&shared), serving.to_owned());
        // It exists before the events do, so that it is not sampled itself.
        let thread = thread::Builder::new().name("sampler".to_owned());
        let thread = thread
            .spawn(move || sample(&processes, own_thread, &serving, &seen, &ready))
            .map_err(ProfileError::Thread)?;
        match started.recv() {
            Ok(Err(error)) => Err(error),
            Ok(Ok(())) | Err(_) => Ok(Self { shared, thread }),
        }
    }

    /// The window begins.
    pub fn open(&self) {
        self.shared.opened.store(now(), Ordering::Relaxed);
    }

    /// The window is over.
    pub fn close(&self) {
        self.shared.closed.store(now(), Ordering::Relaxed);
    }

    /// What it saw: where CPU time went, and what threads slept in.
    pub fn finish(self) -> Vec<Profile> {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

/// None of a process that has ended.
fn threads_of(process: u32) -> Vec<i32> {
    let entries = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Of `own_thread` only what it starts is sampled.
fn sample(
    processes: &[u32],
    own_thread: Option<i32>,
    serving: &[String],
    shared: &Shared,
    ready: &SyncSender<Result<(), ProfileError>>,
) -> Vec<Profile> {
    let mut seen = Seen::new(own_thread.map_or(0, |thread| thread as u32));
    for process in processes {
        // It may take seconds: before its samples wait.
        seen.stacks.memory.learn(*process);
    }
    let threads = own_thread.map(|thread| vec![thread]);
    let threads: Vec<i32> =
        threads.unwrap_or_else(|| processes.iter().copied().flat_map(threads_of).collect());
    let clock = seen.clock_events(&threads);
    let (mut clock, mut switches) = match (clock, Events::open(&threads, What::Switches)) {
        (Ok(clock), Ok(switches)) => (clock, Switches::new(switches, now())),
        (Err(error), _) | (_, Err(error)) => {
            let _nobody_waits = ready.send(Err(error));
            return Vec::new();
        }
    };
    let _nobody_waits = ready.send(Ok(()));
    seen.sleeps.resume(now());
    let mut is_open = false;
    loop {
        let is_last = shared.is_over.load(Ordering::Relaxed);
        let window = shared.window();
        clock.drain(|record| seen.clock(record, &window));
        let records = switches.drain(&clock, &mut seen, &window);
        if is_last {
            return seen.profiles(serving, &shared.window());
        }
        if !is_open && window.start != u64::MAX {
            is_open = true;
            switches.refill(&clock, &mut seen);
        } else {
            switches.spend(records, &clock, &mut seen, &window);
        }
        thread::sleep(NAP);
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use model::Resource;
    use rustix::time::{ClockId, clock_gettime};

    use super::*;
    use crate::events::HERTZ;

    /// Until this thread has used so much CPU time.
    #[inline(never)]
    fn spin_for_the_sampler(length: Duration) -> u64 {
        let used = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
        let end = used() + length;
        let mut number = 1_u64;
        while used() < end {
            for _ in 0..100_000 {
                number = black_box(number.wrapping_mul(6_364_136_223_846_793_005));
            }
        }
        number
    }

    /// Whole CPUs are watched: where other programs switch a hundred times as often, all copied stacks may be theirs.
    const ATTEMPTS: u32 = 10;

    fn of_target(target: &Target, work: impl FnOnce()) -> Option<[Profile; 2]> {
        let sampler = match Sampler::start(target, &[]) {
            Ok(sampler) => sampler,
            Err(error @ (ProfileError::NotPermitted { .. } | ProfileError::Kernel(_))) => {
                testkit::not_permitted(&error.to_string());
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        sampler.open();
        work();
        sampler.close();
        Some(sampler.finish().try_into().unwrap())
    }

    /// How many samples at the profile's rate stand for so many at 199 per second.
    fn at_rate(profile: &Profile, samples: u64) -> u64 {
        samples * u64::from(profile.hertz) / u64::from(HERTZ)
    }

    #[test]
    fn the_threads_that_this_one_starts_are_unwound_to_their_start() {
        let work = || {
            let spin = || thread::spawn(|| spin_for_the_sampler(Duration::from_millis(600)));
            spin_for_the_sampler(Duration::from_millis(50));
            spin().join().unwrap();
        };
        let Some([profile, _]) = of_target(&Target::OwnThreads, work) else { return };
        let samples = profile.samples();
        // 650 ms, 129 samples; on a busy host ticks meet a thread more or less often than its share of the time.
        assert!(samples <= at_rate(&profile, 150), "{profile:?}");
        assert!(samples + profile.lost >= at_rate(&profile, 60), "{profile:?}");
        let spins = |(stack, _): &&(String, u64)| stack.contains("spin_for_the_sampler");
        let spinning: u64 = profile.stacks.iter().filter(spins).map(|(_, count)| count).sum();
        assert!(spinning * 10 >= samples * 9, "{profile:?}");
        assert!(profile.rooted() * 20 >= samples * 19, "{profile:?}");
    }

    #[test]
    fn a_process_is_sampled_in_user_and_kernel_and_nothing_outside_of_the_window() {
        let mut child = Command::new("sh")
            .args(["-c", "while :; do read -r line < /proc/uptime; done"])
            .spawn()
            .unwrap();
        let target = Target::Processes(vec![child.id()]);
        // How long it ran, in nanoseconds, is the first number.
        let has_run = || {
            let times = fs::read_to_string(format!("/proc/{}/schedstat", child.id())).unwrap();
            times.split(' ').next().unwrap().parse::<u64>().unwrap()
        };
        let profiles = of_target(&target, || {
            let before = has_run();
            while has_run() - before < 500_000_000 {
                thread::sleep(Duration::from_millis(20));
            }
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let Some([profile, _]) = profiles else { return };
        let samples = profile.samples();
        assert!(samples <= at_rate(&profile, 160), "{profile:?}");
        assert!(samples + profile.lost >= at_rate(&profile, 32), "{profile:?}");
        assert!(profile.stacks.iter().any(|(stack, _)| stack.contains("[k")), "{profile:?}");
        assert!(profile.stacks.iter().any(|(stack, _)| stack.contains("main")), "{profile:?}");
    }

    #[test]
    fn what_threads_sleep_in_has_the_time_that_they_slept() {
        #[inline(never)]
        fn naps() {
            for _ in 0..500 {
                thread::sleep(Duration::from_millis(1));
            }
            black_box(());
        }
        let (started, mut slept) = (now(), Profile::default());
        for _ in 0..ATTEMPTS {
            let work = || thread::spawn(naps).join().unwrap();
            let Some([_, sleeps]) = of_target(&Target::OwnThreads, work) else { return };
            slept = sleeps;
            if slept.taken > 0 {
                break;
            }
        }
        let (whole, sleeps) = (now() - started, slept);
        assert_eq!((sleeps.of, sleeps.hertz), (Resource::Sleep, 0));
        let naps = sleeps.stacks.iter().filter(|(stack, _)| {
            stack.contains("::naps;")
                && (stack.contains("nanosleep_[k]") || stack.ends_with("[kernel]"))
        });
        let slept = naps.map(|(_, slept)| slept).sum::<u64>();
        assert!((490_000_000..whole).contains(&slept), "{slept} of {whole}: {sleeps:?}");
        assert!(sleeps.taken > 0 && sleeps.rooted() * 20 >= sleeps.samples() * 19, "{sleeps:?}");
    }

    #[test]
    fn threads_that_switch_too_often_are_watched_now_and_then() {
        let work = || {
            let (ping, pinged) = mpsc::sync_channel::<Instant>(0);
            let (pong, ponged) = mpsc::sync_channel::<()>(0);
            let answers = thread::spawn(move || {
                while let Ok(end) = pinged.recv()
                    && Instant::now() < end
                {
                    pong.send(()).unwrap();
                }
            });
            let asks = thread::spawn(move || {
                let end = Instant::now() + Duration::from_secs(3);
                while ping.send(end).is_ok() && ponged.recv().is_ok() {}
            });
            answers.join().unwrap();
            asks.join().unwrap();
        };
        let started = now();
        let Some([_, sleeps]) = of_target(&Target::OwnThreads, work) else { return };
        let whole = now() - started;
        let slept = sleeps.samples() + sleeps.lost;
        // Where each has a CPU they spin for each other at times, and hardly sleep.
        assert!((whole / 20..whole * 2).contains(&slept), "{slept}: {sleeps:?}");
    }

    #[test]
    fn a_process_that_ends_within_the_window_sleeps_no_longer() {
        let mut child =
            Command::new("sh").args(["-c", "read -r line"]).stdin(Stdio::piped()).spawn().unwrap();
        let target = Target::Processes(vec![child.id()]);
        let profiles = of_target(&target, || {
            thread::sleep(Duration::from_millis(100));
            drop(child.stdin.take());
            // Nobody has waited for it, so that it is still there.
            thread::sleep(Duration::from_secs(1));
        });
        child.wait().unwrap();
        let Some([_, sleeps]) = profiles else { return };
        let slept = sleeps.samples() + sleeps.lost;
        // Its only sleep began before the window: it may be unknown.
        assert!(slept < 900_000_000, "{sleeps:?}");
    }

    #[test]
    fn a_process_that_has_ended_is_an_error() {
        let target = Target::Processes(vec![u32::MAX]);
        assert!(matches!(Sampler::start(&target, &[]).err(), Some(ProfileError::Gone)));
    }
}

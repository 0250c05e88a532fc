//! What a sampler has seen so far.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use model::Profile;
use rustix::time::{ClockId, clock_gettime};

use crate::error::ProfileError;
use crate::events::{Events, HERTZ, What};
use crate::sample::Record;
use crate::sleeps::Sleeps;
use crate::stacks::{Stack, Stacks};
use crate::tick::Tick;

/// The monotonic clock, in nanoseconds.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

pub(crate) struct Seen {
    /// A thread whose own stacks do not count.
    left_out: u32,
    pub(crate) stacks: Stacks,
    /// The tick that triggers the samples; if `None`, the software clock does.
    tick: Option<Tick>,
    /// Samples of each stack on a CPU.
    clock: HashMap<Stack, u64>,
    lost: u64,
    pub(crate) sleeps: Sleeps,
}

impl Seen {
    pub(crate) fn new(left_out: u32) -> Self {
        let (stacks, sleeps) = (Stacks::new(), Sleeps::default());
        Self { left_out, stacks, tick: None, clock: HashMap::new(), lost: 0, sleeps }
    }

    /// Events of whole CPUs at the tick, if user and kernel allow it; otherwise of the software clock.
    pub(crate) fn clock_events(&mut self, threads: &[i32]) -> Result<Events, ProfileError> {
        if let Some(tick) = Tick::find(&self.stacks.kernel, HERTZ)
            && let Ok(events) = Events::of_cpus(threads, What::Tick(tick))
        {
            self.tick = Some(tick);
            return Ok(events);
        }
        Events::open(threads, What::Clock)
    }

    pub(crate) fn clock(&mut self, record: Record<'_>, window: &Range<u64>) {
        match record {
            Record::Sample(sample) => {
                if sample.thread != self.left_out && window.contains(&sample.time) {
                    let stack = match self.tick {
                        Some(_) => self.stacks.interrupted(sample),
                        None => self.stacks.stack(sample),
                    };
                    *self.clock.entry(stack).or_default() += 1;
                }
            }
            // It does not say when; of the time before the window nothing is kept.
            Record::Lost(samples) if window.start != u64::MAX => self.lost += samples,
            Record::Lost(_) | Record::Switch(_) => {}
        }
    }

    fn switch(&mut self, record: Record<'_>, window: &Range<u64>) {
        match record {
            Record::Sample(sample) if window.contains(&sample.time) => {
                let (thread, time, period) = (sample.thread, sample.time, sample.period);
                self.sleeps.stack(thread, time, self.stacks.stack(sample), period);
            }
            Record::Switch(switch) if switch.thread != self.left_out => self.sleeps.switch(switch),
            Record::Sample(_) | Record::Switch(_) => {}
            Record::Lost(_) => self.sleeps.forget(),
        }
    }

    /// Reads the switches that the kernel reported; returns how many records it made.
    pub(crate) fn switches(&mut self, events: &mut Events, window: &Range<u64>) -> u64 {
        let records = events.drain(|record| self.switch(record, window));
        self.sleeps.settle(window);
        records
    }

    pub(crate) fn profiles(mut self, serving: &[String], window: &Range<u64>) -> Vec<Profile> {
        let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
        for (stack, number) in &self.clock {
            *stacks.entry(self.stacks.folded(stack)).or_default() += number;
        }
        let stacks = stacks.into_iter().collect();
        let hertz = self.tick.map_or(HERTZ, |tick| tick.hertz);
        let clock = Profile { hertz, lost: self.lost, stacks, ..Profile::default() };
        vec![clock, self.sleeps.profile(&mut self.stacks, serving, window)]
    }
}

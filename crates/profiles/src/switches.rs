//! The events of thread switches, which pause when their budget is spent.
//!
//! Where they watch whole CPUs, they are closed while they pause. The kernel looks for such an event at every switch of
//! every thread, even if it is disabled: that took 4 to 5 % of the throughput of point selects with 140,000 switches per
//! second. It stops looking one second after the last one is closed.

use std::ops::Range;

use crate::budget::{Budget, Change};
use crate::events::{Events, What};
use crate::seen::{Seen, now};

pub(crate) struct Switches {
    /// `None` while they are closed.
    events: Option<Events>,
    budget: Budget,
    cpus: usize,
    is_paused: bool,
}

impl Switches {
    pub(crate) fn new(events: Events, now: u64) -> Self {
        let cpus = events.cpus();
        Self { events: Some(events), budget: Budget::new(cpus, now), cpus, is_paused: false }
    }

    /// Reads what the kernel reported; returns how many records it made. `clock` knows the threads.
    pub(crate) fn drain(&mut self, clock: &Events, seen: &mut Seen, window: &Range<u64>) -> u64 {
        let Some(events) = &mut self.events else { return 0 };
        events.learn_of(clock);
        seen.switches(events, window)
    }

    /// The window opens: what was spent before it does not count.
    pub(crate) fn refill(&mut self, clock: &Events, seen: &mut Seen) {
        self.budget = Budget::new(self.cpus, now());
        self.resume(clock, seen);
    }

    pub(crate) fn spend(
        &mut self,
        records: u64,
        clock: &Events,
        seen: &mut Seen,
        window: &Range<u64>,
    ) {
        match self.budget.spend(records, now(), self.is_paused) {
            Some(Change::Pause) => self.pause(seen, window),
            Some(Change::Resume) => self.resume(clock, seen),
            None => {}
        }
    }

    fn pause(&mut self, seen: &mut Seen, window: &Range<u64>) {
        let Some(mut events) = self.events.take() else { return };
        self.is_paused = events.pause().is_ok();
        if self.is_paused {
            let paused = now();
            seen.switches(&mut events, window);
            seen.sleeps.pause(paused, window);
        }
        let is_closed = self.is_paused && events.is_of_cpus();
        self.events = (!is_closed).then_some(events);
    }

    /// Where it fails, they stay paused, and the next call tries again.
    fn resume(&mut self, clock: &Events, seen: &mut Seen) {
        if !self.is_paused {
            return;
        }
        let is_resumed = if let Some(events) = &self.events {
            events.resume().is_ok()
        } else {
            self.events = clock.again(What::Switches).and_then(Result::ok);
            self.events.is_some()
        };
        if is_resumed {
            self.is_paused = false;
            seen.sleeps.resume(now());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn events_of_cpus_are_closed_while_they_pause_and_seen_again_afterwards() {
        let own = rustix::thread::gettid().as_raw_nonzero().get();
        let opened = |what| Events::of_cpus(&[own], what);
        let (clock, events) = match (opened(What::Clock), opened(What::Switches)) {
            (Ok(clock), Ok(events)) => (clock, events),
            (Err(error), _) | (_, Err(error)) => return testkit::not_permitted(&error.to_string()),
        };
        let (mut seen, window) = (Seen::new(0), 0..u64::MAX);
        let mut switches = Switches::new(events, now());
        let naps = |switches: &mut Switches, seen: &mut Seen| {
            for _ in 0..20 {
                thread::sleep(Duration::from_millis(1));
            }
            switches.drain(&clock, seen, &window)
        };
        assert!(naps(&mut switches, &mut seen) > 0);
        switches.pause(&mut seen, &window);
        assert!(switches.events.is_none());
        assert_eq!(naps(&mut switches, &mut seen), 0);
        switches.resume(&clock, &mut seen);
        assert!(naps(&mut switches, &mut seen) > 0);
    }
}

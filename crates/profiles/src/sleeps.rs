//! What threads sleep in: from the moment when one leaves its CPU until it returns.
//!
//! While the events are on, the times of all threads are known, and the stacks of some. What was seen is extrapolated
//! to the whole window. A thread's time is shared out over its own stacks, so that one that sleeps for long is not
//! judged by those that sleep often.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::ops::Range;

use model::{Profile, Resource};

use crate::sample::{Switch, Way};
use crate::stacks::{Stack, Stacks};

#[derive(Default)]
pub(crate) struct Sleeps {
    threads: HashMap<u32, Thread>,
    /// Those whose number another thread has now.
    gone: Vec<Thread>,
    /// Since the last time that all were in order.
    new: Vec<Moment>,
    /// When the events were resumed; `None` while they pause.
    watched_since: Option<u64>,
    /// Nanoseconds of the window with events on, before `watched_since`.
    watched: u64,
}

enum Moment {
    Switch(Switch),
    /// Taken at the switch that follows; how many it stands for.
    Stack {
        thread: u32,
        time: u64,
        stack: Stack,
        period: u64,
    },
}

#[derive(Default)]
struct Thread {
    /// Where it is on its way to leave.
    leaves: Option<(Stack, u64)>,
    left: Option<Left>,
    /// Nanoseconds within the window.
    slept: u64,
    preempted: u64,
    /// Of each stack that was taken: how long it slept, times how many it stands for.
    weights: HashMap<Stack, u128>,
    taken: u64,
    has_ended: bool,
}

struct Left {
    /// When it left, or when the events were last resumed since.
    time: u64,
    way: Way,
    stack: Option<(Stack, u64)>,
    /// Nanoseconds within the window before `time`.
    slept: u64,
}

/// How many of these nanoseconds are within the window.
fn within(window: &Range<u64>, from: u64, to: u64) -> u64 {
    to.min(window.end).saturating_sub(from.max(window.start))
}

impl Sleeps {
    pub(crate) fn switch(&mut self, switch: Switch) {
        self.new.push(Moment::Switch(switch));
    }

    pub(crate) fn stack(&mut self, thread: u32, time: u64, stack: Stack, period: u64) {
        self.new.push(Moment::Stack { thread, time, stack, period });
    }

    /// Puts in order what the buffers of all CPUs had; a thread may have left one and returned to another.
    pub(crate) fn settle(&mut self, window: &Range<u64>) {
        let mut new = std::mem::take(&mut self.new);
        // Stable: a stack and its switch come from one buffer.
        new.sort_by_key(|moment| match moment {
            Moment::Switch(Switch { time, .. }) | Moment::Stack { time, .. } => *time,
        });
        for moment in new {
            match moment {
                Moment::Stack { thread, stack, period, .. } => {
                    self.threads.entry(thread).or_default().leaves = Some((stack, period));
                }
                Moment::Switch(Switch { thread, way: Way::Started, .. }) => {
                    self.gone.extend(self.threads.remove(&thread));
                }
                Moment::Switch(switch) => {
                    self.threads.entry(switch.thread).or_default().switch(switch, window);
                }
            }
        }
    }

    /// Switches are not seen from now on. A thread that sleeps now counts as still asleep when the events resume,
    /// unless it leaves a CPU after that.
    pub(crate) fn pause(&mut self, now: u64, window: &Range<u64>) {
        let since = self.watched_since.take().unwrap_or(now);
        self.watched += within(window, since, now);
        for thread in self.threads.values_mut() {
            thread.leaves = None;
            if let Some(left) = &mut thread.left {
                left.slept += within(window, left.time, now);
                left.time = now;
            }
        }
    }

    /// Switches are seen from now on.
    pub(crate) fn resume(&mut self, now: u64) {
        self.watched_since = Some(now);
        for (number, thread) in &mut self.threads {
            let is_alive = || fs::exists(format!("/proc/{number}")).unwrap_or(true);
            match &mut thread.left {
                Some(left) if is_alive() => left.time = now,
                _ => thread.count(),
            }
        }
    }

    /// Nothing is known of those that are away: moments were lost.
    pub(crate) fn forget(&mut self) {
        self.new.clear();
        for thread in self.threads.values_mut() {
            (thread.leaves, thread.left, thread.has_ended) = (None, None, false);
        }
    }

    /// The time slept by threads that serve clients, which have one of these functions in a stack; by all where there is
    /// no such function. The rest is lost.
    pub(crate) fn profile(
        mut self,
        stacks: &mut Stacks,
        serving: &[String],
        window: &Range<u64>,
    ) -> Profile {
        self.settle(window);
        if self.watched_since.is_some() {
            self.pause(window.end, window);
        }
        let (mut served, mut others) = (Profile::default(), Profile::default());
        for mut thread in self.threads.into_values().chain(self.gone) {
            thread.count();
            let named = thread.named(stacks);
            let serves = |function: &str| serving.iter().any(|one| one == function);
            let is_serving =
                serving.is_empty() || named.keys().any(|stack| stack.split(';').any(serves));
            let its_kind = if is_serving { &mut served } else { &mut others };
            its_kind.taken += thread.taken;
            // Of a thread without a stack, and what division leaves.
            its_kind.lost += thread.slept + thread.preempted - named.values().sum::<u64>();
            its_kind.stacks.extend(named);
        }
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        let lost = served.lost + others.lost + others.samples();
        let length = within(window, window.start, window.end);
        let whole = |seen: u64| {
            let seen = u128::from(seen) * u128::from(length) / u128::from(self.watched.max(1));
            seen as u64
        };
        for (stack, slept) in served.stacks {
            *sums.entry(stack).or_default() += whole(slept);
        }
        let stacks = sums.into_iter().collect();
        Profile { of: Resource::Sleep, hertz: 0, lost: whole(lost), stacks, taken: served.taken }
    }
}

impl Thread {
    fn switch(&mut self, Switch { time, way, .. }: Switch, window: &Range<u64>) {
        match way {
            Way::Asleep | Way::Preempted if !self.has_ended => {
                // It came back unseen.
                self.count();
                let stack = self.leaves.take();
                self.left = Some(Left { time, way, stack, slept: 0 });
            }
            Way::Asleep | Way::Preempted | Way::Started => {}
            Way::Back => self.returns(time, window),
            Way::Ended => {
                self.returns(time, window);
                self.has_ended = true;
            }
        }
    }

    fn returns(&mut self, time: u64, window: &Range<u64>) {
        if let Some(left) = &mut self.left {
            left.slept += within(window, left.time, time);
        }
        self.count();
    }

    /// Counts what it slept since it left.
    fn count(&mut self) {
        let Some(Left { way, stack, slept, .. }) = self.left.take() else { return };
        if way == Way::Preempted {
            self.preempted += slept;
            return;
        }
        self.slept += slept;
        if let Some((stack, period)) = stack.filter(|_| slept > 0) {
            *self.weights.entry(stack).or_default() += u128::from(slept) * u128::from(period);
            self.taken += 1;
        }
    }

    /// Its time by stack.
    fn named(&self, stacks: &mut Stacks) -> BTreeMap<String, u64> {
        let all = self.weights.values().sum::<u128>().max(1);
        let mut named: BTreeMap<String, u64> = BTreeMap::new();
        for (stack, weight) in &self.weights {
            let slept = u128::from(self.slept) * weight / all;
            *named.entry(stacks.folded(stack)).or_default() += slept as u64;
        }
        // Others take its CPU wherever it is: that stack says nothing.
        if self.preempted > 0 {
            named.insert(Profile::PREEMPTED.to_owned(), self.preempted);
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    const WINDOW: Range<u64> = 100..1_000;

    /// Sleeps of threads, with a stack of one function of the kernel for each address.
    struct Bench {
        stacks: Stacks,
        sleeps: Sleeps,
    }

    impl Bench {
        fn new() -> Self {
            let mut sleeps = Sleeps::default();
            sleeps.resume(0);
            Self {
                stacks: Stacks::of_kernel("1000 t reads\n2000 t writes\n3000 t idles\n"),
                sleeps,
            }
        }

        fn stack(&mut self, thread: u32, time: u64, address: u64, period: u64) {
            let kernel = vec![address];
            let sample = Sample { process: 1, thread, time, period, kernel, user: None };
            let stack = self.stacks.stack(sample);
            self.sleeps.stack(thread, time, stack, period);
        }

        fn switch(&mut self, thread: u32, time: u64, way: Way) {
            self.sleeps.switch(Switch { thread, time, way });
        }

        fn finish(mut self, serving: &[&str]) -> Profile {
            let serving: Vec<String> = serving.iter().map(|one| (*one).to_owned()).collect();
            self.sleeps.profile(&mut self.stacks, &serving, &WINDOW)
        }
    }

    fn stacks(profile: &Profile) -> Vec<(&str, u64)> {
        profile.stacks.iter().map(|(stack, slept)| (stack.as_str(), *slept)).collect()
    }

    #[test]
    fn a_thread_shares_its_time_out_over_the_stacks_that_were_taken() {
        let mut bench = Bench::new();
        // In any order, as buffers of several CPUs come.
        bench.switch(7, 300, Way::Back);
        bench.stack(7, 200, 0x1000, 3);
        bench.switch(7, 200, Way::Asleep);
        bench.switch(7, 400, Way::Asleep);
        bench.stack(7, 600, 0x2000, 1);
        bench.switch(7, 600, Way::Asleep);
        bench.switch(7, 500, Way::Back);
        bench.sleeps.settle(&WINDOW);
        bench.switch(7, 700, Way::Back);
        bench.switch(7, 800, Way::Preempted);
        bench.switch(7, 810, Way::Back);
        let profile = bench.finish(&["reads_[k]"]);
        // Three sleeps of 100, of which that in `reads` stands for three.
        let expected = [("[preempted]", 10), ("reads_[k]", 225), ("writes_[k]", 75)];
        assert_eq!(stacks(&profile), expected);
        assert_eq!((profile.taken, profile.lost), (2, 0));
    }

    #[test]
    fn only_the_window_counts_and_a_thread_may_sleep_beyond_it() {
        let mut bench = Bench::new();
        bench.stack(7, 20, 0x1000, 1);
        bench.switch(7, 20, Way::Asleep);
        bench.switch(7, 150, Way::Back);
        bench.stack(7, 900, 0x2000, 1);
        bench.switch(7, 900, Way::Asleep);
        let profile = bench.finish(&["reads_[k]"]);
        assert_eq!(stacks(&profile), [("reads_[k]", 50), ("writes_[k]", 100)]);
    }

    #[test]
    fn a_thread_that_has_ended_is_not_asleep_and_another_one_may_have_its_number() {
        let mut bench = Bench::new();
        bench.stack(7, 200, 0x1000, 1);
        bench.switch(7, 200, Way::Asleep);
        bench.switch(7, 300, Way::Back);
        bench.switch(7, 310, Way::Ended);
        // On its last way.
        bench.switch(7, 311, Way::Preempted);
        bench.switch(7, 312, Way::Back);
        bench.switch(7, 313, Way::Asleep);
        bench.sleeps.settle(&WINDOW);
        bench.switch(7, 500, Way::Started);
        bench.switch(7, 510, Way::Back);
        bench.stack(7, 600, 0x2000, 1);
        bench.switch(7, 600, Way::Asleep);
        bench.switch(7, 650, Way::Back);
        // Of the two threads one serves clients.
        let profile = bench.finish(&["reads_[k]"]);
        assert_eq!((stacks(&profile), profile.lost), (vec![("reads_[k]", 100)], 50));
    }

    #[test]
    fn while_events_pause_time_passes_as_while_they_are_on() {
        let mut bench = Bench::new();
        // Alive, or its sleep would end.
        let own = std::process::id();
        bench.stack(own, 200, 0x1000, 1);
        bench.switch(own, 200, Way::Asleep);
        bench.stack(8, 250, 0x2000, 1);
        bench.switch(8, 250, Way::Asleep);
        bench.switch(8, 350, Way::Back);
        bench.sleeps.settle(&WINDOW);
        bench.sleeps.pause(400, &WINDOW);
        bench.sleeps.resume(850);
        // It has been back meanwhile: of this second sleep nothing is known but its end.
        bench.switch(own, 900, Way::Asleep);
        bench.switch(own, 950, Way::Back);
        let profile = bench.finish(&[]);
        // Of 900, 300 and 150 were watched, so that each moment stands for two. The first thread slept 200 and 50.
        assert_eq!(stacks(&profile), [("reads_[k]", 500), ("writes_[k]", 200)]);
    }

    #[test]
    fn a_thread_that_ended_unseen_sleeps_no_longer() {
        let mut bench = Bench::new();
        let nobody = u32::MAX;
        bench.stack(nobody, 300, 0x1000, 1);
        bench.switch(nobody, 300, Way::Asleep);
        bench.sleeps.settle(&WINDOW);
        bench.sleeps.pause(400, &WINDOW);
        bench.sleeps.resume(400);
        assert_eq!(stacks(&bench.finish(&[])), [("reads_[k]", 100)]);
    }

    #[test]
    fn threads_that_serve_nobody_are_lost() {
        let sleeping = |serving: &[&str]| {
            let mut bench = Bench::new();
            for (thread, address) in [(7, 0x1000), (8, 0x3000)] {
                bench.stack(thread, 200, address, 1);
                bench.switch(thread, 200, Way::Asleep);
                bench.switch(thread, 300, Way::Back);
            }
            // Of this one no stack is known.
            bench.switch(9, 200, Way::Asleep);
            bench.switch(9, 240, Way::Back);
            bench.finish(serving)
        };
        let profile = sleeping(&["reads_[k]"]);
        assert_eq!((stacks(&profile), profile.lost), (vec![("reads_[k]", 100)], 140));
        let profile = sleeping(&["serves"]);
        assert_eq!((profile.samples(), profile.lost), (0, 240));
        // Of an embedded system all threads are clients.
        let profile = sleeping(&[]);
        assert_eq!((profile.samples(), profile.lost), (200, 40));
    }

    #[test]
    fn where_moments_were_lost_no_sleep_is_made_of_what_is_left() {
        let mut bench = Bench::new();
        bench.stack(7, 200, 0x1000, 1);
        bench.switch(7, 200, Way::Asleep);
        bench.sleeps.settle(&WINDOW);
        bench.sleeps.forget();
        bench.switch(7, 900, Way::Back);
        assert_eq!(bench.finish(&["reads_[k]"]).samples(), 0);
    }
}

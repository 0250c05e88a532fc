//! Counters: readings of probes, the source of metrics.
//!
//! The names here are the vocabulary that probes and metrics share. A probe may add counters of
//! its own; a metric that needs one that is missing is absent, never zero.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The name of a counter: `server.cpu_ns`.
pub type CounterId = Cow<'static, str>;

/// How a counter's readings at two moments make one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CounterKind {
    /// It only grows; the value is the difference.
    Total,
    /// It goes up and down; the value is the later reading.
    Level,
    Peak,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    pub kind: CounterKind,
    /// The reading, in the unit that the counter's name ends in.
    pub value: u64,
}

impl Counter {
    /// CPU time of the server's processes and threads, user and system together, in nanoseconds.
    pub const SERVER_CPU: &'static str = "server.cpu_ns";
    /// The user and the system part of it, in the kernel's 10 ms ticks.
    pub const SERVER_USER: &'static str = "server.user_ns";
    pub const SERVER_SYSTEM: &'static str = "server.system_ns";
    pub const SERVER_CS: &'static str = "server.voluntary_switches";
    pub const SERVER_ICS: &'static str = "server.involuntary_switches";
    /// What the PMU counted of the server's threads, in user code and in the kernel's.
    pub const SERVER_USER_INSTRUCTIONS: &'static str = "server.user_instructions";
    pub const SERVER_KERNEL_INSTRUCTIONS: &'static str = "server.kernel_instructions";
    pub const SERVER_USER_CYCLES: &'static str = "server.user_cycles";
    pub const SERVER_KERNEL_CYCLES: &'static str = "server.kernel_cycles";
    /// Of both together.
    pub const SERVER_BRANCH_MISSES: &'static str = "server.branch_misses";
    pub const SERVER_CACHE_MISSES: &'static str = "server.cache_misses";
    pub const SERVER_MINFLT: &'static str = "server.minor_faults";
    pub const SERVER_MAJFLT: &'static str = "server.major_faults";
    /// Resident memory of the server now, in bytes; memory that its processes share is counted once.
    pub const SERVER_RSS: &'static str = "server.rss_bytes";
    pub const SERVER_RSS_MAX: &'static str = "server.rss_max_bytes";
    /// Bytes that the server caused to be read from storage and written to it.
    pub const SERVER_READ: &'static str = "server.read_bytes";
    pub const SERVER_WRITTEN: &'static str = "server.written_bytes";
    /// CPU time of this process, user and system together, in nanoseconds.
    pub const CLIENT_CPU: &'static str = "client.cpu_ns";
    pub const CLIENT_CS: &'static str = "client.voluntary_switches";
    pub const CLIENT_RSS: &'static str = "client.rss_bytes";
    /// Busy time of all CPUs of the host (user, nice, system, irq, softirq), in nanoseconds.
    pub const HOST_CPU: &'static str = "host.cpu_ns";
    /// CPUs that the host has; read at the edges of a step.
    pub const HOST_CPUS: &'static str = "host.cpus";
    /// User time (with nice) of all CPUs, in nanoseconds.
    pub const HOST_USER: &'static str = "host.user_ns";
    /// System time (with irq and softirq) of all CPUs, in nanoseconds.
    pub const HOST_SYSTEM: &'static str = "host.system_ns";
    pub const HOST_IOWAIT: &'static str = "host.iowait_ns";
    /// Time that the hypervisor gave to others, in nanoseconds.
    pub const HOST_STEAL: &'static str = "host.steal_ns";
    /// CPU time that was neither the server's nor the client's, in nanoseconds; of whole steps only.
    pub const HOST_FOREIGN: &'static str = "host.foreign_ns";
    /// Throttled time of this process's control group or one above it, in nanoseconds; read at the edges of a step.
    pub const HOST_THROTTLED: &'static str = "host.throttled_ns";
    /// Pages of memory written to the swap device or read from it; read at the edges of a step.
    pub const HOST_SWAPPED: &'static str = "host.swapped_pages";
    pub const HOST_CS: &'static str = "host.switches";
    /// Reads completed by the device of the instances.
    pub const DISK_READS: &'static str = "disk.reads";
    pub const DISK_READ: &'static str = "disk.read_bytes";
    pub const DISK_WRITES: &'static str = "disk.writes";
    /// Bytes written by that device; discards are not writes.
    pub const DISK_WRITTEN: &'static str = "disk.written_bytes";
    pub const DISK_DISCARDS: &'static str = "disk.discards";
}

/// Readings of many counters at one moment, or their values between two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Readings(pub BTreeMap<CounterId, Counter>);

impl Readings {
    pub fn total(&mut self, id: &'static str, value: u64) {
        self.put(id, CounterKind::Total, value);
    }

    pub fn level(&mut self, id: &'static str, value: u64) {
        self.put(id, CounterKind::Level, value);
    }

    pub fn peak(&mut self, id: &'static str, value: u64) {
        self.put(id, CounterKind::Peak, value);
    }

    fn put(&mut self, id: &'static str, kind: CounterKind, value: u64) {
        self.0.insert(Cow::Borrowed(id), Counter { kind, value });
    }

    pub fn get(&self, id: &str) -> Option<u64> {
        self.0.get(id).map(|counter| counter.value)
    }

    /// Adds all readings of `other`; the same counter read by both is the later's.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The difference of `self` and `earlier`. Counters missing from either are left out.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self::joined(earlier, self, |first, second| second.saturating_sub(first))
    }

    /// The sum of this stretch of time and a `later` one. Counters missing from either are left out.
    #[must_use]
    pub fn plus(&self, later: &Self) -> Self {
        Self::joined(self, later, u64::saturating_add)
    }

    /// Adds what another process counted in the same time.
    pub fn add_beside(&mut self, other: &Self) {
        for (id, counter) in &other.0 {
            let sum = self.0.entry(id.clone()).or_insert(Counter { value: 0, ..*counter });
            sum.value = sum.value.saturating_add(counter.value);
        }
    }

    fn joined(first: &Self, second: &Self, totals: fn(u64, u64) -> u64) -> Self {
        let pairs = second.0.iter().filter_map(|(id, second)| {
            let first = first.0.get(id)?;
            let value = match second.kind {
                CounterKind::Total => totals(first.value, second.value),
                CounterKind::Level => second.value,
                CounterKind::Peak => first.value.max(second.value),
            };
            Some((id.clone(), Counter { value, ..*second }))
        });
        Self(pairs.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_readings_make_a_value() {
        let mut a = Readings::default();
        a.total("t", 10);
        a.level("l", 5);
        a.peak("p", 9);
        a.total("gone", 1);
        let mut b = Readings::default();
        b.total("t", 17);
        b.level("l", 3);
        b.peak("p", 7);
        let d = b.since(&a);
        assert_eq!(d.get("t"), Some(7));
        assert_eq!(d.get("l"), Some(3));
        assert_eq!(d.get("p"), Some(9));
        assert_eq!(d.get("gone"), None);
    }

    #[test]
    fn two_processes_at_the_same_time_are_added() {
        let mut both = Readings::default();
        both.total("cpu", 10);
        both.total("server", 1);
        let mut other = Readings::default();
        other.total("cpu", 5);
        other.level("rss", 7);
        both.add_beside(&other);
        both.add_beside(&other);
        let values = ["cpu", "server", "rss"].map(|id| both.get(id));
        assert_eq!(values, [Some(20), Some(1), Some(14)]);
    }

    #[test]
    fn two_stretches_of_time_make_one() {
        let stretch = |total, level, peak| {
            let mut readings = Readings::default();
            readings.total("t", total);
            readings.level("l", level);
            readings.peak("p", peak);
            readings
        };
        let mut first = stretch(10, 5, 9);
        first.total("gone", 1);
        let mut later = stretch(17, 3, 7);
        later.total("new", 1);
        assert_eq!(first.plus(&later), stretch(27, 3, 9));
    }
}

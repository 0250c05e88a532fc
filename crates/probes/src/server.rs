//! Cost of the server's processes and threads, and what they read from storage and write to it.

use std::collections::BTreeMap;

use model::{Counter, Readings};

use crate::error::Result;
use crate::host::nanos;
use crate::probe::{Detail, Probe};
use crate::process::{Memory, cpu_clock};
use crate::read::{found, number, text, unless_vanished};
use crate::tree::{Process, Tree, threads};

/// Reads CPU time, faults and memory at every detail, context switches at edges.
///
/// **CPU** is read from the CPU clock of each process (`clock_getcpuclockid`), which the kernel keeps
/// in nanoseconds over all its threads, running and ended. The run times in
/// `/proc/PID/task/*/schedstat` are those of living threads only and lag behind by up to a tick while
/// a thread runs. What ended processes spent comes from the last reading of each, or from what their
/// parents say of reaped children (in ticks), whichever is more.
///
/// **User and system** time are known in ticks only.
///
/// **Context switches** of a whole process are in no file, only those of each thread, in the sixty
/// lines of its status. For 250 threads that costs many times as much as all else at a reading
/// (`bench/examples/probe_cost.rs` measures it), and for 250 processes it would take the probes over one per cent
/// of a core: hence at edges only. A thread that starts and ends between two edges is not counted.
///
/// **Resident memory** counts shared memory once; see [`Memory::together`]. Its peak is the highest
/// reading of this probe: a process's own high-water mark says nothing of several together, nor of
/// when it was reached.
pub(crate) struct ServerProbe {
    tree: Tree,
    cpu: Carry<(u32, u64)>,
    voluntary: Carry<u32>,
    involuntary: Carry<u32>,
    floors: Floors,
    peak: u64,
}

impl ServerProbe {
    pub(crate) fn new(pid: u32) -> Self {
        Self {
            tree: Tree::new(pid),
            cpu: Carry::default(),
            voluntary: Carry::default(),
            involuntary: Carry::default(),
            floors: Floors::default(),
            peak: 0,
        }
    }

    fn read_cpu(&mut self, processes: &[Process], readings: &mut Readings) -> Result<()> {
        let mut clocks = BTreeMap::new();
        for process in processes {
            if let Some(nanos) = unless_vanished(cpu_clock(process.pid))? {
                clocks.insert((process.pid, process.stat.start), nanos);
            }
        }
        let reaped = sum(processes, |p| p.stat.reaped_user_ticks + p.stat.reaped_system_ticks);
        readings.total(Counter::SERVER_CPU, self.cpu.total(clocks, nanos(reaped)));
        let user = sum(processes, |p| p.stat.user_ticks + p.stat.reaped_user_ticks);
        let system = sum(processes, |p| p.stat.system_ticks + p.stat.reaped_system_ticks);
        self.floors.total(readings, Counter::SERVER_USER, nanos(user));
        self.floors.total(readings, Counter::SERVER_SYSTEM, nanos(system));
        Ok(())
    }

    fn read_faults(&mut self, processes: &[Process], readings: &mut Readings) {
        let minor = sum(processes, |p| p.stat.minor_faults + p.stat.reaped_minor_faults);
        let major = sum(processes, |p| p.stat.major_faults + p.stat.reaped_major_faults);
        self.floors.total(readings, Counter::SERVER_MINFLT, minor);
        self.floors.total(readings, Counter::SERVER_MAJFLT, major);
    }

    fn read_memory(&mut self, processes: &[Process], readings: &mut Readings) -> Result<()> {
        let mut parts = Vec::with_capacity(processes.len());
        for process in processes {
            parts.extend(unless_vanished(Memory::of(process.pid))?);
        }
        let resident = Memory::together(&parts);
        self.peak = self.peak.max(resident);
        readings.level(Counter::SERVER_RSS, resident);
        readings.peak(Counter::SERVER_RSS_MAX, self.peak);
        Ok(())
    }

    fn read_switches(&mut self, processes: &[Process], readings: &mut Readings) -> Result<()> {
        let mut voluntary = BTreeMap::new();
        let mut involuntary = BTreeMap::new();
        for process in processes {
            for (thread, switches) in switches_of(process.pid)? {
                voluntary.insert(thread, switches.0);
                involuntary.insert(thread, switches.1);
            }
        }
        readings.total(Counter::SERVER_CS, self.voluntary.total(voluntary, 0));
        readings.total(Counter::SERVER_ICS, self.involuntary.total(involuntary, 0));
        Ok(())
    }
}

impl Probe for ServerProbe {
    fn name(&self) -> &'static str {
        "server"
    }

    fn read(&mut self, detail: Detail) -> Result<Readings> {
        let processes = self.tree.read(detail)?;
        let mut readings = Readings::default();
        self.read_cpu(&processes, &mut readings)?;
        self.read_faults(&processes, &mut readings);
        self.read_memory(&processes, &mut readings)?;
        if detail == Detail::Edge {
            self.read_switches(&processes, &mut readings)?;
        }
        Ok(readings)
    }
}

fn sum(processes: &[Process], part: impl Fn(&Process) -> u64) -> u64 {
    processes.iter().map(part).sum()
}

/// Voluntary and involuntary context switches of a thread since it started.
type Switches = (u64, u64);

/// Of every thread of a process; those that end meanwhile are left out.
fn switches_of(pid: u32) -> Result<Vec<(u32, Switches)>> {
    Ok(unless_vanished(threads(pid))?
        .into_iter()
        .flatten()
        .filter_map(|thread| {
            let status = text(format!("/proc/{pid}/task/{thread}/status")).ok()?;
            Some((thread, parse_switches(&status)?))
        })
        .collect())
}

fn parse_switches(status: &str) -> Option<Switches> {
    Some((
        number(status, "voluntary_ctxt_switches")?,
        number(status, "nonvoluntary_ctxt_switches")?,
    ))
}

/// Reads `/proc/PID/io`: a probe of its own, because only the server's owner and root may. What a
/// reaped child did is in its parent's numbers, so that the sum over the living is the whole.
pub(crate) struct ServerIoProbe {
    tree: Tree,
    floors: Floors,
}

impl ServerIoProbe {
    pub(crate) fn new(pid: u32) -> Self {
        Self { tree: Tree::new(pid), floors: Floors::default() }
    }
}

impl Probe for ServerIoProbe {
    fn name(&self) -> &'static str {
        "server-io"
    }

    fn read(&mut self, detail: Detail) -> Result<Readings> {
        let (mut read, mut written) = (0, 0);
        for process in self.tree.read(detail)? {
            let path = format!("/proc/{}/io", process.pid);
            if let Some(io) = unless_vanished(text(&path))? {
                let traffic = found(parse_io(&io), &path, "read_bytes and write_bytes")?;
                read += traffic.0;
                written += traffic.1;
            }
        }
        let mut readings = Readings::default();
        self.floors.total(&mut readings, Counter::SERVER_READ, read);
        self.floors.total(&mut readings, Counter::SERVER_WRITTEN, written);
        Ok(readings)
    }
}

/// Bytes that a process caused to be read from storage and written to it.
fn parse_io(text: &str) -> Option<(u64, u64)> {
    Some((number(text, "read_bytes")?, number(text, "write_bytes")?))
}

/// A total over parts that only grow and that vanish: what a vanished part had last is kept.
#[derive(Debug, Default)]
struct Carry<K> {
    seen: BTreeMap<K, u64>,
    vanished: u64,
}

impl<K: Ord> Carry<K> {
    /// The total, now that the parts read `now`. A part that reads less than before is a new one under
    /// a used name. `vanished_at_least` is what is known from elsewhere of the vanished parts together;
    /// it may round down, and it may include parts that were never seen.
    fn total(&mut self, now: BTreeMap<K, u64>, vanished_at_least: u64) -> u64 {
        let lost: u64 = self
            .seen
            .iter()
            .filter(|(key, last)| now.get(key).is_none_or(|value| value < last))
            .map(|(_, last)| last)
            .sum();
        self.vanished = (self.vanished + lost).max(vanished_at_least);
        self.seen = now;
        self.vanished + self.seen.values().sum::<u64>()
    }
}

/// Sums that may dip for a moment, when a part moves from one place to another between two reads.
#[derive(Debug, Default)]
struct Floors(BTreeMap<&'static str, u64>);

impl Floors {
    /// Adds a total to the readings: `value`, or the highest value so far.
    fn total(&mut self, readings: &mut Readings, id: &'static str, value: u64) {
        let floor = self.0.entry(id).or_default();
        *floor = value.max(*floor);
        readings.total(id, *floor);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ProbeError;

    #[test]
    fn switches_are_told_apart() {
        let status = "Name:\tvoluntary_ctxt_switches: 9\nState:\tS (sleeping)\nThreads:\t31\n\
            voluntary_ctxt_switches:\t1501\nnonvoluntary_ctxt_switches:\t12\n";
        assert_eq!(parse_switches(status), Some((1501, 12)));
        assert_eq!(parse_switches("Name:\tx\n"), None);
    }

    #[test]
    fn a_process_that_is_not_there_is_gone() {
        for pid in [u32::MAX, 0x7fff_fff0] {
            let mut probe = ServerProbe::new(pid);
            let error = probe.read(Detail::Edge).unwrap_err();
            assert!(matches!(error, ProbeError::Gone { pid: p } if p == pid));
        }
    }

    #[test]
    fn second_readings_leave_out_only_the_switches() {
        let mut probe = ServerProbe::new(std::process::id());
        let second = probe.read(Detail::Second).unwrap();
        let edge = probe.read(Detail::Edge).unwrap();
        let missing: Vec<_> = edge.0.keys().filter(|id| !second.0.contains_key(*id)).collect();
        assert_eq!(missing, [Counter::SERVER_ICS, Counter::SERVER_CS]);
        assert!(edge.get(Counter::SERVER_RSS) > Some(0));
    }

    #[test]
    fn storage_is_not_confused_with_calls_or_cancelled_writes() {
        let io = "rchar: 6976\nwchar: 11\nsyscr: 10\nsyscw: 3\nread_bytes: 40960\nwrite_bytes: 8192\n\
            cancelled_write_bytes: 4096\n";
        assert_eq!(parse_io(io), Some((40960, 8192)));
        assert_eq!(parse_io("rchar: 1\nread_bytes: 2\n"), None);
    }

    fn parts<const N: usize>(parts: [(u32, u64); N]) -> BTreeMap<u32, u64> {
        parts.into()
    }

    #[test]
    fn what_vanished_had_is_kept() {
        let mut carry = Carry::default();
        assert_eq!(carry.total(parts([(1, 10), (2, 5)]), 0), 15);
        assert_eq!(carry.total(parts([(1, 12)]), 0), 17);
        assert_eq!(carry.total(parts([(1, 12), (3, 1)]), 0), 18);
    }

    #[test]
    fn a_reused_name_is_a_new_part() {
        let mut carry = Carry::default();
        carry.total(parts([(1, 10)]), 0);
        assert_eq!(carry.total(parts([(1, 3)]), 0), 13);
    }

    #[test]
    fn the_coarser_knowledge_never_counts_twice() {
        let mut carry = Carry::default();
        carry.total(parts([(1, 127)]), 0);
        // Part 1 ended with 127 by our reading; the coarse source has it as 120.
        assert_eq!(carry.total(parts([]), 120), 127);
        // A part that lived and died unseen is known only to the coarse source.
        assert_eq!(carry.total(parts([]), 200), 200);
    }

    #[test]
    fn floors_hold_the_highest() {
        let mut floors = Floors::default();
        for (value, expected) in [(5, 5), (3, 5), (8, 8)] {
            let mut readings = Readings::default();
            floors.total(&mut readings, "x", value);
            assert_eq!(readings.get("x"), Some(expected));
        }
    }

    proptest! {
        /// Whatever comes and goes, a total never goes down and never misses what is there now.
        #[test]
        fn totals_never_go_down(
            readings in prop::collection::vec(
                (prop::collection::btree_map(0u32..6, 0u64..1000, 0..6), 0u64..2000),
                1..20,
            )
        ) {
            let mut carry = Carry::default();
            let mut last = 0;
            for (now, at_least) in readings {
                let alive: u64 = now.values().sum();
                let total = carry.total(now, at_least);
                prop_assert!(total >= last);
                prop_assert!(total >= alive + at_least);
                last = total;
            }
        }
    }
}

//! Cost of the server's processes and threads.

use std::collections::BTreeMap;

use model::{Counter, Readings};
use rustix::param::clock_ticks_per_second;

use crate::carry::{Carry, Floors};
use crate::error::ProbeError;
use crate::probe::{Detail, Probe};
use crate::process::{Memory, cpu_clock};
use crate::read::{number, text, unless_vanished};
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
/// (`examples/cost.rs` measures it), and for 250 processes it would take the probes over one per cent
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

    fn read_cpu(
        &mut self,
        processes: &[Process],
        readings: &mut Readings,
    ) -> Result<(), ProbeError> {
        let mut clocks = BTreeMap::new();
        for process in processes {
            if let Some(nanos) = unless_vanished(cpu_clock(process.pid))? {
                clocks.insert((process.pid, process.stat.start), nanos);
            }
        }
        let reaped = sum(processes, |p| p.stat.reaped_user_ticks + p.stat.reaped_system_ticks);
        readings.total(Counter::SERVER_CPU, self.cpu.total(clocks, nanos_of(reaped)));
        let user = sum(processes, |p| p.stat.user_ticks + p.stat.reaped_user_ticks);
        let system = sum(processes, |p| p.stat.system_ticks + p.stat.reaped_system_ticks);
        self.floors.total(readings, Counter::SERVER_USER, nanos_of(user));
        self.floors.total(readings, Counter::SERVER_SYSTEM, nanos_of(system));
        Ok(())
    }

    fn read_faults(&mut self, processes: &[Process], readings: &mut Readings) {
        let minor = sum(processes, |p| p.stat.minor_faults + p.stat.reaped_minor_faults);
        let major = sum(processes, |p| p.stat.major_faults + p.stat.reaped_major_faults);
        self.floors.total(readings, Counter::SERVER_MINFLT, minor);
        self.floors.total(readings, Counter::SERVER_MAJFLT, major);
    }

    fn read_memory(
        &mut self,
        processes: &[Process],
        readings: &mut Readings,
    ) -> Result<(), ProbeError> {
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

    fn read_switches(
        &mut self,
        processes: &[Process],
        readings: &mut Readings,
    ) -> Result<(), ProbeError> {
        let mut voluntary = BTreeMap::new();
        let mut involuntary = BTreeMap::new();
        for process in processes {
            for (thread, switches) in switches_of(process.pid)? {
                voluntary.insert(thread, switches.voluntary);
                involuntary.insert(thread, switches.involuntary);
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

    fn read(&mut self, detail: Detail) -> Result<Readings, ProbeError> {
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

fn nanos_of(ticks: u64) -> u64 {
    ticks.saturating_mul(1_000_000_000 / clock_ticks_per_second())
}

/// Context switches of one thread since it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Switches {
    voluntary: u64,
    involuntary: u64,
}

/// Of every thread of a process; those that end meanwhile are left out.
fn switches_of(pid: u32) -> Result<Vec<(u32, Switches)>, ProbeError> {
    let threads = unless_vanished(threads(pid))?;
    Ok(threads
        .into_iter()
        .flatten()
        .filter_map(|thread| {
            let status = text(format!("/proc/{pid}/task/{thread}/status")).ok()?;
            Some((thread, parse_switches(&status)?))
        })
        .collect())
}

fn parse_switches(status: &str) -> Option<Switches> {
    Some(Switches {
        voluntary: number(status, "voluntary_ctxt_switches")?,
        involuntary: number(status, "nonvoluntary_ctxt_switches")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_told_apart() {
        let status = "Name:\tvoluntary_ctxt_switches: 9\nState:\tS (sleeping)\nThreads:\t31\n\
            voluntary_ctxt_switches:\t1501\nnonvoluntary_ctxt_switches:\t12\n";
        assert_eq!(parse_switches(status), Some(Switches { voluntary: 1501, involuntary: 12 }));
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
}

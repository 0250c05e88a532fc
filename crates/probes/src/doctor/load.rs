//! Other load on this host, watched for a moment.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::facts::Unknown;
use crate::error::Result;
use crate::host::{CpuTicks, parse_cpu};
use crate::process::cpu_clock;
use crate::read::{found, text};
use crate::tree::numbers_in;

const NAMED: usize = 3;

/// Shares of the CPU time of all CPUs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Load {
    /// CPU time that the hypervisor gave to others; `None` if the kernel does not report it.
    pub(super) steal: Option<f64>,
    /// CPU time of this host without this process.
    pub(super) others: f64,
    /// The processes that took most of it, the largest first.
    pub(super) top: Vec<User>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) share: f64,
}

pub(super) fn watch(duration: Duration) -> Result<Load, Unknown> {
    let before = Moment::now()?;
    thread::sleep(duration);
    let after = Moment::now()?;
    between(&before, &after, std::process::id(), name_of).ok_or(Unknown::ClockStands)
}

/// The CPU time spent since boot, and by each process since it started, in nanoseconds.
struct Moment {
    cpu: CpuTicks,
    processes: BTreeMap<u32, u64>,
}

impl Moment {
    fn now() -> Result<Self> {
        const PATH: &str = "/proc/stat";
        let cpu = found(parse_cpu(&text(PATH)?), PATH, "`cpu` line")?;
        let processes = numbers_in(Path::new("/proc"))?
            .into_iter()
            .filter_map(|pid| Some((pid, cpu_clock(pid).ok()?)))
            .collect();
        Ok(Self { cpu, processes })
    }
}

fn between(
    before: &Moment,
    after: &Moment,
    own: u32,
    name_of: impl Fn(u32) -> String,
) -> Option<Load> {
    let tick = 1e9 / rustix::param::clock_ticks_per_second() as f64;
    let ticks =
        |part: fn(&CpuTicks) -> u64| part(&after.cpu).saturating_sub(part(&before.cpu)) as f64;
    let all = ticks(CpuTicks::all);
    if all == 0.0 {
        return None;
    }
    let mut spent: Vec<(u64, u32)> = after
        .processes
        .iter()
        .map(|(pid, now)| {
            let then = before.processes.get(pid).copied().unwrap_or(0);
            (now.saturating_sub(then), *pid)
        })
        .collect();
    spent.sort_unstable_by(|a, b| b.cmp(a));
    let share = |nanos: u64| nanos as f64 / tick / all;
    let ours = spent.iter().find(|(_, pid)| *pid == own).map_or(0, |s| s.0);
    Some(Load {
        steal: after.cpu.steal.map(|_| ticks(|cpu| cpu.steal.unwrap_or(0)) / all),
        others: (ticks(CpuTicks::busy) / all - share(ours)).max(0.0),
        top: spent
            .iter()
            // Less than a thousandth is nothing to name.
            .filter(|(nanos, pid)| *pid != own && share(*nanos) >= 0.001)
            .take(NAMED)
            .map(|(nanos, pid)| User { name: name_of(*pid), share: share(*nanos) })
            .collect(),
    })
}

fn name_of(pid: u32) -> String {
    text(format!("/proc/{pid}/comm"))
        .map_or_else(|_| format!("process {pid}"), |name| name.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(cpu: [u64; 4], processes: &[(u32, u64)]) -> Moment {
        let [user, idle, iowait, steal] = cpu;
        Moment {
            cpu: CpuTicks { user, system: 0, idle, iowait, steal: Some(steal) },
            processes: processes.iter().copied().collect(),
        }
    }

    #[test]
    fn the_largest_are_named_and_this_process_is_left_out() {
        const TICK: u64 = 10_000_000;
        let before = moment([100, 1000, 0, 0], &[(1, 50), (2, 0), (3, 0), (9, 0)]);
        let after = moment(
            [180, 1100, 10, 10],
            &[
                (1, 50 + 10 * TICK),
                (2, 30 * TICK),
                (3, 0),
                (4, 5 * TICK),
                (5, 2 * TICK),
                (9, 20 * TICK),
            ],
        );
        let load = between(&before, &after, 9, |pid| format!("p{pid}")).unwrap();
        assert_eq!(load.steal, Some(0.05));
        assert!((load.others - 0.3).abs() < 1e-9, "{load:?}");
        let top: Vec<_> = load.top.iter().map(|u| (u.name.as_str(), u.share)).collect();
        assert_eq!(top, [("p2", 0.15), ("p1", 0.05), ("p4", 0.025)]);
    }

    #[test]
    fn no_time_is_no_load() {
        let now = moment([1, 2, 3, 4], &[]);
        assert_eq!(between(&now, &now, 1, |_| String::new()), None);
    }

    #[test]
    fn this_host_is_watched() {
        let load = watch(Duration::from_millis(200)).unwrap();
        assert!((0.0..=1.0).contains(&load.others), "{load:?}");
        assert!(load.top.len() <= NAMED);
    }
}

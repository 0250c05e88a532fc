//! From facts to judgements: pure, one function a fact.

use std::time::Duration;

use model::{Bytes, DiskFacts, Nanos};

use super::facts::{Aio, Boost, ClockSource, Memory, OpenFiles, Swap};
use super::load::Load;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) status: Status,
    pub(super) found: String,
    pub(super) advice: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It does not disturb.
    Good,
    /// It costs precision, or has to be kept in mind.
    Warn,
    /// Results will be wrong or useless.
    Bad,
    /// The host does not tell.
    Unknown,
}

fn good(found: impl Into<String>) -> Judgement {
    Judgement { status: Status::Good, found: found.into(), advice: None }
}

pub(super) fn unknown(reason: impl Into<String>) -> Judgement {
    Judgement { status: Status::Unknown, ..good(reason) }
}

/// The advice is of no use to what is good.
fn judged(status: Status, found: impl Into<String>, advice: impl Into<String>) -> Judgement {
    let advice = (status != Status::Good).then(|| advice.into());
    Judgement { status, found: found.into(), advice }
}

fn warn(found: impl Into<String>, advice: impl Into<String>) -> Judgement {
    judged(Status::Warn, found, advice)
}

/// Bad, a warning, or neither.
fn rated(is_bad: bool, is_doubtful: bool) -> Status {
    match (is_bad, is_doubtful) {
        (true, _) => Status::Bad,
        (false, true) => Status::Warn,
        (false, false) => Status::Good,
    }
}

pub(super) fn governor(governors: &[String]) -> Judgement {
    let is_other = governors.iter().any(|governor| governor != "performance");
    judged(
        rated(false, is_other),
        governors.join(", "),
        "The clock rate follows the load, so that a light step runs slower than it could. \
         Run `cpupower frequency-set -g performance`.",
    )
}

pub(super) fn pmu() -> Judgement {
    good("counts instructions, cycles, branch and cache misses")
}

pub(super) fn boost(boost: Boost) -> Judgement {
    let (is_on, command) = match boost {
        Boost::IntelPstate { is_on } => {
            (is_on, "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo")
        }
        Boost::Cpufreq { is_on } => (is_on, "echo 0 > /sys/devices/system/cpu/cpufreq/boost"),
    };
    judged(
        rated(false, is_on),
        if is_on { "on" } else { "off" },
        format!(
            "The clock rate depends on temperature and on how many cores are busy. Run `{command}`."
        ),
    )
}

pub(super) fn smt(is_active: bool) -> Judgement {
    judged(
        rated(false, is_active),
        if is_active { "on" } else { "off" },
        "Two threads of one core slow each other down. Run `echo off > /sys/devices/system/cpu/smt/control`, \
         or give the server and the client whole cores with `cpus` in the plan.",
    )
}

pub(super) fn thp(mode: &str) -> Judgement {
    judged(
        rated(false, mode == "always"),
        mode,
        "The kernel makes huge pages when it finds the time, which changes speed and memory in the middle \
         of a step. Run `echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`.",
    )
}

pub(super) fn swap(swap: Swap) -> Judgement {
    if swap.total == Bytes(0) {
        return good("none");
    }
    judged(
        rated(false, swap.used > Bytes(0) || swap.swappiness > 1),
        format!("{} of {} used, swappiness {}", swap.used, swap.total, swap.swappiness),
        "A server that is swapped out in part measures the disk. Run `swapoff -a`, or at least \
         `sysctl -w vm.swappiness=1`.",
    )
}

pub(super) fn memory(memory: Memory) -> Judgement {
    let share = memory.available.0 as f64 / memory.total.0.max(1) as f64;
    judged(
        rated(share < 0.2 || memory.available < Bytes::from_mib(512), share < 0.5),
        format!("{} of {} available", memory.available, memory.total),
        "Other processes hold memory that the servers and the page cache need. End them, or \
         choose a smaller scale.",
    )
}

/// The tightest limit of the control group, where there is one below the physical memory.
pub(super) fn memory_limit(limit: Option<Bytes>) -> Judgement {
    let Some(limit) = limit else {
        return good("none");
    };
    warn(
        limit.to_string(),
        "The control group of this process limits memory and with it the page cache of the servers: size \
         them for it, or raise `memory.max` of the group.",
    )
}

pub(super) fn virtualization(hypervisor: Option<&str>) -> Judgement {
    let Some(name) = hypervisor else {
        return good("none");
    };
    warn(
        name,
        "Neighbours share caches, memory bandwidth and disks, and do not show from inside. Plan more \
         rounds and an A/A control (`control = true`).",
    )
}

pub(super) fn clock_source(clock: &ClockSource) -> Judgement {
    const FAST: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];
    const SLOW: [&str; 4] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"];
    let current = clock.current.as_str();
    if FAST.contains(&current) {
        return good(current);
    }
    let cost = "Every reading of the clock is a system call and costs up to a microsecond";
    let better = FAST.into_iter().find(|fast| clock.available.iter().any(|name| name == fast));
    let advice = match better {
        Some(fast) => format!(
            "{cost}. Run `echo {fast} > \
             /sys/devices/system/clocksource/clocksource0/current_clocksource`."
        ),
        None => format!("{cost}, and this host has no better clock: measure on another host."),
    };
    judged(rated(SLOW.contains(&current), true), current, advice)
}

pub(super) fn steal(share: Option<f64>) -> Judgement {
    let Some(share) = share else {
        return unknown("this kernel does not tell in /proc/stat");
    };
    judged(
        rated(share >= 0.05, share >= 0.005),
        percent(share),
        "The hypervisor gives this machine's CPUs to others. Wait for a quieter time, or move to \
         a machine with CPUs of its own.",
    )
}

pub(super) fn other_load(load: &Load) -> Judgement {
    let share = load.others;
    let top: Vec<String> =
        load.top.iter().map(|user| format!("{} {}", user.name, percent(user.share))).collect();
    let colon = if top.is_empty() { "" } else { ": " };
    judged(
        rated(share >= 0.1, share >= 0.02),
        format!("{} of all CPUs{colon}{}", percent(share), top.join(", ")),
        "Other processes take CPU and caches from server and client. End them before a run.",
    )
}

pub(super) fn filesystem(disk: &DiskFacts) -> Judgement {
    let on = disk.device.as_deref().unwrap_or("no device");
    let found = format!("{} on {on} ({})", disk.filesystem, disk.options);
    match disk.filesystem.as_str() {
        "nfs" | "nfs4" | "cifs" | "smb3" | "9p" | "virtiofs" | "vboxsf" => judged(
            Status::Bad,
            found,
            "This is a network or shared filesystem. Put the lab on a local disk with `--lab`.",
        ),
        "tmpfs" | "ramfs" => warn(
            found,
            "This is memory: writing and syncing cost nothing, and the page cache competes with the data. \
             Put the lab on a disk with `--lab` unless that is what you mean to measure.",
        ),
        _ if disk.device.is_none() => warn(
            found,
            "No block device is behind it, so that reads and writes of the disk cannot be counted. Put the \
             lab on a filesystem of its own (ext4, xfs) with `--lab`.",
        ),
        _ => good(found),
    }
}

pub(super) fn free_space(disk: &DiskFacts) -> Judgement {
    let share = disk.free.0 as f64 / disk.size.0.max(1) as f64;
    let is_below = |gib: u64| disk.free < Bytes::from_mib(gib << 10);
    judged(
        rated(is_below(2), share < 0.1 || is_below(10)),
        format!("{} of {}", disk.free, disk.size),
        "Filesystems and SSDs slow down when they are nearly full, and each system needs a data \
         directory of its own. Remove old instances or use another disk with `--lab`.",
    )
}

pub(super) fn fsync(median: Duration) -> Judgement {
    let found = format!("{} (median)", Nanos::from(median));
    match median.as_micros() {
        0..20 => warn(
            found,
            "No disk is that fast: nothing is made durable here, and commits will look cheaper than they \
             are. Check for tmpfs, `nobarrier` or a write cache of the hypervisor.",
        ),
        20..5_000 => good(found),
        5_000..20_000 => warn(
            found,
            "Commits will wait for this disk more than for the server. Use a faster disk, or a config \
             that does not sync at each commit.",
        ),
        _ => judged(
            Status::Bad,
            found,
            "Steps with commits will measure only this disk. Use a faster disk, or a config that does not \
             sync at each commit.",
        ),
    }
}

pub(super) fn open_files(limit: OpenFiles) -> Judgement {
    /// 200 clients with a connection each, and what the lab itself has open.
    const CLIENT: u64 = 200 + 56;
    /// The limit that a MySQL or `MariaDB` server needs; it raises its limit itself, up to the hard one.
    const SERVER: u64 = 5_000;
    let word = |limit: Option<u64>| limit.map_or_else(|| "unlimited".to_owned(), |n| n.to_string());
    let found = format!("{}, at most {}", word(limit.soft), word(limit.hard));
    if limit.soft.is_some_and(|soft| soft < CLIENT) {
        judged(
            Status::Bad,
            found,
            format!(
                "200 clients need {CLIENT}. Run `ulimit -n 4096` in the shell that starts backslide."
            ),
        )
    } else if limit.hard.is_some_and(|hard| hard < SERVER) {
        warn(
            found,
            format!(
                "A server asks for {SERVER} and will cache fewer tables. As root run `ulimit -Hn 65536`, or raise \
                 `nofile` in /etc/security/limits.conf."
            ),
        )
    } else {
        good(found)
    }
}

pub(super) fn aio(aio: Aio) -> Judgement {
    /// `InnoDB` reserves 256 for each of its I/O threads; several servers are up at a time.
    const NEEDED: u64 = 16_384;
    judged(
        rated(false, aio.limit.saturating_sub(aio.used) < NEEDED),
        format!("{} of {} in use", aio.used, aio.limit),
        "InnoDB falls back to simulated asynchronous I/O when there are too few. \
         Run `sysctl -w fs.aio-max-nr=1048576`.",
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

#[cfg(test)]
mod tests;

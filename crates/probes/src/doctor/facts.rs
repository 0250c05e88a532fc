//! The facts that the check-up judges, read from the host. Whatever cannot be read is a reason.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::Bytes;
use rustix::process::{Resource, getrlimit};

use crate::error::ProbeError;
use crate::identify::{self, chosen, existing};
use crate::read::{number, text};
use crate::{pmu, pressure};

#[derive(Clone, Copy, Debug)]
pub(super) enum Boost {
    /// Of the `intel_pstate` driver.
    IntelPstate {
        is_on: bool,
    },
    Cpufreq {
        is_on: bool,
    },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Swap {
    pub(super) total: Bytes,
    pub(super) used: Bytes,
    pub(super) swappiness: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub(super) total: Bytes,
    pub(super) available: Bytes,
}

#[derive(Clone, Debug)]
pub(super) struct ClockSource {
    pub(super) current: String,
    pub(super) available: Vec<String>,
}

/// Limits of this process; `None` for none.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenFiles {
    pub(super) soft: Option<u64>,
    pub(super) hard: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Aio {
    pub(super) used: u64,
    pub(super) limit: u64,
}

pub(super) fn governors() -> Result<Vec<String>, Unknown> {
    let path = Path::new("/sys/devices/system/cpu");
    let cpus =
        fs::read_dir(path).map_err(|cause| ProbeError::Read { path: path.to_owned(), cause })?;
    let governors: BTreeSet<String> = cpus
        .filter_map(|cpu| {
            let path = cpu.ok()?.path().join("cpufreq/scaling_governor");
            Some(text(path).ok()?.trim().to_owned())
        })
        .collect();
    if governors.is_empty() {
        return Err(Unknown::NoFrequencyDriver);
    }
    Ok(governors.into_iter().collect())
}

pub(super) fn boost() -> Result<Boost, Unknown> {
    let flag = |path: &str| identify::line(path).map(|value| value == "1");
    flag("/sys/devices/system/cpu/intel_pstate/no_turbo")
        .map(|is_off| Boost::IntelPstate { is_on: !is_off })
        .or_else(|| {
            flag("/sys/devices/system/cpu/cpufreq/boost").map(|is_on| Boost::Cpufreq { is_on })
        })
        .ok_or(Unknown::NoFrequencyDriver)
}

/// Can this user count events of the PMU?
pub(super) fn pmu() -> Result<(), Unknown> {
    pmu::available().map_err(|cause| match cause.kind() {
        io::ErrorKind::PermissionDenied => Unknown::PmuForbidden,
        _ => Unknown::NoPmu,
    })
}

pub(super) fn smt() -> Result<bool, Unknown> {
    line("/sys/devices/system/cpu/smt/active").map(|value| value == "1")
}

pub(super) fn thp() -> Result<String, Unknown> {
    const PATH: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    let modes = line(PATH)?;
    chosen(&modes).map(str::to_owned).ok_or(Unknown::NoMode(PATH))
}

pub(super) fn swap() -> Result<Swap, Unknown> {
    let meminfo = meminfo()?;
    let total = kib(&meminfo, "SwapTotal")?;
    Ok(Swap {
        total,
        used: Bytes(total.0.saturating_sub(kib(&meminfo, "SwapFree")?.0)),
        swappiness: count("/proc/sys/vm/swappiness")?,
    })
}

pub(super) fn memory() -> Result<Memory, Unknown> {
    let meminfo = meminfo()?;
    Ok(Memory { total: kib(&meminfo, "MemTotal")?, available: kib(&meminfo, "MemAvailable")? })
}

/// The lowest memory limit of this process's control group and of those above it, where it is below
/// the physical memory.
pub(super) fn memory_limit() -> Result<Option<Bytes>, Unknown> {
    let total = kib(&meminfo()?, "MemTotal")?;
    let groups = text("/proc/self/cgroup")?;
    let files = pressure::files(&groups, "memory", "memory.max", "memory.limit_in_bytes");
    let limits =
        files.into_iter().filter_map(|path| text(path).ok()?.trim().parse().ok().map(Bytes));
    Ok(limits.min().filter(|limit| *limit < total))
}

pub(super) fn virtualization() -> Result<Option<String>, Unknown> {
    let cpuinfo = text("/proc/cpuinfo")?;
    Ok(identify::virtualization(&cpuinfo))
}

pub(super) fn clock_source() -> Result<ClockSource, Unknown> {
    let available = line("/sys/devices/system/clocksource/clocksource0/available_clocksource")?;
    Ok(ClockSource {
        current: line("/sys/devices/system/clocksource/clocksource0/current_clocksource")?,
        available: available.split_whitespace().map(str::to_owned).collect(),
    })
}

/// Median time to write 4 KiB and make them durable, in the directory or the nearest one above it
/// that exists. The same place is written each time, as a server writes its log.
pub(super) fn fsync(directory: &Path) -> Result<Duration, Unknown> {
    const TIMES: usize = 20;
    let place = existing(directory)?;
    let failed = |cause| Unknown::NotWritten { place: place.clone(), cause };
    let scratch = Scratch::new(&place).map_err(failed)?;
    let mut times = Vec::with_capacity(TIMES);
    for n in 0..TIMES {
        let block = [n as u8; 4096];
        let start = Instant::now();
        scratch
            .file
            .write_all_at(&block, 0)
            .and_then(|()| scratch.file.sync_data())
            .map_err(failed)?;
        times.push(start.elapsed());
    }
    median(times).ok_or(Unknown::NothingMeasured)
}

/// The lower of the two middle ones.
fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len().saturating_sub(1) / 2).copied()
}

struct Scratch {
    path: PathBuf,
    file: File,
}

impl Scratch {
    fn new(directory: &Path) -> io::Result<Self> {
        let path = directory.join(".backslide-fsync");
        // One of a check-up that was killed. A file without a name would leave none, but some file systems do not
        // sync what nobody can reach.
        let _none = fs::remove_file(&path);
        let file = File::create_new(&path)?;
        Ok(Self { path, file })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing can be done about a file that does not go; it holds 4 KiB.
        let _ = fs::remove_file(&self.path);
    }
}

pub(super) fn open_files() -> OpenFiles {
    let limit = getrlimit(Resource::Nofile);
    OpenFiles { soft: limit.current, hard: limit.maximum }
}

pub(super) fn aio() -> Result<Aio, Unknown> {
    Ok(Aio { used: count("/proc/sys/fs/aio-nr")?, limit: count("/proc/sys/fs/aio-max-nr")? })
}

fn line(path: &'static str) -> Result<String, Unknown> {
    identify::line(path).ok_or(Unknown::NotShown(path))
}

fn count(path: &'static str) -> Result<u64, Unknown> {
    let value = line(path)?;
    value.parse().map_err(|_| Unknown::NoNumber { value, path })
}

fn meminfo() -> Result<String, Unknown> {
    Ok(text("/proc/meminfo")?)
}

fn kib(meminfo: &str, key: &'static str) -> Result<Bytes, Unknown> {
    number::<u64>(meminfo, key)
        .map(|kib| Bytes(kib.saturating_mul(1024)))
        .ok_or(Unknown::NoKey(key))
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Unknown {
    #[error(transparent)]
    Probe(#[from] ProbeError),
    #[error("no frequency driver shows, as in most virtual machines")]
    NoFrequencyDriver,
    #[error("no PMU shows, as in most virtual machines: nothing counts instructions")]
    NoPmu,
    #[error(
        "`kernel.perf_event_paranoid` does not let this user count instructions; run as root, or set it to 1"
    )]
    PmuForbidden,
    #[error("this kernel does not show {0}")]
    NotShown(&'static str),
    #[error("no mode is chosen in {0}")]
    NoMode(&'static str),
    #[error("`{value}` in {path} is not a number")]
    NoNumber { value: String, path: &'static str },
    #[error("no {0} in /proc/meminfo")]
    NoKey(&'static str),
    #[error("cannot write in {}: {cause}", .place.display())]
    NotWritten { place: PathBuf, cause: io::Error },
    #[error("nothing was measured")]
    NothingMeasured,
    #[error("the kernel's clock did not move")]
    ClockStands,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let median_of =
            |secs: &[u64]| median(secs.iter().map(|s| Duration::from_secs(*s)).collect());
        assert_eq!(median_of(&[]), None);
        assert_eq!(median_of(&[9]), Some(Duration::from_secs(9)));
        assert_eq!(median_of(&[9, 1, 5]), Some(Duration::from_secs(5)));
        assert_eq!(median_of(&[9, 1, 5, 7]), Some(Duration::from_secs(5)));
    }

    #[test]
    fn a_place_that_cannot_be_written_is_a_reason() {
        let reason = fsync(Path::new("/proc/no/such")).unwrap_err();
        let reason = reason.to_string();
        assert!(reason.starts_with("cannot write in /proc: "), "{reason}");
    }

    #[test]
    fn this_host_tells_the_usual() {
        let memory = memory().unwrap();
        assert!(memory.available <= memory.total);
        let swap = swap().unwrap();
        assert!(swap.used <= swap.total);
        assert!(open_files().soft.is_none_or(|soft| soft > 0));
    }
}

//! The machine's identity: every result needs it.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use model::{Bytes, DiskFacts, Host, HostShape};
use rustix::fs::{major, minor, statvfs};
use rustix::system::uname;

use crate::error::{ProbeError, Result};
use crate::mounts::{self, Mount};
use crate::read::{field, found, number, text};
use crate::{affinity, disk};

/// CPUs that this process may use, as it first saw them: a run places the thread that asks on some of them.
static CPUS: OnceLock<u32> = OnceLock::new();

/// The host, and the disk that holds `directory`, which need not exist yet. The CPUs are those that
/// this thread could use when it was first asked: ask before pinning it.
pub fn identify(directory: &Path) -> Result<Host> {
    let system = uname();
    let cpuinfo = text("/proc/cpuinfo")?;
    let meminfo = text("/proc/meminfo")?;
    let memory = found(number::<u64>(&meminfo, "MemTotal"), "/proc/meminfo", "MemTotal")?;
    Ok(Host {
        name: system.nodename().to_string_lossy().into_owned(),
        cpu_model: field(&cpuinfo, "model name")
            .map_or_else(|| system.machine().to_string_lossy().into_owned(), str::to_owned),
        shape: HostShape {
            cpus: *CPUS.get_or_init(|| affinity::allowed().len() as u32),
            memory: Bytes(memory.saturating_mul(1024)),
        },
        threads_per_core: line("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list")
            .and_then(|list| count_list(&list))
            .unwrap_or(1),
        kernel: system.release().to_string_lossy().into_owned(),
        os: os_name(),
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        clock_source: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        thp: line("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|modes| chosen(&modes).map(str::to_owned)),
        swap: Bytes(number::<u64>(&meminfo, "SwapTotal").unwrap_or(0).saturating_mul(1024)),
        virtualization: virtualization(&cpuinfo),
        disk: disk_of(directory)?,
    })
}

/// The device that holds a process's working directory, if known. Uses the process's own mounts: those of a container
/// differ.
pub fn device_of_process(process: u32) -> Option<String> {
    let directory = fs::read_link(format!("/proc/{process}/cwd")).ok()?;
    let mounts = text(format!("/proc/{process}/mountinfo")).ok()?;
    device_of_mount(&mounts::holding(&mounts, &directory)?)
}

/// The disk and filesystem that hold `directory`, or will.
pub(crate) fn disk_of(directory: &Path) -> Result<DiskFacts> {
    let place = existing(directory)?;
    let mount = found(
        mounts::holding(&text(mounts::PATH)?, &place),
        mounts::PATH,
        "mount that holds the directory",
    )?;
    let space =
        statvfs(&place).map_err(|error| ProbeError::Read { path: place, cause: error.into() })?;
    Ok(DiskFacts {
        device: device_of_mount(&mount),
        filesystem: mount.filesystem,
        options: mount.options,
        size: Bytes(space.f_blocks.saturating_mul(space.f_frsize)),
        free: Bytes(space.f_bavail.saturating_mul(space.f_frsize)),
    })
}

/// The free space of the disk that holds `directory`, if it is hardly enough for a server: less than a sixteenth of the
/// disk, and less than 64 MiB.
pub fn nearly_full(directory: &Path) -> Option<Bytes> {
    let DiskFacts { size, free, .. } = disk_of(directory).ok()?;
    (free.0 < (size.0 / 16).min(64 << 20)).then_some(free)
}

/// The directory without symlinks, or the nearest one above it that exists.
pub(crate) fn existing(directory: &Path) -> Result<PathBuf> {
    let read = |cause| ProbeError::Read { path: directory.to_owned(), cause };
    for place in std::path::absolute(directory).map_err(read)?.ancestors() {
        match fs::canonicalize(place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => (),
            other => return other.map_err(read),
        }
    }
    Err(read(io::ErrorKind::NotFound.into()))
}

/// The device by its numbers, which are right whatever the mount's source is called (`/dev/root`, a
/// name of the device mapper, a symlink). A filesystem over several devices (btrfs) has numbers that
/// belong to none: then it is the first device, which the source names. Others have none.
fn device_of_mount(mount: &Mount) -> Option<String> {
    let stats = text(disk::PATH).ok()?;
    if let Some(name) = disk::name_of(&stats, mount.major, mount.minor) {
        return Some(name.to_owned());
    }
    let source = fs::metadata(&mount.source).ok()?;
    if !source.file_type().is_block_device() {
        return None;
    }
    let numbers = source.rdev();
    disk::name_of(&stats, major(numbers), minor(numbers)).map(str::to_owned)
}

pub(crate) fn line(path: &str) -> Option<String> {
    let line = text(path).ok()?.trim().to_owned();
    (!line.is_empty()).then_some(line)
}

/// The one in brackets: `always [madvise] never`.
pub(crate) fn chosen(modes: &str) -> Option<&str> {
    let (_, rest) = modes.split_once('[')?;
    rest.split_once(']').map(|(mode, _)| mode)
}

/// How many a list of ranges holds: `0,64` and `0-1` hold two.
fn count_list(list: &str) -> Option<u32> {
    list.split(',').try_fold(0u32, |sum, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let first: u32 = first.trim().parse().ok()?;
        let last: u32 = last.trim().parse().ok()?;
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

fn os_name() -> String {
    ["/etc/os-release", "/usr/lib/os-release"]
        .iter()
        .find_map(|path| pretty_name(&text(path).ok()?))
        .unwrap_or_else(|| "Linux".to_owned())
}

fn pretty_name(release: &str) -> Option<String> {
    let value = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}

/// The firmware's name of the machine, if the CPU reports a virtual one.
pub(crate) fn virtualization(cpuinfo: &str) -> Option<String> {
    let flags = field(cpuinfo, "flags")?;
    if !flags.split(' ').any(|flag| flag == "hypervisor") {
        return None;
    }
    let firmware: Vec<String> = ["sys_vendor", "product_name"]
        .iter()
        .filter_map(|name| line(&format!("/sys/class/dmi/id/{name}")))
        .collect();
    let name = line("/sys/hypervisor/type")
        .or_else(|| (!firmware.is_empty()).then(|| firmware.join(" ")))
        .unwrap_or_else(|| "a hypervisor without a name".to_owned());
    Some(name)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn lists_of_cpus_are_counted() {
        for (list, count) in [
            ("0", Some(1)),
            ("0-1", Some(2)),
            ("0,64", Some(2)),
            ("0-3,8-9,12\n", Some(7)),
            ("", None),
            ("3-1", None),
            ("0-4294967295", None),
        ] {
            assert_eq!(count_list(list), count, "{list}");
        }
    }

    #[test]
    fn names_are_taken_out_of_their_quotes_and_brackets() {
        let release = "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(pretty_name(release).as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(pretty_name("PRETTY_NAME=Alpine\n").as_deref(), Some("Alpine"));
        assert_eq!(pretty_name("NAME=x\n"), None);
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
        assert_eq!(chosen("always"), None);
    }

    #[test]
    fn only_the_cpu_says_that_it_is_virtual() {
        assert_eq!(virtualization("flags\t\t: fpu vme hypervisors\n"), None);
        assert_eq!(virtualization("model name: x\n"), None);
        assert!(virtualization("flags\t\t: fpu hypervisor vme\n").is_some());
    }

    #[test]
    fn this_host_has_an_identity_even_for_a_directory_to_come() {
        let here = tempfile::tempdir().unwrap();
        let host = identify(&here.path().join("not/yet")).unwrap();
        assert!(host.shape.cpus > 0);
        assert!(host.shape.memory > Bytes::from_mib(64));
        assert!(host.threads_per_core > 0);
        assert!(!host.kernel.is_empty() && !host.cpu_model.is_empty());
        assert!(host.disk.size > host.disk.free);
        let direct = disk_of(here.path()).unwrap();
        assert_eq!(direct.device, host.disk.device);
        assert_eq!(direct.filesystem, host.disk.filesystem);
    }

    #[test]
    fn the_device_of_a_process_is_found_among_its_own_mounts() {
        let here = tempfile::tempdir().unwrap();
        let script =
            "echo before; read line; mount -t tmpfs none . && cd \"$PWD\" && echo after; read line";
        let mut shell = Command::new("unshare")
            .args(["--mount", "--map-root-user", "sh", "-c", script])
            .current_dir(here.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = shell.stdin.take().unwrap();
        let mut said = BufReader::new(shell.stdout.take().unwrap()).lines();
        if said.next().is_none() {
            shell.wait().unwrap();
            testkit::not_permitted("no mounts of its own for a process");
            return;
        }
        let ours = disk_of(here.path()).unwrap().device;
        assert_eq!(device_of_process(shell.id()), ours);
        writeln!(input).unwrap();
        assert_eq!(said.next().unwrap().unwrap(), "after");
        assert_eq!(device_of_process(shell.id()), None, "it is on a tmpfs");
        drop(input);
        shell.wait().unwrap();
    }

    #[test]
    fn filesystems_without_a_device_have_none() {
        let facts = disk_of(Path::new("/proc/self")).unwrap();
        assert_eq!(facts.filesystem, "proc");
        assert_eq!(facts.device, None);
    }

    #[test]
    fn a_link_leads_to_where_the_bytes_are() {
        let here = tempfile::tempdir().unwrap();
        let link = here.path().join("link");
        std::os::unix::fs::symlink("/proc", &link).unwrap();
        assert_eq!(disk_of(&link).unwrap().filesystem, "proc");
        assert_eq!(existing(&link.join("no/such")).unwrap(), Path::new("/proc"));
    }
}

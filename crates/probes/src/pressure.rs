//! Limits that held processes back: an exhausted CPU quota, missing memory.

use std::path::{Path, PathBuf};

use model::{Counter, Readings};

use crate::read::{count, text};

/// What can be read of it. A kernel without control groups or without swapping tells less, and that is no
/// error: nothing holds anybody back there.
pub(crate) fn read() -> Readings {
    let mut readings = Readings::default();
    if let Some(nanos) = throttled() {
        readings.total(Counter::HOST_THROTTLED, nanos);
    }
    let vmstat = text("/proc/vmstat").ok();
    if let Some(pages) = vmstat.and_then(|vmstat| swapped(&vmstat)) {
        readings.total(Counter::HOST_SWAPPED, pages);
    }
    readings
}

/// Of this process's control group and of those above it, which may each have a quota. Servers that are
/// started are in the same group.
fn throttled() -> Option<u64> {
    let groups = text("/proc/self/cgroup").ok()?;
    let files = files(&groups, "cpu", "cpu.stat", "cpu.stat");
    let stats = files.iter().filter_map(|path| text(path).ok());
    let times: Vec<u64> = stats.filter_map(|stat| throttled_in(&stat)).collect();
    (!times.is_empty()).then_some(times.iter().copied().fold(0, u64::saturating_add))
}

/// Version 2 counts microseconds, version 1 nanoseconds.
fn throttled_in(stat: &str) -> Option<u64> {
    match count(stat, "throttled_usec") {
        Some(micros) => Some(micros.saturating_mul(1_000)),
        None => count(stat, "throttled_time"),
    }
}

fn swapped(vmstat: &str) -> Option<u64> {
    let (read, written) = (count(vmstat, "pswpin")?, count(vmstat, "pswpout")?);
    Some(read.saturating_add(written))
}

/// Files of the groups that `groups` lists, which is the text of `/proc/self/cgroup`, and of all above them:
/// `second` of version 2 (`0::/path`), `first` of the controller of version 1 (`n:controller:/path`). In a
/// container the group's path may not exist below the mount; the mount's own files are then the group's.
pub(crate) fn files(groups: &str, controller: &str, second: &str, first: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let root = Path::new("/sys/fs/cgroup");
        let (mount, file) = if controllers.is_empty() {
            (root.to_owned(), second)
        } else if controllers.split(',').any(|name| name == controller) {
            (root.join(controller), first)
        } else {
            continue;
        };
        let all = Path::new(path.trim_start_matches('/')).ancestors();
        files.extend(all.map(|group| mount.join(group).join(file)));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_control_groups_are_understood() {
        let second = "usage_usec 9\nnr_periods 4\nnr_throttled 2\nthrottled_usec 1500\n";
        assert_eq!(throttled_in(second), Some(1_500_000));
        let first = "nr_periods 4\nnr_throttled 2\nthrottled_time 1500\n";
        assert_eq!(throttled_in(first), Some(1_500));
        // A group without a quota, such as the root.
        assert_eq!(throttled_in("usage_usec 9\nuser_usec 5\n"), None);
        assert_eq!(throttled_in("throttled_usec many\n"), None);
    }

    #[test]
    fn pages_of_both_directions_are_counted() {
        let vmstat = "pgpgin 7\npswpin 30\npswpout 12\npswpin_other 5\n";
        assert_eq!(swapped(vmstat), Some(42));
        assert_eq!(swapped("pgpgin 7\n"), None);
    }

    #[test]
    fn this_host_says_what_it_can() {
        let swapped = text("/proc/vmstat").is_ok_and(|vmstat| vmstat.contains("\npswpin "));
        assert_eq!(read().get(Counter::HOST_SWAPPED).is_some(), swapped);
    }

    fn paths(groups: &str) -> Vec<String> {
        let files = files(groups, "cpu", "cpu.stat", "old.stat");
        files.iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn files_of_both_versions_are_looked_for_up_to_the_mount() {
        assert_eq!(
            paths("0::/user.slice/me\n"),
            [
                "/sys/fs/cgroup/user.slice/me/cpu.stat",
                "/sys/fs/cgroup/user.slice/cpu.stat",
                "/sys/fs/cgroup/cpu.stat"
            ]
        );
        assert_eq!(
            paths("9:name=systemd:/\n4:cpu,cpuacct:/docker/ab:c\n1:memory:/x\nrubbish\n"),
            [
                "/sys/fs/cgroup/cpu/docker/ab:c/old.stat",
                "/sys/fs/cgroup/cpu/docker/old.stat",
                "/sys/fs/cgroup/cpu/old.stat"
            ]
        );
        assert_eq!(paths("0::/\n"), ["/sys/fs/cgroup/cpu.stat"]);
    }
}

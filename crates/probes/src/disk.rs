//! Activity of the instances' device.

use model::{Counter, Readings};

use crate::error::{ProbeError, Result};
use crate::probe::{Detail, Probe};
use crate::read::{found, text};

pub(crate) const PATH: &str = "/proc/diskstats";

/// The kernel counts in sectors of this size whatever the device's own are.
const SECTOR: u64 = 512;

pub(crate) struct DiskProbe {
    pub(crate) device: String,
}

impl Probe for DiskProbe {
    fn name(&self) -> &'static str {
        "disk"
    }

    fn read(&mut self, _: Detail) -> Result<Readings> {
        let stats = text(PATH)?;
        let line = stats
            .lines()
            .find(|line| name(line) == Some(self.device.as_str()))
            .ok_or_else(|| ProbeError::NoDevice { device: self.device.clone() })?;
        let activity = found(parse_activity(line), PATH, "counters of the device")?;
        let mut readings = Readings::default();
        readings.total(Counter::DISK_READS, activity.reads);
        readings.total(Counter::DISK_READ, activity.read_bytes);
        readings.total(Counter::DISK_WRITES, activity.writes);
        readings.total(Counter::DISK_WRITTEN, activity.written_bytes);
        if let Some(discards) = activity.discards {
            readings.total(Counter::DISK_DISCARDS, discards);
        }
        Ok(readings)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Activity {
    reads: u64,
    read_bytes: u64,
    writes: u64,
    written_bytes: u64,
    /// `None` before Linux 4.18, which does not tell.
    discards: Option<u64>,
}

fn name(line: &str) -> Option<&str> {
    line.split_ascii_whitespace().nth(2)
}

pub(crate) fn name_of(stats: &str, major: u32, minor: u32) -> Option<&str> {
    stats.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let is_it = fields.next()?.parse() == Ok(major) && fields.next()?.parse() == Ok(minor);
        is_it.then(|| fields.next()).flatten()
    })
}

/// `major minor name`, then reads: completed, merged, sectors, ms; the same of writes; in flight, ms,
/// weighted ms; since 4.18 the same four of discards; since 5.5 flushes and their ms.
fn parse_activity(line: &str) -> Option<Activity> {
    let counts: Vec<u64> =
        line.split_ascii_whitespace().skip(3).map(str::parse).collect::<Result<_, _>>().ok()?;
    let &[reads, _, read, _, writes, _, written, _, _, _, _, ref since_4_18 @ ..] =
        counts.as_slice()
    else {
        return None;
    };
    Some(Activity {
        reads,
        read_bytes: read.saturating_mul(SECTOR),
        writes,
        written_bytes: written.saturating_mul(SECTOR),
        discards: since_4_18.first().copied(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATS: &str = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n \
        254       0 vda 32778 8576 3729330 24494 20306 16538 2988400 5377 0 5676 30250 6640 43 683264 327 2817 50\n \
        254       1 vda1 1 0 8 1 1 0 8 1 0 1 1\n";

    #[test]
    fn all_generations_of_the_line_are_understood() {
        // 14 fields until 4.17, 18 until 5.4, 20 since.
        let line = "8 0 sda 32778 8576 3729330 24494 20306 16538 2988400 5377 0 5676 30250";
        let expected = Activity {
            reads: 32_778,
            read_bytes: 3_729_330 * 512,
            writes: 20_306,
            written_bytes: 2_988_400 * 512,
            discards: None,
        };
        assert_eq!(parse_activity(line), Some(expected));
        let with_discards = format!("{line} 6640 43 683264 327");
        let with_flushes = format!("{with_discards} 2817 50");
        let expected = Activity { discards: Some(6640), ..expected };
        assert_eq!(parse_activity(&with_discards), Some(expected));
        assert_eq!(parse_activity(&with_flushes), Some(expected));
        assert_eq!(parse_activity("8 0 sda 1 2 3"), None);
        assert_eq!(parse_activity("8 0 sda 1 2 3 4 5 6 7 8 9 10 x"), None);
    }

    #[test]
    fn a_partition_is_not_its_disk() {
        assert_eq!(name_of(STATS, 254, 0), Some("vda"));
        assert_eq!(name_of(STATS, 254, 1), Some("vda1"));
        assert_eq!(name_of(STATS, 254, 2), None);
        assert_eq!(STATS.lines().nth(2).and_then(name), Some("vda1"));
    }

    #[test]
    fn a_device_that_is_not_there_is_named() {
        let mut probe = DiskProbe { device: "nvme9n9p9".to_owned() };
        let error = probe.read(Detail::Edge).unwrap_err();
        insta::assert_snapshot!(error, @"no device `nvme9n9p9` in /proc/diskstats; `lsblk` lists the available devices");
    }

    #[test]
    fn a_device_of_this_host_is_read() {
        let Some(device) = text(PATH)
            .ok()
            .and_then(|stats| stats.lines().next().and_then(name).map(str::to_owned))
        else {
            eprintln!("skipped: this host has no block device");
            return;
        };
        let readings = DiskProbe { device }.read(Detail::Second).unwrap();
        assert!(readings.get(Counter::DISK_WRITTEN).is_some());
    }
}

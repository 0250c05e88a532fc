//! Activity of all CPUs of the host.

use model::{Counter, Nanos, Readings};
use rustix::param::clock_ticks_per_second;

use crate::error::Result;
use crate::pressure;
use crate::probe::{Detail, Probe};
use crate::read::{count, found, text};

const PATH: &str = "/proc/stat";

/// Reads `/proc/stat`, in ticks of the kernel (10 ms on most).
pub(crate) struct HostProbe;

impl Probe for HostProbe {
    fn name(&self) -> &'static str {
        "host"
    }

    fn read(&mut self, detail: Detail) -> Result<Readings> {
        let stat = text(PATH)?;
        let cpu = found(parse_cpu(&stat), PATH, "`cpu` line")?;
        let switches = found(count(&stat, "ctxt"), PATH, "`ctxt` line")?;
        let mut readings = Readings::default();
        readings.total(Counter::HOST_CPU, nanos(cpu.busy()));
        readings.total(Counter::HOST_USER, nanos(cpu.user));
        readings.total(Counter::HOST_SYSTEM, nanos(cpu.system));
        readings.total(Counter::HOST_IOWAIT, nanos(cpu.iowait));
        if let Some(steal) = cpu.steal {
            readings.total(Counter::HOST_STEAL, nanos(steal));
        }
        readings.total(Counter::HOST_CS, switches);
        if detail == Detail::Edge {
            readings.level(Counter::HOST_CPUS, count_cpus(&stat));
            readings.extend(pressure::read());
        }
        Ok(readings)
    }
}

/// How long one CPU has worked since boot, whoever for: `cpu0` is 0.
///
/// # Errors
/// When the kernel does not tell, or has no such CPU online.
pub fn cpu_busy(cpu: usize) -> Result<Nanos> {
    let ticks = parse_line(&text(PATH)?, &format!("cpu{cpu}"));
    Ok(Nanos(nanos(found(ticks, PATH, "line of that CPU")?.busy())))
}

pub(crate) fn nanos(ticks: u64) -> u64 {
    ticks.saturating_mul(1_000_000_000 / clock_ticks_per_second())
}

/// The lines of single CPUs: `cpu0`, `cpu1`. Those that are offline have none.
fn count_cpus(stat: &str) -> u64 {
    let of_cpu = |line: &&str| {
        let rest = line.strip_prefix("cpu");
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    stat.lines().filter(of_cpu).count() as u64
}

/// Time of all CPUs, or of one, since boot, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuTicks {
    /// With nice, and with the time of guests, which the kernel counts there too.
    pub(crate) user: u64,
    /// With irq and softirq.
    pub(crate) system: u64,
    pub(crate) idle: u64,
    pub(crate) iowait: u64,
    /// `None` on a kernel that does not tell.
    pub(crate) steal: Option<u64>,
}

impl CpuTicks {
    pub(crate) fn busy(&self) -> u64 {
        self.user + self.system
    }

    pub(crate) fn all(&self) -> u64 {
        self.busy() + self.idle + self.iowait + self.steal.unwrap_or(0)
    }
}

pub(crate) fn parse_cpu(stat: &str) -> Option<CpuTicks> {
    parse_line(stat, "cpu")
}

/// `name user nice system idle iowait irq softirq steal guest guest_nice`. Guest times are left
/// out: they are within user and nice.
fn parse_line(stat: &str, name: &str) -> Option<CpuTicks> {
    let mut lines = stat.lines().filter_map(|line| line.strip_prefix(name));
    let ticks: Vec<u64> = lines
        .find(|rest| rest.starts_with(' '))?
        .split_ascii_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    let &[user, nice, system, idle, iowait, irq, softirq, ref rest @ ..] = ticks.as_slice() else {
        return None;
    };
    Some(CpuTicks {
        user: user + nice,
        system: system + irq + softirq,
        idle,
        iowait,
        steal: rest.first().copied(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITH_GUEST: &str = "cpu  9858 2 1837 297472 517 3 89 12 700 1\n\
        cpu0 4648 0 957 148969 284 0 34 3 0 0\nintr 1 2 3\nctxt 406698\nbtime 1795221797\n";

    #[test]
    fn guest_time_is_not_counted_twice() {
        let cpu = parse_cpu(WITH_GUEST).unwrap();
        assert_eq!(
            cpu,
            CpuTicks { user: 9860, system: 1929, idle: 297_472, iowait: 517, steal: Some(12) }
        );
        assert_eq!(cpu.busy(), 11_789);
        assert_eq!(cpu.all(), 11_789 + 297_472 + 517 + 12);
        let first = parse_line(WITH_GUEST, "cpu0").unwrap();
        assert_eq!(first.busy(), 4648 + 957 + 34);
        assert_eq!(parse_line(WITH_GUEST, "cpu1"), None);
        assert_eq!(count(WITH_GUEST, "ctxt"), Some(406_698));
        assert_eq!(count_cpus(WITH_GUEST), 1);
    }

    #[test]
    fn older_kernels_tell_less() {
        let with_steal = parse_cpu("cpu  1 2 3 4 5 6 7 8\n").unwrap();
        assert_eq!(with_steal.steal, Some(8));
        let without = parse_cpu("cpu  1 2 3 4 5 6 7\n").unwrap();
        assert_eq!(without.steal, None);
        assert_eq!(without.busy(), with_steal.busy());
        for text in ["", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3\n", "cpu  1 2 3 x 5 6 7\n"] {
            assert_eq!(parse_cpu(text), None, "{text}");
        }
        assert_eq!(count("cpu  1 2\n", "ctxt"), None);
    }

    #[test]
    fn this_host_is_read() {
        assert!(HostProbe.read(Detail::Edge).unwrap().get(Counter::HOST_CPUS) > Some(0));
        let readings = HostProbe.read(Detail::Second).unwrap();
        assert_eq!(readings.get(Counter::HOST_CPUS), None);
        assert!(readings.get(Counter::HOST_CPU) > Some(0));
        assert!(readings.get(Counter::HOST_CS) > Some(0));
        assert_eq!(
            readings.get(Counter::HOST_CPU),
            readings
                .get(Counter::HOST_USER)
                .zip(readings.get(Counter::HOST_SYSTEM))
                .map(|(user, system)| user + system)
        );
    }
}

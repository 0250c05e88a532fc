//! One process as `/proc/PID` shows it.

use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use rustix::param::page_size;

use crate::error::{ProbeError, Result};
use crate::read::{found, text};

/// `/proc/PID/stat` of a whole process, ended threads included.
///
/// The `reaped_` fields are of children that have ended and were waited for, and of their reaped
/// children in turn. When a process is reaped, what it spent moves from it to its parent's `reaped_`
/// fields, so that the sum over a tree of processes stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) state: char,
    pub(crate) parent: u32,
    pub(crate) minor_faults: u64,
    pub(crate) reaped_minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) reaped_major_faults: u64,
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
    pub(crate) reaped_user_ticks: u64,
    pub(crate) reaped_system_ticks: u64,
    /// When it started, in ticks since boot. With the number it is unique.
    pub(crate) start: u64,
}

impl Stat {
    pub(crate) fn of(pid: u32) -> Result<Self> {
        let path = format!("/proc/{pid}/stat");
        found(parse_stat(&text(&path)?), &path, "process status")
    }

    /// It has ended, though nobody has waited for it yet.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

/// The name in the second field may hold spaces and parentheses: the fields count from the last `)`.
fn parse_stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // `number(n)` is field n as proc(5) counts them, from 1; the state is field 3.
    let number = |n: usize| fields.get(n - 3)?.parse::<u64>().ok();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: u32::try_from(number(4)?).ok()?,
        minor_faults: number(10)?,
        reaped_minor_faults: number(11)?,
        major_faults: number(12)?,
        reaped_major_faults: number(13)?,
        user_ticks: number(14)?,
        system_ticks: number(15)?,
        reaped_user_ticks: number(16)?,
        reaped_system_ticks: number(17)?,
        start: number(22)?,
    })
}

/// CPU time of all threads of a process, ended ones included, in nanoseconds.
pub(crate) fn cpu_clock(pid: u32) -> Result<u64> {
    let id = i32::try_from(pid).map_err(|_| ProbeError::Gone { pid })?;
    let read = clock_getcpuclockid(Pid::from_raw(id)).and_then(clock_gettime);
    match read {
        Ok(time) => Ok(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64),
        // Which of the two comes for a process that has ended depends on which call found out.
        Err(nix::Error::ESRCH | nix::Error::EINVAL) => Err(ProbeError::Gone { pid }),
        Err(cause) => {
            Err(ProbeError::System { what: "the CPU clock of a process", cause: cause.into() })
        }
    }
}

/// Resident memory of a process, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) resident: u64,
    /// The part that files and shared memory back, which other processes may map as well.
    pub(crate) shared: u64,
}

impl Memory {
    /// `process` is a number, or `self`.
    pub(crate) fn of(process: impl std::fmt::Display) -> Result<Self> {
        let path = format!("/proc/{process}/statm");
        found(parse_statm(&text(&path)?, page_size() as u64), &path, "resident pages")
    }

    /// Resident memory of several processes: the private parts, and the largest shared part once.
    ///
    /// Processes of one server map the same shared memory. Adding up their resident sizes would count
    /// `PostgreSQL`'s buffers once per backend. Each backend maps what it has touched, so that the
    /// largest shared part comes close to the whole from below.
    pub(crate) fn together(all: &[Self]) -> u64 {
        let private: u64 =
            all.iter().map(|memory| memory.resident.saturating_sub(memory.shared)).sum();
        private + all.iter().map(|memory| memory.shared).max().unwrap_or(0)
    }
}

fn parse_statm(text: &str, page: u64) -> Option<Memory> {
    let mut pages = text.split_ascii_whitespace().skip(1);
    let mut bytes = || Some(pages.next()?.parse::<u64>().ok()?.saturating_mul(page));
    Some(Memory { resident: bytes()?, shared: bytes()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARIADBD: &str = "2718 (mariadbd) S 2711 2711 2711 0 -1 4194560 24310 77 12 3 1234 567 8 9 20 0 \
        31 0 155005 3133440000 41200 18446744073709551615 94872743604224 94872743624105 140734066025328 \
        0 0 0 552967 4096 26345 0 0 0 17 1 0 0 0 0 0 94872743640112 94872743641728 94872815333376 \
        140734066031298 140734066031318 140734066031318 140734066032619 0\n";

    #[test]
    fn stat_fields_are_those_of_the_manual() {
        let stat = parse_stat(MARIADBD).unwrap();
        assert_eq!(
            stat,
            Stat {
                state: 'S',
                parent: 2711,
                minor_faults: 24310,
                reaped_minor_faults: 77,
                major_faults: 12,
                reaped_major_faults: 3,
                user_ticks: 1234,
                system_ticks: 567,
                reaped_user_ticks: 8,
                reaped_system_ticks: 9,
                start: 155_005,
            }
        );
        assert!(!stat.has_ended());
    }

    #[test]
    fn a_name_may_hold_anything() {
        let expected = parse_stat(MARIADBD);
        for name in ["a b", "(sd-pam)", ") R 1 2 3", "a) S (b", "tmux: server"] {
            let text = MARIADBD.replace("mariadbd", name);
            assert_eq!(parse_stat(&text), expected, "{name}");
        }
    }

    #[test]
    fn what_is_cut_short_is_nothing() {
        for text in ["", "1 (a", "1 (a) S 2", "1 (a)", "1 (a) S 2 x 3"] {
            assert_eq!(parse_stat(text), None, "{text}");
        }
    }

    #[test]
    fn statm_is_in_pages() {
        let memory = parse_statm("155005 412 300 5 0 99 0\n", 4096).unwrap();
        assert_eq!(memory.resident, 412 * 4096);
        assert_eq!(memory.shared, 300 * 4096);
        assert_eq!(parse_statm("155005 412", 4096), None);
    }

    #[test]
    fn shared_memory_counts_once() {
        let of = |resident, shared| Memory { resident, shared };
        assert_eq!(Memory::together(&[]), 0);
        assert_eq!(Memory::together(&[of(100, 30)]), 100);
        let backends = [of(1000, 990), of(520, 500), of(13, 3)];
        assert_eq!(Memory::together(&backends), 990 + 10 + 20 + 10);
    }

    #[test]
    fn the_cpu_clock_of_this_process_is_that_of_the_system() {
        let own = || {
            let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
            time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
        };
        let before = own();
        let read = cpu_clock(std::process::id()).unwrap();
        assert!((before..=own()).contains(&read));
    }

    #[test]
    fn a_process_that_is_not_there_has_no_clock() {
        for pid in [u32::MAX, 0x7fff_fff0] {
            assert!(matches!(cpu_clock(pid), Err(ProbeError::Gone { .. })));
        }
    }
}

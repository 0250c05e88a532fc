//! Which process: a pid alone may by now be another's.

use std::fs;
use std::io;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// A process, told apart from every other that had or will have its pid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) pid: u32,
    /// When it started, in clock ticks since boot: field 22 of `/proc/PID/stat`.
    pub(crate) start_ticks: u64,
    pub(crate) boot_id: String,
}

impl Identity {
    /// The live process that has this pid now.
    pub(crate) fn of(pid: u32) -> io::Result<Self> {
        let stat = Stat::read(pid)?;
        Ok(Self { pid, start_ticks: stat.start_ticks, boot_id: boot_id()? })
    }

    /// Does exactly this process still run? One that ended and was not yet reaped does not.
    pub(crate) fn is_alive(&self) -> bool {
        let same_boot = boot_id().is_ok_and(|boot| boot == self.boot_id);
        same_boot
            && Stat::read(self.pid)
                .is_ok_and(|stat| stat.start_ticks == self.start_ticks && !stat.has_ended())
    }

    /// Do all of its threads that have not ended have such a state letter? Also true when it runs no more.
    pub(crate) fn has_threads(&self, such: impl Fn(char) -> bool) -> bool {
        let Ok(threads) = fs::read_dir(format!("/proc/{}/task", self.pid)) else {
            return !self.is_alive();
        };
        let numbers = threads.flatten().filter_map(|it| it.file_name().to_str()?.parse().ok());
        let mut stats = numbers.filter_map(|thread| Stat::read(thread).ok());
        stats.all(|stat| stat.has_ended() || such(stat.state)) || !self.is_alive()
    }

    /// Sends a signal to exactly this process; does nothing when it is gone. The descriptor is opened
    /// before the look, so that the pid cannot pass to another process in between.
    pub(crate) fn signal(&self, signal: Signal) {
        let Some(pid) = pid_of(self.pid) else { return };
        let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else {
            return;
        };
        if self.is_alive() {
            // It may end between the look and the signal; then there is nothing left to do.
            let _ = pidfd_send_signal(descriptor, signal);
        }
    }

    /// The processes that it started and that still run.
    pub(crate) fn children(&self) -> Vec<Self> {
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|&pid| Stat::read(pid).is_ok_and(|stat| stat.parent == self.pid))
            .filter_map(|pid| Self::of(pid).ok())
            .collect()
    }
}

/// A pid for system calls; `None` for 0 and invalid numbers.
pub(crate) fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// The used fields of `/proc/PID/stat`, see `proc_pid_stat(5)`.
struct Stat {
    state: char,
    parent: u32,
    start_ticks: u64,
}

/// The state letter of a thread; `None` when it has ended.
pub(crate) fn state_of(thread: u32) -> Option<char> {
    Stat::read(thread).ok().map(|stat| stat.state)
}

impl Stat {
    fn read(pid: u32) -> io::Result<Self> {
        let line = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        Self::parse(&line)
            .ok_or_else(|| io::Error::other(format!("/proc/{pid}/stat is not as expected")))
    }

    /// The program's name stands in parentheses and may itself hold spaces and parentheses, so the
    /// fields are counted from the last one: the state is field 3.
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Self {
            state: fields.first()?.chars().next()?,
            parent: fields.get(1)?.parse().ok()?,
            start_ticks: fields.get(19)?.parse().ok()?,
        })
    }

    const fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_program_name_with_parentheses_does_not_shift_the_fields() {
        let line = "42 (a) b (c) S 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 11 12";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.state, stat.parent, stat.start_ticks), ('S', 7, 98765));
        assert!(Stat::parse("42 (a").is_none());
        assert!(Stat::parse("42 (a) S 7").is_none());
    }

    #[test]
    fn a_process_is_itself_until_it_ends() {
        let mut sleep = Command::new("sleep").arg("60").spawn().unwrap();
        let identity = Identity::of(sleep.id()).unwrap();
        assert!(identity.is_alive());
        assert!(Identity::of(std::process::id()).unwrap().children().contains(&identity));
        let other_start = Identity { start_ticks: identity.start_ticks + 1, ..identity.clone() };
        let other_boot = Identity { boot_id: "another".to_owned(), ..identity.clone() };
        assert!(!other_start.is_alive() && !other_boot.is_alive());
        other_start.signal(Signal::KILL);
        other_boot.signal(Signal::KILL);
        assert!(sleep.try_wait().unwrap().is_none(), "a process that is not meant was killed");
        identity.signal(Signal::KILL);
        assert!(!sleep.wait().unwrap().success());
        assert!(!identity.is_alive());
    }

    #[test]
    fn a_process_has_the_state_of_each_of_its_threads() {
        let me = Identity::of(std::process::id()).unwrap();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let waiting = std::thread::spawn(move || ended.recv());
        // This thread runs; the other one sleeps, sooner or later.
        assert!(!me.has_threads(|state| state == 'S'));
        assert!((0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            !me.has_threads(|state| state != 'S')
        }));
        drop(end);
        let _ = waiting.join().unwrap();
        let other = Identity { start_ticks: me.start_ticks + 1, ..me };
        assert!(other.has_threads(|_| false));
    }

    #[test]
    fn what_ended_but_was_not_reaped_does_not_run() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let identity = Identity::of(child.id()).unwrap();
        child.kill().unwrap();
        let gone = (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            !identity.is_alive()
        });
        assert!(gone, "a zombie counts as alive");
        child.wait().unwrap();
    }
}

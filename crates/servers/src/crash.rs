//! How a server died: by which signal, and where the memory it had then is.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use elf::Format;
use rustix::process::Signal;

/// Signals that leave a core, where the limits allow one.
const DUMPING: [Signal; 8] = [
    Signal::QUIT,
    Signal::ILL,
    Signal::TRAP,
    Signal::ABORT,
    Signal::BUS,
    Signal::FPE,
    Signal::SEGV,
    Signal::SYS,
];

/// How a server died, in words: `signal: 11 (SIGSEGV) (core dumped): its core is /lab/x/data/core`.
///
/// `places` are directories that it may have left its core in, `log` is what it printed, `before` is what
/// [`oom_kills`] said when it was started.
pub(crate) fn describe(
    status: ExitStatus,
    places: &[PathBuf],
    log: &[String],
    before: Option<u64>,
) -> String {
    let more = if status.signal().is_none() {
        // The servers of the MySQL family catch the signal, tell of it in their log and then exit.
        caught(log).map(|signal| format!(" after it caught signal {signal}"))
    } else if let Some(core) = cores(places).first() {
        Some(format!(": its core is {}", core.display()))
    } else if status.signal() == Some(Signal::KILL.as_raw()) {
        by_kernel(before, oom_kills()).map(str::to_owned)
    } else if status.core_dumped() {
        Some(format!(": {}", whereto(&core_pattern())))
    } else if leaves_core(status) {
        Some(", no core dumped: `ulimit -c unlimited` before the run allows one".to_owned())
    } else {
        None
    };
    format!("{status}{}", more.unwrap_or_default())
}

/// How often the kernel has killed a process since it started because there was no memory left, be it that of the host
/// or that of a control group; `None` where it does not say.
pub(crate) fn oom_kills() -> Option<u64> {
    oom_kills_in(&fs::read_to_string("/proc/vmstat").ok()?)
}

fn oom_kills_in(vmstat: &str) -> Option<u64> {
    let mut lines = vmstat.lines();
    lines.find_map(|line| line.strip_prefix("oom_kill ")?.parse().ok())
}

/// The cause of death of a server killed between these counts. The signal itself does not name its sender.
fn by_kernel(before: Option<u64>, now: Option<u64>) -> Option<&'static str> {
    (now? > before?).then_some(
        ": out of memory. The kernel killed a process meanwhile because the host or a control group had no memory left \
         (oom_kill in /proc/vmstat): give the server less memory, or the group more",
    )
}

/// What killed a backend of PostgreSQL whose postmaster lives on, by its log: `server process (PID 42) was
/// terminated by signal 9: Killed`.
pub fn killed_backend(log: &[String]) -> Option<String> {
    let line = log.iter().rev().find(|line| line.contains(" was terminated by signal 9"))?;
    let (_, rest) = line.split_once("(PID ")?;
    let (pid, _) = rest.split_once(')')?;
    Some(format!(
        "the server's backend {pid} was killed by signal 9, usually by the kernel's OOM killer: give the server less \
         memory, or the host or control group more"
    ))
}

/// Did it die of a signal, be it one that it caught?
pub(crate) fn is_crash(status: ExitStatus, log: &[String]) -> bool {
    status.signal().is_some() || (!status.success() && caught(log).is_some())
}

/// Cores that lie right in these directories, whatever their names.
pub(crate) fn cores(places: &[PathBuf]) -> Vec<PathBuf> {
    let entries =
        places.iter().flat_map(|place| fs::read_dir(place).into_iter().flatten().flatten());
    let mut cores: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| is_file(path) && is_core(path)).collect();
    cores.sort();
    cores
}

/// What explains a crash: cores in these directories, and the log.
pub(crate) fn files(places: &[PathBuf], log: PathBuf) -> Vec<PathBuf> {
    let mut files = cores(places);
    files.push(log);
    files.retain(|file| file.is_file());
    files
}

fn is_core(path: &Path) -> bool {
    matches!(Format::of(path), Ok(Format::Elf(elf)) if elf.is_core)
}

/// Not through links, and no pipe, which would block its reader.
fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

fn leaves_core(status: ExitStatus) -> bool {
    DUMPING.iter().any(|signal| status.signal() == Some(signal.as_raw()))
}

/// Where the kernel puts cores: a name, or a program after a `|`.
fn core_pattern() -> String {
    fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default()
}

fn whereto(pattern: &str) -> String {
    let pattern = pattern.trim();
    match pattern.strip_prefix('|') {
        Some(command) => {
            let program = command.split_ascii_whitespace().next().unwrap_or_default();
            format!("the kernel gave the core to {program} (kernel.core_pattern)")
        }
        None => format!("the core is where kernel.core_pattern says: {pattern}"),
    }
}

/// The signal that a server says it got: `mysqld got signal 11 ;`.
fn caught(log: &[String]) -> Option<u32> {
    log.iter().rev().find_map(|line| {
        let (_, rest) = line.split_once(" got signal ")?;
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        rest.get(..end)?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_backend_is_found_in_the_log() {
        let log =
            |line: &str| vec![line.to_owned(), "LOG:  all server processes terminated".to_owned()];
        let killed = "2026-11-24 00:00:00.000 UTC [41] LOG:  server process (PID 42) was terminated by signal 9: Killed";
        insta::assert_snapshot!(killed_backend(&log(killed)).unwrap(), @"the server's backend 42 was killed by signal 9, usually by the kernel's OOM killer: give the server less memory, or the host or control group more");
        let crashed =
            "LOG:  server process (PID 42) was terminated by signal 11: Segmentation fault";
        assert_eq!(killed_backend(&log(crashed)), None);
        assert_eq!(killed_backend(&log("was terminated by signal 9")), None);
    }

    /// A status as `wait` reports it.
    fn killed(signal: i32, dumped: bool) -> ExitStatus {
        ExitStatus::from_raw(signal | if dumped { 0x80 } else { 0 })
    }

    #[test]
    fn the_core_is_found_by_its_content() {
        let directory = tempfile::tempdir().unwrap();
        let places = [directory.path().to_owned()];
        let mut elf = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0];
        elf.resize(64, 0);
        elf[16] = 4;
        fs::write(directory.path().join("mysqld.4711.dump"), &elf).unwrap();
        fs::write(directory.path().join("core.txt"), "no core").unwrap();
        let text = describe(killed(11, true), &places, &[], None);
        let text = text.replace(&directory.path().display().to_string(), "DIR");
        insta::assert_snapshot!(text, @"signal: 11 (SIGSEGV) (core dumped): its core is DIR/mysqld.4711.dump");
    }

    #[test]
    fn without_a_core_the_message_says_why() {
        let none: [PathBuf; 0] = [];
        insta::assert_snapshot!(describe(killed(6, false), &none, &[], None), @"signal: 6 (SIGABRT), no core dumped: `ulimit -c unlimited` before the run allows one");
        // This one never leaves any.
        insta::assert_snapshot!(describe(killed(9, false), &none, &[], None), @"signal: 9 (SIGKILL)");
        insta::assert_snapshot!(whereto("|/usr/lib/systemd/systemd-coredump %P %u\n"), @"the kernel gave the core to /usr/lib/systemd/systemd-coredump (kernel.core_pattern)");
        insta::assert_snapshot!(whereto("/var/crash/core.%e.%p\n"), @"the core is where kernel.core_pattern says: /var/crash/core.%e.%p");
    }

    #[test]
    fn a_server_that_was_killed_for_its_memory_says_so() {
        assert_eq!(oom_kills_in("pgfault 5\noom_kill 3\nswap_ra 1\n"), Some(3));
        assert_eq!(oom_kills_in("pgfault 5\n"), None);
        assert!(by_kernel(Some(2), Some(3)).is_some_and(|words| words.contains("out of memory")));
        for (before, now) in [(Some(3), Some(3)), (None, Some(3)), (Some(3), None)] {
            assert_eq!(by_kernel(before, now), None);
        }
    }

    #[test]
    fn a_signal_that_the_server_caught_is_read_from_its_log() {
        let log = [
            "2026-11-21 13:34:47 0 [Note] ready for connections.".to_owned(),
            "261121 13:34:47 [ERROR] /usr/sbin/mariadbd got signal 11 ;".to_owned(),
            "Attempting backtrace".to_owned(),
        ];
        let status = ExitStatus::from_raw(1 << 8);
        insta::assert_snapshot!(describe(status, &[], &log, None), @"exit status: 1 after it caught signal 11");
        insta::assert_snapshot!(describe(status, &[], &log[..1], None), @"exit status: 1");
        assert!(is_crash(status, &log) && !is_crash(status, &log[..1]));
        assert!(is_crash(killed(9, false), &[]));
        assert!(!is_crash(ExitStatus::from_raw(0), &log));
    }
}

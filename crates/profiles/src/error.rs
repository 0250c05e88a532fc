//! Why nothing can be sampled, and what to do.

use std::fs;
use std::io;

use rustix::io::Errno;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ProfileError {
    #[error(
        "the kernel does not let this user sample stacks (`kernel.perf_event_paranoid` is {paranoid}); run as root, \
         or allow it with `sysctl kernel.perf_event_paranoid=1`, and start containers with `--cap-add PERFMON`"
    )]
    NotPermitted { paranoid: String },
    #[error(
        "no memory to sample into; run as root, or allow more with `sysctl kernel.perf_event_mlock_kb=4096` and \
         `ulimit -l`"
    )]
    NoMemory,
    #[error("too many open files to sample every thread on every CPU; raise `ulimit -n`")]
    TooManyFiles,
    #[error("the process to sample has ended")]
    Gone,
    #[error("this kernel cannot sample: {0}; it needs CONFIG_PERF_EVENTS")]
    Kernel(io::Error),
    #[error("cannot start the thread that samples: {0}")]
    Thread(io::Error),
    #[error(
        "instructions are counted with Valgrind, which is not installed; install it, for example with `apt-get install \
         valgrind` or `dnf install valgrind`"
    )]
    NoValgrind,
    #[error(
        "Valgrind does not count in process {process}: {cause}; it must be allowed to trace processes, so start \
         containers with `--cap-add SYS_PTRACE`"
    )]
    Valgrind { process: u32, cause: io::Error },
    #[error("cannot read what Valgrind counted: {0}")]
    Dump(io::Error),
}

impl ProfileError {
    /// An error of the system call that opens an event.
    pub(crate) fn of_open(cause: io::Error) -> Self {
        match Errno::from_io_error(&cause) {
            Some(Errno::ACCESS | Errno::PERM) => Self::NotPermitted { paranoid: paranoid() },
            Some(Errno::MFILE | Errno::NFILE) => Self::TooManyFiles,
            Some(Errno::SRCH) => Self::Gone,
            _ => Self::Kernel(cause),
        }
    }

    /// An error of mapping the buffer of an event.
    pub(crate) fn of_map(cause: Errno) -> Self {
        match cause {
            Errno::PERM | Errno::NOMEM | Errno::AGAIN => Self::NoMemory,
            cause => Self::Kernel(cause.into()),
        }
    }
}

fn paranoid() -> String {
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    level.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_to_do() {
        let of = |errno: Errno| ProfileError::of_open(errno.into()).to_string();
        assert!(of(Errno::ACCESS).contains(&format!("paranoid` is {}", paranoid())));
        assert!(of(Errno::PERM).contains("sysctl kernel.perf_event_paranoid=1"));
        assert!(of(Errno::MFILE).contains("ulimit -n"));
        assert!(of(Errno::SRCH).contains("ended"));
        assert!(of(Errno::NOSYS).contains("CONFIG_PERF_EVENTS"));
        assert!(ProfileError::of_map(Errno::PERM).to_string().contains("mlock_kb"));
    }
}

//! What can go wrong when reading counters and facts.

use std::io;
use std::path::PathBuf;

/// An error of a probe. Display is a lowercase fragment that names the file, process or device.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// A file of the kernel could not be read.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// A file of the kernel does not look as it should.
    #[error("cannot understand {}: no {what} in it; this kernel is not supported", path.display())]
    Format {
        /// Which file.
        path: PathBuf,
        /// What was looked for.
        what: &'static str,
    },
    /// The watched process has ended, or its number belongs to another one now.
    #[error("process {pid} is gone: the server has ended; see the end of its log")]
    Gone {
        /// Its number.
        pid: u32,
    },
    /// The watched device is not there.
    #[error("no device `{device}` in /proc/diskstats; `lsblk` lists those there are")]
    NoDevice {
        /// Its name.
        device: String,
    },
    /// The CPUs could not be taken.
    #[error("cannot run on CPUs {cpus:?}: {cause}; allowed are {allowed:?}")]
    Affinity {
        /// The CPUs asked for.
        cpus: Vec<usize>,
        /// The CPUs that may be asked for.
        allowed: Vec<usize>,
        /// What the system said.
        cause: io::Error,
    },
    /// The system refused a call.
    #[error("cannot get {what}: {cause}")]
    System {
        /// What was asked for.
        what: &'static str,
        /// What the system said.
        cause: io::Error,
    },
}

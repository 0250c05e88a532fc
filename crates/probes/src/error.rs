//! Errors of reading counters and facts.

use std::io;
use std::path::PathBuf;

pub(crate) type Result<T, E = ProbeError> = std::result::Result<T, E>;

/// An error of a probe. Display is a lowercase fragment that names the file, process or device.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    #[error("cannot read {}: {cause}", path.display())]
    Read { path: PathBuf, cause: io::Error },
    #[error("cannot understand {}: no {what} in it; this kernel is not supported", path.display())]
    Format { path: PathBuf, what: &'static str },
    #[error("process {pid} is gone: the server has ended; see the end of its log")]
    Gone { pid: u32 },
    #[error("no device `{device}` in /proc/diskstats; `lsblk` lists the available devices")]
    NoDevice { device: String },
    #[error("cannot run on CPUs {cpus:?}: {cause}; allowed are {allowed:?}")]
    Affinity { cpus: Vec<usize>, allowed: Vec<usize>, cause: io::Error },
    /// A probe on another host.
    #[error("cannot read the counters of `{host}`, so they are missing from here on: {cause}")]
    Elsewhere { host: String, cause: String },
    #[error("cannot get {what}: {cause}")]
    System { what: &'static str, cause: io::Error },
}

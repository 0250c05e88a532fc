//! The machine's identity: every result needs it.

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// The resources that configs scale with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostShape {
    /// CPUs that this process may use.
    pub cpus: u32,
    pub memory: Bytes,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    pub name: String,
    pub cpu_model: String,
    pub shape: HostShape,
    /// Threads per core; 1 where SMT is off or hidden.
    pub threads_per_core: u32,
    pub kernel: String,
    /// Distribution, from `os-release`.
    pub os: String,
    /// Frequency governor, where the kernel shows one.
    pub governor: Option<String>,
    pub clock_source: Option<String>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub thp: Option<String>,
    /// Swap in use and configured.
    pub swap: Bytes,
    pub virtualization: Option<String>,
    pub disk: DiskFacts,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskFacts {
    /// Block device as `/proc/diskstats` names it; `None` where the filesystem has none (tmpfs, overlay).
    pub device: Option<String>,
    pub filesystem: String,
    pub options: String,
    pub size: Bytes,
    pub free: Bytes,
}

//! The machine's identity.

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// What a config scales with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostShape {
    /// CPUs that this process may use.
    pub cpus: u32,
    /// Physical memory.
    pub memory: Bytes,
}

/// The machine's identity: what a result must not be separated from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Host name.
    pub name: String,
    /// CPU model as the kernel names it.
    pub cpu_model: String,
    /// CPUs and memory.
    pub shape: HostShape,
    /// Threads per core; 1 where SMT is off or hidden.
    pub threads_per_core: u32,
    /// Kernel release.
    pub kernel: String,
    /// Distribution, from `os-release`.
    pub os: String,
    /// Frequency governor, where the kernel shows one.
    pub governor: Option<String>,
    /// Clock source.
    pub clock_source: Option<String>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub thp: Option<String>,
    /// Swap in use and configured.
    pub swap: Bytes,
    /// Hypervisor, where the CPU says that there is one.
    pub virtualization: Option<String>,
    /// Where the instances live.
    pub disk: DiskFacts,
}

/// The disk and filesystem that hold the instances.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskFacts {
    /// Block device as `/proc/diskstats` names it; `None` where the filesystem has none (tmpfs, overlay).
    pub device: Option<String>,
    /// Filesystem type.
    pub filesystem: String,
    /// Mount options.
    pub options: String,
    /// Size of the filesystem.
    pub size: Bytes,
    /// Free space for us.
    pub free: Bytes,
}

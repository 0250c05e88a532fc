//! How much noise a trial may meet.

use serde::{Deserialize, Serialize};

/// The noise that a trial may meet before its numbers are set aside. Shares are of the time of a measured step,
/// in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantine {
    /// CPU time of the host that went to other guests, as a share of all its CPUs.
    pub steal_permille: u32,
    /// CPU time of processes that are neither server nor client, of one CPU.
    pub foreign_permille: u32,
    /// Time for which the control group was held back, as a share of one CPU.
    pub throttled_permille: u32,
    /// Pages of memory read from the swap device or written to it, each second.
    pub swapped_pages: u32,
    /// Major page faults of the server, each second. Plans of versions that had no such limit allow any number.
    #[serde(default = "any_number")]
    pub major_faults: u32,
    /// How often a disturbed round is run again at most.
    pub reruns: u32,
}

const fn any_number() -> u32 {
    u32::MAX
}

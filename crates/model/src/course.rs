//! How the rounds of a plan are carried out and judged: in whole trials, in slices or in turns, to the last or
//! until all is decided, by which margins.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Margin, MetricId, Nanos};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Course {
    /// The number of rounds before the first look; further looks follow after each round. The run ends as soon as
    /// everything is decided. `None`: every round is run, whatever is found.
    pub first_look: Option<u32>,
    pub interleave: Interleave,
    /// The noise that a trial may meet; its round is run again where it meets more. `None`: any.
    pub quarantine: Option<Quarantine>,
    /// Margins that replace the metrics' own. A short form such as `response.p99` means each step's subject.
    pub margins: BTreeMap<MetricId, Margin>,
}

impl Course {
    /// How often a disturbed round may be run again, at most.
    pub fn reruns(&self) -> u32 {
        self.quarantine.map_or(0, |limits| limits.reruns)
    }
}

/// The unit that alternates between the systems of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interleave {
    /// Whole trials: one system after the other.
    #[default]
    Trials,
    /// Slices of this length, in steps that change no data; all systems of a round are up at once. All other
    /// steps are run one system after the other.
    Slices(Nanos),
    /// Turns of this length, in every step; all systems of a round are up at once. Those whose turn it is not
    /// are frozen, where that can be.
    Turns(Nanos),
}

impl Interleave {
    pub const fn is_at_once(self) -> bool {
        match self {
            Self::Trials => false,
            Self::Slices(_) | Self::Turns(_) => true,
        }
    }
}

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
    pub reruns: u32,
}

const fn any_number() -> u32 {
    u32::MAX
}

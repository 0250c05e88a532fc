//! How the rounds of a plan are carried out and judged: in whole trials, in slices or in turns, to the last or
//! until all is decided, by which margins.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Margin, MetricId, Nanos, Quarantine};

/// How the rounds of a plan are carried out and judged.
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
    /// Are all systems of a round up at once?
    pub const fn is_at_once(self) -> bool {
        match self {
            Self::Trials => false,
            Self::Slices(_) | Self::Turns(_) => true,
        }
    }
}

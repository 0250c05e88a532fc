//! How the rounds of a plan are carried out and judged: in whole trials or in slices, to the last or until all is
//! decided, by which margins.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Margin, MetricId, Nanos, Quarantine};

/// How the rounds of a plan are carried out and judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Course {
    /// After so many rounds the run is looked at first, then after each further one; it ends as soon as
    /// everything is decided. `None`: every round is run, whatever is found.
    pub first_look: Option<u32>,
    /// What alternates between systems.
    pub interleave: Interleave,
    /// The noise that a trial may meet; its round is run again where it meets more. `None`: any.
    pub quarantine: Option<Quarantine>,
    /// Margins that take the place of the metrics' own. A short form such as `response.p99` is that of what each
    /// step is about.
    pub margins: BTreeMap<MetricId, Margin>,
}

impl Course {
    /// How often a disturbed round may be run again, at most.
    pub fn reruns(&self) -> u32 {
        self.quarantine.map_or(0, |limits| limits.reruns)
    }
}

/// What alternates between the systems of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interleave {
    /// Whole trials: one system after the other.
    #[default]
    Trials,
    /// Slices of this length, in steps that change no data; all systems of a round are up at once. All other
    /// steps are run one system after the other.
    Slices(Nanos),
}

//! What the steps of every workload share.

pub(super) const INDEXES: &str = "Builds the secondary indexes.";
pub(super) const SETTLES: &str = "Analyses, writes back and waits.";

/// A step's place in its trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) ordinal: u32,
    pub(super) loads: bool,
}

impl Place {
    /// The places of a trial whose first `loading` steps load.
    pub(super) fn all(loading: usize) -> impl Iterator<Item = Self> {
        (0..).map(move |ordinal| Self { ordinal, loads: (ordinal as usize) < loading })
    }
}

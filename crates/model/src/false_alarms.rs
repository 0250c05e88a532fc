//! Verdicts on controls, over many runs.

/// Verdicts on the controls of runs. Base and control are identical, so each reported change is a false alarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FalseAlarms {
    /// Runs with a judged control.
    pub runs: u64,
    /// Cells of these controls that were judged, over all metrics.
    pub cells: u64,
    /// Those of them that were called different.
    pub changed: u64,
}

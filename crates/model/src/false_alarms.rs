//! What is said of controls, over many runs.

/// What was said of the controls of runs. Nothing differs there, so each change that was called is a false alarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FalseAlarms {
    /// Runs with a control of which anything could be judged.
    pub runs: u64,
    /// Cells of these controls that were judged, over all metrics.
    pub cells: u64,
    /// Those of them that were called different.
    pub changed: u64,
}

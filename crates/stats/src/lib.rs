//! Slices in, values out: intervals, tests, verdicts.
//!
//! Everything here is a pure function of its arguments. [`compare`] turns a run into
//! [`model::Comparison`]s; the other modules are the formulas that it is made of, each with its
//! source beside it.

mod compare;
mod conditions;
mod control;
mod drift;
mod error;
mod estimate;
mod family;
mod fdr;
mod grid;
mod group;
mod history;
mod levels;
mod looks;
mod moderate;
mod options;
mod paired;
mod power;
mod robust;
mod rounding;
mod selected;
mod slices;
mod student;
mod summary;
mod sweep;
mod verdict;

#[cfg(test)]
mod tests;

pub use compare::compare;
pub use conditions::of_runs as difference_of_runs;
pub use control::{ControlSummary, is_judged, rates_of_control};
pub use error::CompareError;
pub use fdr::adjust;
pub use group::{GroupSummary, summarise};
pub use history::{
    At, Change, Copied, Days, Found, History, HistoryError, HistoryLine, HistoryOptions,
    HistoryPoint, Part, Ratio, Replicate, Series, Standing, analyse, history,
};
pub use looks::{Looks, Next};
pub use options::{Options, check};
pub use paired::Paired;
pub use power::{Situation, detectable, further_rounds};
pub use robust::{hodges_lehmann, sign_flip};
pub use selected::{Selection, Steps};
pub use slices::SlicePairs;
pub use summary::{geometric_mean, max, mean, median, min};
pub use sweep::{Crossing, Place, ScaleUp, Side, SweepPoint, crossings, scale_up};

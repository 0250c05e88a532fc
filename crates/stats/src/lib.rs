//! Slices in, values out: intervals, tests, verdicts.
//!
//! Everything here is a pure function of its arguments. [`compare`] turns a run into
//! [`model::Comparison`]s; the other modules are the formulas that it is made of, each with its
//! source beside it.

mod bisect;
mod compare;
mod conditions;
mod family;
mod fdr;
mod grid;
mod group;
mod history;
mod hosts;
mod looks;
mod moderate;
mod options;
mod paired;
mod power;
mod reach;
mod robust;
mod rounding;
mod slices;
mod student;
mod summary;
mod sweep;
mod verdict;

#[cfg(test)]
mod tests;

pub use bisect::{Advice, Bisection, Effect, Pair, Posterior};
pub use compare::compare;
pub use conditions::of_runs as difference_of_runs;
pub use fdr::adjust;
pub use group::{GroupSummary, summarise};
pub use history::{
    At, Change, Copied, Days, Found, History, HistoryError, HistoryLine, HistoryOptions,
    HistoryPoint, Part, Ratio, Replicate, Series, Standing, analyse, history,
};
pub use looks::{Looks, Next};
pub use options::{CompareError, Options, Selection, Steps, USUAL_Q, check};
pub use paired::{Paired, Spread};
pub use reach::{Budget, Calling, detectable, in_median_step, scatter};
pub use robust::{hodges_lehmann, sign_flip};
pub use slices::SlicePairs;
pub use student::CONFIDENCE;
pub use summary::{
    ControlSummary, geometric_mean, is_judged, max, mean, median, min, rates_of_control,
};
pub use sweep::{Crossing, Place, ScaleUp, Side, SweepPoint, crossings, scale_up};

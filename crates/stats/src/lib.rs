//! Slices in, values out: intervals, tests, verdicts.
//!
//! Everything here is a pure function of its arguments. [`compare`] turns a run into
//! [`model::Comparison`]s; the other modules are the formulas that it is made of, each with its
//! source beside it.

mod compare;
mod control;
mod fdr;
mod group;
mod options;
mod paired;
mod power;
mod selected;
mod student;
mod summary;
mod sweep;
mod verdict;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod simulation;

pub use compare::compare;
pub use control::{ControlSummary, rates_of_control};
pub use fdr::adjust;
pub use group::{GroupSummary, summarise};
pub use options::{CompareError, Options, Selection};
pub use paired::Paired;
pub use power::{Situation, further_rounds};
pub use summary::{geometric_mean, max, mean, median, min};
pub use sweep::{Crossing, Place, ScaleUp, Side, SweepPoint, crossings, scale_up};

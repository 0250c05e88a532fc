//! What the tests of several modules share, and simulations of whole runs.

pub(crate) mod fixture;
pub(crate) mod simulation;

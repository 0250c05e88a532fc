//! Simulations of whole runs.

pub(crate) mod simulation;

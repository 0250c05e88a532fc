//! Terminals that log what is acknowledged to them, and the conditions afterwards.

use std::path::Path;
use std::sync::Arc;

use model::{Check, TpccSpec};

use super::super::check::{self, When};
use super::super::loading::Setting;
use super::super::run::RunStep;
use super::Acknowledged;
use load::engine::{Blind, Stop};
use load::{StepError, Target};

/// Transactions on a loaded database whose acknowledged commits are logged.
#[derive(Clone, Copy, Debug)]
pub struct LoggedRun<'a> {
    /// The workload; its seconds are how long this takes unless something ends it before.
    pub spec: &'a TpccSpec,
    /// The number of the run, from 1.
    pub number: u32,
    pub seed: u64,
    /// The seed of the rows that were loaded.
    pub rows_seed: u64,
    /// Where the log goes: a file that is not there yet.
    pub log: &'a Path,
}

/// Runs the terminals.
///
/// # Errors
/// What a terminal failed with, such as a connection that was lost because the server was killed. All
/// commits that were acknowledged until then are in the log.
pub fn run_logged(run: &LoggedRun<'_>, target: &Target, stop: &Stop) -> Result<(), StepError> {
    let log = Arc::new(Acknowledged::create(run.log)?);
    let spec = Arc::new(run.spec.clone());
    let step = RunStep {
        spec: &spec,
        number: run.number,
        seed: run.seed,
        rows_seed: run.rows_seed,
        target,
        log: Some(log),
    };
    step.run(stop, &mut Blind).map(drop)
}

/// Whether the conditions hold that must hold in any database of the workload on which transactions ran.
pub fn check_conditions(
    spec: &TpccSpec,
    rows_seed: u64,
    target: &Target,
    stop: &Stop,
) -> Result<Vec<Check>, StepError> {
    let at = Setting { spec, rows_seed, target, stop };
    let result = check::run(&at, When::Used, None, &mut Blind)?;
    Ok(result.checks)
}

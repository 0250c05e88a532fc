//! Commits that were acknowledged, and what is left of them after a crash.
//!
//! Each terminal adds a line to a log as soon as the server reports its New-Order or Payment committed. The
//! log is a file, so that it outlives the process that wrote it, where that is the one to be killed. What
//! it says is looked for in the database that a crash left: each order by its number, each payment by all of
//! its values and as often as it was made. Deliveries leave no row of their own; the conditions prove that
//! each is there whole or not at all.

pub(super) mod log;
mod survived;

use std::path::Path;
use std::sync::Arc;

use model::{Check, TpccSpec};

use self::log::Acknowledged;
pub use self::survived::{Missing, Present, Survived, survived};
use super::check::{self, When};
use super::loading::Setting;
use super::run::RunStep;
use load::{Blind, Result, Share, Stop, Target};

/// Transactions on a loaded database whose acknowledged commits are logged.
#[derive(Clone, Copy, Debug)]
pub struct LoggedRun<'a> {
    /// The workload; its seconds are how long this takes unless something ends it before.
    pub spec: &'a TpccSpec,
    /// The number of the run, from 1.
    pub number: u32,
    pub seed: u64,
    pub rows_seed: u64,
    /// Where the log goes: a file that is not there yet.
    pub log: &'a Path,
}

/// Runs the terminals.
///
/// # Errors
/// What a terminal failed with, such as a connection that was lost because the server was killed. All
/// commits that were acknowledged until then are in the log.
pub fn run_logged(run: &LoggedRun<'_>, target: &Target, stop: &Stop) -> Result {
    let LoggedRun { spec, number, seed, rows_seed, log } = *run;
    let log = Some(Arc::new(Acknowledged::create(log)?));
    let at = &Setting { spec, rows_seed, target, stop };
    RunStep { at, number, seed, share: Share::whole(spec.clients), log }.run(&mut Blind).map(drop)
}

/// Whether the conditions hold that must hold in any database of the workload on which transactions ran.
pub fn check_conditions(
    spec: &TpccSpec,
    rows_seed: u64,
    target: &Target,
    stop: &Stop,
) -> Result<Vec<Check>> {
    let at = Setting { spec, rows_seed, target, stop };
    let result = check::run(&at, When::Used, None, &mut Blind)?;
    Ok(result.checks)
}

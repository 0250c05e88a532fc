//! The seam of workloads.

use std::sync::Arc;

use drivers::Connector;
use model::{Connection, Dialect, Engine, StepRecord, Version};

use crate::engine::{Observer, Stop};
use crate::{LoadHosts, Result};

/// Where a workload runs: one database of one server.
#[derive(Clone)]
pub struct Target {
    pub dialect: Dialect,
    pub engine: Engine,
    pub version: Version,
    /// Is the server ours, so that its global settings may be changed for a while?
    pub ours: bool,
    /// How the plan wants clients to talk to the server; the connectors do so already.
    pub connection: Connection,
    /// Opens sessions that give up a statement after the workload's timeout.
    pub connector: Arc<dyn Connector>,
    /// Opens sessions for statements that may take hours: index builds, settling.
    pub patient: Arc<dyn Connector>,
    /// Where the clients of steps run that are not loading; `None` for this process.
    pub load_hosts: Option<Arc<dyn LoadHosts>>,
}

/// A workload in one trial: remembers between its steps what must be in the tables.
pub trait Workload: Send {
    /// Runs the step with this ordinal among [`model::WorkloadSpec::steps`], or after [`Workload::restore`] among
    /// [`model::WorkloadSpec::steps_on_clone`]: connects, runs, checks. Steps run in order, once. The record has what
    /// was measured and found out; which step it is of, and what the probes saw, the caller adds.
    fn run(
        &mut self,
        index: usize,
        target: &Target,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord>;

    /// What the loading steps have just left in the database of `target`, as JSON for [`Workload::restore`].
    fn state(&self, target: &Target) -> Result<String>;

    /// Takes over what another one loaded and kept: its steps are from now on those after the loading, with one
    /// before them that reads all of the data once and compares it with `state`.
    fn restore(&mut self, state: &str) -> Result;
}

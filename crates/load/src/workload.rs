//! The seam of workloads, and their list.

mod arrival;
mod batches;
mod drain;
pub(crate) mod insert;
mod measure;
mod session;
mod settle;
mod slices;
pub(crate) mod sql;
mod tpcc;
mod warm;
mod worker;

use std::sync::Arc;

use drivers::Connector;
use model::{
    Check, Connection, Dialect, Engine, Nanos, OpenLoop, StepId, Subject, TpccFacts, Version,
    WorkloadSpec,
};

pub use self::slices::SlicedStep;
pub use self::tpcc::acknowledged::{
    LoggedRun, Missing, Present, Survived, check_conditions, run_logged, survived,
};
use crate::StepError;
use crate::engine::{Observer, Stop, Window};

/// Where a workload runs: one database of one server.
#[derive(Clone)]
pub struct Target {
    /// The SQL that the server speaks.
    pub dialect: Dialect,
    /// The storage engine of the tables.
    pub engine: Engine,
    /// The server's version.
    pub version: Version,
    /// Is the server ours, so that its global settings may be changed for a while?
    pub ours: bool,
    /// How the plan wants clients to talk to the server; the connectors do so already.
    pub connection: Connection,
    /// Opens sessions that give up a statement after the workload's timeout.
    pub connector: Arc<dyn Connector>,
    /// Opens sessions for statements that may take hours: index builds, settling.
    pub patient: Arc<dyn Connector>,
}

/// A step as it is announced before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepOutline {
    /// Its name.
    pub step: StepId,
    /// Is it a result, or a phase between results?
    pub measured: bool,
    /// Names of its operation kinds, in the order of every interval.
    pub kinds: Vec<String>,
    /// What it is about.
    pub subject: Subject,
    /// Clients.
    pub clients: u32,
}

/// What a step yields besides what its observer saw.
#[derive(Clone, Debug)]
pub struct StepResult {
    /// The window.
    pub window: Window,
    /// From before the first connect to after the last close.
    pub elapsed: Nanos,
    /// Rows per second asked of the writers, all clients together.
    pub target_rate: Option<u64>,
    /// Rows that the plan asked for, all clients together.
    pub requested_rows: u64,
    /// What became of the arrivals, where operations arrived by themselves.
    pub open_loop: Option<OpenLoop>,
    /// What the TPC-C-like workload found out.
    pub tpcc: Option<TpccFacts>,
    /// Answers that were checked.
    pub checks: Vec<Check>,
    /// Facts worth keeping that are no metric.
    pub notes: Vec<(String, String)>,
}

/// Why a step is not measured in slices.
pub(crate) const NOT_SLICEABLE: &str = "this step cannot be measured in slices";

/// A workload in one trial: knows its steps and remembers between them what must be in the tables.
pub trait Workload: Send {
    /// All steps in order, settle phases included.
    fn steps(&self) -> Vec<StepOutline>;

    /// Runs step `index` of [`Workload::steps`]: connects, runs, checks. Steps run in order, once.
    fn run(
        &mut self,
        index: usize,
        target: &Target,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepResult, StepError>;

    /// How long the window of step `index` is, where it can be measured in slices that alternate with those of
    /// other databases: it is a result, changes no data, and its clients work for a time as fast as they can.
    fn sliceable(&self, _index: usize) -> Option<Nanos> {
        None
    }

    /// Connects the clients of such a step and warms up, instead of [`Workload::run`]; its slices follow.
    fn open_slices<'a>(
        &'a mut self,
        _index: usize,
        _target: &'a Target,
        _stop: &Stop,
    ) -> Result<Box<dyn SlicedStep + 'a>, StepError> {
        Err(StepError::Unsupported(NOT_SLICEABLE.to_owned()))
    }

    /// How many of the first steps only load. What they leave can be kept, and be where the rest begins
    /// in another database; zero where nothing would be left to do.
    fn loading_steps(&self) -> usize;

    /// What the loading steps left in the database of `target`, as JSON for [`Workload::restore`]. To be
    /// called right after them.
    fn state(&self, target: &Target) -> Result<String, StepError>;

    /// Takes over what another one loaded and kept: [`Workload::steps`] are from now on those after the
    /// loading, with one before them that reads all of the data once and compares it with `state`.
    fn restore(&mut self, state: &str) -> Result<(), StepError>;
}

/// All of `spec` that decides what its loading steps leave, as JSON: equal texts and seeds, equal data.
pub fn loading(spec: &WorkloadSpec) -> Result<String, StepError> {
    match spec {
        WorkloadSpec::Insert(spec) => insert::loading(spec),
        WorkloadSpec::Sql(spec) => sql::loading(spec),
        WorkloadSpec::Tpcc(spec) => tpcc::loading(spec),
    }
}

/// The workload that `spec` describes, with this seed for its data and keys.
pub fn workload(spec: &WorkloadSpec, seed: u64) -> Box<dyn Workload> {
    match spec {
        WorkloadSpec::Insert(spec) => Box::new(insert::Insert::new(spec.clone(), seed)),
        WorkloadSpec::Sql(spec) => Box::new(sql::Sql::new(spec.clone(), seed)),
        WorkloadSpec::Tpcc(spec) => Box::new(tpcc::Tpcc::new(spec.clone(), seed)),
    }
}

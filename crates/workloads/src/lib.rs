//! The workloads: the Insert Benchmark, SQL workloads, the TPC-C-like one and scripts of sysbench. They know a
//! [`model::Dialect`], never a product.

mod insert;
#[cfg(feature = "lua")]
mod lua;
mod part;
mod sql;
mod tpcc;

use load::{Observer, Result, Share, StepError, Stop, Target, Workload};
use model::{Dialect, LuaSpec, StepRecord, WorkloadSpec};

use self::part::Assignment;
pub use self::part::Part;
pub use self::tpcc::acknowledged::{
    LoggedRun, Missing, Present, Survived, check_conditions, run_logged, survived,
};

/// All of `spec` that decides what its loading steps leave, as JSON: equal texts and seeds, equal data.
pub fn loading(spec: &WorkloadSpec) -> Result<String> {
    match spec {
        WorkloadSpec::Insert(spec) => insert::loading(spec),
        WorkloadSpec::Sql(spec) => sql::loading(spec),
        WorkloadSpec::Tpcc(spec) => tpcc::loading(spec),
        #[cfg(feature = "lua")]
        WorkloadSpec::Lua(spec) => lua::loading(spec),
        #[cfg(not(feature = "lua"))]
        WorkloadSpec::Lua(_) => Err(unsupported(NO_LUA)),
        WorkloadSpec::Imported(_) => Err(unsupported(ELSEWHERE)),
    }
}

/// The workload that `spec` describes, with this seed for its data and keys.
pub fn workload(spec: &WorkloadSpec, seed: u64) -> Box<dyn Workload> {
    match spec {
        WorkloadSpec::Insert(spec) => Box::new(insert::Insert::new(spec.clone(), seed)),
        WorkloadSpec::Sql(spec) => Box::new(sql::Sql::new(spec.clone(), seed)),
        WorkloadSpec::Tpcc(spec) => Box::new(tpcc::Tpcc::new(spec.clone(), seed)),
        #[cfg(feature = "lua")]
        WorkloadSpec::Lua(spec) => Box::new(lua::Lua::new(spec.clone(), seed)),
        #[cfg(not(feature = "lua"))]
        WorkloadSpec::Lua(_) => Box::new(Unavailable(NO_LUA)),
        WorkloadSpec::Imported(_) => Box::new(Unavailable(ELSEWHERE)),
    }
}

/// Connects a share of the clients that `assignment` describes, which another process of this version wrote.
pub fn part(assignment: &str, target: &Target, share: Share, stop: &Stop) -> Result<Part> {
    match data::state::read(assignment)? {
        Assignment::Insert(assignment) => insert::part::part(assignment, target, share, stop),
        Assignment::Sql(assignment) => sql::part::part(assignment, target, share, stop),
        Assignment::Tpcc(assignment) => tpcc::part::part(assignment, target, share, stop),
    }
}

/// What an option of a script is called, its usual value, and what it means.
pub type ScriptOption = [String; 3];

/// An error in a script, or in an option that the plan gives to it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptProblem {
    pub message: String,
    /// The option, with underscores.
    pub option: Option<String>,
}

/// The options that a script declares. Those that the plan gives are checked.
#[cfg(feature = "lua")]
pub fn script_options(
    spec: &LuaSpec,
    dialect: Dialect,
) -> Result<Vec<ScriptOption>, ScriptProblem> {
    lua::declared(spec, dialect)
}

#[cfg(not(feature = "lua"))]
pub fn script_options(_: &LuaSpec, _: Dialect) -> Result<Vec<ScriptOption>, ScriptProblem> {
    Err(ScriptProblem { message: NO_LUA.to_owned(), option: None })
}

const ELSEWHERE: &str = "it was measured by another tool and imported";
#[cfg(not(feature = "lua"))]
const NO_LUA: &str =
    "this backslide was built without the feature `lua`, which runs scripts of sysbench";

/// A workload that cannot be run, and why.
struct Unavailable(&'static str);

fn unsupported(why: &str) -> StepError {
    StepError::Unsupported(why.to_owned())
}

impl Workload for Unavailable {
    fn run(
        &mut self,
        _index: usize,
        _target: &Target,
        _stop: &Stop,
        _observer: &mut dyn Observer,
    ) -> Result<StepRecord> {
        Err(unsupported(self.0))
    }

    fn state(&self, _target: &Target) -> Result<String> {
        Err(unsupported(self.0))
    }

    fn restore(&mut self, _state: &str) -> Result {
        Err(unsupported(self.0))
    }
}

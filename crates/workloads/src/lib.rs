//! The workloads: the Insert Benchmark, SQL workloads and the TPC-C-like one. They know a [`model::Dialect`],
//! never a product.

mod insert;
mod sql;
mod tpcc;

use load::{Observer, Result, StepError, Stop, Target, Workload};
use model::{StepRecord, WorkloadSpec};

pub use self::tpcc::acknowledged::{
    LoggedRun, Missing, Present, Survived, check_conditions, run_logged, survived,
};

/// All of `spec` that decides what its loading steps leave, as JSON: equal texts and seeds, equal data.
pub fn loading(spec: &WorkloadSpec) -> Result<String> {
    match spec {
        WorkloadSpec::Insert(spec) => insert::loading(spec),
        WorkloadSpec::Sql(spec) => sql::loading(spec),
        WorkloadSpec::Tpcc(spec) => tpcc::loading(spec),
        WorkloadSpec::Imported(_) => Err(elsewhere()),
    }
}

/// The workload that `spec` describes, with this seed for its data and keys.
pub fn workload(spec: &WorkloadSpec, seed: u64) -> Box<dyn Workload> {
    match spec {
        WorkloadSpec::Insert(spec) => Box::new(insert::Insert::new(spec.clone(), seed)),
        WorkloadSpec::Sql(spec) => Box::new(sql::Sql::new(spec.clone(), seed)),
        WorkloadSpec::Tpcc(spec) => Box::new(tpcc::Tpcc::new(spec.clone(), seed)),
        WorkloadSpec::Imported(_) => Box::new(Elsewhere),
    }
}

/// What another tool measured: nothing of it can be run.
struct Elsewhere;

fn elsewhere() -> StepError {
    StepError::Unsupported("it was measured by another tool and imported".to_owned())
}

impl Workload for Elsewhere {
    fn run(
        &mut self,
        _index: usize,
        _target: &Target,
        _stop: &Stop,
        _observer: &mut dyn Observer,
    ) -> Result<StepRecord> {
        Err(elsewhere())
    }

    fn state(&self, _target: &Target) -> Result<String> {
        Err(elsewhere())
    }

    fn restore(&mut self, _state: &str) -> Result {
        Err(elsewhere())
    }
}

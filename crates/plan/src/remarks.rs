//! What a plan may say and may not mean.

use model::{Plan, WorkloadSpec};

use crate::tpcc;

/// One sentence each, for people who look at the plan; most plans have none.
pub fn remarks(plan: &Plan) -> Vec<String> {
    match &plan.workload {
        WorkloadSpec::Insert(_) | WorkloadSpec::Sql(_) => Vec::new(),
        WorkloadSpec::Tpcc(spec) => tpcc::remarks(spec),
    }
}

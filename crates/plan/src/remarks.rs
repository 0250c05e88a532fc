//! What a plan may say and may not mean.

use model::{Plan, WorkloadSpec};

use crate::{course, margins, tpcc};

/// One sentence each, for people who look at the plan; most plans have none.
pub fn remarks(plan: &Plan) -> Vec<String> {
    let mut remarks = course::remarks(plan);
    remarks.extend(margins::remarks(plan));
    match &plan.workload {
        WorkloadSpec::Insert(_) | WorkloadSpec::Sql(_) => {}
        WorkloadSpec::Tpcc(spec) => remarks.extend(tpcc::remarks(spec)),
    }
    remarks
}

//! Which steps scatter alike.

use model::{SqlWork, StepId, WorkloadSpec};

/// A class of steps: those of one class share what makes their values scatter, so that the
/// variance of each tells something of the others'.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Class {
    /// Rows are loaded, indexes built: once, with all that a start brings along.
    Load,
    /// Operations that may change data: logs, locks, work in the background.
    Write,
    /// Operations that only read.
    Read,
}

impl Class {
    /// The class of a step of this workload, at this place in it.
    pub(crate) fn of(workload: &WorkloadSpec, ordinal: u32, step: &StepId) -> Self {
        match workload {
            WorkloadSpec::Insert(_) if step.0.starts_with("l.") => Self::Load,
            // The query steps of the Insert Benchmark have writers in the background.
            WorkloadSpec::Insert(_) => Self::Write,
            WorkloadSpec::Sql(spec) => match spec.step_at(ordinal, step).map(|step| &step.work) {
                Some(SqlWork::Run(run)) if run.writes => Self::Write,
                Some(SqlWork::Run(_)) => Self::Read,
                Some(SqlWork::Load | SqlWork::Index | SqlWork::Settle(_) | SqlWork::Reset)
                | None => Self::Load,
            },
            WorkloadSpec::Tpcc(_) if step.0.starts_with('h') => Self::Write,
            WorkloadSpec::Tpcc(_) => Self::Load,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::empty_run;

    #[test]
    fn loading_and_querying_are_two_classes_of_the_insert_benchmark() {
        let workload = empty_run(&["a"]).info.plan.workload;
        let class = |step: &str| Class::of(&workload, 0, &StepId::new(step));
        assert_eq!((class("l.i0"), class("l.x")), (Class::Load, Class::Load));
        assert_eq!((class("qr100"), class("qp1")), (Class::Write, Class::Write));
    }
}

//! The steps of each workload, as a function of what its plan asks for. Only here is a step's name put together.

mod insert;
mod lua;
mod sql;
mod tpcc;

pub use insert::{InsertKinds, InsertStage, Transactions};
pub use lua::{COMMAND, EVENT, LUA_STATEMENTS};
pub use sql::{BEGIN, COMMIT, SqlKinds};
pub use tpcc::TpccStage;

use crate::{ImportedScale, ImportedSpec, Plan, SqlSpec, Step, WorkloadSpec};

impl WorkloadSpec {
    /// The steps of a trial that loads its own data; none of an import, whose plan brings them.
    pub fn steps(&self) -> Vec<Step> {
        match self {
            Self::Insert(spec) => insert::steps(spec),
            Self::Sql(spec) => sql::steps(spec),
            Self::Tpcc(spec) => spec.trial_steps(),
            Self::Lua(spec) => lua::steps(spec),
            Self::Imported(_) => Vec::new(),
        }
    }

    /// The steps of a trial that begins with a copy of loaded data: one that reads it, and those after loading.
    pub fn steps_on_clone(&self) -> Vec<Step> {
        let readers = match self {
            Self::Insert(spec) => spec.clients,
            Self::Sql(spec) => spec.load.clients,
            Self::Tpcc(spec) => spec.load.clients,
            Self::Lua(spec) => spec.clients,
            Self::Imported(_) => return Vec::new(),
        };
        let rest = self.steps().into_iter().filter(|step| !step.loads);
        let steps = std::iter::once(Step::warm(readers)).chain(rest);
        steps.zip(0..).map(|(step, ordinal)| Step { ordinal, ..step }).collect()
    }
}

impl Plan {
    /// Do some steps only load, so that a template can keep what they leave?
    pub fn has_loading(&self) -> bool {
        self.steps.iter().any(|step| step.loads)
    }

    pub fn has_templates(&self) -> bool {
        self.template && self.has_loading()
    }

    pub fn trial_steps(&self, on_clone: bool) -> Vec<Step> {
        if on_clone { self.workload.steps_on_clone() } else { self.steps.clone() }
    }

    #[must_use]
    pub fn with_workload(mut self, workload: WorkloadSpec) -> Self {
        self.change_workload(|old| *old = workload);
        self
    }

    pub fn change_workload(&mut self, change: impl FnOnce(&mut WorkloadSpec)) {
        change(&mut self.workload);
        self.steps = self.workload.steps();
    }

    /// A plan as it was stored. Those of earlier versions list no steps: what they were follows from the workload.
    #[must_use]
    pub fn with_steps(mut self) -> Self {
        if self.steps.is_empty() {
            self.steps = self.workload.steps();
            let imported = self.workload.sql().filter(|_| self.is_imported()).map(imported);
            if let Some(spec) = imported {
                // Their records know what was counted.
                self.steps.iter_mut().for_each(|step| step.description.clear());
                self.workload = WorkloadSpec::Imported(spec);
            }
        }
        self
    }
}

/// What was imported by earlier versions, which kept it as a workload of SQL statements.
fn imported(spec: &SqlSpec) -> ImportedSpec {
    let scales = spec.tables.iter().map(|table| ImportedScale {
        test: table.name.clone(),
        tables: table.copies,
        rows: table.rows,
    });
    ImportedSpec { name: spec.name.clone(), scales: scales.collect(), compat: spec.compat }
}

#[cfg(test)]
mod tests;

//! Profiled rounds that are added to a finished run.

use model::{Plan, RunId, RunState};

use crate::error::Result;
use crate::{Lab, LabError};

impl Lab {
    /// Adds profiled rounds of each system to a finished run, which [`Lab::carry_out`] then runs. What was judged stays
    /// as it is. The plan as it was before.
    ///
    /// # Errors
    /// Also when the run is not finished.
    pub fn add_profiled_rounds(&mut self, run: &RunId, rounds: u32, counts: bool) -> Result<Plan> {
        let _lock = self.lock()?;
        let info = self.store.run_info(run)?;
        if info.state != RunState::Finished {
            return Err(LabError::NotFinished(run.clone()));
        }
        let last = self.store.journal(run)?.iter().map(|(trial, _)| trial.round).max();
        let mut plan = info.plan.clone();
        plan.add_profiled_rounds(last.unwrap_or(0), rounds, counts);
        self.store.set_plan(run, &plan, RunState::Unfinished)?;
        Ok(info.plan)
    }

    /// Takes back the rounds that were added since the run had the plan `before`, unless a trial of them has an outcome.
    pub fn take_back_added_rounds(&mut self, run: &RunId, before: &Plan) -> Result<()> {
        let _lock = self.lock()?;
        let known = before.course.added.len();
        let plan = self.store.run_info(run)?.plan;
        let mut added = plan.course.added.iter().skip(known);
        let journal = self.store.journal(run)?;
        if added.any(|rounds| journal.iter().any(|(trial, _)| rounds.contains(&trial.round))) {
            return Ok(());
        }
        Ok(self.store.set_plan(run, before, RunState::Finished)?)
    }
}

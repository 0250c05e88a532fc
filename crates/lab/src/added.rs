//! Rounds that are added to a run that began.

use model::{Plan, RunId, RunState};

use crate::error::Result;
use crate::{Lab, LabError};

/// A run before it got further rounds.
#[derive(Debug)]
pub struct Before {
    plan: Plan,
    state: RunState,
    /// How many trials had an outcome.
    trials: usize,
}

impl Lab {
    /// Lets each system of a run have up to `most` rounds, which [`Lab::carry_out`] then runs until all is decided.
    /// Verdicts count the looks from the last round on that was planned so far: whoever asks for more rounds has seen them.
    /// An unfinished run with as many goes on.
    ///
    /// # Errors
    /// Also when the run has as many rounds or more, or others that come after them.
    pub fn add_rounds(&mut self, run: &RunId, most: u32) -> Result<Before> {
        let _lock = self.lock()?;
        let before = self.before(run)?;
        let planned = before.plan.rounds_of_each();
        if most == planned && before.state == RunState::Unfinished {
            return Ok(before);
        }
        if most <= planned {
            return Err(LabError::HasRounds { run: run.clone(), planned });
        }
        if !before.plan.can_have_more_rounds() {
            return Err(LabError::CannotHaveMore(run.clone()));
        }
        let mut plan = before.plan.clone();
        plan.course.first_look.get_or_insert(planned);
        plan.rounds = most.saturating_mul(plan.cycle());
        self.store.set_plan(run, &plan, RunState::Unfinished)?;
        Ok(before)
    }

    fn before(&self, run: &RunId) -> Result<Before> {
        let info = self.store.run_info(run)?;
        let trials = self.store.journal(run)?.len();
        Ok(Before { plan: info.plan, state: info.state, trials })
    }

    /// Adds profiled rounds of each system to a finished run, which [`Lab::carry_out`] then runs. What was judged stays
    /// as it is.
    ///
    /// # Errors
    /// Also when the run is not finished.
    pub fn add_profiled_rounds(
        &mut self,
        run: &RunId,
        rounds: u32,
        counts: bool,
    ) -> Result<Before> {
        let _lock = self.lock()?;
        let before = self.before(run)?;
        if before.state != RunState::Finished {
            return Err(LabError::NotFinished(run.clone()));
        }
        let last = self.store.journal(run)?.iter().map(|(trial, _)| trial.round).max();
        let mut plan = before.plan.clone();
        plan.add_profiled_rounds(last.unwrap_or(0), rounds, counts);
        self.store.set_plan(run, &plan, RunState::Unfinished)?;
        Ok(before)
    }

    /// Takes back the rounds that were added since `before`, unless a further trial has an outcome. Were they?
    pub fn take_back_added_rounds(&mut self, run: &RunId, before: &Before) -> Result<bool> {
        let _lock = self.lock()?;
        if self.store.journal(run)?.len() > before.trials {
            return Ok(false);
        }
        self.store.set_plan(run, &before.plan, before.state)?;
        Ok(before.state == RunState::Finished)
    }
}

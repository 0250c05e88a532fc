//! The steps of a run that have a record.

use model::{Outcome, StepId, StepRecord, TrialKey};
use rusqlite::{Connection, Row};

use crate::error::Fault;
use crate::pack::from_json;
use crate::read::{describe_step, text};

/// Which of the large parts of a run are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Want {
    pub series: bool,
    pub histograms: bool,
}

/// A step that has a record, in a trial that has an outcome.
pub(crate) struct FinishedStep {
    pub(crate) id: i64,
    pub(crate) round: u32,
    pub(crate) position: u32,
    pub(crate) system: String,
    /// Of its trial.
    pub(crate) outcome: Outcome,
    pub(crate) name: StepId,
    /// Names of the kinds, in the order of every interval.
    pub(crate) kinds: Vec<String>,
    /// Without its histograms, which have a table.
    pub(crate) record: StepRecord,
}

impl FinishedStep {
    pub(crate) fn trial(&self) -> TrialKey {
        TrialKey { round: self.round, position: self.position, system: self.system.clone() }
    }

    pub(crate) fn damaged(&self, what: &str, cause: &impl ToString) -> Fault {
        let step = describe_step(&self.name, &self.system, self.round);
        Fault::damaged(format!("{what} {step}"), cause)
    }
}

/// The steps of a run that [`finished_step`] reads, in execution order.
pub(super) const FINISHED: &str =
    "SELECT step.id, round, position, system, outcome, name, kinds, record
     FROM step JOIN trial ON trial.id = step.trial
     WHERE trial.run = ?1 AND outcome IS NOT NULL AND record IS NOT NULL
     ORDER BY trial.id, ordinal";

pub(crate) fn finished_steps(state: &Connection, run: i64) -> Result<Vec<FinishedStep>, Fault> {
    state.prepare(FINISHED)?.query_and_then([run], finished_step)?.collect()
}

pub(super) fn finished_step(row: &Row<'_>) -> Result<FinishedStep, Fault> {
    let round = row.get(1)?;
    let system: String = row.get(3)?;
    let name = StepId(row.get(5)?);
    let what = || describe_step(&name, &system, round);
    Ok(FinishedStep {
        kinds: from_json(text(row, 6)?, what)?,
        record: from_json(text(row, 7)?, what)?,
        id: row.get(0)?,
        round,
        position: row.get(2)?,
        outcome: from_json(text(row, 4)?, what)?,
        name,
        system,
    })
}

//! Reading a whole run for comparison and report; `below.rs` has its large parts, which `readers.rs` shares among
//! threads, `stream.rs` reads it piece by piece.

pub(crate) mod below;
pub(crate) mod finished;
pub(crate) mod readers;
mod stream;

use std::collections::BTreeMap;

use model::{Nanos, Note, Plan, RunData, RunId, Step, StepNote, StepRecord, TrialKey, TrialRecord};
use rusqlite::Connection;

use crate::Store;
use crate::error::{Fault, Result};
use crate::pack::from_json;
use crate::read::{row_of, run_info, text};
use finished::{FinishedStep, Want, finished_steps};
use readers::read_below;

impl Store {
    /// A whole run.
    ///
    /// Trials come in execution order, everything below them by step, then as the
    /// step has it. Cells, slices, series and histograms are those of measured steps of trials that
    /// count ([`RunData::counts_disturbed`]); a step that only other trials reached is listed all the same.
    pub fn load(&self, run: &RunId, want: Want) -> Result<RunData> {
        self.read("reading a run", |state| {
            let row = row_of(state, run)?;
            let info = run_info(state, row)?;
            let trials = trials(state, row)?;
            let finished = finished_steps(state, row)?;
            let disturbed = info.counts_disturbed(&trials);
            let counts = |step: &&FinishedStep| step.outcome.counts(disturbed);
            let notes = finished.iter().filter(counts);
            let notes = notes.flat_map(notes_of).collect();
            let measured = finished.into_iter().filter(|step| step.record.measured);
            let finished: Vec<FinishedStep> = measured.collect();
            let counted: Vec<&FinishedStep> = finished.iter().filter(counts).collect();
            let below = read_below(state, &self.path, &counted, want)?;
            Ok(RunData {
                steps: steps_of(&info.plan, &finished),
                info,
                trials,
                cells: below.cells,
                notes,
                series: below.series,
                histograms: below.histograms,
                slices: below.slices,
            })
        })
    }

    /// Every step record of a trial that has an outcome, completed or not; without histograms.
    pub fn step_records(&self, run: &RunId) -> Result<Vec<(TrialKey, StepRecord)>> {
        self.read("reading the records of steps", |state| {
            let steps = finished_steps(state, row_of(state, run)?)?.into_iter();
            Ok(steps.map(|step| (step.trial(), step.record)).collect())
        })
    }
}

fn notes_of(step: &FinishedStep) -> Vec<StepNote> {
    let notes = step.record.notes.iter();
    notes
        .map(|Note { what, text }| StepNote {
            round: step.round,
            system: step.system.clone(),
            step: step.name.clone(),
            what: what.clone(),
            text: text.clone(),
        })
        .collect()
}

/// One entry for each place in the trial, from the first trial that got there.
fn steps_of(plan: &Plan, finished: &[FinishedStep]) -> Vec<Step> {
    let planned = plan.trial_steps(plan.has_templates());
    let mut steps: BTreeMap<u32, Step> = BTreeMap::new();
    for FinishedStep { record, .. } in finished {
        steps.entry(record.ordinal).or_insert_with(|| record.step_of(&planned));
    }
    steps.into_values().collect()
}

fn trials(state: &Connection, run: i64) -> Result<Vec<TrialRecord>, Fault> {
    let mut query = state.prepare(
        "SELECT round, position, system, started, duration_ns, outcome, provenance
         FROM trial WHERE run = ?1 AND outcome IS NOT NULL ORDER BY id",
    )?;
    let trials = query.query_and_then([run], |row| {
        let round: u32 = row.get(0)?;
        let system: String = row.get(2)?;
        let what = || format!("trial of {system}, round {round}");
        Ok(TrialRecord {
            outcome: from_json(text(row, 5)?, what)?,
            provenance: from_json(text(row, 6)?, what)?,
            round,
            position: row.get(1)?,
            started: row.get(3)?,
            duration: Nanos(row.get::<_, i64>(4)? as u64),
            system,
        })
    })?;
    trials.collect()
}

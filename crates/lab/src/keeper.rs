//! The store as a consumer of events.

use std::time::Instant;

use model::{Event, Nanos, Outcome, RunData, RunId, TrialKey};
use store::{StepRowId, Store, StoreError, TrialId, Want};

use crate::directory::now;

/// Writes each event of a run into the store.
pub(crate) struct Keeper<'a> {
    store: &'a mut Store,
    run: RunId,
    /// The trials that are under way: one, or all of a round that is run in slices.
    under_way: Vec<UnderWay>,
    /// Of which of them events are.
    turn: Option<TrialKey>,
}

/// A trial without an outcome.
struct UnderWay {
    key: TrialKey,
    row: TrialId,
    since: Instant,
    step: Option<StepRowId>,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(store: &'a mut Store, run: RunId) -> Self {
        Self { store, run, under_way: Vec::new(), turn: None }
    }

    pub(crate) fn keep(&mut self, event: &Event) -> Result<(), StoreError> {
        match event {
            Event::TrialStarted { trial, .. } => {
                let row = self.store.begin_trial(&self.run, trial, &now())?;
                self.under_way.push(UnderWay {
                    key: trial.clone(),
                    row,
                    since: Instant::now(),
                    step: None,
                });
                self.turn = Some(trial.clone());
            }
            Event::Turn { trial } => self.turn = Some(trial.clone()),
            Event::TrialFinished { trial, outcome } => self.finish_trials(&[(trial, outcome)])?,
            Event::ServerReady { provenance } => {
                if let Some(trial) = self.trial() {
                    self.store.set_provenance(trial, provenance)?;
                }
            }
            Event::StepStarted { step } => {
                if let Some(trial) = self.trial() {
                    let row = self.store.begin_step(trial, step)?;
                    self.set_step(Some(row));
                }
            }
            Event::IntervalClosed { interval } => {
                if let Some(step) = self.step() {
                    self.store.add_interval(step, interval)?;
                }
            }
            Event::Captured { step, moment, capture } => {
                if let Some(trial) = self.trial() {
                    self.store.add_capture(trial, step, *moment, capture)?;
                }
            }
            Event::Sliced { series } => {
                if let Some(step) = self.step() {
                    self.store.add_slices(step, series)?;
                }
            }
            Event::StepFinished { record } => {
                if let Some(step) = self.step() {
                    self.store.finish_step(step, record, &model::measure(record))?;
                }
                self.set_step(None);
            }
            // Loading for a template belongs to no trial.
            Event::TemplateStarted { .. }
            | Event::TemplateReady { .. }
            | Event::Looked { .. }
            | Event::RoundAgain { .. }
            | Event::Warning { .. } => {}
        }
        Ok(())
    }

    /// Gives trials their outcomes: all of these, or none.
    pub(crate) fn finish_trials(
        &mut self,
        ended: &[(&TrialKey, &Outcome)],
    ) -> Result<(), StoreError> {
        let rows = ended.iter().filter_map(|(key, outcome)| {
            let trial = self.under_way.iter().find(|trial| trial.key == **key)?;
            let took = Nanos::from(trial.since.elapsed());
            Some((trial.row, *outcome, took))
        });
        let rows: Vec<(TrialId, &Outcome, Nanos)> = rows.collect();
        self.store.finish_trials(&rows)?;
        let is_over = |trial: &UnderWay| ended.iter().any(|(key, _)| trial.key == **key);
        self.under_way.retain(|trial| !is_over(trial));
        Ok(())
    }

    /// The run as far as it is kept.
    pub(crate) fn load(&self) -> Result<RunData, StoreError> {
        self.store.load(&self.run, Want::default())
    }

    pub(crate) fn finish(&mut self) -> Result<(), StoreError> {
        self.store.finish_run(&self.run)
    }

    /// The trial whose turn it is; `None` between trials.
    fn current(&self) -> Option<&UnderWay> {
        let turn = self.turn.as_ref()?;
        self.under_way.iter().find(|trial| trial.key == *turn)
    }

    fn trial(&self) -> Option<TrialId> {
        Some(self.current()?.row)
    }

    fn step(&self) -> Option<StepRowId> {
        self.current()?.step
    }

    fn set_step(&mut self, step: Option<StepRowId>) {
        let turn = self.turn.as_ref();
        let mut under_way = self.under_way.iter_mut();
        if let Some(trial) = under_way.find(|trial| Some(&trial.key) == turn) {
            trial.step = step;
        }
    }
}

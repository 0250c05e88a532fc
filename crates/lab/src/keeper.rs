//! The store as a consumer of events.

use model::{Event, RunId};
use store::{StepRowId, Store, StoreError, TrialId};

use crate::directory::now;
use std::time::Instant;

/// Writes each event of a run into the store.
pub(crate) struct Keeper<'a> {
    store: &'a mut Store,
    run: RunId,
    trial: Option<(TrialId, Instant)>,
    step: Option<StepRowId>,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(store: &'a mut Store, run: RunId) -> Self {
        Self {
            store,
            run,
            trial: None,
            step: None,
        }
    }

    pub(crate) fn keep(&mut self, event: &Event) -> Result<(), StoreError> {
        match event {
            Event::TrialStarted { trial, .. } => {
                let id = self.store.begin_trial(&self.run, trial, &now())?;
                self.trial = Some((id, Instant::now()));
                self.step = None;
            }
            Event::TrialFinished { outcome, .. } => {
                // It may have failed in the middle of one.
                self.step = None;
                if let Some((trial, since)) = self.trial.take() {
                    self.store
                        .finish_trial(trial, outcome, since.elapsed().into())?;
                }
            }
            Event::ServerReady { provenance } => {
                if let Some((trial, _)) = self.trial {
                    self.store.set_provenance(trial, provenance)?;
                }
            }
            Event::StepStarted {
                step,
                ordinal,
                kinds,
                measured,
                ..
            } => {
                self.step = match self.trial {
                    Some((trial, _)) => {
                        let row = self
                            .store
                            .begin_step(trial, step, *ordinal, kinds, *measured)?;
                        Some(row)
                    }
                    None => None,
                };
            }
            Event::IntervalClosed { interval } => {
                if let Some(step) = self.step {
                    self.store.add_interval(step, interval)?;
                }
            }
            Event::Captured {
                step,
                moment,
                capture,
            } => {
                if let Some((trial, _)) = self.trial {
                    self.store.add_capture(trial, step, *moment, capture)?;
                }
            }
            Event::StepFinished { record } => {
                if let Some(step) = self.step.take() {
                    self.store
                        .finish_step(step, record, &model::measure(record))?;
                }
            }
            // What is loaded for a template belongs to no trial.
            Event::Warning { .. } | Event::TemplateStarted { .. } | Event::TemplateReady { .. } => {
            }
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self) -> Result<(), StoreError> {
        self.store.finish_run(&self.run)
    }
}

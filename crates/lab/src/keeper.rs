//! The store as a consumer of events.

use std::time::Instant;

use model::{Event, Host, Nanos, Outcome, RunData, RunId, RunInfo, TrialKey};
use obtain::now;
use store::{StepRowId, Store, StoreError, TrialId, Want};

pub(crate) struct Keeper<'a> {
    store: &'a mut Store,
    run: RunId,
    /// The trials that are under way: one, or all of a round that is run in slices.
    under_way: Vec<UnderWay>,
    turn: Option<TrialKey>,
    /// This host, where the run was merged from others.
    host: Option<Host>,
}

struct UnderWay {
    key: TrialKey,
    row: TrialId,
    since: Instant,
    step: Option<StepRowId>,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(store: &'a mut Store, run: &RunInfo, host: Host) -> Self {
        let host = Some(host).filter(|_| !run.hosts.is_empty());
        Self { store, run: run.id.clone(), under_way: Vec::new(), turn: None, host }
    }

    pub(crate) fn keep(&mut self, event: &Event) -> Result<(), StoreError> {
        let turn = self.turn.as_ref();
        let current = self.under_way.iter_mut().find(|trial| Some(&trial.key) == turn);
        match (event, current) {
            (Event::TrialStarted { trial, .. }, _) => {
                if let Some(host) = &self.host {
                    self.store.keep_round_host(&self.run, trial.round, host)?;
                }
                let row = self.store.begin_trial(&self.run, trial, &now())?;
                let (key, since) = (trial.clone(), Instant::now());
                self.under_way.push(UnderWay { key, row, since, step: None });
                self.turn = Some(trial.clone());
            }
            (Event::Turn { trial }, _) => self.turn = Some(trial.clone()),
            (Event::TrialFinished { trial, outcome }, _) => {
                self.finish_trials(&[(trial, outcome)])?;
            }
            (Event::ServerReady { provenance }, Some(trial)) => {
                self.store.set_provenance(trial.row, provenance)?;
            }
            (Event::StepStarted { step }, Some(trial)) => {
                trial.step = Some(self.store.begin_step(trial.row, step)?);
            }
            (Event::IntervalClosed { interval }, Some(UnderWay { step: Some(step), .. })) => {
                self.store.add_interval(*step, interval)?;
            }
            (Event::Captured { step, moment, capture }, Some(trial)) => {
                self.store.add_capture(trial.row, step, *moment, capture)?;
            }
            (Event::Sliced { series }, Some(UnderWay { step: Some(step), .. })) => {
                self.store.add_slices(*step, series)?;
            }
            (Event::Profiled { profile }, Some(UnderWay { step: Some(step), .. })) => {
                self.store.add_profile(*step, profile)?;
            }
            (Event::StepFinished { record }, Some(trial)) => {
                if let Some(step) = trial.step.take() {
                    self.store.finish_step(step, record, &model::measure(record))?;
                }
            }
            // Loading for a template belongs to no trial.
            (
                Event::ServerReady { .. }
                | Event::StepStarted { .. }
                | Event::IntervalClosed { .. }
                | Event::Captured { .. }
                | Event::Sliced { .. }
                | Event::Profiled { .. }
                | Event::StepFinished { .. }
                | Event::TemplateStarted { .. }
                | Event::TemplateReady { .. }
                | Event::Looked { .. }
                | Event::RoundAgain { .. }
                | Event::Warning { .. },
                _,
            ) => {}
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

    pub(crate) fn load(&self) -> Result<RunData, StoreError> {
        self.store.load(&self.run, Want::default())
    }

    pub(crate) fn finish(&mut self) -> Result<(), StoreError> {
        self.store.finish_run(&self.run)
    }
}

//! The TPC-C-like workload: a database that grows, five transactions on it, and proof that their answers
//! are right.
//!
//! Steps: `load` fills the tables, `index` builds secondary indexes where these come after the rows,
//! `check.load` proves what was loaded, `settle`; `h1 … hN` run transactions on the same database, and
//! `check` proves what they left.

pub(super) mod acknowledged;
mod audit;
mod check;
mod conditions;
mod deck;
mod index;
mod input;
mod load;
mod meta;
mod money;
mod population;
mod procedures;
mod random;
mod reading;
mod receipts;
mod run;
mod scale;
mod settle;
mod state;
mod statements;
mod tables;
mod terminal;
mod transactions;

use std::sync::Arc;

use model::{Counts, StepId, Subject, TpccSpec, TpccTransaction};

use self::receipts::Receipts;
use self::state::Loaded;
use crate::engine::{Observer, Stop};
use crate::{StepError, StepOutline, StepResult, Target, Workload};

/// The workload in one trial.
pub(super) struct Tpcc {
    spec: Arc<TpccSpec>,
    seed: u64,
    stages: Vec<Stage>,
    /// What another one loaded, where that is where this one begins.
    loaded: Option<Loaded>,
    /// What terminals saw committed since; `None` once a step that ran transactions failed.
    receipts: Option<Receipts>,
}

/// A step as it is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Makes and fills the tables.
    Load,
    /// Builds the secondary indexes and adds the foreign keys.
    Index,
    /// Proves what was loaded.
    CheckLoad,
    /// Analyzes, writes back, waits.
    Settle,
    /// Reads all of what another one loaded, and compares it.
    Warm,
    /// Runs transactions; its number, from 1.
    Run(u32),
    /// Proves what the transactions left.
    Check,
}

impl Stage {
    fn id(self) -> StepId {
        StepId::new(match self {
            Self::Load => "load".to_owned(),
            Self::Index => "index".to_owned(),
            Self::CheckLoad => "check.load".to_owned(),
            Self::Settle => "settle".to_owned(),
            Self::Warm => "warm".to_owned(),
            Self::Run(number) => format!("h{number}"),
            Self::Check => "check".to_owned(),
        })
    }

    /// Can what it does be done once for many trials?
    const fn is_loading(self) -> bool {
        matches!(
            self,
            Self::Load | Self::Index | Self::CheckLoad | Self::Settle
        )
    }

    /// Is it a result?
    const fn is_measured(self) -> bool {
        matches!(self, Self::Load | Self::Index | Self::Run(_))
    }

    fn outline(self, spec: &TpccSpec) -> StepOutline {
        let (kinds, clients) = match self {
            Self::Load => (load::kinds(), spec.load.clients),
            Self::Index => (index::kinds(), spec.load.clients),
            Self::CheckLoad | Self::Check => (check::kinds(), spec.load.clients),
            Self::Settle => (settle::kinds(), 1),
            Self::Warm => (reading::kinds(), spec.load.clients),
            Self::Run(_) => (run::kinds(spec), spec.clients),
        };
        let subject = match self {
            Self::Run(_) => Subject {
                kind: TpccTransaction::NewOrder.name().to_owned(),
                counts: Counts::Operations,
            },
            Self::Load | Self::Index | Self::Warm => Subject {
                kind: kinds[0].name.clone(),
                counts: Counts::Rows,
            },
            Self::CheckLoad | Self::Settle | Self::Check => Subject {
                kind: kinds[0].name.clone(),
                counts: Counts::Operations,
            },
        };
        StepOutline {
            step: self.id(),
            measured: self.is_measured(),
            kinds: kinds.into_iter().map(|kind| kind.name).collect(),
            subject,
            clients,
        }
    }
}

impl Tpcc {
    pub(super) fn new(spec: TpccSpec, seed: u64) -> Self {
        let mut stages = vec![Stage::Load, Stage::Index, Stage::CheckLoad, Stage::Settle];
        if spec.load.indexes_first && !spec.schema.foreign_keys {
            stages.retain(|stage| *stage != Stage::Index);
        }
        stages.extend((1..=spec.steps).map(Stage::Run));
        stages.push(Stage::Check);
        Self {
            spec: Arc::new(spec),
            seed,
            stages,
            loaded: None,
            receipts: Some(Receipts::default()),
        }
    }

    /// The seed of the rows: that of the trial which loaded them.
    fn rows_seed(&self) -> u64 {
        self.loaded.as_ref().map_or(self.seed, |loaded| loaded.seed)
    }
}

impl Workload for Tpcc {
    fn steps(&self) -> Vec<StepOutline> {
        let stages = self.stages.iter();
        stages.map(|stage| stage.outline(&self.spec)).collect()
    }

    fn run(
        &mut self,
        index: usize,
        target: &Target,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepResult, StepError> {
        let (spec, rows_seed) = (&self.spec, self.rows_seed());
        match self.stages[index] {
            Stage::Load => load::run(spec, rows_seed, target, stop, observer),
            Stage::Index => index::run(spec, target, stop, observer),
            Stage::CheckLoad => {
                let when = (check::When::Loaded, None);
                check::run(spec, when, rows_seed, target, stop, observer)
            }
            Stage::Settle => settle::run(spec, target, stop, observer),
            Stage::Warm => reading::run(spec, rows_seed, target, stop, observer),
            Stage::Run(number) => {
                let step = run::RunStep {
                    spec,
                    number,
                    seed: self.seed,
                    rows_seed,
                    target,
                    log: None,
                };
                let ran = step.run(stop, observer);
                let (result, receipts) = ran.inspect_err(|_| self.receipts = None)?;
                if let Some(all) = &mut self.receipts {
                    all.add(&receipts);
                }
                Ok(result)
            }
            Stage::Check => {
                let when = (check::When::Used, self.receipts.as_ref());
                check::run(spec, when, rows_seed, target, stop, observer)
            }
        }
    }

    fn loading_steps(&self) -> usize {
        let rest = self.stages.iter().position(|stage| !stage.is_loading());
        rest.unwrap_or(0)
    }

    fn state(&self, _target: &Target) -> Result<String, StepError> {
        state::state(&self.spec, self.rows_seed())
    }

    fn restore(&mut self, state: &str) -> Result<(), StepError> {
        self.loaded = Some(state::restore(state, &self.spec)?);
        self.stages.retain(|stage| !stage.is_loading());
        self.stages.insert(0, Stage::Warm);
        Ok(())
    }
}

/// All of a spec that decides what its loading steps leave, as JSON.
pub(super) fn loading(spec: &TpccSpec) -> Result<String, StepError> {
    state::loading(spec)
}

//! The TPC-C-like workload: a database that grows, five transactions on it, and proof that their answers
//! are right.
//!
//! Steps: `load` fills the tables, `index` builds secondary indexes where these come after the rows,
//! `check.load` proves what was loaded, `settle`; `h1 … hN` run transactions on the same database, and
//! `check` proves what they left.

pub(super) mod acknowledged;
mod audit;
mod blocks;
mod check;
mod conditions;
mod deck;
mod input;
mod loading;
mod meta;
mod money;
pub(super) mod part;
mod population;
mod procedures;
mod random;
mod receipts;
mod report;
mod run;
mod scale;
mod statements;
mod tables;
mod terminal;
mod transactions;

use model::{StepRecord, TpccSpec, TpccStage as Stage};

use self::loading::Setting;
pub(super) use self::meta::loading;
use self::receipts::Receipts;
use self::run::RunStep;
use load::{Observer, Result, Share, Stop, Target, Workload};

pub(super) struct Tpcc {
    spec: TpccSpec,
    seed: u64,
    /// That of the trial which loaded the rows.
    rows_seed: u64,
    stages: Vec<Stage>,
    /// What terminals saw committed since; `None` once a step that ran transactions failed.
    receipts: Option<Receipts>,
}

impl Tpcc {
    pub(super) fn new(spec: TpccSpec, seed: u64) -> Self {
        let stages = Stage::of_trial(&spec);
        Self { spec, seed, rows_seed: seed, stages, receipts: Some(Receipts::default()) }
    }
}

impl Workload for Tpcc {
    fn run(
        &mut self,
        index: usize,
        target: &Target,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord> {
        let at = &Setting { spec: &self.spec, rows_seed: self.rows_seed, target, stop };
        match self.stages[index] {
            Stage::Load => at.load(observer),
            Stage::Index => at.index(observer),
            Stage::CheckLoad => check::run(at, check::When::Loaded, None, observer),
            Stage::Settle => at.settle(observer),
            Stage::Warm => at.warm(observer),
            Stage::Run(number) => {
                let share = Share::whole(self.spec.clients);
                let step = RunStep { at, number, seed: self.seed, share, log: None };
                let ran = step.run(observer);
                let (result, receipts) = ran.inspect_err(|_| self.receipts = None)?;
                if let Some(all) = &mut self.receipts {
                    all.add(&receipts);
                }
                Ok(result)
            }
            Stage::Check => check::run(at, check::When::Used, self.receipts.as_ref(), observer),
        }
    }

    fn state(&self, _target: &Target) -> Result<String> {
        meta::state(&self.spec, self.rows_seed)
    }

    fn restore(&mut self, state: &str) -> Result {
        self.rows_seed = meta::restore(state, &self.spec)?;
        self.stages.retain(|stage| !stage.is_loading());
        self.stages.insert(0, Stage::Warm);
        Ok(())
    }
}

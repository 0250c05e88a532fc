//! A plan, fully expanded: what will run, in which order, with which seed. No defaults are left to fill in.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    BuildSource, Course, InsertSpec, Orders, SqlRun, SqlSpec, Step, System, TpccSpec, mix,
};

/// Systems × workload × rounds. Deterministic from the plan file, the seed and the builds found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub name: String,
    pub workload: WorkloadSpec,
    /// The steps of a trial that loads its own data, in order.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// How often every system is measured; at most, where the course says when to look.
    pub rounds: u32,
    #[serde(default)]
    pub course: Course,
    /// The seed of order and data.
    pub seed: u64,
    pub base: String,
    /// What is compared, in the order in which tables list it; the control, if any, is last.
    pub systems: Vec<System>,
    /// Is the data loaded once per system, and each trial begun from a copy of it?
    #[serde(default)]
    pub template: bool,
    pub source: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    pub round: u32,
    pub position: u32,
    /// Index into the plan's systems.
    pub system: usize,
    /// Seed of the data and keys: the same for all systems of a round.
    pub seed: u64,
}

impl Plan {
    /// One round of these systems, the first of them the base.
    pub fn new(name: &str, workload: WorkloadSpec, systems: Vec<System>) -> Self {
        Self {
            name: name.to_owned(),
            steps: workload.steps(),
            workload,
            rounds: 1,
            course: Course::default(),
            seed: 0,
            base: systems.first().map(|system| system.name.clone()).unwrap_or_default(),
            systems,
            template: false,
            source: String::new(),
        }
    }

    /// The most clients that a step has, those that load a TPC-C-like database aside.
    pub fn clients(&self) -> u32 {
        match &self.workload {
            WorkloadSpec::Insert(spec) => spec.clients,
            WorkloadSpec::Tpcc(spec) => spec.clients,
            WorkloadSpec::Sql(_) | WorkloadSpec::Imported(_) => {
                self.steps.iter().map(|step| step.clients).max().unwrap_or(1)
            }
        }
    }

    /// Did another tool measure it? Then nothing is known but what its files say.
    pub fn is_imported(&self) -> bool {
        self.systems.iter().any(|system| matches!(system.build.source, BuildSource::Imported(_)))
    }

    pub fn statement_timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.workload.statement_timeout()))
    }

    /// All planned trials in the order in which they run: each round holds every system once, in a random order or
    /// in the mirror image of that of the round before.
    pub fn trials(&self) -> Vec<Trial> {
        let rounds = (1..=self.rounds).zip(self.orders());
        rounds.flat_map(|(round, order)| self.round(round, order)).collect()
    }

    /// The trials of one round. Those after the planned ones are what is run again for rounds that were
    /// disturbed: the order goes on, and each has a seed of its own.
    pub fn trials_of(&self, round: u32) -> Vec<Trial> {
        let earlier = round.saturating_sub(1) as usize;
        self.round(round, self.orders().nth(earlier).unwrap_or_default())
    }

    /// Rounds that may be run again for disturbed ones, at most.
    pub fn rounds_again(&self) -> u32 {
        self.rounds.saturating_mul(self.course.reruns())
    }

    fn orders(&self) -> Orders {
        Orders::new(mix(self.seed, &[u64::from(u32::from_be_bytes(*b"ordr"))]), self.systems.len())
    }

    fn round(&self, round: u32, order: Vec<usize>) -> Vec<Trial> {
        let seed = mix(self.seed, &[u64::from(round)]);
        let trials = order.into_iter().zip(1..);
        trials.map(|(system, position)| Trial { round, position, system, seed }).collect()
    }

    pub fn control(&self) -> Option<&System> {
        self.systems.iter().find(|system| system.control)
    }

    pub fn is_control(&self, name: &str) -> bool {
        self.system(name).is_some_and(|system| system.control)
    }

    pub fn system(&self, name: &str) -> Option<&System> {
        self.systems.iter().find(|s| s.name == name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum WorkloadSpec {
    Insert(InsertSpec),
    /// Tables and statements that a workload file gives: the microbenchmarks, or a user's own.
    Sql(SqlSpec),
    Tpcc(TpccSpec),
    /// What another tool measured. It cannot be run; its plan brings the steps.
    Imported(ImportedSpec),
}

/// What is known of a workload that another tool ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedSpec {
    pub name: String,
    /// The data of each test, as far as files state it.
    pub scales: Vec<ImportedScale>,
    /// Are the numbers those that the original tools publish?
    pub compat: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedScale {
    pub test: String,
    pub tables: u32,
    pub rows: u64,
}

impl From<ImportedSpec> for WorkloadSpec {
    fn from(spec: ImportedSpec) -> Self {
        Self::Imported(spec)
    }
}

impl From<TpccSpec> for WorkloadSpec {
    fn from(spec: TpccSpec) -> Self {
        Self::Tpcc(spec)
    }
}

impl WorkloadSpec {
    pub fn name(&self) -> &str {
        match self {
            Self::Insert(_) => "insert",
            Self::Sql(spec) => &spec.name,
            Self::Tpcc(_) => "tpcc",
            Self::Imported(spec) => &spec.name,
        }
    }

    /// Seconds after which a statement counts as hung.
    pub const fn statement_timeout(&self) -> u32 {
        match self {
            Self::Insert(spec) => spec.statement_timeout,
            Self::Sql(spec) => spec.statement_timeout,
            Self::Tpcc(spec) => spec.statement_timeout,
            // Nothing is sent.
            Self::Imported(_) => 0,
        }
    }

    /// May it have dozens of steps, so that tables have a row for each?
    pub const fn lists_many_steps(&self) -> bool {
        matches!(self, Self::Sql(_) | Self::Imported(_))
    }

    pub const fn insert(&self) -> Option<&InsertSpec> {
        if let Self::Insert(spec) = self { Some(spec) } else { None }
    }

    pub const fn sql(&self) -> Option<&SqlSpec> {
        if let Self::Sql(spec) = self { Some(spec) } else { None }
    }

    pub const fn tpcc(&self) -> Option<&TpccSpec> {
        if let Self::Tpcc(spec) = self { Some(spec) } else { None }
    }

    pub const fn imported(&self) -> Option<&ImportedSpec> {
        if let Self::Imported(spec) = self { Some(spec) } else { None }
    }

    /// The operations of a step that runs statements of a workload file.
    pub fn sql_run(&self, step: &Step) -> Option<&SqlRun> {
        self.sql()?.step_at(step.ordinal, &step.id)?.work.run()
    }
}

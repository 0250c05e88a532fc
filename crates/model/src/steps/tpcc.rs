//! The steps of the TPC-C-like workload. This file alone knows their names.

use std::time::Duration;

use crate::step::{INDEXES, SETTLES, placed};
use crate::{
    Counts, KindSpec, Nanos, ROLLBACK, Step, StepClass, StepId, StepPace, StepTask, Subject,
    TpccPace, TpccProfile, TpccSpec, TpccTransaction, grouped,
};

/// Tables of the workload; a settle phase has a session for each.
const TABLES: u32 = 9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TpccStage {
    Load,
    /// Builds the secondary indexes and adds the foreign keys.
    Index,
    CheckLoad,
    Settle,
    /// Reads all of what another one loaded, and compares it.
    Warm,
    /// Runs transactions; its number, from 1.
    Run(u32),
    Check,
}

impl TpccStage {
    pub fn of_trial(spec: &TpccSpec) -> Vec<Self> {
        let mut stages = vec![Self::Load, Self::Index, Self::CheckLoad, Self::Settle];
        if spec.load.indexes_first && !spec.schema.foreign_keys {
            stages.retain(|stage| *stage != Self::Index);
        }
        stages.extend((1..=spec.steps).map(Self::Run));
        stages.push(Self::Check);
        stages
    }

    pub fn id(self) -> StepId {
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

    pub const fn is_loading(self) -> bool {
        matches!(self, Self::Load | Self::Index | Self::CheckLoad | Self::Settle)
    }

    /// Its operation kinds. Where transactions run: each of them, and New-Orders that are rolled back once more.
    pub fn kinds(self, spec: &TpccSpec) -> Vec<KindSpec> {
        let (task, kind, _) = self.facts();
        if task != StepTask::Run {
            return vec![KindSpec::unscheduled(kind)];
        }
        let scheduled = pace(spec).is_open();
        let names = TpccTransaction::ALL.map(TpccTransaction::name).into_iter().chain([ROLLBACK]);
        names.map(|name| KindSpec { name: name.to_owned(), scheduled }).collect()
    }

    /// What it does, its first operation kind, which it is about, and what that counts as.
    fn facts(self) -> (StepTask, &'static str, Counts) {
        match self {
            Self::Load => (StepTask::Load, "insert", Counts::Rows),
            Self::Index => (StepTask::Index, "create_index", Counts::Rows),
            Self::CheckLoad | Self::Check => (StepTask::Check, "check", Counts::Operations),
            Self::Settle => (StepTask::Settle, "settle", Counts::Operations),
            Self::Warm => (StepTask::Warm, "scan", Counts::Rows),
            Self::Run(_) => (StepTask::Run, TpccTransaction::NewOrder.name(), Counts::Operations),
        }
    }

    /// Clients and sessions. Beside terminals and loaders one session looks after the whole.
    fn clients(self, spec: &TpccSpec) -> (u32, u32) {
        let loaders = spec.load.clients;
        match self {
            Self::Load | Self::Index | Self::Warm | Self::CheckLoad | Self::Check => {
                (loaders, loaders.saturating_add(1))
            }
            Self::Settle => (1, TABLES + 1),
            Self::Run(_) => (spec.clients, spec.clients.saturating_add(1)),
        }
    }

    fn description(self, spec: &TpccSpec) -> String {
        match self {
            Self::Load => {
                let plural = if spec.warehouses == 1 { "" } else { "s" };
                format!("Makes the tables and loads {} warehouse{plural}.", spec.warehouses)
            }
            Self::Index if spec.schema.foreign_keys => {
                "Builds the secondary indexes and adds the foreign keys.".to_owned()
            }
            Self::Index => INDEXES.to_owned(),
            Self::Run(_) => format!(
                "Runs the five transactions on the data of earlier steps: {}. Throughput and costs count New-Orders, those rolled back on purpose included.",
                spec.pace.words()
            ),
            Self::Settle => SETTLES.to_owned(),
            Self::CheckLoad | Self::Warm | Self::Check => String::new(),
        }
    }

    fn step(self, spec: &TpccSpec) -> Step {
        let (task, kind, counts) = self.facts();
        let subject = Subject { kind: kind.to_owned(), counts };
        let (clients, sessions) = self.clients(spec);
        let runs = matches!(self, Self::Run(_));
        let pace = if runs { pace(spec) } else { StepPace::Closed };
        Step {
            task,
            class: if runs { StepClass::Writing } else { StepClass::Loading },
            measured: runs || matches!(self, Self::Load | Self::Index),
            sessions,
            kinds: self.kinds(spec),
            metric: pace.deciding(&subject),
            pace,
            window: runs.then(|| Nanos::from_secs(spec.seconds.into())),
            compat: spec.profile == TpccProfile::Percona,
            description: self.description(spec),
            ..Step::new(self.id(), 0, clients, subject)
        }
    }
}

impl TpccPace {
    /// When transactions start, as the rest of a sentence.
    pub fn words(&self) -> String {
        match self {
            Self::NoWait => "the next transaction when the last has ended".to_owned(),
            Self::Wait { percent } => format!("keying and think times × {percent} %"),
            Self::Rate { per_second, .. } => {
                format!("{} transactions a second arrive", grouped(*per_second))
            }
            Self::Ramp { .. } => {
                "the highest rate at which nine in ten transactions of each kind keep their limit"
                    .to_owned()
            }
        }
    }
}

const fn pace(spec: &TpccSpec) -> StepPace {
    match spec.pace {
        TpccPace::NoWait | TpccPace::Wait { .. } => StepPace::Closed,
        TpccPace::Rate { per_second, .. } => StepPace::Rate { per_second },
        TpccPace::Ramp { .. } => StepPace::Ramp { limit: None },
    }
}

impl TpccSpec {
    pub fn trial_steps(&self) -> Vec<Step> {
        let stages = TpccStage::of_trial(self);
        let loading = stages.iter().position(|stage| !stage.is_loading()).unwrap_or(0);
        placed(stages.iter().map(|stage| stage.step(self)), loading)
    }

    pub fn statement_timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.statement_timeout))
    }
}

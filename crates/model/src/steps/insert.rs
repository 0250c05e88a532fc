//! The steps of the Insert Benchmark. This file alone knows their names.

use serde::{Deserialize, Serialize};

use crate::step::{SETTLES, placed};
use crate::{
    Counts, InsertSpec, KindSpec, Nanos, Pacing, QueryKind, Step, StepClass, StepId, StepTask,
    Subject, Tables,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InsertStage {
    /// `l.i0`: inserts in key order, no secondary index.
    Load,
    /// `l.x`: builds the secondary indexes.
    Index,
    /// `l.i1`, `l.i2`: inserts and deletes as fast as they go.
    Random { size: Transactions, rows: u64, rows_per_commit: u32 },
    /// The phase before the queries: analyze, write back, wait.
    Settle,
    /// In place of all before, where the data was loaded by another trial: reads it once and compares.
    Warm,
    /// `qr…`, `qp…`: queries beside paced inserts and deletes.
    Query { kind: QueryKind, rate: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Transactions {
    Large,
    Small,
}

impl InsertStage {
    /// Every stage that a plan's `steps` may name: the load, then the query steps of each rate.
    pub fn all(spec: &InsertSpec) -> Vec<Self> {
        let random = |size, rows, rows_per_commit| Self::Random { size, rows, rows_per_commit };
        let mut all = vec![
            Self::Load,
            Self::Index,
            random(Transactions::Large, spec.i1_rows, spec.i1_rows_per_commit),
            random(Transactions::Small, spec.i2_rows, spec.i2_rows_per_commit),
        ];
        for &rate in &spec.rates {
            all.extend(spec.queries.iter().map(|&kind| Self::Query { kind, rate }));
        }
        all
    }

    pub fn named(spec: &InsertSpec) -> Vec<Self> {
        let all: Vec<(StepId, Self)> = Self::all(spec).into_iter().map(|s| (s.id(), s)).collect();
        let find = |id: &StepId| all.iter().find(|(known, _)| known == id);
        spec.steps.iter().filter_map(|id| Some(find(id)?.1.clone())).collect()
    }

    /// The stages of a trial: those that `steps` names, and a settle phase before the first query step.
    pub fn of_trial(spec: &InsertSpec) -> Vec<Self> {
        let mut stages = Self::named(spec);
        if let Some(first) = stages.iter().position(Self::is_query) {
            stages.insert(first, Self::Settle);
        }
        stages
    }

    /// How many of the first stages load the data: all before the first query step, none where there is none.
    pub fn loading(stages: &[Self]) -> usize {
        stages.iter().position(Self::is_query).unwrap_or(0)
    }

    pub fn id(&self) -> StepId {
        StepId::new(match self {
            Self::Load => "l.i0".to_owned(),
            Self::Index => "l.x".to_owned(),
            Self::Random { size: Transactions::Large, .. } => "l.i1".to_owned(),
            Self::Random { size: Transactions::Small, .. } => "l.i2".to_owned(),
            Self::Settle => "settle".to_owned(),
            Self::Warm => "warm".to_owned(),
            Self::Query { kind: QueryKind::Range, rate } => format!("qr{rate}"),
            Self::Query { kind: QueryKind::Point, rate } => format!("qp{rate}"),
        })
    }

    pub const fn is_query(&self) -> bool {
        matches!(self, Self::Query { .. })
    }

    pub fn rows(&self, spec: &InsertSpec) -> u64 {
        match self {
            Self::Load => spec.rows,
            Self::Index => u64::from(spec.i0_rows_per_commit),
            Self::Random { rows, .. } => *rows,
            Self::Settle | Self::Warm => 0,
            Self::Query { rate, .. } => u64::from(*rate) * u64::from(spec.query_seconds),
        }
    }

    /// Rows of a statement; lowered to the rate where it is larger, as in the original.
    pub fn rows_per_commit(&self, spec: &InsertSpec) -> u32 {
        let rows = match self {
            Self::Load | Self::Index | Self::Settle | Self::Warm => spec.i0_rows_per_commit,
            Self::Random { rows_per_commit, .. } => *rows_per_commit,
            Self::Query { rate, .. } => spec.query_rows_per_commit.min(*rate),
        };
        rows.max(1)
    }

    pub fn statements(&self, spec: &InsertSpec) -> u64 {
        self.rows(spec).div_ceil(u64::from(self.rows_per_commit(spec)))
    }

    pub const fn is_measured(&self) -> bool {
        !matches!(self, Self::Settle | Self::Warm)
    }

    pub const fn has_deletes(&self) -> bool {
        matches!(self, Self::Random { .. } | Self::Query { .. })
    }

    /// Rows per second and client, where the writers are paced.
    pub fn rate(&self) -> Option<u32> {
        match self {
            Self::Query { rate, .. } => Some((*rate).max(1)),
            Self::Load | Self::Index | Self::Random { .. } | Self::Settle | Self::Warm => None,
        }
    }

    /// What it does, and what it is about.
    const fn facts(&self) -> (StepTask, &'static str, Counts) {
        match self {
            Self::Load => (StepTask::Load, "insert", Counts::Rows),
            Self::Index => (StepTask::Index, "create_index", Counts::Rows),
            Self::Random { .. } => (StepTask::Run, "insert", Counts::Rows),
            Self::Settle => (StepTask::Settle, "settle", Counts::Operations),
            Self::Warm => (StepTask::Warm, "scan", Counts::Rows),
            Self::Query { .. } => (StepTask::Run, "query", Counts::Operations),
        }
    }

    /// Beside each client's queries run inserts, deletes with the search for the lowest row, and its long transaction.
    pub fn sessions(&self, spec: &InsertSpec) -> u32 {
        // Clients may share one table.
        let tables = if spec.tables == Tables::Own { spec.clients } else { 1 };
        let deletes = self.has_deletes() && deletes(spec);
        let queries = if self.is_query() { spec.query_sessions } else { 0 };
        let each =
            queries.saturating_add(1 + 2 * u32::from(deletes) + u32::from(spec.htap_seconds > 0));
        match self {
            Self::Index => tables.saturating_mul(2),
            Self::Settle => tables.saturating_add(1),
            Self::Warm => tables,
            Self::Load | Self::Random { .. } | Self::Query { .. } => {
                spec.clients.saturating_mul(each)
            }
        }
    }

    fn description(&self, target_rate: Option<u64>) -> String {
        let beside = target_rate.map_or(String::new(), |rate| {
            format!(", while background writers insert and delete {rate} rows/s")
        });
        match self {
            Self::Load => {
                "Loads the table in primary-key order, without secondary indexes.".to_owned()
            }
            Self::Index => "Creates the secondary indexes.".to_owned(),
            Self::Random { size, .. } => {
                let size = if *size == Transactions::Large { "large" } else { "small" };
                format!(
                    "Inserts and deletes rows with all indexes in place, in {size} transactions."
                )
            }
            Self::Query { kind: QueryKind::Range, .. } => {
                format!("Short range queries that secondary indexes cover{beside}.")
            }
            Self::Query { kind: QueryKind::Point, .. } => {
                format!("Point queries by primary key{beside}.")
            }
            Self::Settle => SETTLES.to_owned(),
            Self::Warm => String::new(),
        }
    }

    fn step(&self, spec: &InsertSpec) -> Step {
        let target_rate = self.rate().map(|rate| u64::from(rate) * u64::from(spec.clients));
        let (task, kind, counts) = self.facts();
        let subject = Subject { kind: kind.to_owned(), counts };
        Step {
            task,
            // The query steps have writers in the background.
            class: if self.is_query() { StepClass::Writing } else { StepClass::Loading },
            measured: self.is_measured(),
            sessions: self.sessions(spec),
            kinds: InsertKinds::of(self, spec).0,
            window: self.is_query().then(|| Nanos::from_secs(spec.query_seconds.into())),
            target_rate,
            compat: spec.compat,
            description: self.description(target_rate),
            ..Step::new(self.id(), 0, spec.clients, subject)
        }
    }
}

pub(super) fn steps(spec: &InsertSpec) -> Vec<Step> {
    let stages = InsertStage::of_trial(spec);
    let loading = InsertStage::loading(&stages);
    placed(stages.iter().map(|stage| stage.step(spec)), loading)
}

/// Clients would delete each other's rows from a table that they share.
fn deletes(spec: &InsertSpec) -> bool {
    spec.deletes && spec.tables == Tables::Own
}

#[derive(Clone, Debug)]
pub struct InsertKinds(pub Vec<KindSpec>);

impl InsertKinds {
    pub fn of(stage: &InsertStage, spec: &InsertSpec) -> Self {
        use InsertStage::{Index, Query, Settle, Warm};
        let scheduled = stage.rate().is_some() && spec.pacing == Pacing::Even;
        let writes = !matches!(stage, Settle | Warm);
        let deletes = stage.has_deletes() && deletes(spec);
        let is_point = matches!(stage, Query { kind: QueryKind::Point, .. });
        let is_long = spec.htap_seconds > 0 && writes && *stage != Index;
        let kinds = [
            ("settle", *stage == Settle, false),
            ("scan", *stage == Warm, false),
            ("create_index", *stage == Index, false),
            ("query", stage.is_query(), false),
            ("insert", writes, scheduled),
            ("delete", deletes, scheduled),
            ("min_pk", deletes, false),
            ("max_pk", is_point, false),
            ("long", is_long, false),
        ];
        let there = kinds.into_iter().filter(|(_, is_there, _)| *is_there);
        let specs = there.map(|(name, _, scheduled)| KindSpec { name: name.to_owned(), scheduled });
        Self(specs.collect())
    }

    /// A kind that the step lacks has no place.
    pub fn place(&self, name: &str) -> usize {
        self.0.iter().position(|kind| kind.name == name).unwrap_or(usize::MAX)
    }
}

//! What a plan asks of a workload, fully resolved: no defaults are left to fill in.

use serde::{Deserialize, Serialize};

use crate::{
    MetricId, SqlPace, SqlSpec, SqlWork, StepId, StepInfo, TpccPace, TpccProfile, TpccSpec,
    TpccTransaction,
};

/// A workload with its scale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum WorkloadSpec {
    /// The Insert Benchmark.
    Insert(InsertSpec),
    /// Tables and statements that a workload file gives: the microbenchmarks, or a user's own.
    Sql(SqlSpec),
    /// The TPC-C-like workload.
    Tpcc(TpccSpec),
}

impl WorkloadSpec {
    /// The name in plans.
    pub fn name(&self) -> &str {
        match self {
            Self::Insert(_) => "insert",
            Self::Sql(spec) => &spec.name,
            Self::Tpcc(_) => "tpcc",
        }
    }

    /// Does it behave as the original where the two differ?
    pub const fn is_compat(&self) -> bool {
        match self {
            Self::Insert(spec) => spec.compat,
            Self::Sql(spec) => spec.compat,
            Self::Tpcc(spec) => matches!(spec.profile, TpccProfile::Percona),
        }
    }

    /// The most clients that a step has.
    pub fn clients(&self) -> u32 {
        match self {
            Self::Insert(spec) => spec.clients,
            Self::Sql(spec) => spec.most_clients(),
            Self::Tpcc(spec) => spec.clients,
        }
    }

    /// Seconds after which a statement counts as hung.
    pub const fn statement_timeout(&self) -> u32 {
        match self {
            Self::Insert(spec) => spec.statement_timeout,
            Self::Sql(spec) => spec.statement_timeout,
            Self::Tpcc(spec) => spec.statement_timeout,
        }
    }

    /// The heading under which reports list a step; empty where the workload has none.
    pub fn group_of(&self, step: &StepInfo) -> &str {
        match self {
            Self::Insert(_) | Self::Tpcc(_) => "",
            Self::Sql(spec) => {
                let step = spec.step_at(step.ordinal, &step.step);
                step.map_or("", |step| &step.group)
            }
        }
    }

    /// When the operations of a step start; `None` for a step that runs no statements of a workload file.
    pub fn pace_of(&self, step: &StepInfo) -> Option<&SqlPace> {
        let Self::Sql(spec) = self else {
            return None;
        };
        match &spec.step_at(step.ordinal, &step.step)?.work {
            SqlWork::Run(run) => Some(&run.pace),
            SqlWork::Load | SqlWork::Index | SqlWork::Settle(_) | SqlWork::Reset => None,
        }
    }

    /// The metric that decides a step, which is what systems are judged by unless something else is asked
    /// for: throughput; where the plan says the rate, the 99th percentile of response time of what the step
    /// is about; where it looks for the highest rate, that.
    pub fn deciding_metric(&self, step: &StepInfo) -> MetricId {
        let response = || MetricId(format!("response.{}.p99", step.subject));
        let highest = || MetricId::new(MetricId::HIGHEST_RATE);
        let rate = || MetricId::new(MetricId::RATE);
        match self {
            Self::Insert(_) => rate(),
            Self::Sql(_) => match self.pace_of(step) {
                Some(SqlPace::Rate { .. }) => response(),
                Some(SqlPace::Ramp { .. }) => highest(),
                Some(SqlPace::Unlimited) | None => rate(),
            },
            Self::Tpcc(_) if step.subject != TpccTransaction::NewOrder.name() => rate(),
            Self::Tpcc(spec) => match spec.pace {
                TpccPace::Rate { .. } => response(),
                TpccPace::Ramp { .. } => highest(),
                TpccPace::NoWait | TpccPace::Wait { .. } => rate(),
            },
        }
    }
}

/// Named sizes of the Insert Benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InsertScale {
    /// Seconds; for tests and the demo.
    Tiny,
    /// About two minutes a trial on two cores.
    Small,
    /// About an hour a trial.
    Medium,
    /// The published runs: 30M/40M/10M rows, 1800 seconds a query step.
    Seeds,
}

/// A table for each client, or one for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tables {
    /// `pi1 … piN`, one a client.
    Own,
    /// All clients share `pi1`; there are no deletes then.
    Shared,
}

/// How statements reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Statements {
    /// Literal SQL text.
    Text,
    /// Prepared on the server.
    Prepared,
    /// What the published runs use: queries prepared on PostgreSQL and SQLite, all else text.
    Usual,
}

/// When paced writers send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pacing {
    /// Evenly, each statement at its own time of a schedule.
    Even,
    /// A burst at the start of each second, without credit for lost time, as in the original.
    Burst,
}

/// What the query sessions ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueryKind {
    /// Short ranges of the secondary indexes (`qr…`).
    Range,
    /// Lists of primary keys (`qp…`).
    Point,
}

/// How long the settle phase before the queries takes at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Settle {
    /// min(1200, 60 + loaded rows / 10^6) seconds, the original's formula.
    Formula,
    /// This many seconds; the work (analyze, vacuum, checkpoint) is done in any case.
    Seconds(u32),
}

/// Every parameter of the Insert Benchmark, resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsertSpec {
    /// The named size that the numbers started from.
    pub scale: InsertScale,
    /// Clients; each has an inserter, a deleter and query sessions.
    pub clients: u32,
    /// A table a client, or one for all.
    pub tables: Tables,
    /// Rows a client inserts in `l.i0`.
    pub rows: u64,
    /// Rows a client inserts in `l.i1`.
    pub i1_rows: u64,
    /// Rows a client inserts in `l.i2`.
    pub i2_rows: u64,
    /// Rows of a statement (one transaction) in `l.i0` and `l.x`.
    pub i0_rows_per_commit: u32,
    /// Rows of a statement in `l.i1`.
    pub i1_rows_per_commit: u32,
    /// Rows of a statement in `l.i2`.
    pub i2_rows_per_commit: u32,
    /// Rows of a statement in the query steps.
    pub query_rows_per_commit: u32,
    /// Background rows per second and client, a pair of query steps for each.
    pub rates: Vec<u32>,
    /// The queries of each pair, in order.
    pub queries: Vec<QueryKind>,
    /// Nominal seconds of a query step: the writers insert this × rate rows, however long it takes.
    pub query_seconds: u32,
    /// Query sessions a client.
    pub query_sessions: u32,
    /// LIMIT of range queries, keys of point queries.
    pub rows_per_query: u32,
    /// Point queries between two looks at MAX(pk).
    pub max_refresh: u32,
    /// Secondary indexes, 0 to 3.
    pub secondary_indexes: u32,
    /// Is each insert followed by a delete of as many rows?
    pub deletes: bool,
    /// Statements that inserter and deleter may be ahead of each other.
    pub queue: u32,
    /// Deletes between two looks at MIN(pk); 0 for never.
    pub min_resync: u32,
    /// Shortest `data`, in characters.
    pub data_min: u32,
    /// Longest `data`, in characters.
    pub data_max: u32,
    /// Share of `data` that is random, before base64, in per cent.
    pub data_random_percent: u32,
    /// How inserts and deletes reach the server.
    pub writes: Statements,
    /// How queries reach the server.
    pub reads: Statements,
    /// When paced writers send.
    pub pacing: Pacing,
    /// The settle phase.
    pub settle: Settle,
    /// Seconds that a long transaction is held open beside the steps; 0 for none.
    pub htap_seconds: u32,
    /// Range partitions of each table; 0 for none.
    pub partitions: u32,
    /// Values that a PostgreSQL session takes from the sequence at once.
    pub sequence_cache: u32,
    /// The share of the background rate that meets the SLA, in per cent.
    pub sla_percent: u32,
    /// Seconds after which a statement counts as hung.
    pub statement_timeout: u32,
    /// The original's behaviour where it differs: burst pacing, requested rows over elapsed time.
    pub compat: bool,
    /// The steps to run, in order.
    pub steps: Vec<StepId>,
}

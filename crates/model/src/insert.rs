//! Every parameter of the Insert Benchmark, resolved.

use serde::{Deserialize, Serialize};

use crate::StepId;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tables {
    /// `pi1 … piN`, one a client.
    Own,
    /// All clients share `pi1`, without deletes.
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Statements {
    Text,
    Prepared,
    /// What the published runs use: queries prepared on PostgreSQL and SQLite, all else text.
    Usual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pacing {
    /// Evenly, each statement at its own time of a schedule.
    Even,
    /// A burst at the start of each second, without credit for lost time, as in the original.
    Burst,
}

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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsertSpec {
    /// The named size that the numbers started from.
    pub scale: InsertScale,
    /// Clients; each has an inserter, a deleter and query sessions.
    pub clients: u32,
    pub tables: Tables,
    /// Rows a client inserts in `l.i0`.
    pub rows: u64,
    pub i1_rows: u64,
    pub i2_rows: u64,
    /// Rows of a statement (one transaction) in `l.i0` and `l.x`.
    pub i0_rows_per_commit: u32,
    pub i1_rows_per_commit: u32,
    pub i2_rows_per_commit: u32,
    pub query_rows_per_commit: u32,
    /// Background rows per second and client, a pair of query steps for each.
    pub rates: Vec<u32>,
    /// The queries of each pair, in order.
    pub queries: Vec<QueryKind>,
    /// Nominal seconds of a query step: the writers insert this × rate rows, however long it takes.
    pub query_seconds: u32,
    pub query_sessions: u32,
    /// LIMIT of range queries, keys of point queries.
    pub rows_per_query: u32,
    /// Point queries between two looks at MAX(pk).
    pub max_refresh: u32,
    pub secondary_indexes: u32,
    /// Is each insert followed by a delete of as many rows?
    pub deletes: bool,
    /// Statements that inserter and deleter may be ahead of each other.
    pub queue: u32,
    /// Deletes between two looks at MIN(pk); 0 for never.
    pub min_resync: u32,
    /// The shortest and the longest `data`, in characters.
    pub data_min: u32,
    pub data_max: u32,
    /// Share of `data` that is random, before base64, in per cent.
    pub data_random_percent: u32,
    pub writes: Statements,
    pub reads: Statements,
    pub pacing: Pacing,
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
    pub steps: Vec<StepId>,
}

impl InsertSpec {
    /// The benchmark as its specification defines it; the sizes are what a scale replaces.
    pub fn usual() -> Self {
        Self {
            scale: InsertScale::Tiny,
            clients: 1,
            tables: Tables::Own,
            rows: 0,
            i1_rows: 0,
            i2_rows: 0,
            i0_rows_per_commit: 100,
            i1_rows_per_commit: 50,
            i2_rows_per_commit: 5,
            query_rows_per_commit: 50,
            rates: vec![100, 500, 1000],
            queries: vec![QueryKind::Range, QueryKind::Point],
            query_seconds: 0,
            query_sessions: 1,
            rows_per_query: 10,
            max_refresh: 100,
            secondary_indexes: 3,
            deletes: true,
            queue: 8,
            min_resync: 1000,
            data_min: 10,
            data_max: 20,
            data_random_percent: 50,
            writes: Statements::Usual,
            reads: Statements::Usual,
            pacing: Pacing::Even,
            settle: Settle::Formula,
            htap_seconds: 0,
            partitions: 0,
            sequence_cache: 1000,
            sla_percent: 95,
            statement_timeout: 600,
            compat: false,
            steps: Vec::new(),
        }
    }
}

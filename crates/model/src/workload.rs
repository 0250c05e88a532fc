//! What a plan asks of a workload, fully resolved: no defaults are left to fill in.

use serde::{Deserialize, Serialize};

use crate::{InsertSpec, SqlRun, SqlSpec, Step, TpccSpec};

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

/// The data that a test worked on.
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

    /// What is asked for, where it is the Insert Benchmark.
    pub const fn insert(&self) -> Option<&InsertSpec> {
        if let Self::Insert(spec) = self { Some(spec) } else { None }
    }

    /// What is asked for, where it is a workload of SQL statements.
    pub const fn sql(&self) -> Option<&SqlSpec> {
        if let Self::Sql(spec) = self { Some(spec) } else { None }
    }

    /// What is asked for, where it is the TPC-C-like workload.
    pub const fn tpcc(&self) -> Option<&TpccSpec> {
        if let Self::Tpcc(spec) = self { Some(spec) } else { None }
    }

    /// What is known, where another tool ran it.
    pub const fn imported(&self) -> Option<&ImportedSpec> {
        if let Self::Imported(spec) = self { Some(spec) } else { None }
    }

    /// The operations of a step that runs statements of a workload file.
    pub fn sql_run(&self, step: &Step) -> Option<&SqlRun> {
        self.sql()?.step_at(step.ordinal, &step.id)?.work.run()
    }
}

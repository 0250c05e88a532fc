//! Plan file and catalog in, fully expanded plan out; pure.
//!
//! [`read`] checks a plan file by itself; [`of_arguments`] makes one of what a command was given.
//! [`PlanFile::requests`] says which builds it needs; the caller finds them. [`expand`] makes the [`Plan`](model::Plan) from the file, the [`Catalog`],
//! the builds and the host. [`estimate`] says what disk and time it needs.
//!
//! A workload of SQL statements is a file of the catalog, or one of the user's that the caller reads:
//! [`PlanFile::workload_file`].
//!
//! A new setting, version, scale, workload or plan is a change of the catalog, not of this crate.

mod arguments;
mod catalog;
mod config;
mod connection;
mod course;
mod cpus;
mod document;
mod error;
mod estimate;
mod expand;
mod fields;
mod file;
mod insert;
mod keys;
mod kind;
mod load_hosts;
mod lua;
mod recipe;
mod reference;
mod render;
mod request;
mod resolve;
mod settings;
mod sql;
mod sysbench;
#[cfg(test)]
mod tests;
mod tpcc;
mod variables;

pub use arguments::{
    Argument, Overrides, SystemArguments, of_arguments, plan_text, read_with, set_text, toml_string,
};
pub use catalog::Catalog;
pub use config::{ConfigFile, size as parse_size};
pub use course::{MAX_ROUNDS, PROFILED};
pub(crate) use error::Result;
pub use error::{Choices, Place, PlanError};
pub use estimate::{Estimate, Loading, estimate, step_times};
pub use expand::{FindBuild, expand};
pub use file::{PlanFile, read};
pub use reference::{KeyDoc, KeyTable, key_tables};
pub use request::{BuildRequest, SourceRequest};
pub use settings::{JudgeSettings, check_settings};
pub use sql::{WorkloadListing, WorkloadSet, is_path as is_workload_path, read_workload};
pub use sysbench::SysbenchOption;
pub use variables::{
    Implied, Pattern, Renamed, SameValues, VariableGroup, VariableNote, VariableRules,
    VariableUnit, any_fits,
};

/// What a plan may say and may not mean: a sentence each, for people who look at the plan; most plans have none.
pub fn remarks(plan: &model::Plan) -> Vec<String> {
    let of_tpcc = plan.workload.tpcc().map(tpcc::remarks);
    [course::remarks(plan), of_tpcc.unwrap_or_default()].concat()
}

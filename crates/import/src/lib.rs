//! Results that people already have, read into the words of the lab: text in, model data out.
//!
//! Nothing here touches a disk. [`FileKind::of`] says what a file is, [`read_all`] makes [`ImportedStep`]s of files,
//! one for each step of a system, and [`run`] makes a run of the rows that the store can keep. What is
//! wrong with a file is an [`ImportError`] with file and line, whatever the file holds.
//!
//! There are two modes. [`Mode::Compat`] has the numbers that the original tools publish, to the last
//! digit; [`published`] writes the tables that are derived from them. [`Mode::Exact`] has
//! what the files say beneath these. `docs/import.md` has the difference for each metric, and
//! [`differences`] measures it.

mod conditions;
mod copies;
mod csv;
mod db_bench;
mod difference;
mod file;
mod hammerdb;
pub mod insert;
mod kind;
mod merge;
mod pgbench;
mod published;
mod read;
pub mod round;
mod row;
mod run;
pub mod sysbench;
mod system;
pub mod tables;

pub use difference::{Difference, differences};
use file::Result;
pub use file::{File, ImportError};
pub use kind::{FileKind, Source};
pub use published::published;
pub use read::{read, read_all};
use row::Rows;
pub use row::{ImportedStep, Mode, Options, Scale, Stated};
pub use run::{About, ImportedRun, ImportedTrial, run};

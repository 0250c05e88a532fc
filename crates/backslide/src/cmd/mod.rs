//! One verb, one file.

pub(crate) mod agent;
pub(crate) mod bisect;
pub(crate) mod builds;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod crash_check;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod install;
pub(crate) mod list;
pub(crate) mod merge;
mod named_system;
pub(crate) mod plan;
pub(crate) mod profile;
pub(crate) mod quick;
pub(crate) mod report;
pub(crate) mod run;
mod run_script;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod submit;
pub(crate) mod try_builds;
pub(crate) mod workloads;

use std::path::Path;

use anyhow::{Result, ensure};

/// What there is of a directory that may yet have to be made: it or the nearest one above it.
fn existing(directory: &Path) -> Result<&Path> {
    let found = directory.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    ensure!(
        found.is_dir(),
        "{} is not a directory; name another one with `--lab`",
        found.display()
    );
    Ok(found)
}

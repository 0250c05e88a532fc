//! Workload files as people look at them.

use model::SqlSpec;

use super::file::WorkloadFile;
use crate::Result;

#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadListing {
    /// Its name in plans: `micro`, or the path of a user's own.
    pub name: String,
    pub summary: String,
    /// Its sets; the one that a plan gets without asking comes first. Empty where the file has none.
    pub sets: Vec<WorkloadSet>,
    /// All of its tests and phases in order, with the file's own defaults and one number of clients.
    pub spec: SqlSpec,
}

/// A named selection of tests.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadSet {
    /// `32`.
    pub name: String,
    /// Names of its tests, in the order in which they run. What only warms caches is in no set and runs
    /// with all of them.
    pub tests: Vec<String>,
}

/// A user's own workload file, which people know as `origin`: its path.
pub fn read_workload(text: &str, origin: &str) -> Result<WorkloadListing> {
    listing(origin, &WorkloadFile::parse(text, origin)?)
}

/// The workload file that the catalog has under `name`.
pub(crate) fn listing(name: &str, file: &WorkloadFile) -> Result<WorkloadListing> {
    let sets = file.sets()?.into_iter();
    Ok(WorkloadListing {
        name: name.to_owned(),
        summary: file.summary().to_owned(),
        sets: sets.map(|(name, tests)| WorkloadSet { name, tests }).collect(),
        spec: file.everything()?,
    })
}

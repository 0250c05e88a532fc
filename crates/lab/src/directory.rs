//! The lab's directory: results, instances, logs.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Host, Plan, RunId};
use store::Store;

use crate::LabError;
use crate::lock::RunLock;

/// One lab: a directory with `lab.sqlite`, `instances/` and `logs/`.
#[derive(Debug)]
pub struct Lab {
    root: PathBuf,
    /// The results.
    pub store: Store,
}

impl Lab {
    /// Opens the lab in `root`, making it where there is none.
    pub fn open(root: &Path) -> Result<Self, LabError> {
        let root = std::path::absolute(root).map_err(|cause| LabError::Directory {
            action: "find",
            path: root.to_owned(),
            cause,
        })?;
        fs::create_dir_all(&root).map_err(|cause| LabError::Directory {
            action: "create",
            path: root.clone(),
            cause,
        })?;
        let store = Store::open(&root.join("lab.sqlite"))?;
        Ok(Self { root, store })
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the instances of trials live.
    pub fn instances(&self) -> PathBuf {
        self.root.join("instances")
    }

    /// This host, as seen from the lab's disk.
    pub fn host(&self) -> Result<Host, LabError> {
        Ok(probes::identify(&self.root)?)
    }

    /// Journals a new run of `plan`. Says before anything starts when the plan does not fit on the disk.
    pub fn begin(&mut self, plan: &Plan, version: &str) -> Result<RunId, LabError> {
        let _lock = RunLock::take(&self.root)?;
        let host = self.host()?;
        plan::estimate(plan).fits(host.disk.free, &self.root.display().to_string())?;
        Ok(self.store.create_run(plan, &host, version, &now())?)
    }

    pub(crate) fn lock(&self) -> Result<RunLock, LabError> {
        RunLock::take(&self.root)
    }
}

/// The present moment: RFC 3339 in UTC, to the second.
pub(crate) fn now() -> String {
    let now = jiff::Timestamp::now();
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

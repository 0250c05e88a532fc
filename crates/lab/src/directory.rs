//! The lab's directory: results, instances, logs.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Bytes, Host, Plan, RunId};
use store::Store;

use crate::LabError;
use crate::lock::RunLock;
use crate::template::{self, Shelf};

/// Templates may take this fraction of the lab's filesystem: one part of four.
const SHARE_OF_TEMPLATES: u64 = 4;

/// One lab: a directory with `lab.sqlite`, `instances/`, `templates/` and `logs/`.
#[derive(Debug)]
pub struct Lab {
    root: PathBuf,
    /// The results.
    pub store: Store,
    /// What templates may take; a share of the filesystem where nothing was said.
    template_budget: Option<Bytes>,
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
        Ok(Self {
            root,
            store,
            template_budget: None,
        })
    }

    /// Lets templates take up to `budget` of the disk, instead of a quarter of the lab's filesystem.
    pub fn limit_templates(&mut self, budget: Bytes) {
        self.template_budget = Some(budget);
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the instances of trials live.
    pub fn instances(&self) -> PathBuf {
        self.root.join("instances")
    }

    /// Takes the lab for one use of its instances: a run, a tryout.
    pub fn claim_instances(&self) -> Result<(PathBuf, RunLock), LabError> {
        let lock = self.lock()?;
        let (instances, _told_by_runs) = self.sweep_instances()?;
        Ok((instances, lock))
    }

    /// The directory for instances, made where it is missing, and what to say of servers that an earlier
    /// process left behind and that were ended. The lock of the lab must be held.
    pub(crate) fn sweep_instances(&self) -> Result<(PathBuf, Vec<String>), LabError> {
        let instances = self.instances();
        fs::create_dir_all(&instances).map_err(|cause| LabError::Directory {
            action: "create",
            path: instances.clone(),
            cause,
        })?;
        let mut told = Vec::new();
        for swept in servers::sweep(&instances) {
            if swept.how == servers::HowEnded::StillThere {
                return Err(LabError::Orphan {
                    pid: swept.pid,
                    directory: swept.directory,
                });
            }
            told.push(format!(
                "a server of an earlier run was still there and was ended: {} (process {})",
                swept.program.display(),
                swept.pid
            ));
        }
        Ok((instances, told))
    }

    /// This host, as seen from the lab's disk.
    pub fn host(&self) -> Result<Host, LabError> {
        Ok(probes::identify(&self.root)?)
    }

    /// Journals a new run of `plan`. Says before anything starts when the plan does not fit on the disk.
    pub fn begin(&mut self, plan: &Plan, version: &str) -> Result<RunId, LabError> {
        let _lock = RunLock::take(&self.root)?;
        let host = self.host()?;
        let mut needs = plan::estimate(plan);
        needs.disk.0 = needs.disk.0.saturating_sub(self.kept(plan)?.0);
        needs.fits(host.disk.free, &self.root.display().to_string())?;
        Ok(self.store.create_run(plan, &host, version, &now())?)
    }

    /// The templates of this lab.
    pub(crate) fn shelf(&self) -> Result<Shelf, LabError> {
        let budget = match self.template_budget {
            Some(budget) => budget,
            None => Bytes(self.host()?.disk.size.0 / SHARE_OF_TEMPLATES),
        };
        Shelf::open(self.root.join("templates"), budget)
    }

    /// What the templates of a plan take on the disk already.
    fn kept(&self, plan: &Plan) -> Result<Bytes, LabError> {
        if !plan.template {
            return Ok(Bytes(0));
        }
        let shelf = self.shelf()?;
        let keys = template::keys(plan)?;
        let kept = keys.iter().filter_map(|key| shelf.disk(key));
        Ok(Bytes(kept.map(|disk| disk.0).sum()))
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

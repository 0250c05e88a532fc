//! Why a run could not begin or go on.

use std::path::PathBuf;

use model::{Bytes, RunId};
use servers::PathError;
use store::StoreError;

pub(crate) type Result<T, E = LabError> = std::result::Result<T, E>;

/// The run as a whole cannot begin or go on. A trial that fails is an outcome, not an error.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Directory(#[from] PathError),
    #[error("another run is under way in {} (process {owner}); wait for it, or use another lab directory (--lab)", .path.display())]
    Busy {
        path: PathBuf,
        /// Its process, as it wrote it down.
        owner: String,
    },
    /// The plan does not fit on the disk.
    #[error(transparent)]
    Plan(#[from] plan::PlanError),
    /// The run cannot be looked at, to see whether more rounds are needed.
    #[error("cannot look at the run so far: {0}")]
    Look(#[from] stats::CompareError),
    #[error("cannot identify this host: {0}")]
    Host(#[from] probes::ProbeError),
    #[error(
        "run {0} is finished; nothing is left to resume. Trials that failed stay failed: begin a new run"
    )]
    Finished(RunId),
    /// A system differs from the plan, or cannot be reached. Nothing was started.
    #[error("`{system}` cannot be measured: {cause}")]
    System { system: String, cause: String },
    /// The templates of a run take more than they may. Nothing was started.
    #[error(
        "the templates of this plan need about {need}, and may take {budget}: allow more (--template-budget), choose a smaller scale or fewer systems, or leave `template` out of the plan"
    )]
    TemplateBudget { need: Bytes, budget: Bytes },
    #[error("the templates of this plan cannot be identified: {0}")]
    TemplateKey(String),
    #[error("a server of an earlier run is still running: process {pid} in {}; stop it, or use another lab directory (--lab)", .directory.display())]
    Orphan { pid: u32, directory: PathBuf },
    /// This process cannot open as many sessions as the workload has. Nothing was started.
    #[error(
        "{sessions} sessions need {needed} {what}, and the hard limit of this process is {found}: raise it (ulimit {flag} {needed}), or use fewer clients"
    )]
    Limit {
        sessions: u32,
        what: &'static str,
        /// The option of `ulimit`.
        flag: &'static str,
        /// In units of the option.
        needed: u64,
        /// The hard limit.
        found: u64,
    },
    #[error("cannot place the client of `{system}`: {cause}")]
    Placement { system: String, cause: String },
}

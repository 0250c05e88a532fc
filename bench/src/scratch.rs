//! A lab in a temporary directory.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use lab::{Builds, Ended, Lab, Provider, Providers, Site};
use load::Stop;
use model::{Event, Host, Outcome, Plan, RunId};
use tempfile::TempDir;

/// A lab that is removed at the end.
#[derive(Debug)]
pub struct Scratch {
    directory: TempDir,
    /// The lab.
    pub lab: Lab,
}

impl Scratch {
    /// An empty lab.
    pub fn new() -> Result<Self> {
        // A server that refuses to be root must be able to reach its own directory in it.
        let directory = tempfile::Builder::new()
            .prefix("backslide-bench")
            .permissions(Permissions::from_mode(0o755))
            .tempdir()?;
        let lab = Lab::open(&directory.path().join("lab"))?;
        Ok(Self { directory, lab })
    }

    /// The directory around the lab.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The plan, and a site of its first system.
    pub fn open(&self, text: &str) -> Result<(Plan, Box<dyn Site>)> {
        let plan = expand(text, &self.lab.host()?)?;
        let system = plan.systems.first().context("no system")?;
        let directory = self.directory().join("instance");
        let site = Providers::default().open(system, plan.statement_timeout(), &directory, None)?;
        Ok((plan, site))
    }

    /// Carries the plan out, as `backslide run` does; `listen` gets each event after it is
    /// stored. A failed trial is an error.
    pub fn carry_out(&mut self, text: &str, listen: &mut dyn FnMut(&Event)) -> Result<RunId> {
        let plan = expand(text, &self.lab.host()?)?;
        let run = self.lab.begin(&plan, env!("CARGO_PKG_VERSION"))?;
        let mut failure = None;
        let mut listen = |event: &Event| {
            if let Event::TrialFinished { outcome: Outcome::Failed { step, reason, .. }, .. } =
                event
            {
                failure = Some(format!("{step:?}: {reason}"));
            }
            listen(event);
        };
        let (providers, stop) = (Providers::default(), Stop::default());
        let ended = self.lab.carry_out(&run, &providers, &stop, &mut listen)?;
        match (ended, failure) {
            (Ended::Finished { failed: 0 }, None) => Ok(run),
            (_, failure) => bail!("a trial failed: {}", failure.unwrap_or_default()),
        }
    }
}

/// A plan file's text with everything in it resolved on this host.
pub fn expand(text: &str, host: &Host) -> Result<Plan> {
    let file = plan::read(text, "the bench's plan")?;
    let builds = Builds::of_user()?;
    builds.expand(&file, host.shape).with_context(|| format!("in this plan:\n{text}"))
}

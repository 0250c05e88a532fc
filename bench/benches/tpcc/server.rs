//! A server of ours, and the steps of a trial on it.

use anyhow::{Context, Result, bail};
use bench::{Place, Scratch, expand};
use lab::{Provider, Providers, Site};
use load::{Blind, Stop, Target, Workload};
use model::{Step, StepRecord, TpccSpec};

use crate::spec::SEED;

/// Memory and logs for ten warehouses, so that the disk does not decide.
fn settings(name: &str) -> &'static str {
    match name {
        "postgres" => "shared_buffers = \"2GB\", max_wal_size = \"8GB\"",
        _ => "innodb_buffer_pool_size = \"3G\", innodb_log_file_size = \"2G\"",
    }
}

/// A server on all CPUs.
pub(crate) struct Server {
    site: Box<dyn Site>,
    // Removed after the site has ended.
    _scratch: Scratch,
}

impl Server {
    /// Starts `name` with an empty database for this workload.
    pub(crate) fn start(name: &str, spec: &TpccSpec) -> Result<Self> {
        let scratch = Scratch::new()?;
        let plan = format!(
            r#"
            name = "tpcc"
            rounds = 1
            quarantine = false
            workload = {{ kind = "tpcc", warehouses = {} }}
            [[system]]
            build = "{name}"
            config = "quick"
            set = {{ {} }}
            "#,
            spec.warehouses,
            settings(name)
        );
        let plan = expand(&plan, &scratch.lab.host()?)?;
        let system = plan.systems.first().context("no system")?;
        let directory = scratch.directory().join("instance");
        let site = Providers::default().open(system, spec.statement_timeout(), &directory, None)?;
        Ok(Self { site, _scratch: scratch })
    }

    pub(crate) fn target(&self) -> Target {
        self.site.target()
    }

    /// How another process reaches it.
    pub(crate) fn place(&self) -> Result<Place> {
        let target = self.target();
        let mut session = target.connector.connect()?;
        Place::of(target.dialect, &mut *session)
    }

    /// Ends it and removes it.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.site.stop()?;
        self.site.remove()?;
        Ok(())
    }
}

/// The steps of a workload, as `backslide run` has them, without a lab around them.
pub(crate) struct Trial {
    workload: Box<dyn Workload>,
    steps: Vec<Step>,
}

impl Trial {
    pub(crate) fn new(spec: &TpccSpec) -> Self {
        let workload = workloads::workload(&spec.clone().into(), SEED);
        Self { workload, steps: spec.trial_steps() }
    }

    /// Carries out the step with this name. An answer that is wrong is an error.
    pub(crate) fn step(&mut self, name: &str, target: &Target) -> Result<StepRecord> {
        let step = self.steps.iter().position(|step| step.id.0 == name);
        let step = step.with_context(|| format!("the workload has no step {name}"))?;
        let stop = Stop::default();
        let result = self.workload.run(step, target, &stop, &mut Blind)?;
        match result.checks.iter().find(|check| !check.holds) {
            Some(wrong) => bail!("{}: {} is not {}", wrong.what, wrong.actual, wrong.expected),
            None => Ok(result),
        }
    }
}

//! A server of ours with the table in it.

use anyhow::{Context, Result, bail};
pub(crate) use bench::Place;
use bench::Scratch;
use lab::Site;
use load::{Blind, Stop, Target};
use model::{SqlSpec, WorkloadSpec};

use crate::spec::{Work, spec};

/// Rows of the table that queries are asked of.
pub(crate) const ROWS: u64 = 1_000_000;

/// Where a server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// On the CPU that clients are bound to.
    OneCpu,
    /// On all CPUs.
    AllCpus,
}

/// A server.
pub(crate) struct Server {
    pub(crate) name: String,
    /// The CPU that clients are bound to.
    pub(crate) cpu: usize,
    pub(crate) place: Place,
    site: Box<dyn Site>,
    // Removed after the site has ended.
    _scratch: Scratch,
}

impl Server {
    /// Starts `name` with this much of the workload done: `rows` loaded. Clients are bound to the last CPU
    /// that may be used.
    pub(crate) fn start(name: &str, on: On, rows: u64, settings: &str) -> Result<Self> {
        let cpu = *probes::allowed().last().context("no CPU may be used")?;
        let scratch = Scratch::new()?;
        let cpus = match on {
            On::OneCpu => format!("cpus = {{ server = \"{cpu}\" }}"),
            On::AllCpus => String::new(),
        };
        let plan = format!(
            r#"
            name = "peers"
            rounds = 1
            quarantine = false
            workload = {{ kind = "insert", scale = "tiny" }}
            [[system]]
            build = "{name}"
            config = "quick"
            {cpus}
            set = {{ {settings} }}
            "#
        );
        let (_, site) = scratch.open(&plan)?;
        let mut session = site.target().connector.connect()?;
        let place = Place::of(site.target().dialect, &mut *session)?;
        if rows > 0 {
            load(&site.target(), &spec(rows, 1, Work::Point, 1, 1))?;
        }
        Ok(Self { name: name.to_owned(), cpu, place, site, _scratch: scratch })
    }

    pub(crate) fn target(&self) -> Target {
        self.site.target()
    }

    /// Ends it and removes it.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.site.stop()?;
        self.site.remove()?;
        Ok(())
    }
}

/// Loads the table and builds its index; how long that took.
pub(crate) fn load(target: &Target, spec: &SqlSpec) -> Result<f64> {
    let mut workload = workloads::workload(&WorkloadSpec::Sql(spec.clone()), 42);
    let mut seconds = 0.0;
    for step in 0..2 {
        let result = workload.run(step, target, &Stop::default(), &mut Blind)?;
        if let Some(wrong) = result.checks.iter().find(|check| !check.holds) {
            bail!("{}: {} is not {}", wrong.what, wrong.actual, wrong.expected);
        }
        seconds += result.window.as_secs_f64();
    }
    Ok(seconds)
}

//! Carries a run out: what is checked before it, its rounds, its end.

mod rounds;
mod step;
mod templates;
mod trial;
mod turns;

use std::collections::BTreeSet;
use std::path::Path;

use load::Stop;
use model::{BuildSource, Engine, Event, Host, Plan, RunId, RunInfo, RunState, System};
use store::Want;

use self::rounds::Rounds;
pub(crate) use self::trial::place_client;
use self::trial::{Conductor, Halt};
use crate::capacity::raise_limits_of;
use crate::directory::TRYOUT;
use crate::error::{Result, SystemError};
use crate::keeper::Keeper;
use crate::kept;
use crate::reach;
use crate::site::Provider;
use crate::template::Templates;
use crate::{Lab, LabError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every trial that was needed has an outcome; this many failed, in this session or before.
    Finished { failed: u32 },
    /// The user asked to stop; the rest can be resumed.
    Interrupted,
    /// What is left counts instructions of an embedded system: resume it in a process under Valgrind.
    NeedsValgrind,
}

impl Lab {
    /// Runs every trial of `run` that has no outcome yet. `listen` is told of each event after the store has it.
    pub fn carry_out(
        &mut self,
        run: &RunId,
        provider: &dyn Provider,
        stop: &Stop,
        listen: &mut dyn FnMut(&Event),
    ) -> Result<Ended> {
        let _lock = self.lock()?;
        let info = self.store.run_info(run)?;
        if info.state == RunState::Finished {
            return Err(LabError::Finished(run.clone()));
        }
        let done = self.store.journal(run)?;
        let (instances, swept) = self.sweep_instances()?;
        let logs = self.logs();
        for text in swept {
            listen(&Event::Warning { text });
        }
        // Before hours of judged rounds.
        check_profiled(&info.plan)?;
        let mut rounds = Rounds::of(&info.plan, &done).resumed();
        let left = rounds.systems_left();
        check(&info.plan, &left, provider)?;
        let tried = try_connections(&info.plan, &left, provider, &instances, &logs);
        if stop.is_asked() {
            return Ok(Ended::Interrupted);
        }
        tried?;
        for text in remarks(&info, self.host().ok().as_ref()) {
            listen(&Event::Warning { text });
        }
        let host = self.host()?;
        let templates = self.templates(&info, &left)?;
        let mut conductor = Conductor {
            plan: &info.plan,
            run,
            provider,
            stop,
            instances,
            logs,
            device: host.disk.device.clone(),
            keeper: Keeper::new(&mut self.store, &info, host),
            listen: &mut *listen,
            store_failure: None,
            told: BTreeSet::new(),
            templates,
            all_rest: false,
            counts_in: self.counts_in.clone(),
        };
        match conductor.make_templates(&left).and_then(|()| conductor.rounds(&mut rounds)) {
            Ok(()) => {}
            Err(Halt::Interrupted) => return Ok(Ended::Interrupted),
            Err(Halt::NeedsValgrind) => return Ok(Ended::NeedsValgrind),
            Err(Halt::Lab(error)) => return Err(error),
        }
        for text in self.count_false_alarms() {
            listen(&Event::Warning { text });
        }
        Ok(Ended::Finished { failed: rounds.failed })
    }

    fn templates(&self, info: &RunInfo, left: &[usize]) -> Result<Option<Templates>> {
        if !info.plan.has_templates() {
            return Ok(None);
        }
        let done = self.store.load(&info.id, Want::default())?;
        Templates::of(&info.plan, left, &done, self.shelf()?).map(Some)
    }
}

/// What is not verified, and what is different from when the run began, so that its rounds may not be comparable.
fn remarks(info: &RunInfo, host: Option<&Host>) -> Vec<String> {
    let mut remarks = Vec::new();
    if info.plan.systems.iter().any(|s| s.engine == Engine::Tokudb) {
        remarks.push(servers::TOKUDB_UNVERIFIED.to_owned());
    }
    if let Some(host) = host {
        let then = &info.host;
        for (what, before, now) in [
            ("CPU", &then.cpu_model, &host.cpu_model),
            ("kernel", &then.kernel, &host.kernel),
            ("host", &then.name, &host.name),
        ] {
            if before != now {
                remarks.push(format!(
                    "the {what} was `{before}` when this run began, now it is `{now}`"
                ));
            }
        }
    }
    remarks
}

/// Every system that is left must be what the plan says and take as many sessions as the workload opens; so must we.
fn check(plan: &Plan, left: &[usize], provider: &dyn Provider) -> Result<()> {
    for system in systems(plan, left) {
        let is_ours = !matches!(system.build.source, BuildSource::Connect(_));
        let checked = provider.check(system).and_then(|()| provider.check_hosts(system));
        let checked = checked.and_then(|()| match provider.capacity(system)? {
            Some(capacity) => capacity.check(&plan.steps, is_ours),
            None => Ok(()),
        });
        checked.map_err(|cause| refused(system, cause))?;
    }
    raise_limits_of(plan, &systems(plan, left).collect::<Vec<_>>())
}

/// A plan file with systems of others cannot ask for profiles; its run may get them later.
fn check_profiled(plan: &Plan) -> Result<()> {
    if plan.profiled_rounds().next().is_none() {
        return Ok(());
    }
    if plan.profiled_rounds().any(|round| plan.is_counted(round)) {
        profiles::check_counting().map_err(LabError::Count)?;
    }
    if plan.profiled_rounds().any(|round| !plan.is_counted(round)) {
        profiles::check()?;
    }
    let is_foreign = |system: &&System| matches!(system.build.source, BuildSource::Connect(_));
    let foreign = plan.systems.iter().find(is_foreign);
    foreign.map_or(Ok(()), |system| Err(refused(system, SystemError::NotSampled)))
}

/// Whether a build can encrypt, compress or use TCP is not known before a server of it is started.
fn try_connections(
    plan: &Plan,
    left: &[usize],
    provider: &dyn Provider,
    instances: &Path,
    logs: &Path,
) -> Result<()> {
    for system in systems(plan, left) {
        if !(system.has_server() && reach::is_negotiated(system.connection)) {
            continue;
        }
        let name = format!("{TRYOUT}{}", std::process::id());
        let opened = provider.open(system, plan.statement_timeout(), &instances.join(&name), None);
        let tried = match opened {
            Ok(site) => kept::end_after(site, logs, &name, Ok(())),
            Err(error) => Err(kept::settle(error, logs, &name)),
        };
        tried.map_err(|error| refused(system, error.into()))?;
    }
    Ok(())
}

/// The systems that still have trials, in the plan's order.
fn systems<'a>(plan: &'a Plan, left: &'a [usize]) -> impl Iterator<Item = &'a System> {
    let all = plan.systems.iter().enumerate();
    all.filter(move |(index, _)| left.contains(index)).map(|(_, system)| system)
}

fn refused(system: &System, cause: SystemError) -> LabError {
    LabError::System { system: system.name.clone(), cause: cause.into() }
}

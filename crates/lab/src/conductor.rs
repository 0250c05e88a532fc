//! Runs the trials of a run, one after the other, and tells what happens.

mod beforehand;
mod rounds;
mod step;
mod templates;
mod turns;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use load::{Stop, Workload};
use model::{
    Engine, Event, Interleave, Outcome, Plan, RunId, RunInfo, RunState, Step, System, Trial,
    TrialKey,
};
use store::{StoreError, Want};

use self::rounds::Rounds;
use self::step::OpenSite;
use self::templates::Templates;
use crate::disturbance;
use crate::keeper::Keeper;
use crate::kept::{self, Ending, Kept};
use crate::site::{Provider, SiteError};
use crate::template::Template;
use crate::{Lab, LabError};

/// How carrying a run out ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every trial that was needed has an outcome; this many failed, in this session or before.
    Finished {
        /// Trials that failed.
        failed: u32,
    },
    /// The user asked to stop; the run can be resumed.
    Interrupted,
}

impl Lab {
    /// Runs every trial of `run` that has no outcome yet, as far as its course asks for them. `listen` is told of
    /// each event after the store has it.
    pub fn carry_out(
        &mut self,
        run: &RunId,
        provider: &dyn Provider,
        stop: &Stop,
        listen: &mut dyn FnMut(&Event),
    ) -> Result<Ended, LabError> {
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
        let mut rounds = Rounds::of(&info.plan, &done).resumed();
        let left = rounds.systems_left();
        beforehand::check(&info.plan, &left, provider)?;
        let tried = beforehand::try_connections(&info.plan, &left, provider, &instances, &logs);
        if stop.is_asked() {
            return Ok(Ended::Interrupted);
        }
        tried?;
        for text in remarks(&info, self.host().ok().as_ref()) {
            listen(&Event::Warning { text });
        }
        let device = self.host()?.disk.device;
        let templates = self.templates(&info, &left)?;
        let mut conductor = Conductor {
            plan: &info.plan,
            run,
            provider,
            stop,
            instances,
            logs,
            device,
            keeper: Keeper::new(&mut self.store, run.clone()),
            listen: &mut *listen,
            store_failure: None,
            told: BTreeSet::new(),
            templates,
            freezes: false,
        };
        match conductor.make_templates(&left) {
            Err(Broken::Interrupted) => return Ok(Ended::Interrupted),
            Err(Broken::Lab(error)) => return Err(error),
            // What failed is told by its trials.
            Ok(()) | Err(Broken::Failed(_)) => {}
        }
        let ended = conductor.rounds(&mut rounds)?;
        if let Ended::Finished { .. } = ended {
            for text in self.count_false_alarms() {
                listen(&Event::Warning { text });
            }
        }
        Ok(ended)
    }

    /// The templates of a run, where its plan asks for them.
    fn templates(&self, info: &RunInfo, left: &[usize]) -> Result<Option<Templates>, LabError> {
        if !(info.plan.template && info.plan.has_loading()) {
            return Ok(None);
        }
        let done = self.store.load(&info.id, Want::default())?;
        Templates::of(&info.plan, left, &done, self.shelf()?).map(Some)
    }
}

/// What is not verified, and what is different from when the run began, so that its rounds may not be comparable.
fn remarks(info: &RunInfo, host: Option<&model::Host>) -> Vec<String> {
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

struct Conductor<'a> {
    plan: &'a Plan,
    run: &'a RunId,
    provider: &'a dyn Provider,
    stop: &'a Stop,
    instances: PathBuf,
    logs: PathBuf,
    device: Option<String>,
    keeper: Keeper<'a>,
    listen: &'a mut dyn FnMut(&Event),
    /// Set when an interval could not be stored; ends the run.
    store_failure: Option<StoreError>,
    /// Warnings that would repeat at every step, once told.
    told: BTreeSet<String>,
    /// Where the plan asks for templates.
    templates: Option<Templates>,
    /// Is every server frozen whose turn it is not?
    freezes: bool,
}

/// Why a trial has no completed outcome.
enum Broken {
    Failed(Outcome),
    Interrupted,
    Lab(LabError),
}

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        Self::Lab(error.into())
    }
}

impl Conductor<'_> {
    fn key(&self, trial: &Trial) -> TrialKey {
        TrialKey {
            round: trial.round,
            position: trial.position,
            system: self.plan.systems[trial.system].name.clone(),
        }
    }

    /// Name of the instance of a trial.
    fn instance(&self, key: &TrialKey) -> String {
        format!("{}-{}-{}", self.run, key.round, key.position)
    }

    fn emit(&mut self, event: &Event) -> Result<(), StoreError> {
        self.keeper.keep(event)?;
        (self.listen)(event);
        Ok(())
    }

    /// Runs one trial; `None` when the user asked to stop.
    fn trial(
        &mut self,
        trial: &Trial,
        key: TrialKey,
        index: u32,
        of: u32,
    ) -> Result<Option<Outcome>, LabError> {
        // Before the trial begins: what is loaded is no part of it.
        let template = match self.template(trial.system) {
            Err(Broken::Interrupted) => return Ok(None),
            Err(Broken::Lab(error)) => return Err(error),
            other => other,
        };
        self.emit(&Event::TrialStarted { trial: key.clone(), index, of })?;
        let name = self.instance(&key);
        let attempt = template.and_then(|template| self.attempt(trial, &name, template.as_ref()));
        let outcome = match attempt {
            Ok(disturbed) => disturbance::outcome(&disturbed),
            Err(Broken::Failed(outcome)) => outcome,
            Err(Broken::Interrupted) => return Ok(None),
            Err(Broken::Lab(error)) => return Err(error),
        };
        self.emit(&Event::TrialFinished { trial: key, outcome: outcome.clone() })?;
        Ok(Some(outcome))
    }

    /// Runs the steps of a trial; what disturbed them by more than the plan allows.
    fn attempt(
        &mut self,
        trial: &Trial,
        name: &str,
        template: Option<&Template>,
    ) -> Result<Vec<String>, Broken> {
        let system = &self.plan.systems[trial.system];
        let mut open = self.open(system, name, template)?;
        let result = place_client(system, &system.cpus.client)
            .map_err(Broken::Lab)
            .and_then(|()| self.steps(trial, &mut open, template))
            .map(|()| std::mem::take(&mut open.disturbed));
        self.end(system, name, open, result)
    }

    /// Ends a site after what was done on it, and keeps what explains a failure.
    fn end<T>(
        &mut self,
        system: &System,
        name: &str,
        open: OpenSite,
        result: Result<T, Broken>,
    ) -> Result<T, Broken> {
        if let Err(Broken::Failed(Outcome::Failed { log_tail, .. })) = &result {
            self.keep_log(name, log_tail);
        }
        let has_failed = matches!(result, Err(Broken::Failed(_)));
        let Ending { trouble, remark, kept } = kept::end(open.site, &self.logs, name, has_failed);
        if let Some(remark) = remark {
            self.emit(&Event::Warning { text: format!("{}: {remark}", system.name) })?;
        }
        if let Some(error) = &trouble {
            self.keep_log(name, &error.log_tail);
        }
        match (result, trouble) {
            (Err(Broken::Failed(outcome)), trouble) => {
                Err(Broken::Failed(because(outcome, trouble.as_ref(), &kept)))
            }
            (result, None) => result,
            (result, Some(error)) => {
                // What was measured is whole: a server that does not end well is worth a word, no more.
                let text = format!("{}: {}", system.name, kept.told_in(&error.reason));
                self.emit(&Event::Warning { text })?;
                result
            }
        }
    }

    /// Makes a system ready in the instance `name`, with the data of its template where there is one.
    fn open(
        &mut self,
        system: &System,
        name: &str,
        template: Option<&Template>,
    ) -> Result<OpenSite, Broken> {
        let directory = self.instances.join(name);
        self.provider.check(system).map_err(|reason| failed(None, reason, Vec::new()))?;
        place_client(system, "").map_err(Broken::Lab)?;
        let (provider, timeout) = (self.provider, self.timeout());
        let opened = match template {
            None => provider.open(system, timeout, &directory),
            Some(template) => provider.open_clone(system, timeout, &directory, template),
        };
        opened.map(OpenSite::new).map_err(|error| {
            let error = kept::settle(error, &self.logs, name);
            if self.stop.is_asked() {
                return Broken::Interrupted;
            }
            self.keep_log(name, &error.log_tail);
            failed(None, error.reason, error.log_tail)
        })
    }

    /// The longest wait for an answer, during which the other systems may have their turns.
    fn timeout(&self) -> Duration {
        let systems = self.plan.systems.len() as u32;
        match self.plan.course.interleave {
            Interleave::Trials | Interleave::Slices(_) => self.plan.statement_timeout(),
            Interleave::Turns(_) => self.plan.statement_timeout() * systems,
        }
    }

    fn steps(
        &mut self,
        trial: &Trial,
        open: &mut OpenSite,
        template: Option<&Template>,
    ) -> Result<(), Broken> {
        let mut workload = self.begin(trial, open, template)?;
        for step in self.plan.trial_steps(template.is_some()) {
            self.step(&mut *workload, &step, open)?;
        }
        Ok(())
    }

    /// Tells what the server says of itself; the workload of a trial, about to take its first step.
    fn begin(
        &mut self,
        trial: &Trial,
        open: &OpenSite,
        template: Option<&Template>,
    ) -> Result<Box<dyn Workload>, Broken> {
        let mut provenance = open.site.provenance();
        let mut workload = workloads::workload(&self.plan.workload, trial.seed);
        if let Some(template) = template {
            provenance.0.extend(template.provenance());
            let restored = workload.restore(template.state());
            restored.map_err(|error| failed(None, error.to_string(), Vec::new()))?;
        }
        self.emit(&Event::ServerReady { provenance })?;
        Ok(workload)
    }

    /// Keeps the log of a failed trial beside the results: its instance is removed.
    fn keep_log(&mut self, name: &str, log_tail: &[String]) {
        if log_tail.is_empty() {
            return;
        }
        let path = self.logs.join(format!("{name}.log"));
        let written = std::fs::create_dir_all(&self.logs)
            .and_then(|()| std::fs::write(&path, log_tail.join("\n") + "\n"));
        if let Err(error) = written {
            let text = format!("cannot keep {}: {error}", path.display());
            (self.listen)(&Event::Warning { text });
        }
    }
}

/// The outcome with what became of the server, and of its files.
fn because(outcome: Outcome, trouble: Option<&SiteError>, kept: &Kept) -> Outcome {
    match outcome {
        Outcome::Failed { step, reason, log_tail } => Outcome::Failed {
            step,
            // Why statements failed: the server was gone, and here is how.
            reason: kept.told_in(&match trouble {
                Some(error) => format!("{reason}; {}", error.reason),
                None => reason,
            }),
            log_tail,
        },
        whole @ (Outcome::Completed | Outcome::Quarantined { .. }) => whole,
    }
}

fn failed(step: Option<&Step>, reason: String, log_tail: Vec<String>) -> Broken {
    let step = step.map(|step| step.id.clone());
    Broken::Failed(Outcome::Failed { step, reason, log_tail })
}

/// The CPUs that this process could use when it began.
static ALLOWED: std::sync::OnceLock<Vec<usize>> = std::sync::OnceLock::new();

/// Restricts this process to `cpus`, all that it may use for an empty list.
fn place_client(system: &System, cpus: &str) -> Result<(), LabError> {
    let failed = |cause: String| LabError::Placement { system: system.name.clone(), cause };
    let allowed = ALLOWED.get_or_init(probes::allowed);
    if cpus.is_empty() {
        return probes::pin_self(allowed).map_err(|error| failed(error.to_string()));
    }
    let wanted = servers::parse_cpus(cpus).map_err(|error| failed(error.to_string()))?;
    probes::pin_self(&wanted).map_err(|error| failed(error.to_string()))
}

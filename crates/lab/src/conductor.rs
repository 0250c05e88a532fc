//! Runs the trials of a run, one after the other, and tells what happens.

mod beforehand;
mod templates;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use load::{StepError, StepOutline, StepResult, Stop, Workload};
use model::{
    Capture, Engine, Event, Moment, Outcome, Plan, RunId, RunInfo, RunState, Sizes, StepRecord,
    System, Trial, TrialKey,
};
use probes::Watch;
use store::{StoreError, Want};

use self::templates::Templates;
use crate::keeper::Keeper;
use crate::kept::{self, Ending, Kept};
use crate::observer::StepObserver;
use crate::site::{Provider, Site, SiteError, Watched};
use crate::template::{Figure, Template};
use crate::{Lab, LabError};

/// How carrying a run out ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every trial has an outcome; this many failed, in this session or before.
    Finished {
        /// Trials that failed.
        failed: u32,
    },
    /// The user asked to stop; the run can be resumed.
    Interrupted,
}

impl Lab {
    /// Runs every trial of `run` that has no outcome yet. `listen` is told of each event after the
    /// store has it.
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
        let trials = info.plan.trials();
        let left = systems_left(&trials, &info.plan, &done);
        beforehand::check(&info.plan, &left, provider)?;
        beforehand::try_connections(&info.plan, &left, provider, &instances, &logs)?;
        if info.plan.systems.iter().any(|s| s.engine == Engine::Tokudb) {
            listen(&Event::Warning {
                text: servers::TOKUDB_UNVERIFIED.to_owned(),
            });
        }
        for text in changes_since(&info, self.host().ok().as_ref()) {
            listen(&Event::Warning { text });
        }
        let device = self.host()?.disk.device;
        let loads_apart = load::workload(&info.plan.workload, info.plan.seed).loading_steps() > 0;
        let templates = if info.plan.template && loads_apart {
            let done = self.store.load(run, Want::default())?;
            Some(Templates::of(&info.plan, &left, &done, self.shelf()?)?)
        } else {
            None
        };
        let mut conductor = Conductor {
            plan: &info.plan,
            run,
            provider,
            stop,
            instances,
            logs,
            device,
            keeper: Keeper::new(&mut self.store, run.clone()),
            listen,
            store_failure: None,
            told: BTreeSet::new(),
            captured: None,
            sizes: None,
            templates,
        };
        match conductor.make_templates(&left) {
            Err(Broken::Interrupted) => return Ok(Ended::Interrupted),
            Err(Broken::Lab(error)) => return Err(error),
            // What failed is told by its trials.
            Ok(()) | Err(Broken::Failed(_)) => {}
        }
        let is_failed = |outcome: &Outcome| u32::from(!outcome.is_completed());
        let mut failed = done.iter().map(|(_, outcome)| is_failed(outcome)).sum();
        for (index, trial) in (1..).zip(&trials) {
            let key = conductor.key(trial);
            if done.iter().any(|(finished, _)| *finished == key) {
                continue;
            }
            if stop.is_asked() {
                return Ok(Ended::Interrupted);
            }
            match conductor.trial(trial, key, index, trials.len() as u32)? {
                Some(outcome) => failed += is_failed(&outcome),
                None => return Ok(Ended::Interrupted),
            }
        }
        conductor.keeper.finish()?;
        Ok(Ended::Finished { failed })
    }
}

/// The systems that still have trials, in the order of these.
fn systems_left(trials: &[Trial], plan: &Plan, done: &[(TrialKey, Outcome)]) -> Vec<usize> {
    let mut left = Vec::new();
    for trial in trials {
        let system = &plan.systems[trial.system].name;
        let is_done = done
            .iter()
            .any(|(key, _)| key.round == trial.round && key.system == *system);
        if !is_done && !left.contains(&trial.system) {
            left.push(trial.system);
        }
    }
    left
}

/// What is different from when the run began, so that its rounds may not be comparable.
fn changes_since(info: &RunInfo, host: Option<&model::Host>) -> Vec<String> {
    let mut changes = Vec::new();
    if let Some(host) = host {
        let then = &info.host;
        for (what, before, now) in [
            ("CPU", &then.cpu_model, &host.cpu_model),
            ("kernel", &then.kernel, &host.kernel),
            ("host", &then.name, &host.name),
        ] {
            if before != now {
                changes.push(format!(
                    "the {what} was `{before}` when this run began, now it is `{now}`"
                ));
            }
        }
    }
    changes
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
    /// What was captured after the last step of the site that is open.
    captured: Option<Vec<Capture>>,
    /// Sizes after the last step of the site that is open.
    sizes: Option<Sizes>,
    /// Where the plan asks for templates.
    templates: Option<Templates>,
}

/// Why a step failed whose clients have not said so themselves; how the server ended is told after it.
const DIED: &str = "the server's process has ended";

/// Notes of a step that are said at once: its numbers are not what the plan asked for.
const SAID_AT_ONCE: [&str; 8] = [
    "cut short",
    "settle",
    "rate not sustained",
    "limit not kept",
    "connections lost",
    "rows not counted",
    "sent as text",
    "no rows found",
];

/// What a note is called that tells one of the first wrong answers of a step.
const WRONG_ANSWER: &str = "wrong answer";

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
        self.emit(&Event::TrialStarted {
            trial: key.clone(),
            index,
            of,
        })?;
        let name = format!("{}-{}-{}", self.run, key.round, key.position);
        let attempt = template.and_then(|template| self.attempt(trial, &name, template.as_ref()));
        let outcome = match attempt {
            Ok(()) => Outcome::Completed,
            Err(Broken::Failed(outcome)) => outcome,
            Err(Broken::Interrupted) => return Ok(None),
            Err(Broken::Lab(error)) => return Err(error),
        };
        self.emit(&Event::TrialFinished {
            trial: key,
            outcome: outcome.clone(),
        })?;
        Ok(Some(outcome))
    }

    fn attempt(
        &mut self,
        trial: &Trial,
        name: &str,
        template: Option<&Template>,
    ) -> Result<(), Broken> {
        let system = &self.plan.systems[trial.system];
        let mut site = self.open(system, name, template)?;
        let result = place_client(system, &system.cpus.client)
            .map_err(Broken::Lab)
            .and_then(|()| self.steps(trial, &mut *site, template));
        self.end(system, name, site, result)
    }

    /// Ends a site after what was done on it, and keeps what explains a failure.
    fn end<T>(
        &mut self,
        system: &System,
        name: &str,
        site: Box<dyn Site>,
        result: Result<T, Broken>,
    ) -> Result<T, Broken> {
        if let Err(Broken::Failed(Outcome::Failed { log_tail, .. })) = &result {
            self.keep_log(name, log_tail);
        }
        let has_failed = matches!(result, Err(Broken::Failed(_)));
        let Ending { trouble, kept } = kept::end(site, &self.logs, name, has_failed);
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
    ) -> Result<Box<dyn Site>, Broken> {
        let directory = self.instances.join(name);
        self.captured = None;
        self.sizes = None;
        self.provider
            .check(system)
            .map_err(|reason| failed(None, reason, Vec::new()))?;
        place_client(system, "").map_err(Broken::Lab)?;
        let (provider, workload) = (self.provider, &self.plan.workload);
        let opened = match template {
            None => provider.open(system, workload, &directory),
            Some(template) => provider.open_clone(system, workload, &directory, template),
        };
        opened.map_err(|error| {
            let error = kept::settle(error, &self.logs, name);
            self.keep_log(name, &error.log_tail);
            failed(None, error.reason, error.log_tail)
        })
    }

    fn steps(
        &mut self,
        trial: &Trial,
        site: &mut dyn Site,
        template: Option<&Template>,
    ) -> Result<(), Broken> {
        let mut provenance = site.provenance();
        let mut workload = load::workload(&self.plan.workload, trial.seed);
        if let Some(template) = template {
            provenance.extend(template.provenance());
            let restored = workload.restore(template.state());
            restored.map_err(|error| failed(None, error.to_string(), Vec::new()))?;
        }
        self.emit(&Event::ServerReady { provenance })?;
        for (ordinal, outline) in (0..).zip(workload.steps()) {
            self.step(&mut *workload, ordinal, &outline, site)?;
        }
        Ok(())
    }

    /// Runs one step; what it came to, if it is a result.
    fn step(
        &mut self,
        workload: &mut dyn Workload,
        ordinal: u32,
        outline: &StepOutline,
        site: &mut dyn Site,
    ) -> Result<Option<Figure>, Broken> {
        self.capture(site, outline, Moment::Before)?;
        self.emit(&Event::StepStarted {
            step: outline.step.clone(),
            ordinal,
            kinds: outline.kinds.clone(),
            measured: outline.measured,
            subject: outline.subject.clone(),
        })?;
        let watch = self.watch(site);
        let stop = self.stop;
        let mut emit = |event: Event| match self.emit(&event) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.store_failure = Some(error);
                ControlFlow::Break(())
            }
        };
        let has_died = || site.has_died();
        let mut observer = StepObserver::new(probes::all(&watch), &has_died, &mut emit);
        let result = workload.run(ordinal as usize, &site.target(), stop, &mut observer);
        let (counters, failures) = observer.into_counters();
        if let Some(error) = self.store_failure.take() {
            return Err(error.into());
        }
        let result = result.map_err(|error| self.broken(outline, &error, site))?;
        if site.has_died() {
            return Err(failed(Some(outline), DIED.to_owned(), site.log_tail()));
        }
        for text in failures {
            self.emit(&Event::Warning {
                text: format!("{}: {text}", outline.step),
            })?;
        }
        let mut record = self.record(outline, ordinal, result);
        record.counters = counters;
        record.sizes = site.sizes();
        record.before = std::mem::replace(&mut self.sizes, record.sizes);
        let wrong = wrong(&record);
        for (what, text) in &record.notes {
            if SAID_AT_ONCE.contains(&what.as_str()) {
                let text = if *what == outline.step.0 {
                    format!("{what}: {text}")
                } else {
                    format!("{}: {what}: {text}", outline.step)
                };
                self.emit(&Event::Warning { text })?;
            }
        }
        let figure = Figure::of(&record);
        self.emit(&Event::StepFinished {
            record: Box::new(record),
        })?;
        self.capture(site, outline, Moment::After)?;
        if !wrong.is_empty() {
            let reason = format!("wrong answers: {}", wrong.join("; "));
            return Err(failed(Some(outline), reason, site.log_tail()));
        }
        Ok(figure)
    }

    fn watch(&self, site: &dyn Site) -> Watch {
        let watched = site.watched();
        Watch {
            server: site.pid(),
            host: watched != Watched::Nothing,
            device: self
                .device
                .clone()
                .filter(|_| watched == Watched::HostAndDisk),
        }
    }

    fn broken(&self, outline: &StepOutline, error: &StepError, site: &dyn Site) -> Broken {
        // A stop that was asked for makes other errors too: servers get the terminal's signals as well.
        if self.stop.is_asked() {
            return Broken::Interrupted;
        }
        let reason = match error {
            // Nobody asked to stop: it was given up because there is no server any more.
            StepError::Interrupted if site.has_died() => DIED.to_owned(),
            error => error.to_string(),
        };
        failed(Some(outline), reason, site.log_tail())
    }

    fn capture(
        &mut self,
        site: &mut dyn Site,
        outline: &StepOutline,
        moment: Moment,
    ) -> Result<(), StoreError> {
        let captures = match (moment, self.captured.take()) {
            // Nothing has happened since the step before this one ended.
            (Moment::Before, Some(captures)) => captures,
            (Moment::Before | Moment::After, _) => {
                let (captures, failures) = site.captures();
                let is_whole = failures.is_empty();
                self.tell_once(failures)?;
                if is_whole && moment == Moment::After {
                    self.captured = Some(captures.clone());
                }
                captures
            }
        };
        for capture in captures {
            let step = outline.step.clone();
            self.emit(&Event::Captured {
                step,
                moment,
                capture,
            })?;
        }
        Ok(())
    }

    /// Says what repeats at every step: a listing that cannot be taken fails at every step of every trial.
    fn tell_once(&mut self, failures: Vec<String>) -> Result<(), StoreError> {
        for text in failures {
            if self.told.insert(text.clone()) {
                self.emit(&Event::Warning { text })?;
            }
        }
        Ok(())
    }

    fn record(&self, outline: &StepOutline, ordinal: u32, result: StepResult) -> StepRecord {
        let window = result.window;
        StepRecord {
            step: outline.step.clone(),
            ordinal,
            measured: outline.measured,
            clients: outline.clients,
            window: window.length,
            elapsed: result.elapsed,
            subject: outline.subject.clone(),
            kinds: window.kinds,
            errors: window.errors,
            target_rate: result.target_rate,
            seconds_on_target: window.on_target,
            requested_rows: result.requested_rows,
            open_loop: result.open_loop,
            tpcc: result.tpcc,
            counters: model::Readings::default(),
            before: None,
            sizes: None,
            checks: result.checks,
            notes: result.notes,
            compat: self.plan.workload.is_compat(),
        }
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

/// What was wrong in a step: the first wrong answer with its statement, and each check that does not hold.
fn wrong(record: &StepRecord) -> Vec<String> {
    let failed = record.checks.iter().filter(|check| !check.holds);
    let mut wrong: Vec<String> = failed
        .map(|c| format!("{}: expected {}, found {}", c.what, c.expected, c.actual))
        .collect();
    let first = record.notes.iter().find(|(what, _)| what == WRONG_ANSWER);
    if let (Some((_, text)), false) = (first, wrong.is_empty()) {
        wrong.insert(0, text.clone());
    }
    wrong
}

/// The outcome with what became of the server, and of its files.
fn because(outcome: Outcome, trouble: Option<&SiteError>, kept: &Kept) -> Outcome {
    match outcome {
        Outcome::Failed {
            step,
            reason,
            log_tail,
        } => Outcome::Failed {
            step,
            // Why statements failed: the server was gone, and here is how.
            reason: kept.told_in(&match trouble {
                Some(error) => format!("{reason}; {}", error.reason),
                None => reason,
            }),
            log_tail,
        },
        Outcome::Completed => Outcome::Completed,
    }
}

fn failed(outline: Option<&StepOutline>, reason: String, log_tail: Vec<String>) -> Broken {
    let step = outline.map(|outline| outline.step.clone());
    Broken::Failed(Outcome::Failed {
        step,
        reason,
        log_tail,
    })
}

/// The CPUs that this process could use when it began.
static ALLOWED: std::sync::OnceLock<Vec<usize>> = std::sync::OnceLock::new();

/// Restricts this process to `cpus`, all that it may use for an empty list.
fn place_client(system: &System, cpus: &str) -> Result<(), LabError> {
    let failed = |cause: String| LabError::Placement {
        system: system.name.clone(),
        cause,
    };
    let allowed = ALLOWED.get_or_init(probes::allowed);
    if cpus.is_empty() {
        return probes::pin_self(allowed).map_err(|error| failed(error.to_string()));
    }
    let wanted = servers::parse_cpus(cpus).map_err(|error| failed(error.to_string()))?;
    probes::pin_self(&wanted).map_err(|error| failed(error.to_string()))
}

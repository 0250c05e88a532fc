//! One trial: its site is opened, its steps are run, its site is ended.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use load::{Stop, Workload};
use model::{
    Bytes, Capture, Event, Fact, Interleave, Outcome, Plan, RunId, Sizes, Step, System, Trial,
    TrialKey,
};
use store::StoreError;

use crate::LabError;
use crate::disturbance;
use crate::keeper::Keeper;
use crate::kept::{self, Ending};
use crate::site::{Provider, Site, SiteError};
use crate::template::{Template, Templates};

/// How many times as long a statement may take under Valgrind.
const UNDER_VALGRIND: u32 = 50;

pub(super) struct Conductor<'a> {
    pub(super) plan: &'a Plan,
    pub(super) run: &'a RunId,
    pub(super) provider: &'a dyn Provider,
    pub(super) stop: &'a Stop,
    pub(super) instances: PathBuf,
    pub(super) logs: PathBuf,
    pub(super) device: Option<String>,
    pub(super) keeper: Keeper<'a>,
    pub(super) listen: &'a mut dyn FnMut(&Event),
    /// Set when an interval could not be stored; ends the run.
    pub(super) store_failure: Option<StoreError>,
    /// Warnings that would repeat at every step, once told.
    pub(super) told: BTreeSet<String>,
    pub(super) templates: Option<Templates>,
    /// Do all systems stand still outside their turns? Servers are frozen; embedded engines have nothing to freeze.
    pub(super) all_rest: bool,
    /// The directory in which this process counts its own instructions, if it runs under Valgrind.
    pub(super) counts_in: Option<PathBuf>,
}

pub(super) enum Halt {
    Interrupted,
    NeedsValgrind,
    Lab(LabError),
}

impl<E: Into<LabError>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Lab(error.into())
    }
}

pub(super) enum Broken {
    Failed(Outcome),
    Halted(Halt),
}

impl<E: Into<Halt>> From<E> for Broken {
    fn from(error: E) -> Self {
        Self::Halted(error.into())
    }
}

/// A failure outside of steps.
impl From<SiteError> for Broken {
    fn from(error: SiteError) -> Self {
        failed(None, error.reason, error.log_tail)
    }
}

pub(super) type Result<T, E = Broken> = std::result::Result<T, E>;

pub(super) fn failed(step: Option<&Step>, reason: String, log_tail: Vec<String>) -> Broken {
    let step = step.map(|step| step.id.clone());
    Broken::Failed(Outcome::Failed { step, reason, log_tail })
}

/// Attributes a failure that names no step to this one.
pub(super) fn in_step<T>(step: &Step, result: Result<T>) -> Result<T> {
    result.map_err(|broken| match broken {
        Broken::Failed(Outcome::Failed { step: None, reason, log_tail }) => {
            failed(Some(step), reason, log_tail)
        }
        other => other,
    })
}

/// A failure ends its trial, any other error ends the run.
pub(super) fn apart<T>(result: Result<T>) -> Result<Result<T, Outcome>, Halt> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Broken::Failed(outcome)) => Ok(Err(outcome)),
        Err(Broken::Halted(halt)) => Err(halt),
    }
}

/// A trial without an outcome, and its number among those of the run.
pub(super) struct Due {
    pub(super) index: u32,
    pub(super) of: u32,
    pub(super) trial: Trial,
    pub(super) key: TrialKey,
}

pub(super) struct OpenSite {
    pub(super) site: Box<dyn Site>,
    name: String,
    pub(super) system: String,
    pub(super) captured: Option<Vec<Capture>>,
    pub(super) sizes: Option<Sizes>,
    /// What disturbed its steps by more than the plan allows.
    pub(super) disturbed: Vec<String>,
    /// Are its stacks sampled, or its instructions counted?
    pub(super) is_profiled: bool,
    /// The directory in which its server, or for an embedded one this process, counts its instructions under Valgrind.
    pub(super) counts_in: Option<PathBuf>,
    /// The space that was left on the disk when it failed, if next to none.
    pub(super) free: Option<Bytes>,
}

impl<'a> Conductor<'a> {
    pub(super) fn place_of(&self, due: &Due) -> (&'a System, String) {
        let name = format!("{}-{}-{}", self.run, due.key.round, due.key.position);
        (&self.plan.systems[due.trial.system], name)
    }

    pub(super) fn announce_trial(&mut self, due: &Due) -> Result<(), StoreError> {
        let Due { index, of, key, .. } = due;
        self.emit(&Event::TrialStarted { trial: key.clone(), index: *index, of: *of })
    }

    pub(super) fn emit(&mut self, event: &Event) -> Result<(), StoreError> {
        self.keeper.keep(event)?;
        (self.listen)(event);
        Ok(())
    }

    pub(super) fn warn(&mut self, text: String) -> Result<(), StoreError> {
        self.emit(&Event::Warning { text })
    }

    pub(super) fn unless_stopped(&self) -> Result<(), Halt> {
        if self.stop.is_asked() { Err(Halt::Interrupted) } else { Ok(()) }
    }

    pub(super) fn trial(&mut self, due: &Due) -> Result<Outcome, Halt> {
        // Before the trial begins: what is loaded is no part of it.
        let template = apart(self.template(due.trial.system))?;
        self.announce_trial(due)?;
        let done = match template {
            Ok(template) => apart(self.attempt(due, template.as_ref()))?,
            Err(outcome) => Err(outcome),
        };
        let outcome = match done {
            Ok(_) if self.is_profiled(due) => Outcome::Profiled,
            Ok(disturbed) => disturbance::outcome(&disturbed),
            Err(failed) => explained(failed),
        };
        self.emit(&Event::TrialFinished { trial: due.key.clone(), outcome: outcome.clone() })?;
        Ok(outcome)
    }

    /// Runs the steps of a trial; what disturbed them by more than the plan allows.
    fn attempt(&mut self, due: &Due, template: Option<&Template>) -> Result<Vec<String>> {
        let (system, name) = self.place_of(due);
        let is_counted = self.plan.is_counted(due.key.round);
        let server_in = (is_counted && system.has_server()).then(|| self.instances.join(&name));
        let under = server_in.as_deref().map(profiles::under_valgrind).transpose();
        let under = under.map_err(|error| failed(None, error.to_string(), Vec::new()))?;
        let system = System { under: under.unwrap_or_default(), ..system.clone() };
        let counts_in = server_in.or_else(|| self.counts_in.clone().filter(|_| is_counted));
        let mut open = self.open(&system, name, template)?;
        open.is_profiled = self.is_profiled(due);
        open.counts_in = counts_in;
        let result = self.steps(due, &mut open, template);
        let result = result.map(|()| std::mem::take(&mut open.disturbed));
        self.end(open, result)
    }

    fn is_profiled(&self, due: &Due) -> bool {
        self.plan.is_profiled(due.key.round)
    }

    fn steps(&mut self, due: &Due, open: &mut OpenSite, template: Option<&Template>) -> Result<()> {
        let system = &self.plan.systems[due.trial.system];
        place_client(system, clients_here(system))?;
        let mut workload = self.begin(&due.trial, open, template)?;
        for step in self.plan.trial_steps(template.is_some()) {
            self.step(&mut *workload, &step, open)?;
        }
        Ok(())
    }

    /// Makes a system ready in the instance `name`, with the data of its template where there is one.
    pub(super) fn open(
        &mut self,
        system: &System,
        name: String,
        template: Option<&Template>,
    ) -> Result<OpenSite> {
        let directory = self.instances.join(&name);
        let checked = self.provider.check(system);
        checked.map_err(|cause| failed(None, cause.to_string(), Vec::new()))?;
        place_client(system, "")?;
        let slowness = if system.under.is_empty() { 1 } else { UNDER_VALGRIND };
        match self.provider.open(system, self.timeout() * slowness, &directory, template) {
            Ok(site) => {
                let (system, disturbed) = (system.name.clone(), Vec::new());
                Ok(OpenSite {
                    site,
                    name,
                    system,
                    captured: None,
                    sizes: None,
                    disturbed,
                    is_profiled: false,
                    counts_in: None,
                    free: None,
                })
            }
            Err(error) => {
                let free = probes::nearly_full(&self.instances);
                let error = kept::settle(error, &self.logs, &name);
                self.unless_stopped()?;
                self.keep_log(&name, &error.log_tail);
                Err(self.unless_full(error.into(), system.name.clone(), free))
            }
        }
    }

    /// On a full disk, a failed trial has no outcome, because later trials would fail too.
    fn unless_full(&self, broken: Broken, system: String, free: Option<Bytes>) -> Broken {
        match (free, broken) {
            (Some(free), Broken::Failed(Outcome::Failed { reason, .. })) => {
                let directory = self.instances.clone();
                LabError::DiskFull { system, reason, directory, free }.into()
            }
            (_, broken) => broken,
        }
    }

    /// The longest wait for an answer, during which the other systems may have their turns.
    fn timeout(&self) -> Duration {
        let systems = self.plan.systems.len() as u32;
        match self.plan.course.interleave {
            Interleave::Trials | Interleave::Slices(_) => self.plan.statement_timeout(),
            Interleave::Turns(_) => self.plan.statement_timeout() * systems,
        }
    }

    /// Tells what the server says of itself; the workload of a trial, about to take its first step.
    pub(super) fn begin(
        &mut self,
        trial: &Trial,
        open: &OpenSite,
        template: Option<&Template>,
    ) -> Result<Box<dyn Workload>> {
        let mut provenance = open.site.provenance();
        let mut workload = workloads::workload(&self.plan.workload, trial.seed);
        if let Some(template) = template {
            provenance.0.extend(template.provenance());
            let restored = workload.restore(template.state());
            restored.map_err(|error| failed(None, error.to_string(), Vec::new()))?;
        }
        let plan = self.plan;
        let system = &plan.systems[trial.system];
        for text in adjusted(system, &open.site.log_tail()) {
            let told = format!("{}: the server changed a setting: {text}", system.name);
            if self.told.insert(told.clone()) {
                self.warn(told)?;
            }
            provenance.0.push((Fact::Adjusted, text));
        }
        self.emit(&Event::ServerReady { provenance })?;
        Ok(workload)
    }

    /// Ends a site after what was done on it, and keeps what explains a failure.
    pub(super) fn end<T>(&mut self, open: OpenSite, result: Result<T>) -> Result<T> {
        let OpenSite { site, name, system, free, .. } = open;
        if let Err(Broken::Failed(Outcome::Failed { log_tail, .. })) = &result {
            self.keep_log(&name, log_tail);
        }
        let has_failed = matches!(result, Err(Broken::Failed(_)));
        // Measured before the removed instance makes room.
        let free = free.or_else(|| probes::nearly_full(&self.instances)).filter(|_| has_failed);
        let Ending { trouble, remark, kept } = kept::end(site, &self.logs, &name, has_failed);
        if let Some(remark) = remark {
            self.warn(format!("{system}: {remark}"))?;
        }
        if let Some(error) = &trouble {
            self.keep_log(&name, &error.log_tail);
        }
        match (result, trouble) {
            (Err(Broken::Failed(outcome)), trouble) => {
                // Why statements failed: the server was gone, and here is how.
                let ended = trouble.map_or_else(String::new, |e| format!("; {}", e.reason));
                let tell = |reason| kept.told_in(&format!("{reason}{ended}"));
                Err(self.unless_full(Broken::Failed(retold(outcome, tell)), system, free))
            }
            (result, None) => result,
            (result, Some(error)) => {
                // What was measured is whole: a server that does not end well is worth a word, no more.
                self.warn(format!("{system}: {}", kept.told_in(&error.reason)))?;
                result
            }
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

/// What the log of a server says of settings of its system that have other values than the plan gives.
fn adjusted(system: &System, log: &[String]) -> Vec<String> {
    let Some(words) = &system.build.dbms.product().logs.adjusted else { return Vec::new() };
    let plain = |text: &str| text.to_ascii_lowercase().replace('-', "_");
    let settings = &system.config.settings;
    let is_of_plan = |line: &&String| {
        let line = plain(line);
        settings.iter().any(|setting| line.contains(&format!("'{}'", plain(&setting.name))))
    };
    let lines = log.iter().filter(|line| line.contains(words.as_str())).filter(is_of_plan);
    lines.map(|line| line[line.find("option '").unwrap_or(0)..].to_owned()).collect()
}

/// A failure with its reason, where Valgrind's is in the log.
fn explained(outcome: Outcome) -> Outcome {
    let unknown = match &outcome {
        Outcome::Failed { log_tail, .. } => profiles::unknown_instruction(log_tail),
        Outcome::Completed | Outcome::Profiled | Outcome::Quarantined { .. } => None,
    };
    match unknown {
        Some(text) => retold(outcome, |reason| format!("{reason}; {text}")),
        None => outcome,
    }
}

/// The outcome with another reason, where it is a failure.
pub(super) fn retold(outcome: Outcome, tell: impl FnOnce(String) -> String) -> Outcome {
    match outcome {
        Outcome::Failed { step, reason, log_tail } => {
            Outcome::Failed { step, reason: tell(reason), log_tail }
        }
        whole @ (Outcome::Completed | Outcome::Profiled | Outcome::Quarantined { .. }) => whole,
    }
}

/// The CPUs of this host for clients; all where the clients run on load hosts, which have CPUs of their own.
pub(super) fn clients_here(system: &System) -> &str {
    if system.load_hosts.is_empty() { &system.cpus.client } else { "" }
}

/// The CPUs that this process could use when it began.
static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new();

/// Restricts this process to `cpus`, all that it may use for an empty list.
pub(crate) fn place_client(system: &System, cpus: &str) -> Result<(), LabError> {
    let failed = |cause: String| LabError::Placement { system: system.name.clone(), cause };
    let allowed = ALLOWED.get_or_init(probes::allowed).clone();
    let wanted = match cpus {
        "" => allowed,
        cpus => servers::parse_cpus(cpus).map_err(|error| failed(error.to_string()))?,
    };
    probes::pin_self(&wanted).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use model::{Dbms, Setting};

    use super::*;
    use crate::fixture;

    #[test]
    fn clients_on_load_hosts_do_not_choose_cpus_of_this_host() {
        let mut system = fixture::system(Dbms::Mariadb);
        system.cpus.client = "0-31".to_owned();
        assert_eq!(clients_here(&system), "0-31");
        system.load_hosts = vec!["client1".to_owned()];
        assert_eq!(clients_here(&system), "");
    }

    #[test]
    fn a_value_that_the_server_changed_is_told_where_the_plan_gives_it() {
        let mut system = fixture::system(Dbms::Mysql);
        let log = [
            "0 [Warning] option 'innodb-flush-log-at-trx-commit': unsigned value 3 adjusted to 2",
            "0 [Warning] option 'max_connections': unsigned value 2000000 adjusted to 100000",
            "0 [Note] option 'innodb-flush-log-at-trx-commit' is fine",
        ];
        let log = log.map(str::to_owned);
        assert_eq!(adjusted(&system, &log), [""; 0]);
        let setting = Setting {
            name: "innodb_flush_log_at_trx_commit".to_owned(),
            value: Some("3".to_owned()),
        };
        system.config.settings.push(setting);
        assert_eq!(
            adjusted(&system, &log),
            ["option 'innodb-flush-log-at-trx-commit': unsigned value 3 adjusted to 2"]
        );
    }
}

//! A server of ours. Our own statements go over its Unix socket, those of the workload as the plan says.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use drivers::SessionError;
use load::{Stop, Target};
use model::{BuildSource, Capture, Fact, Nanos, Provenance, Sizes, System};
use servers::{Fault, Instance, InstanceSpec, ServerError, ServerProcess};

use crate::reach;
use crate::sessions::{DATABASE, Sessions, admin};
use crate::site::{Idle, LOG_LINES, Result, Site, SiteError, move_directory, target};
use crate::template::Template;
use crate::variables::{captures_of, take_all};

/// How long a server may take until it answers. Recovery is no part of it: its data is new.
const START_LIMIT: Duration = Duration::from_mins(2);
/// How long a server may take to stop: it writes its dirty pages.
const STOP_LIMIT: Duration = Duration::from_mins(10);
/// The same after a failure: what it would still write is of no use.
const FAILED_STOP_LIMIT: Duration = Duration::from_secs(10);
/// One attempt to log in while it starts, or when it shall end.
const LOGIN_LIMIT: Duration = Duration::from_secs(5);

pub(crate) struct Own {
    pub(crate) instance: Instance,
    system: System,
    pub(crate) sessions: Sessions,
    /// The longest wait for the answer to a statement of the workload.
    timeout: Duration,
    /// How long the server took from its start to its first answer.
    pub(crate) started_in: Nanos,
    /// How it was cloned, where it has its data from a template.
    cloned: Option<String>,
    stop: Stop,
    /// While the server runs.
    guard: Option<Guard>,
}

impl Own {
    /// A server with new data, or with a clone of a template's, in which the database is there already.
    pub(crate) fn open(
        system: &System,
        directory: &Path,
        timeout: Duration,
        stop: &Stop,
        template: Option<&Template>,
    ) -> Result<Self> {
        let begin = Instant::now();
        let spec = spec(system, directory);
        let failed = |error| not_made(error, directory);
        let (mut instance, cloned) = match template {
            None => (Instance::create(spec, stop.flag()).map_err(failed)?, None),
            Some(template) => {
                let made = Instance::create_from(spec, template.data(), stop.flag());
                let (instance, cloned) = made.map_err(failed)?;
                match template.accept(&instance.layout().data(), &cloned, begin) {
                    Ok(origin) => (instance, Some(origin)),
                    Err(error) => {
                        let _leftover = instance.remove();
                        return Err(error);
                    }
                }
            }
        };
        let mut started = start(&mut instance, system, timeout, cloned.is_none());
        // A new server may have written gigabytes of logs: no load waits for them. A clone is on the disk.
        if cloned.is_none() {
            started = started.and_then(|it| Ok(servers::write_back(directory).map(|()| it)?));
        }
        match started {
            Ok((sessions, started_in)) => Ok(Self {
                sessions,
                system: system.clone(),
                guard: Some(Guard::of(instance.process(), stop.clone())),
                stop: stop.clone(),
                instance,
                timeout,
                started_in,
                cloned,
            }),
            Err(error) => {
                instance.kill();
                Err(SiteError {
                    files: instance.crash_files(),
                    directory: Some(instance.layout().directory.clone()),
                    ..error
                })
            }
        }
    }
}

/// The configuration file and arguments that the system's server would get; `None` for no installed server of ours.
pub fn preview_config(system: &System, directory: &Path) -> Result<Option<String>> {
    if !matches!(system.build.source, BuildSource::Installed { .. } | BuildSource::Path(_)) {
        return Ok(None);
    }
    let (file, arguments) = Instance::preview(spec(system, directory))?;
    let arguments = arguments.join(" ");
    Ok(Some(format!("{file}# Started with: {arguments}\n")))
}

impl Own {
    /// Stops the server cleanly and starts it again on the same data; how long each took.
    pub(crate) fn restart(&mut self) -> Result<(Nanos, Nanos)> {
        self.guard = None;
        let stopped = self.instance.stop(STOP_LIMIT)?;
        Ok((stopped, self.start_again(START_LIMIT)?))
    }

    /// Does it still answer a login? Of one that has died or writes its core, the end tells more.
    fn answers(&self) -> bool {
        let Some(process) = self.instance.process() else { return true };
        let login =
            admin(&self.instance, &self.system, self.instance.first_database(), LOGIN_LIMIT);
        let is_silent = matches!(login.connect(), Err(SessionError::Timeout { .. }));
        !is_silent || !process.is_alive() || process.is_dumping_core()
    }

    fn stop_within(&mut self, limit: Duration) -> Result<(), ServerError> {
        self.guard = None;
        if self.stop.is_asked() {
            // What it would still write is thrown away.
            self.instance.kill();
            return Ok(());
        }
        match self.instance.stop(limit) {
            Err(error) if !matches!(error.fault(), Some(Fault::Interrupted)) => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Starts the server that was stopped or crashed on its own data; how long it took until it answered.
    pub(crate) fn start_again(&mut self, limit: Duration) -> Result<Nanos> {
        let started = launch(&mut self.instance, &self.system, DATABASE, limit)?;
        self.guard = Some(Guard::of(self.instance.process(), self.stop.clone()));
        self.sessions = Sessions::of(&self.instance, &self.system, self.timeout)?;
        Ok(started)
    }

    fn made_of(&self) -> Vec<(Fact, String)> {
        let mut facts = Vec::new();
        if let BuildSource::Installed { origin, digest, .. } = &self.system.build.source {
            facts.push(("origin".into(), origin.clone()));
            facts.push(("digest of its files".into(), digest.clone()));
        }
        match self.instance.mapped() {
            Ok(mapped) => {
                facts.push(("digest of the program".into(), mapped.program_sha256));
                facts.push((Fact::Allocator, mapped.allocator));
                if !mapped.compiler.is_empty() {
                    facts.push((Fact::Compiler, mapped.compiler));
                }
                let libraries = mapped.libraries.iter().map(|library| {
                    let gone = if library.deleted { " (removed since)" } else { "" };
                    format!("{}{gone}", library.path.display())
                });
                facts.push(("libraries".into(), libraries.collect::<Vec<_>>().join("\n")));
            }
            Err(error) => facts.push(("libraries".into(), format!("not known: {error}"))),
        }
        facts
    }
}

/// An error of making an instance. What an initialisation leaves is ours to remove.
fn not_made(error: ServerError, directory: &Path) -> SiteError {
    if !error.is_of_initialisation() {
        return error.into();
    }
    SiteError {
        files: servers::left_by_init(directory),
        directory: Some(directory.to_owned()),
        ..error.into()
    }
}

pub(crate) fn spec(system: &System, directory: &Path) -> InstanceSpec {
    InstanceSpec { system: system.clone(), directory: directory.to_owned() }
}

/// Starts the server and creates the database where its data is new; its sessions, and how long the start took.
fn start(
    instance: &mut Instance,
    system: &System,
    timeout: Duration,
    is_new: bool,
) -> Result<(Sessions, Nanos)> {
    let first = instance.first_database();
    let started_in = launch(instance, system, first, START_LIMIT)?;
    if is_new {
        let created = admin(instance, system, first, timeout)
            .connect()
            .and_then(|mut session| session.execute(&format!("CREATE DATABASE {DATABASE}")));
        created.map_err(|error| {
            let reason = format!("cannot create database {DATABASE}: {error}");
            SiteError::with_log(reason, instance.log_tail(LOG_LINES))
        })?;
    }
    Ok((Sessions::of(instance, system, timeout)?, started_in))
}

/// Starts the server and waits until a login in `database` succeeds; how long that took.
fn launch(
    instance: &mut Instance,
    system: &System,
    database: &str,
    limit: Duration,
) -> Result<Nanos, ServerError> {
    let login = admin(instance, system, database, LOGIN_LIMIT);
    instance.start(&mut || Ok(login.connect().map(drop)?), limit)
}

impl Site for Own {
    fn target(&self) -> Target {
        target(&self.system, &self.sessions.workload, &self.sessions.patient)
    }

    fn provenance(&self) -> Provenance {
        let Sessions { info, address, .. } = &self.sessions;
        let tls = info.tls.clone().unwrap_or_else(|| "off".to_owned());
        let cloned = self.cloned.clone().map(|how| (Fact::Cloned, how));
        let facts = [
            (Fact::ServerVersion, info.server_version.clone()),
            (Fact::Program, self.system.build.version_line.clone()),
            (Fact::Authentication, info.authentication.clone()),
            (Fact::Tls, tls),
            ("started in".into(), self.started_in.to_string()),
        ]
        .into_iter()
        .chain(reach::provenance(self.system.connection, address))
        .chain(self.made_of())
        .chain(cloned)
        .chain([(Fact::ConfigFile, self.instance.config_text().to_owned())]);
        Provenance(facts.collect())
    }

    fn pid(&self) -> Option<u32> {
        self.instance.pid()
    }

    fn idle(&self) -> Idle {
        Idle::CanFreeze
    }

    fn freeze(&mut self, told: &mut dyn FnMut()) -> Result<()> {
        let frozen = self.instance.freeze(told);
        frozen.map_err(|error| SiteError::with_log(error.to_string(), self.log_tail()))
    }

    fn thaw(&mut self) -> Result<()> {
        let thawed = self.instance.thaw();
        thawed.map_err(|error| SiteError::with_log(error.to_string(), self.log_tail()))
    }

    fn has_died(&self) -> bool {
        self.instance.pid().is_some() && !self.instance.is_alive()
    }

    fn captures(&mut self) -> (Vec<Capture>, Vec<String>) {
        take_all(&*self.sessions.admin, captures_of(&self.system))
    }

    fn sizes(&self) -> Option<Sizes> {
        let files = self.instance.files();
        let root = self.instance.layout().data();
        probes::measure(&root, &files.data, &files.log).ok()
    }

    fn log_tail(&self) -> Vec<String> {
        self.instance.log_tail(LOG_LINES)
    }

    fn crash_files(&self) -> Vec<PathBuf> {
        self.instance.crash_files()
    }

    fn stop(&mut self) -> Result<()> {
        Ok(self.stop_within(STOP_LIMIT)?)
    }

    fn give_up(&mut self) -> Result<Option<String>> {
        let build = self.system.build.id();
        if self.stop.is_asked() || self.answers() {
            let is_dumping = |process: ServerProcess| process.is_dumping_core();
            let limit = if self.instance.process().is_some_and(is_dumping) {
                STOP_LIMIT
            } else {
                FAILED_STOP_LIMIT
            };
            return match self.stop_within(limit) {
                // Why it failed is known, and that it would have written for longer is no other failure.
                Err(error) if matches!(error.fault(), Some(Fault::StopTimeout(_))) => {
                    let said = "after the failure and was killed";
                    Ok(Some(format!("{build} did not stop within {limit:?} {said}")))
                }
                stopped => Ok(stopped.map(|()| None)?),
            };
        }
        self.guard = None;
        self.instance.kill();
        let reason = format!("{build} did not answer within {LOGIN_LIMIT:?} and was killed");
        Err(SiteError::with_log(reason, self.log_tail()))
    }

    fn move_data(&mut self, to: &Path) -> Result<()> {
        move_directory(&self.instance.layout().data(), to)
    }

    fn remove(self: Box<Self>) -> Result<()> {
        Ok(self.instance.remove()?)
    }
}

/// How long clients may take to notice that they shall stop. They look after each statement.
const GRACE: Duration = Duration::from_secs(2);
/// How often the flags are looked at: nothing wakes this thread.
const NAP: Duration = Duration::from_millis(100);
/// The thread's stack: its frames are shallow.
const STACK: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Guard(Arc<AtomicBool>);

impl Guard {
    /// Of a running server. Where the system has no thread to give, statements end by their own limit.
    pub(crate) fn of(process: Option<ServerProcess>, stop: Stop) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        if let Some(process) = process {
            let thread = thread::Builder::new().name("guard".to_owned());
            let _no_thread = thread.stack_size(STACK).spawn(move || watch(&process, &stop, &seen));
        }
        Self(is_over)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn watch(process: &ServerProcess, stop: &Stop, is_over: &AtomicBool) {
    let mut asked: Option<Instant> = None;
    while !is_over.load(Ordering::Relaxed) {
        if stop.is_asked() && asked.get_or_insert_with(Instant::now).elapsed() >= GRACE {
            return process.end();
        }
        thread::sleep(NAP);
    }
}

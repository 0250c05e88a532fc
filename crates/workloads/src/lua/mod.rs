//! Scripts that were written for sysbench: their commands are steps, their events what is measured.
//!
//! What a script does to tables is its own affair, so nothing is known that its answers could be checked against: a
//! step is right where every statement succeeded, or failed with an error that sysbench ignores, too.

mod client;
mod command;
mod events;
mod loaded;
mod reports;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use drivers::Connector;
use lua::{Program, Script, ScriptError, Seeds, Thread, Watch};
use model::{Dialect, LuaSpec, Note, NoteKind, SqlPace, StepRecord, mix};

use crate::{ScriptOption, ScriptProblem};
use load::{Notes, Observer, Result, StepError, Stop, Target, Workload, lock};

pub(super) use self::loaded::loading;

pub(super) struct Lua {
    spec: LuaSpec,
    seed: u64,
    /// What `prepare` left, if another trial ran it.
    loaded: Option<loaded::Tables>,
}

impl Lua {
    pub(super) const fn new(spec: LuaSpec, seed: u64) -> Self {
        Self { spec, seed, loaded: None }
    }
}

impl Workload for Lua {
    fn run(
        &mut self,
        index: usize,
        target: &Target,
        stop: &Stop,
        observer: &mut dyn Observer,
    ) -> Result<StepRecord> {
        let (command, clients) = self.spec.stages()[index];
        if let Some(loaded) = self.loaded.as_ref().filter(|_| index == 0) {
            // In place of `prepare`, which is the first.
            return loaded::warm(loaded, clients, target, stop, observer);
        }
        let connector = if command == LuaSpec::RUN { &target.connector } else { &target.patient };
        let (spec, watch) = (&LuaSpec { clients, ..self.spec.clone() }, Watch::default());
        let run =
            CommandRun { spec, command, target, connector, seed: self.seed, stop, watch: &watch };
        let act = || {
            if command == LuaSpec::RUN { run.events(observer) } else { run.command(observer) }
        };
        match ended_by(stop, &watch, act) {
            // What a script says when it is ended says nothing of it.
            Err(StepError::Script { .. }) if stop.is_asked() => Err(StepError::Interrupted),
            result => result,
        }
    }

    fn state(&self, target: &Target) -> Result<String> {
        data::state::write(&loaded::tables(target)?)
    }

    fn restore(&mut self, state: &str) -> Result {
        self.loaded = Some(data::state::read(state)?);
        Ok(())
    }
}

/// How long a statement may still take after the user has asked for the end. Then the scripts themselves are ended.
const GRACE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(200);

/// Acts, and ends scripts that run on after the user has asked for the end.
fn ended_by<T>(stop: &Stop, watch: &Watch, act: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        scope.spawn(move || {
            let mut asked = None;
            while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if stop.is_asked() && asked.get_or_insert_with(Instant::now).elapsed() > GRACE {
                    watch.end_all();
                }
            }
        });
        let result = act();
        drop(done);
        result
    })
}

/// The options that a script declares; checks those that the plan gives.
pub(super) fn declared(
    spec: &LuaSpec,
    dialect: Dialect,
) -> Result<Vec<ScriptOption>, ScriptProblem> {
    let optional = |name: &&str| !command::OPTIONAL.contains(name);
    let needed: Vec<&str> = spec.commands.iter().map(String::as_str).filter(optional).collect();
    lua::declared(&program(spec, LuaSpec::RUN), dialect, &needed)
        .map_err(|ScriptError { message, option }| ScriptProblem { message, option })
}

struct CommandRun<'a> {
    spec: &'a LuaSpec,
    command: &'a str,
    target: &'a Target,
    connector: &'a Arc<dyn Connector>,
    /// Of the trial.
    seed: u64,
    stop: &'a Stop,
    watch: &'a Watch,
}

impl CommandRun<'_> {
    /// Of the seed that the options ask for, otherwise of the trial's: all systems of a round draw the same numbers.
    fn seeds(&self) -> Seeds {
        let asked = self.spec.options.get("rand_seed").and_then(|text| text.parse().ok());
        Seeds::new(asked.filter(|seed| *seed != 0).unwrap_or_else(|| mix(self.seed, &[]) as u32))
    }

    /// The script of client `number`, which takes the next of `seeds`.
    fn load(&self, program: &Program, number: u32, seeds: &mut Seeds) -> Result<Script> {
        if self.stop.is_asked() {
            return Err(StepError::Interrupted);
        }
        let clock = self.stop.clock();
        let thread = Thread {
            number,
            dialect: self.target.dialect,
            connector: Arc::clone(self.connector),
            stop: self.stop.flag(),
            clock: Arc::new(move || clock.now()),
            watch: self.watch,
            seeds,
        };
        Script::load(program, thread).map_err(failed(number))
    }
}

fn program(spec: &LuaSpec, command: &str) -> Program {
    Program {
        path: spec.script.clone(),
        text: spec.text.clone(),
        directories: spec.path.clone(),
        options: options(spec),
        command: command.to_owned(),
        clients: spec.clients,
    }
}

/// The options of the plan, and those of sysbench that keys of the plan stand for.
fn options(spec: &LuaSpec) -> BTreeMap<String, String> {
    let rate = match spec.pace {
        SqlPace::Rate { per_second, .. } => per_second,
        SqlPace::Unlimited | SqlPace::Ramp { .. } => 0,
    };
    let of_keys = [
        ("time", spec.seconds.into()),
        ("events", spec.events),
        ("rate", rate),
        ("warmup_time", spec.warmup_seconds.into()),
    ];
    let of_keys = of_keys.map(|(name, value)| (name.to_owned(), value.to_string()));
    of_keys.into_iter().chain(spec.options.clone()).collect()
}

fn name(number: u32) -> String {
    format!("client {number}")
}

fn failed(number: u32) -> impl Fn(ScriptError) -> StepError {
    move |ScriptError { message, .. }| StepError::Script { client: name(number), message }
}

/// Lines of a step that are kept of all clients together.
const MOST_LINES: usize = 1_000;

/// What the scripts have printed, each client's lines in their order.
fn printed(notes: &Notes) -> Vec<Note> {
    let lines = std::mem::take(&mut *lock(notes));
    lines.into_iter().take(MOST_LINES).map(|(_, line)| Note::new(NoteKind::Script, line)).collect()
}

/// Of a script that failed, so many of the lines that it has printed are told with the error.
const LAST_LINES: usize = 3;

/// The error of a script with what it printed before, which is kept nowhere else.
fn with_printed(error: StepError, notes: &Notes) -> StepError {
    let StepError::Script { client, message } = error else { return error };
    let lines: Vec<String> = lock(notes).drain(..).map(|(_, line)| line).collect();
    let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
    let told = if last.is_empty() { "" } else { "; clients printed last: " };
    StepError::Script { client, message: format!("{message}{told}{}", last.join(" | ")) }
}

fn keep_printed(script: &Script, notes: &Notes) {
    script.printed().into_iter().for_each(|line| load::note(notes, line));
}

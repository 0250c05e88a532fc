//! Scripts that were written for sysbench: their commands are steps, their events what is measured.
//!
//! What a script does to tables is its own affair, so nothing is known that its answers could be checked against: a
//! step is right where every statement succeeded, or failed with an error that sysbench ignores, too.

mod client;
mod command;
mod events;

use std::collections::BTreeMap;
use std::sync::Arc;

use drivers::Connector;
use lua::{Program, Script, ScriptError, Seeds, Thread};
use model::{LuaSpec, Note, StepRecord, mix};

use load::{Notes, Observer, Result, StepError, Stop, Target, Workload, lock};

pub(super) struct Lua {
    spec: LuaSpec,
    seed: u64,
}

impl Lua {
    pub(super) const fn new(spec: LuaSpec, seed: u64) -> Self {
        Self { spec, seed }
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
        let command = &self.spec.commands[index];
        let connector = if command == LuaSpec::RUN { &target.connector } else { &target.patient };
        let run =
            CommandRun { spec: &self.spec, command, target, connector, seed: self.seed, stop };
        if command == LuaSpec::RUN { run.events(observer) } else { run.command(observer) }
    }

    fn state(&self, _target: &Target) -> Result<String> {
        Err(no_template())
    }

    fn restore(&mut self, _state: &str) -> Result {
        Err(no_template())
    }
}

/// Why a template cannot hold what a script loads.
pub(super) fn no_template() -> StepError {
    let why = "backslide does not know what a script loads; leave `template` out";
    StepError::Unsupported(why.to_owned())
}

/// A command of a script as it is carried out.
struct CommandRun<'a> {
    spec: &'a LuaSpec,
    command: &'a str,
    target: &'a Target,
    connector: &'a Arc<dyn Connector>,
    /// Of the trial.
    seed: u64,
    stop: &'a Stop,
}

impl CommandRun<'_> {
    fn program(&self) -> Program {
        let spec = self.spec;
        Program {
            path: spec.script.clone(),
            text: spec.text.clone(),
            directories: spec.path.clone(),
            options: self.options(),
            command: self.command.to_owned(),
            clients: spec.clients,
        }
    }

    /// The options of the plan, and those of sysbench that keys of the plan stand for.
    fn options(&self) -> BTreeMap<String, String> {
        let of_keys = [("time", self.spec.seconds.into()), ("events", self.spec.events)];
        let of_keys = of_keys.map(|(name, value)| (name.to_owned(), value.to_string()));
        of_keys.into_iter().chain(self.spec.options.clone()).collect()
    }

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
        let thread = Thread {
            number,
            dialect: self.target.dialect,
            connector: Arc::clone(self.connector),
            stop: self.stop.flag(),
            seeds,
        };
        Script::load(program, thread).map_err(failed(number))
    }
}

fn name(number: u32) -> String {
    format!("client {number}")
}

fn failed(number: u32) -> impl Fn(ScriptError) -> StepError {
    move |ScriptError(message)| StepError::Script { client: name(number), message }
}

/// What the scripts of all clients have printed, each line once.
fn printed(notes: &Notes) -> Vec<Note> {
    let mut lines: Vec<String> =
        std::mem::take(&mut *lock(notes)).into_iter().map(|it| it.1).collect();
    lines.sort();
    lines.dedup();
    lines.into_iter().map(|line| Note::new("script", line)).collect()
}

/// Keeps what a script has printed.
fn keep_printed(script: &Script, notes: &Notes) {
    script.printed().into_iter().for_each(|line| load::note(notes, line));
}

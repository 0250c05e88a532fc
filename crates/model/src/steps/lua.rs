//! The steps of a script: one for each of its commands.

use super::sql::pace;
use crate::step::placed;
use crate::{
    Counts, KindSpec, LuaSpec, Nanos, Step, StepClass, StepId, StepPace, StepTask, Subject, grouped,
};

/// The kind of an event, and of a command that is no result.
pub const EVENT: &str = "event";
pub const COMMAND: &str = "command";
/// The kinds of statements in events, in the order of their numbers after [`EVENT`].
pub const LUA_STATEMENTS: [&str; 3] = ["read", "write", "other"];

impl LuaSpec {
    /// The kinds of the step that is measured: [`EVENT`], then [`LUA_STATEMENTS`].
    pub fn kinds(&self) -> Vec<KindSpec> {
        let event = KindSpec { name: EVENT.to_owned(), scheduled: pace(&self.pace).is_open() };
        let statements = LUA_STATEMENTS.into_iter().map(KindSpec::unscheduled);
        std::iter::once(event).chain(statements).collect()
    }
}

pub(super) fn steps(spec: &LuaSpec) -> Vec<Step> {
    placed(spec.commands.iter().map(|command| of(spec, command)), 0)
}

fn of(spec: &LuaSpec, command: &str) -> Step {
    if command == LuaSpec::RUN {
        return of_run(spec);
    }
    let subject = Subject { kind: COMMAND.to_owned(), counts: Counts::Rows };
    Step {
        task: if command == "prepare" { StepTask::Load } else { StepTask::Run },
        class: StepClass::Loading,
        measured: false,
        kinds: vec![KindSpec::unscheduled(COMMAND)],
        description: format!("The script's command `{command}`."),
        ..Step::new(StepId::new(command), 0, spec.clients, subject)
    }
}

fn of_run(spec: &LuaSpec) -> Step {
    let pace = pace(&spec.pace);
    let subject = Subject { kind: EVENT.to_owned(), counts: Counts::Operations };
    let arrivals = match pace {
        StepPace::Rate { per_second } => {
            format!(" Events arrive at {} a second.", grouped(per_second))
        }
        StepPace::Closed | StepPace::Ramp { .. } => String::new(),
    };
    Step {
        kinds: spec.kinds(),
        metric: pace.deciding(&subject),
        pace,
        window: (spec.events == 0).then(|| Nanos::from_secs(spec.seconds.into())),
        description: format!("Counts events of the script `{}`.{arrivals}", spec.stem()),
        ..Step::new(StepId::new(spec.stem()), 0, spec.clients, subject)
    }
}

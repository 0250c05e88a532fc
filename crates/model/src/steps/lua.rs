//! The steps of a script: one for each of its commands.

use super::sql::{pace, paced};
use crate::step::placed;
use crate::{Counts, KindSpec, LuaSpec, Nanos, Step, StepClass, StepId, StepTask, Subject};

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
    let begins_with_prepare = spec.commands.first().is_some_and(|first| first == LuaSpec::PREPARE);
    let steps = spec.stages().into_iter().map(|(command, clients)| of(spec, command, clients));
    placed(steps, begins_with_prepare.into())
}

fn of(spec: &LuaSpec, command: &str, clients: u32) -> Step {
    if command == LuaSpec::RUN {
        return of_run(spec, clients);
    }
    let subject = Subject { kind: COMMAND.to_owned(), counts: Counts::Rows };
    Step {
        task: if command == LuaSpec::PREPARE { StepTask::Load } else { StepTask::Run },
        class: StepClass::Loading,
        measured: false,
        kinds: vec![KindSpec::unscheduled(COMMAND)],
        description: format!("The script's command `{command}`."),
        ..Step::new(StepId::new(command), 0, clients, subject)
    }
}

fn of_run(spec: &LuaSpec, clients: u32) -> Step {
    let pace = pace(&spec.pace);
    let subject = Subject { kind: EVENT.to_owned(), counts: Counts::Operations };
    let counted = format!("Counts events of the script `{}`.", spec.stem());
    let id = match spec.sweep.as_slice() {
        [] => spec.stem().to_owned(),
        _ => format!("{}@{clients}", spec.stem()),
    };
    Step {
        test: spec.stem().to_owned(),
        kinds: spec.kinds(),
        metric: pace.deciding(&subject),
        pace,
        window: (spec.events == 0).then(|| Nanos::from_secs(spec.seconds.into())),
        description: [counted, paced("Events", &spec.pace)].join(" ").trim_end().to_owned(),
        ..Step::new(StepId(id), 0, clients, subject)
    }
}

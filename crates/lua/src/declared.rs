//! The options that a script declares, asked for without a database.

use std::sync::Arc;

use drivers::{
    Connector, Done, Param, ParamType, Row, Session, SessionError, SessionInfo, StatementId,
};
use mlua::Function;
use model::{Dialect, LuaSpec, Nanos};

use crate::{Program, Result, Script, ScriptError, Seeds, Thread, Watch};

/// Loads the script of `program`, which checks the options that are given, and that it has `commands`, or events for
/// `run`; the options that it declares: each as it is given (`--table-size`), its usual value (empty where it has
/// none), its meaning.
pub fn declared(
    program: &Program,
    dialect: Dialect,
    commands: &[&str],
) -> Result<Vec<[String; 3]>> {
    let thread = Thread {
        number: 0,
        dialect,
        connector: Arc::new(Nowhere::default()),
        stop: Arc::default(),
        clock: Arc::new(|| Nanos(0)),
        watch: &Watch::default(),
        seeds: &mut Seeds::new(1),
    };
    let script = Script::load(program, thread)?;
    for name in commands {
        if *name == LuaSpec::RUN {
            // It may still define `event`.
            if !script.has_event()? && !script.defines("init")? {
                return Err(ScriptError::without_event(&program.path));
            }
        } else if script.command(name)?.is_none() {
            return Err(ScriptError::new(format!("{} has no command `{name}`", program.path)));
        }
    }
    Ok(script.calls.get::<Function>("declared")?.call(())?)
}

/// While backslide reads its options, a script reaches no database. It may connect, as some scripts do at their top
/// level, but not send statements.
#[derive(Default)]
struct Nowhere(SessionInfo);

impl Connector for Nowhere {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::new(Self::default()))
    }
}

impl Session for Nowhere {
    fn query(&mut self, _: &str, _: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        Err(nowhere())
    }

    fn prepare(&mut self, _: &str, _: &[ParamType]) -> Result<StatementId, SessionError> {
        Err(nowhere())
    }

    fn execute_prepared(
        &mut self,
        _: StatementId,
        _: &[Param<'_>],
        _: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        Err(nowhere())
    }

    fn info(&self) -> &SessionInfo {
        &self.0
    }
}

fn nowhere() -> SessionError {
    let cause = "backslide only reads the script's options here; send statements in a function, such as `thread_init`";
    SessionError::Connect { address: "a database".to_owned(), cause: cause.to_owned() }
}

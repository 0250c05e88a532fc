//! The options that a script declares, asked for without a database.

use std::sync::Arc;

use drivers::{Connector, Session, SessionError};
use mlua::Function;
use model::Dialect;

use crate::{Program, Result, Script, ScriptError, Seeds, Thread, Watch};

/// Loads the script of `program`, which checks the options that are given, and that it has `commands`; the options
/// that it declares: each as it is given (`--table-size`), its usual value (empty where it has none), its meaning.
pub fn declared(
    program: &Program,
    dialect: Dialect,
    commands: &[&str],
) -> Result<Vec<[String; 3]>> {
    let thread = Thread {
        number: 0,
        dialect,
        connector: Arc::new(Nowhere),
        stop: Arc::default(),
        watch: &Watch::default(),
        seeds: &mut Seeds::new(1),
    };
    let script = Script::load(program, thread)?;
    for name in commands {
        if script.command(name)?.is_none() {
            return Err(ScriptError(format!("{} has no command `{name}`", program.path)));
        }
    }
    Ok(script.calls.get::<Function>("declared")?.call(())?)
}

/// While its options are asked for, a script reaches no database.
struct Nowhere;

impl Connector for Nowhere {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        Err(SessionError::Lost { cause: "the script connects while it is loaded".to_owned() })
    }
}

//! The options that a script declares, asked for without a database.

use std::sync::Arc;

use drivers::{Connector, Session, SessionError};
use mlua::Function;
use model::Dialect;

use crate::{Program, Result, Script, Seeds, Thread, Watch};

/// Loads the script of `program`, which checks the options that are given; those that it declares: each
/// as it is given (`--table-size`), its usual value (empty where it has none), and what it means.
pub fn declared(program: &Program, dialect: Dialect) -> Result<Vec<[String; 3]>> {
    let thread = Thread {
        number: 0,
        dialect,
        connector: Arc::new(Nowhere),
        stop: Arc::default(),
        watch: &Watch::default(),
        seeds: &mut Seeds::new(1),
    };
    let script = Script::load(program, thread)?;
    Ok(script.calls.get::<Function>("declared")?.call(())?)
}

/// While its options are asked for, a script reaches no database.
struct Nowhere;

impl Connector for Nowhere {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        Err(SessionError::Lost { cause: "the script connects while it is loaded".to_owned() })
    }
}

//! The clients of a step that run in several processes.

use load::{OwnCrew, Result, Share, Stop, Target};
use serde::{Deserialize, Serialize};

use crate::sql::part::SqlAssignment;
use crate::tpcc::part::TpccAssignment;

/// What the clients of a step do, whichever process they are in.
#[derive(Serialize, Deserialize)]
pub(crate) enum Assignment {
    Sql(SqlAssignment),
    Tpcc(TpccAssignment),
}

/// A share of a step's clients, connected.
pub struct Part {
    pub crew: OwnCrew,
    /// What they know of the step, as text, for the process that measures. To be called when they have ended.
    pub report: Box<dyn Fn() -> Result<String>>,
}

/// Connects a share of the clients that `assignment` describes, which another process of this version wrote.
pub fn part(assignment: &str, target: &Target, share: Share, stop: &Stop) -> Result<Part> {
    match data::state::read(assignment)? {
        Assignment::Sql(assignment) => assignment.part(target, share, stop),
        Assignment::Tpcc(assignment) => assignment.part(target, share, stop),
    }
}

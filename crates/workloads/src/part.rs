//! The clients of a step that run in several processes: what each process is given, and what it makes of that.

use data::{Counted, state};
use load::{Client, Clients, Crew, OwnCrew, Result, Role, Share, StepError, Stop, Target};
use model::{InsertSpec, InsertStage, KindSpec, SqlRun, SqlSpec, StepId, TpccSpec};
use serde::{Deserialize, Serialize};

/// What the clients of a step do, whichever process they are in.
#[derive(Serialize, Deserialize)]
pub(crate) enum Assignment {
    Insert(InsertAssignment),
    Sql(SqlAssignment),
    Tpcc(TpccAssignment),
}

#[derive(Serialize, Deserialize)]
pub(crate) struct InsertAssignment {
    pub(crate) spec: InsertSpec,
    pub(crate) stage: InsertStage,
    pub(crate) seed: u64,
    /// Number of the next row of each client.
    pub(crate) next_row: Vec<u64>,
    /// Rows that each table has.
    pub(crate) table_rows: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SqlAssignment {
    pub(crate) spec: SqlSpec,
    pub(crate) step: StepId,
    pub(crate) run: SqlRun,
    pub(crate) seed: u64,
    pub(crate) counts: Counted,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct TpccAssignment {
    pub(crate) spec: TpccSpec,
    pub(crate) rows_seed: u64,
    pub(crate) seed: u64,
    pub(crate) number: u32,
}

/// The clients of a step, connected: on the load hosts if the target has some, otherwise here.
pub(crate) fn crew<'t>(
    target: &'t Target,
    share: &Share,
    kinds: Vec<KindSpec>,
    assignment: impl FnOnce() -> Assignment,
    own: impl FnOnce(Vec<KindSpec>) -> Result<OwnCrew>,
) -> Result<Box<dyn Crew + 't>> {
    match &target.load_hosts {
        Some(hosts) => hosts.crew(state::write(&assignment())?, kinds, share.all_clients, 1),
        None => Ok(Box::new(own(kinds)?)),
    }
}

/// Connects the clients of a share, one after the other.
pub(crate) fn connected<C: Client + 'static>(
    share: &Share,
    stop: &Stop,
    role: impl Fn(u32) -> Role,
    connect: impl Fn(u32) -> Result<C>,
) -> Result<Clients> {
    let mut clients = Clients::new();
    for number in share.clients.clone() {
        if stop.is_asked() {
            return Err(StepError::Interrupted);
        }
        clients.push((role(number), Box::new(connect(number)?)));
    }
    Ok(clients)
}

/// A share of a step's clients, connected.
pub struct Part {
    pub crew: OwnCrew,
    /// What they know of the step, as text, for the process that measures. To be called when they have ended.
    pub report: Box<dyn Fn() -> Result<String>>,
}

//! Which host measured which rounds of a run that was merged from parts.

use model::{RunInfo, RunState};
use rusqlite::{Connection, params};

use crate::error::Fault;
use crate::pack::to_json;

const KEEP: &str = "ON CONFLICT (run, round) DO UPDATE SET whole = max(whole, excluded.whole)";

/// Keeps the host of each round of a run that has a single one.
pub(super) fn keep_own_host(
    state: &Connection,
    info: &RunInfo,
    row: i64,
    rounds: impl Iterator<Item = u32>,
) -> Result<(), Fault> {
    if !info.hosts.is_empty() {
        return Ok(());
    }
    let is_finished = info.state == RunState::Finished;
    let planned = (1..=info.plan.last_planned_round()).filter(|round| info.plan.owns(*round));
    let planned = planned.filter(|_| is_finished);
    let insert = format!("INSERT INTO main.round_host VALUES (?1, ?2, ?3, ?4) {KEEP}");
    let host = to_json(&info.host)?;
    for round in planned.chain(rounds) {
        state.prepare_cached(&insert)?.execute(params![row, round, host, is_finished])?;
    }
    Ok(())
}

/// Keeps the host of each round of a part, whose row is `part`. Is the run finished, because every round is?
pub(super) fn keep_hosts(
    state: &Connection,
    info: &RunInfo,
    part: i64,
    row: i64,
    rounds: impl Iterator<Item = u32>,
) -> Result<bool, Fault> {
    state.execute(
        &format!(
            "INSERT INTO main.round_host SELECT ?1, round, host, max(whole, ?3) FROM part.round_host
             WHERE run = ?2 {KEEP}"
        ),
        params![row, part, info.state == RunState::Finished],
    )?;
    keep_own_host(state, info, row, rounds)?;
    Ok(state.query_row(
        "SELECT count(*) = ?2 FROM main.round_host WHERE run = ?1 AND round <= ?2 AND whole",
        params![row, info.plan.last_planned_round()],
        |row| row.get(0),
    )?)
}

//! Reading runs, trials and what is under way, one at a time.

use std::collections::HashMap;

use model::{
    Capture, Host, HostRounds, Interval, Moment, Outcome, Plan, Readings, RunId, RunInfo, RunState,
    StepId, TrialKey,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Store;
use crate::error::{Fault, Result};
use crate::interval::decode;
use crate::pack::{from_json, unpack};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    pub info: RunInfo,
    pub completed: u32,
    pub failed: u32,
    /// Trials that were disturbed and set aside.
    pub quarantined: u32,
    /// Trials that it has, and those that the plan asks for beside them, at most; of a run that ended early
    /// those that it has.
    pub total: u32,
}

#[derive(Clone, Debug)]
pub struct UnderWay {
    pub trial: TrialKey,
    pub step: StepId,
    /// Its latest intervals, the last one first.
    pub latest: Vec<Interval>,
}

/// Counts of outcomes: all, completed or profiled, quarantined; the rest failed. An outcome is its JSON,
/// which begins with the word for it.
const OUTCOMES: &str = "SELECT run.id, count(completed), count(*) FILTER (WHERE completed = 1 OR outcome LIKE '{\"outcome\":\"profiled\"%'),
        count(*) FILTER (WHERE outcome LIKE '{\"outcome\":\"quarantined\"%')
     FROM run LEFT JOIN trial ON trial.run = run.id GROUP BY run.id ORDER BY run.id";

pub(crate) fn describe_step(step: &StepId, system: &str, round: u32) -> String {
    format!("step {step} of {system}, round {round}")
}

impl Store {
    pub fn run_info(&self, run: &RunId) -> Result<RunInfo> {
        self.read("reading a run", |state| run_info(state, row_of(state, run)?))
    }

    pub fn runs(&self) -> Result<Vec<RunSummary>> {
        self.read("listing the runs", |state| {
            let mut query = state.prepare(OUTCOMES)?;
            let mut plans = Plans::default();
            let runs = query.query_and_then([], |row| {
                let (ended, completed): (u32, u32) = (row.get(1)?, row.get(2)?);
                let quarantined: u32 = row.get(3)?;
                let info = run_info_by(state, row.get(0)?, |text, run| plans.read(text, run))?;
                Ok(RunSummary {
                    total: total(&info, ended),
                    failed: ended.saturating_sub(completed + quarantined),
                    info,
                    completed,
                    quarantined,
                })
            })?;
            runs.collect()
        })
    }

    /// The run that was begun last; `None` in a lab without runs.
    pub fn latest_run(&self) -> Result<Option<RunId>> {
        self.read("looking for the latest run", |state| {
            let row: Option<i64> = state.query_row("SELECT max(id) FROM run", [], |r| r.get(0))?;
            Ok(row.map(id_of))
        })
    }

    /// The trials of a run with an outcome, in execution order.
    pub fn journal(&self, run: &RunId) -> Result<Vec<(TrialKey, Outcome)>> {
        self.read("reading the journal of a run", |state| {
            let row = row_of(state, run)?;
            let mut query = state.prepare(
                "SELECT round, position, system, outcome FROM trial
                 WHERE run = ?1 AND outcome IS NOT NULL ORDER BY id",
            )?;
            let journal = query.query_and_then([row], |row| {
                let key =
                    TrialKey { round: row.get(0)?, position: row.get(1)?, system: row.get(2)? };
                let what = || format!("outcome of {}, round {}", key.system, key.round);
                let outcome = from_json(text(row, 3)?, what)?;
                Ok((key, outcome))
            })?;
            journal.collect()
        })
    }

    /// What was captured from a server before or after a step, in the order in which it was, without
    /// secrets. Empty where nothing was.
    pub fn captures(
        &self,
        run: &RunId,
        system: &str,
        round: u32,
        step: &StepId,
        moment: Moment,
    ) -> Result<Vec<Capture>> {
        self.read("reading captures", |state| {
            let row = row_of(state, run)?;
            // An empty listing is the same as the last one of its name before it.
            let mut query = state.prepare(
                "SELECT capture.name,
                        CASE WHEN length(listing) > 0 THEN listing ELSE
                            (SELECT earlier.listing FROM capture AS earlier
                             WHERE earlier.trial = capture.trial AND earlier.name = capture.name
                                   AND earlier.id < capture.id AND length(earlier.listing) > 0
                             ORDER BY earlier.id DESC LIMIT 1) END
                 FROM capture JOIN trial ON trial.id = capture.trial
                 WHERE trial.run = ?1 AND round = ?2 AND system = ?3
                       AND step = ?4 AND moment = ?5 ORDER BY capture.id",
            )?;
            let place = params![row, round, system, step.0, moment_word(moment)];
            let captures = query.query_and_then(place, |row| {
                let name: String = row.get(0)?;
                let what = || format!("{name} of {}", describe_step(step, system, round));
                let capture: Capture = unpack(blob(row, 1)?, what)?;
                // Labs of earlier versions hold them as they were read.
                Ok(capture.without_secrets())
            })?;
            captures.collect()
        })
    }

    /// What a run is measuring, or was when it was interrupted; `None` between trials. `seconds`: how many of the
    /// latest intervals are read.
    pub fn under_way(&self, run: &RunId, seconds: u32) -> Result<Option<UnderWay>> {
        self.read("reading what is under way", |state| {
            let row = row_of(state, run)?;
            let step = state
                .query_row(
                    "SELECT round, position, system, step.id, name FROM trial
                     JOIN step ON step.trial = trial.id
                     WHERE run = ?1 AND outcome IS NULL ORDER BY step.id DESC LIMIT 1",
                    [row],
                    |row| {
                        let system = row.get(2)?;
                        let trial = TrialKey { round: row.get(0)?, position: row.get(1)?, system };
                        Ok((trial, row.get::<_, i64>(3)?, StepId(row.get(4)?)))
                    },
                )
                .optional()?;
            let Some((trial, id, step)) = step else {
                return Ok(None);
            };
            let of = describe_step(&step, &trial.system, trial.round);
            let mut query = state.prepare_cached(
                "SELECT number, numbers, latency, readings
                 FROM interval JOIN interval_detail USING (step, number)
                 WHERE step = ?1 ORDER BY number DESC LIMIT ?2",
            )?;
            let latest = query.query_and_then(params![id, seconds], |row| interval(row, &of))?;
            let latest = latest.collect::<Result<_, Fault>>()?;
            Ok(Some(UnderWay { trial, step, latest }))
        })
    }
}

/// The row of a run, if its id is one of ours and it exists.
pub(crate) fn row_of(state: &Connection, run: &RunId) -> Result<i64, Fault> {
    let unknown = || Fault::UnknownRun(run.clone());
    let number = run.0.strip_prefix('r').and_then(|n| n.parse::<i64>().ok());
    // `r01` and `r+1` are not ids, though they parse.
    let number = number.filter(|n| id_of(*n) == *run).ok_or_else(unknown)?;
    state
        .query_row("SELECT id FROM run WHERE id = ?1", [number], |r| r.get(0))
        .optional()?
        .ok_or_else(unknown)
}

/// Plans by their text: many runs have the same, and to read one takes longer than all else of a run's summary.
#[derive(Default)]
struct Plans(HashMap<String, Plan>);

impl Plans {
    fn read(&mut self, text: &str, run: &RunId) -> Result<Plan, Fault> {
        if let Some(known) = self.0.get(text) {
            return Ok(known.clone());
        }
        let plan = plan(text, run)?;
        self.0.insert(text.to_owned(), plan.clone());
        Ok(plan)
    }
}

fn plan(text: &str, run: &RunId) -> Result<Plan, Fault> {
    Ok(from_json::<Plan>(text, || format!("plan of run {run}"))?.with_steps())
}

pub(crate) fn run_info(state: &Connection, number: i64) -> Result<RunInfo, Fault> {
    run_info_by(state, number, plan)
}

fn run_info_by(
    state: &Connection,
    number: i64,
    plan: impl FnOnce(&str, &RunId) -> Result<Plan, Fault>,
) -> Result<RunInfo, Fault> {
    let id = id_of(number);
    let mut query = state
        .prepare_cached("SELECT plan, host, backslide, started, finished FROM run WHERE id = ?1")?;
    let mut rows = query.query([number])?;
    let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let run_state = if row.get(4)? { RunState::Finished } else { RunState::Unfinished };
    Ok(RunInfo {
        plan: plan(text(row, 0)?, &id)?,
        host: from_json(text(row, 1)?, || format!("host of run {id}"))?,
        backslide: row.get(2)?,
        started: row.get(3)?,
        state: run_state,
        hosts: hosts(state, number, &id)?,
        id,
    })
}

fn hosts(state: &Connection, run: i64, id: &RunId) -> Result<Vec<HostRounds>, Fault> {
    let mut query =
        state.prepare_cached("SELECT round, host FROM round_host WHERE run = ?1 ORDER BY round")?;
    let mut rows = query.query([run])?;
    let mut hosts: Vec<HostRounds> = Vec::new();
    while let Some(row) = rows.next()? {
        let round = row.get(0)?;
        let host: Host = from_json(text(row, 1)?, || format!("host of round {round} of {id}"))?;
        match hosts.iter_mut().find(|known| known.host.is_same(&host)) {
            Some(known) => known.rounds.push(round),
            None => hosts.push(HostRounds { host, rounds: vec![round] }),
        }
    }
    Ok(hosts)
}

fn total(info: &RunInfo, ended: u32) -> u32 {
    let planned = info.plan.planned_trials();
    match info.state {
        // It may have ended before its last round.
        RunState::Finished => ended,
        RunState::Unfinished => ended.max(planned),
    }
}

fn interval(row: &Row<'_>, of: &str) -> Result<Interval, Fault> {
    let index: u32 = row.get(0)?;
    let what = || format!("interval {index} of {of}");
    let readings: Readings = unpack(blob(row, 3)?, what)?;
    decode(index, blob(row, 1)?, blob(row, 2)?, readings)
        .map_err(|damage| Fault::damaged(what(), &damage.0))
}

pub(crate) fn id_of(row: i64) -> RunId {
    RunId(format!("r{row}"))
}

pub(crate) const fn moment_word(moment: Moment) -> &'static str {
    match moment {
        Moment::Before => "before",
        Moment::After => "after",
    }
}

pub(crate) fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r str> {
    row.get_ref(column)?.as_str().map_err(wrong_type)
}

pub(crate) fn blob<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r [u8]> {
    row.get_ref(column)?.as_blob().map_err(wrong_type)
}

/// A column that holds another type than the schema says.
fn wrong_type(cause: rusqlite::types::FromSqlError) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Blob, Box::new(cause))
}

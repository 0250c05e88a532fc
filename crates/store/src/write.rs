//! Writing a run down while it goes on.

use model::{
    Capture, Host, Interval, KindTotals, Latency, Measurement, Moment, Nanos, Outcome, Plan,
    Provenance, RunId, RunState, Step, StepId, StepRecord, TrialKey,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::Store;
use crate::error::{Fault, Result, StoreError};
use crate::interval::{encode_latency, encode_numbers};
use crate::pack::{pack, to_json};
use crate::read::{id_of, moment_word, row_of};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TrialId(i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepRowId(pub(crate) i64);

impl Store {
    /// Begins a run; `started` is RFC 3339 in UTC. Its id has never been used before in this lab.
    pub fn create_run(
        &mut self,
        plan: &Plan,
        host: &Host,
        backslide_version: &str,
        started: &str,
    ) -> Result<RunId> {
        self.write("beginning a run", |change| {
            change.execute(
                "INSERT INTO run (plan, host, backslide, started, identity)
                 VALUES (?1, ?2, ?3, ?4, hex(randomblob(16)))",
                params![to_json(plan)?, to_json(host)?, backslide_version, started],
            )?;
            Ok(RunId(format!("r{}", change.last_insert_rowid())))
        })
    }

    /// Gives a run the name under which labs join its parts.
    ///
    /// # Errors
    /// Also when this lab has a run of that name already.
    pub fn name_campaign(&mut self, run: &RunId, campaign: &str) -> Result<()> {
        self.write("naming a campaign", |change| {
            let identity = format!("{CAMPAIGN}{campaign}");
            let earlier = change
                .query_row("SELECT id FROM run WHERE identity = ?1", [&identity], |row| row.get(0))
                .optional()?;
            if let Some(earlier) = earlier {
                let campaign = campaign.to_owned();
                return Err(StoreError::CampaignTaken { run: id_of(earlier), campaign }.into());
            }
            let row = row_of(change, run)?;
            change.execute("UPDATE run SET identity = ?2 WHERE id = ?1", params![row, identity])?;
            Ok(())
        })
    }

    /// Keeps which host measures a round, where it is not the one that the run began on.
    pub fn keep_round_host(&mut self, run: &RunId, round: u32, host: &Host) -> Result<()> {
        self.write("saving the host of a round", |change| {
            let row = row_of(change, run)?;
            change.execute(
                "INSERT OR IGNORE INTO round_host VALUES (?1, ?2, ?3, 0)",
                params![row, round, to_json(host)?],
            )?;
            Ok(())
        })
    }

    /// Begins a trial; `started` is RFC 3339 in UTC. Whatever an interrupted attempt at the same
    /// trial left is removed, together with this.
    ///
    /// # Errors
    /// Also when the trial has an outcome already.
    pub fn begin_trial(&mut self, run: &RunId, key: &TrialKey, started: &str) -> Result<TrialId> {
        self.write("beginning a trial", |change| {
            let row = row_of(change, run)?;
            forget_half_done(change, row, run, key)?;
            change.execute(
                "INSERT INTO trial (run, round, position, system, started)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![row, key.round, key.position, key.system, started],
            )?;
            Ok(TrialId(change.last_insert_rowid()))
        })
    }

    /// Stores the server's identity; replaces an earlier one.
    pub fn set_provenance(&mut self, trial: TrialId, provenance: &Provenance) -> Result<()> {
        self.write("saving the server's identity", |change| {
            let changed = change.execute(
                "UPDATE trial SET provenance = ?2 WHERE id = ?1",
                params![trial.0, to_json(provenance)?],
            )?;
            still_there(changed, "trial")
        })
    }

    pub fn begin_step(&mut self, trial: TrialId, step: &Step) -> Result<StepRowId> {
        let kinds: Vec<&str> = step.kinds.iter().map(|kind| kind.name.as_str()).collect();
        self.write("beginning a step", |change| {
            exists(change, trial)?;
            change.execute(
                "INSERT INTO step (trial, ordinal, name, kinds, measured)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![trial.0, step.ordinal, step.id.0, to_json(&kinds)?, step.measured],
            )?;
            Ok(StepRowId(change.last_insert_rowid()))
        })
    }

    /// Keeps one second of a step, with its histograms. Cheap enough for every second: the commit
    /// goes to the write-ahead log and waits for no disk.
    pub fn add_interval(&mut self, step: StepRowId, interval: &Interval) -> Result<()> {
        let numbers = encode_numbers(interval);
        let latency = encode_latency(interval);
        self.write("saving an interval", |change| {
            let readings = pack(&interval.readings)?;
            let saved = change
                .prepare_cached(
                    "INSERT INTO interval (step, number, numbers)
                     SELECT id, ?2, ?3 FROM step WHERE id = ?1",
                )?
                .execute(params![step.0, interval.index, numbers])?;
            still_there(saved, "step")?;
            change
                .prepare_cached(
                    "INSERT INTO interval_detail (step, number, latency, readings)
                     VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![step.0, interval.index, latency, readings])?;
            Ok(())
        })
    }

    /// Keeps something that was read from the server before or after a step. A listing that says the same as
    /// the last of its name in the trial takes no room: variables seldom change.
    pub fn add_capture(
        &mut self,
        trial: TrialId,
        step: &StepId,
        moment: Moment,
        capture: &Capture,
    ) -> Result<()> {
        self.write("saving captures", |change| {
            exists(change, trial)?;
            let mut listing = pack(capture)?;
            if last_listing(change, trial, &capture.name)?.is_some_and(|last| last == listing) {
                listing.clear();
            }
            change
                .prepare_cached(
                    "INSERT INTO capture (trial, step, moment, name, listing)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![trial.0, step.0, moment_word(moment), capture.name, listing])?;
            Ok(())
        })
    }

    /// Ends a step: keeps its record, its merged histograms and its measurements.
    pub fn finish_step(
        &mut self,
        step: StepRowId,
        record: &StepRecord,
        measurements: &[Measurement],
    ) -> Result<()> {
        self.write("saving the record of a step", |change| {
            let changed = change.execute(
                "UPDATE step SET record = ?2 WHERE id = ?1",
                params![step.0, to_json(record)?],
            )?;
            still_there(changed, "step")?;
            for (place, kind) in record.kinds.iter().enumerate() {
                save_histograms(change, step, place, kind)?;
            }
            save_measurements(change, step, measurements)
        })?;
        // Between two steps is the time for the disk to work. What cannot be moved now (someone
        // reads, the disk is full) is safe in the write-ahead log and is moved after the next.
        let _tried: Result<(), _> =
            self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        Ok(())
    }

    /// Gives each trial its outcome and how long it took: all of them, or none.
    pub fn finish_trials(&mut self, ended: &[(TrialId, &Outcome, Nanos)]) -> Result<()> {
        self.write("saving the outcome of a trial", |change| {
            for (trial, outcome, duration) in ended {
                let changed = change.execute(
                    "UPDATE trial SET completed = ?2, outcome = ?3, duration_ns = ?4 WHERE id = ?1",
                    params![trial.0, outcome.is_completed(), to_json(outcome)?, duration.0 as i64],
                )?;
                still_there(changed, "trial")?;
            }
            Ok(())
        })
    }

    /// Marks a run as finished: every trial has an outcome.
    pub fn finish_run(&mut self, run: &RunId) -> Result<()> {
        self.write("finishing a run", |change| {
            let row = row_of(change, run)?;
            change.execute("UPDATE run SET finished = 1 WHERE id = ?1", [row])?;
            Ok(())
        })
    }

    /// Replaces the plan of a run, and says whether all of it is done.
    pub fn set_plan(&mut self, run: &RunId, plan: &Plan, state: RunState) -> Result<()> {
        self.write("changing the rounds of a run", |change| {
            let row = row_of(change, run)?;
            change.execute(
                "UPDATE run SET plan = ?2, finished = ?3 WHERE id = ?1",
                params![row, to_json(plan)?, state == RunState::Finished],
            )?;
            Ok(())
        })
    }

    /// Removes a run without a started trial. Was it removed?
    pub fn discard_run(&mut self, run: &RunId) -> Result<bool> {
        self.write("removing a run that did not begin", |change| {
            let row = row_of(change, run)?;
            let removed = change.execute(
                "DELETE FROM run WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM trial WHERE run = ?1)",
                [row],
            )?;
            Ok(removed > 0)
        })
    }
}

/// How the identity of a run begins that has a part of a campaign; its name follows.
pub(crate) const CAMPAIGN: &str = "campaign ";

fn forget_half_done(
    change: &Connection,
    row: i64,
    run: &RunId,
    key: &TrialKey,
) -> Result<(), Fault> {
    let earlier: Option<(i64, bool)> = change
        .query_row(
            "SELECT id, outcome IS NOT NULL FROM trial
             WHERE run = ?1 AND round = ?2 AND system = ?3",
            params![row, key.round, key.system],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    match earlier {
        Some((_, true)) => Err(Fault::from(StoreError::TrialIsOver {
            run: run.clone(),
            round: key.round,
            system: key.system.clone(),
        })),
        Some((id, false)) => {
            change.execute("DELETE FROM trial WHERE id = ?1", [id])?;
            Ok(())
        }
        None => Ok(()),
    }
}

fn save_histograms(
    change: &Connection,
    step: StepRowId,
    place: usize,
    kind: &KindTotals,
) -> Result<(), Fault> {
    let mut insert = change.prepare_cached(
        "INSERT INTO histogram (step, kind, response, latency) VALUES (?1, ?2, ?3, ?4)",
    )?;
    let mut save = |is_response: bool, latency: &Latency| {
        insert.execute(params![step.0, place as i64, is_response, latency.encode()])
    };
    save(false, &kind.sums.service)?;
    if let Some(response) = &kind.sums.response {
        save(true, response)?;
    }
    Ok(())
}

pub(crate) fn save_measurements(
    change: &Connection,
    step: StepRowId,
    measurements: &[Measurement],
) -> Result<(), Fault> {
    let mut insert = change.prepare_cached(
        "INSERT INTO measurement (step, place, metric, unit, value) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (place, m) in measurements.iter().enumerate() {
        insert.execute(params![step.0, place as i64, m.metric.0, m.unit.name(), m.value])?;
    }
    Ok(())
}

/// The last listing of that name in the trial, packed.
fn last_listing(change: &Connection, trial: TrialId, name: &str) -> Result<Option<Vec<u8>>, Fault> {
    let mut query = change.prepare_cached(
        "SELECT listing FROM capture
         WHERE trial = ?1 AND name = ?2 AND length(listing) > 0 ORDER BY id DESC LIMIT 1",
    )?;
    Ok(query.query_row(params![trial.0, name], |row| row.get(0)).optional()?)
}

fn exists(change: &Connection, trial: TrialId) -> Result<(), Fault> {
    let found = change.prepare_cached("SELECT 1 FROM trial WHERE id = ?1")?.exists([trial.0])?;
    still_there(usize::from(found), "trial")
}

pub(crate) fn still_there(rows: usize, what: &'static str) -> Result<(), Fault> {
    if rows == 1 { Ok(()) } else { Err(Fault::Gone(what)) }
}

/// A completed trial, with the records and measurements of its steps in their order.
pub type WholeTrial<'a> = (&'a TrialKey, &'a [(StepRecord, Vec<Measurement>)]);

impl Store {
    /// Keeps a run that is finished, whole or not at all: nobody sees a part of it. Its records have no
    /// operation kinds, and so no histograms. `now` is RFC 3339 in UTC.
    pub fn keep_whole<'a>(
        &mut self,
        plan: &Plan,
        host: &Host,
        backslide_version: &str,
        now: &str,
        trials: impl Iterator<Item = WholeTrial<'a>>,
    ) -> Result<RunId> {
        self.write("keeping an imported run", |change| {
            change.execute(
                "INSERT INTO run (plan, host, backslide, started, finished, identity)
                 VALUES (?1, ?2, ?3, ?4, 1, hex(randomblob(16)))",
                params![to_json(plan)?, to_json(host)?, backslide_version, now],
            )?;
            let run = change.last_insert_rowid();
            for (key, steps) in trials {
                save_trial(change, run, key, now, steps)?;
            }
            Ok(RunId(format!("r{run}")))
        })
    }
}

fn save_trial(
    change: &Connection,
    run: i64,
    key: &TrialKey,
    now: &str,
    steps: &[(StepRecord, Vec<Measurement>)],
) -> Result<(), Fault> {
    let windows = steps.iter().map(|(record, _)| record.window.0);
    change
        .prepare_cached(
            "INSERT INTO trial (run, round, position, system, started, completed, outcome, duration_ns)
             VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7)",
        )?
        .execute(params![
            run,
            key.round,
            key.position,
            key.system,
            now,
            to_json(&Outcome::Completed)?,
            Nanos(windows.fold(0, u64::saturating_add)).0 as i64
        ])?;
    let trial = change.last_insert_rowid();
    for (record, measurements) in steps {
        change
            .prepare_cached(
                "INSERT INTO step (trial, ordinal, name, kinds, measured, record)
                 VALUES (?1, ?2, ?3, '[]', ?4, ?5)",
            )?
            .execute(params![
                trial,
                record.ordinal,
                record.step.0,
                record.measured,
                to_json(record)?
            ])?;
        save_measurements(change, StepRowId(change.last_insert_rowid()), measurements)?;
    }
    Ok(())
}

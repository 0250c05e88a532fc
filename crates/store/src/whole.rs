//! Writing a run down that was measured elsewhere.

use model::{Host, Measurement, Nanos, Outcome, Plan, RunId, StepRecord, TrialKey};
use rusqlite::{Connection, params};

use crate::Store;
use crate::error::{Fault, StoreError};
use crate::pack::to_json;
use crate::write::{StepRowId, save_measurements};

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
    ) -> Result<RunId, StoreError> {
        self.write("keeping an imported run", |change| {
            change.execute(
                "INSERT INTO run (plan, host, backslide, started, finished) VALUES (?1, ?2, ?3, ?4, 1)",
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
    let duration = Nanos(windows.fold(0, u64::saturating_add));
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
            duration.0 as i64
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

//! Verdicts on the controls of runs: counted when a run ends, summed up for reports.

use model::{FalseAlarms, RunId};
use rusqlite::params;

use crate::Store;
use crate::error::Result;
use crate::read::{id_of, row_of};

impl Store {
    /// Keeps how many cells of the control of a run were judged, and how many of them were called different: none of
    /// none where it has no control. Replaces what was kept before.
    pub fn keep_control(&mut self, run: &RunId, cells: u32, changed: u32) -> Result<()> {
        self.write("saving the verdicts on a control", |change| {
            let row = row_of(change, run)?;
            change.execute(
                "INSERT INTO control (run, cells, changed) VALUES (?1, ?2, ?3)
                 ON CONFLICT (run) DO UPDATE SET cells = excluded.cells, changed = excluded.changed",
                params![row, cells, changed],
            )?;
            Ok(())
        })
    }

    /// The finished runs of which nothing is kept yet, the oldest first. Nothing else of them is read: one that is
    /// damaged is no reason not to count the others.
    pub fn uncounted_runs(&self) -> Result<Vec<RunId>> {
        self.read("looking for runs whose control is not counted", |state| {
            let mut query = state.prepare(
                "SELECT id FROM run
                 WHERE finished = 1 AND id NOT IN (SELECT run FROM control) ORDER BY id",
            )?;
            query.query_and_then([], |row| Ok(id_of(row.get(0)?)))?.collect()
        })
    }

    /// The verdicts on the control of each run that has one, the latest run first.
    pub fn controls(&self) -> Result<Vec<(RunId, FalseAlarms)>> {
        self.read("reading the verdicts on controls", |state| {
            let mut query = state.prepare(
                "SELECT run, cells, changed FROM control WHERE cells > 0 ORDER BY run DESC",
            )?;
            let controls = query.query_and_then([], |row| {
                let (cells, changed): (u32, u32) = (row.get(1)?, row.get(2)?);
                let counted = FalseAlarms { runs: 1, cells: cells.into(), changed: changed.into() };
                Ok((id_of(row.get(0)?), counted))
            })?;
            controls.collect()
        })
    }

    pub fn false_alarms(&self) -> Result<FalseAlarms> {
        self.read("summing up the verdicts on controls", |state| {
            let sums: [i64; 3] = state.query_row(
                "SELECT count(*), coalesce(sum(cells), 0), coalesce(sum(changed), 0)
                 FROM control WHERE cells > 0",
                [],
                |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]),
            )?;
            let [runs, cells, changed] = sums.map(|sum| sum.max(0) as u64);
            Ok(FalseAlarms { runs, cells, changed })
        })
    }
}

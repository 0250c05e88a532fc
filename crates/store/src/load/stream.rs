//! Reading a run piece by piece, for exports: memory does not grow with the length of the run.
//!
//! Each method hands what it reads to a function, in the order of [`Store::load`], and only what
//! [`Store::load`] would hold: measured steps of trials that count. An error of that function ends
//! the reading and is returned as it is.

use model::{
    Cell, Interval, IntervalNumbers, Readings, RunId, RunInfo, StepHistogram, StepPlace,
    TrialRecord,
};
use rusqlite::{Connection, Row};

use super::below::{cells, histograms};
use super::finished::{FINISHED, FinishedStep, finished_step};
use super::trials;
use crate::Store;
use crate::error::{Fault, Result, StoreError};
use crate::interval::{Damage, decode, decode_numbers};
use crate::read::{blob, row_of, run_info};

/// The numbers of a step's intervals, with their places.
const NUMBERED: &str = "SELECT number, numbers FROM interval WHERE step = ?1 ORDER BY number";

/// The same with their histograms.
const DETAILED: &str = "SELECT number, numbers, latency
     FROM interval JOIN interval_detail USING (step, number) WHERE step = ?1 ORDER BY number";

impl Store {
    /// Facts about a run, and its trials with an outcome, in execution order.
    pub fn outline(&self, run: &RunId) -> Result<(RunInfo, Vec<TrialRecord>)> {
        self.read("reading the trials of a run", |state| {
            let row = row_of(state, run)?;
            Ok((run_info(state, row)?, trials(state, row)?))
        })
    }

    pub fn each_cell<E: From<StoreError>>(
        &self,
        run: &RunId,
        mut take: impl FnMut(Cell) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_step(run, |state, step| {
            Ok(cells(state, step)?.into_iter().try_for_each(&mut take))
        })
    }

    pub fn each_histogram<E: From<StoreError>>(
        &self,
        run: &RunId,
        mut take: impl FnMut(&StepPlace, StepHistogram) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_step(run, |state, step| {
            let place = place(step);
            Ok(histograms(state, step)?.into_iter().try_for_each(|one| take(&place, one)))
        })
    }

    pub fn each_interval<E: From<StoreError>>(
        &self,
        run: &RunId,
        take: impl FnMut(&StepPlace, &IntervalNumbers) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_row(run, NUMBERED, |row| Ok(decode_numbers(row.get(0)?, blob(row, 1)?)), take)
    }

    /// Hands over every interval with its histograms, without probe readings.
    pub fn each_second<E: From<StoreError>>(
        &self,
        run: &RunId,
        take: impl FnMut(&StepPlace, &Interval) -> Result<(), E>,
    ) -> Result<(), E> {
        let read = |row: &Row<'_>| {
            let (numbers, latency) = (blob(row, 1)?, blob(row, 2)?);
            Ok(decode(row.get(0)?, numbers, latency, Readings::default()))
        };
        self.each_row(run, DETAILED, read, take)
    }

    /// Hands over what `read` makes of each interval that `sql` selects of a step.
    fn each_row<T, E: From<StoreError>>(
        &self,
        run: &RunId,
        sql: &str,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<Result<T, Damage>>,
        mut take: impl FnMut(&StepPlace, &T) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_step(run, |state, step| {
            let place = place(step);
            let mut query = state.prepare_cached(sql)?;
            let mut rows = query.query([step.id])?;
            while let Some(row) = rows.next()? {
                let interval =
                    read(row)?.map_err(|damage| step.damaged("an interval of", &damage.0))?;
                if let Err(stopped) = take(&place, &interval) {
                    return Ok(Err(stopped));
                }
            }
            Ok(Ok(()))
        })
    }

    /// Hands over each step whose numbers count. The inner result is the receiver's.
    fn each_step<E: From<StoreError>>(
        &self,
        run: &RunId,
        mut take: impl FnMut(&Connection, &FinishedStep) -> Result<Result<(), E>, Fault>,
    ) -> Result<(), E> {
        let taken = self.read("reading a run", |state| {
            let run = row_of(state, run)?;
            let disturbed = run_info(state, run)?.counts_disturbed(&trials(state, run)?);
            let mut query = state.prepare(FINISHED)?;
            let mut rows = query.query([run])?;
            while let Some(row) = rows.next()? {
                let step = finished_step(row)?;
                if !step.outcome.counts(disturbed) || !step.record.measured {
                    continue;
                }
                if let Err(stopped) = take(state, &step)? {
                    return Ok(Err(stopped));
                }
            }
            Ok(Ok(()))
        });
        taken.map_err(E::from)?
    }
}

fn place(step: &FinishedStep) -> StepPlace {
    StepPlace {
        trial: step.trial(),
        step: step.name.clone(),
        clients: step.record.clients,
        kinds: step.kinds.clone(),
    }
}

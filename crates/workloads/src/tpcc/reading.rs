//! Reads all tables back and compares each row with what was to be loaded; after a restore each index is read
//! too, so that the caches hold what fits, as they do after a load.

use std::sync::PoisonError;

use model::{Check, StepRecord, TpccSpec, TpccStage};

use super::meta;
use super::population::Population;
use super::scale::Scale;
use super::tables::tables;
use data::reading::{Against, Found, ReadWork};
use load::clients::Notes;
use load::engine::{Observer, Stop};
use load::clients::FixedWork;
use load::worker::Worker;
use load::{StepError, Target};

/// Reads all rows and indexes of a database that another trial has loaded.
pub(super) fn run(
    spec: &TpccSpec,
    rows_seed: u64,
    target: &Target,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepRecord, StepError> {
    let (clock, notes, found) = (stop.clock(), Notes::default(), Found::default());
    let work = FixedWork {
        kinds: TpccStage::Warm.kinds(spec),
        clients: work(spec, rows_seed, target, true)?.clients(target, &found)?,
        clock,
        notes: ("read".into(), &notes),
    };
    let mut result = work.run(stop, observer)?;
    result.checks = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(result)
}

/// Compares all rows with those that `rows_seed` makes, by as many sessions as load.
pub(super) fn checks(
    spec: &TpccSpec,
    rows_seed: u64,
    target: &Target,
    stop: &Stop,
) -> Result<Vec<Check>, StepError> {
    work(spec, rows_seed, target, false)?.checks(target, stop)
}

fn work<'a>(
    spec: &'a TpccSpec,
    rows_seed: u64,
    target: &Target,
    with_indexes: bool,
) -> Result<ReadWork<'a, Population>, StepError> {
    let mut worker = Worker::connect(&*target.patient, "look at the load".to_owned())?;
    meta::refuse_other(&mut *worker.session, spec, rows_seed)?;
    Ok(ReadWork {
        source: Population::new(Scale::of(spec), rows_seed),
        tables: tables(spec, target)?,
        against: Against::Source,
        every: 1,
        with_indexes,
        with_counts: true,
        clients: spec.load.clients,
        errors: &spec.errors,
    })
}

#[cfg(test)]
mod tests;

//! Loading: makes the tables, fills them, and writes down last what was loaded: without it, a load did not end.

use model::{Dialect, StepRecord, TpccForm, TpccSpec, TpccStage};

use super::population::Population;
use super::scale::Scale;
use super::tables::{Table, tables};
use super::{meta, procedures};
use data::loading::{LoadWork, bounded_loader};
use data::source::Source;
use data::statements;
use load::clients::{Clients, Notes};
use load::engine::{Observer, Stop};
use load::clients::FixedWork;
use load::worker::Worker;
use load::{StepError, Target};

/// All tables, those that take longest first, so that clients end together.
const LONGEST_FIRST: [Table; 9] = [
    Table::OrderLine,
    Table::Stock,
    Table::Customer,
    Table::History,
    Table::Orders,
    Table::Item,
    Table::NewOrder,
    Table::District,
    Table::Warehouse,
];

/// Makes the tables, which must not exist, fills them, makes the procedures where the plan wants them, and
/// writes down what was loaded.
pub(super) fn run(
    spec: &TpccSpec,
    rows_seed: u64,
    target: &Target,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepRecord, StepError> {
    let clock = stop.clock();
    Scale::of(spec).check()?;
    let notes = Notes::default();
    let mut worker = Worker::connect(&*target.patient, "create tables".to_owned())?;
    refuse_existing(&mut worker, target.dialect)?;
    let population = Population::new(Scale::of(spec), rows_seed);
    let work = LoadWork {
        source: population,
        tables: tables(spec, target)?,
        spec: &spec.load,
        errors: &spec.errors,
        order: LONGEST_FIRST.map(|table| table as usize).to_vec(),
        parts: spec.load.clients.max(1),
        with_times: true,
    };
    let load = work.begin(target, &target.connector, &mut worker, &notes)?;
    // Its session ends here: a step holds no more sessions than it has clients.
    drop(worker);
    let clients = (0..spec.load.clients.max(1)).map(|number| bounded_loader(&load, number));
    let work = FixedWork {
        kinds: TpccStage::Load.kinds(spec),
        clients: clients.collect::<Result<Clients, StepError>>()?,
        clock,
        notes: ("load".into(), &notes),
    };
    let mut result = work.run(stop, observer)?;
    finish(spec, rows_seed, target)?;
    result.requested_rows = (0..Table::ALL.len()).map(|table| population.total(table)).sum();
    Ok(result)
}

/// A trial begins with an empty database; what is in it is somebody else's, or of a load that did not end.
fn refuse_existing(worker: &mut Worker, dialect: Dialect) -> Result<(), StepError> {
    let mut existing = Vec::new();
    for name in Table::ALL.map(Table::name).into_iter().chain([meta::NAME]) {
        if worker.number(&statements::count_tables(dialect, name))? > 0 {
            existing.push(name);
        }
    }
    if existing.is_empty() {
        return Ok(());
    }
    let what = if existing.contains(&meta::NAME) {
        "was loaded before"
    } else {
        "has tables of a load that did not end, or of somebody else"
    };
    // Those that refer to others come before these.
    let drops = existing.iter().rev().map(|name| format!("DROP TABLE {name}"));
    Err(StepError::Load(format!(
        "the database {what}: drop them ({}) or give another database",
        drops.collect::<Vec<_>>().join("; ")
    )))
}

fn finish(spec: &TpccSpec, rows_seed: u64, target: &Target) -> Result<(), StepError> {
    let mut worker = Worker::connect(&*target.patient, "end the load".to_owned())?;
    if spec.form == TpccForm::Procedures {
        for sql in procedures::create(spec, target.dialect) {
            worker.run(&sql)?;
        }
    }
    for sql in meta::create(spec, rows_seed, target)? {
        worker.run(&sql)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;

//! Loading: all tables, by several clients, by the fastest statements that the server takes.
//!
//! A unit is one transaction: by COPY or LOAD DATA it is one statement, by INSERT as many as it takes. It is
//! in its table whole or not at all, so a client that lost its connection looks whether the unit under way
//! is there and goes on. What was loaded is written down last: without it, a load did not end.

mod errand;
mod loader;
mod sender;
mod shares;
mod tally;

use std::sync::Arc;

use model::{Dialect, KindSpec, LoadMethod, TpccForm, TpccSpec};

pub(super) use self::errand::Errand;
use self::loader::Loader;
use self::shares::Shares;
use self::tally::Tally;
use super::population::{Cuts, Population};
use super::scale::Scale;
use super::tables::{self, Table};
use super::{meta, procedures};
use crate::engine::{Observer, Stop};
use crate::workload::batches::Recovery;
use crate::workload::settle::{Clients, Notes, bounded, note};
use crate::workload::sql::load::local_files::LocalFiles;
use crate::workload::sql::load::{ROWS_AT_ONCE, statement_size};
use crate::workload::sql::schema;
use crate::workload::worker::Worker;
use crate::{StepClock, StepError, StepResult, Target};

/// No row is longer, as parameters.
const LONGEST_ROW: usize = 1000;

/// What all clients of a load share.
struct Load {
    population: Population,
    cuts: Cuts,
    shares: Shares,
    dialect: Dialect,
    wanted: LoadMethod,
    /// An INSERT as text gets no more rows when it is so long.
    statement_size: usize,
    /// Rows of a prepared INSERT.
    rows_at_once: usize,
    recovery: Recovery,
    local_files: LocalFiles,
    notes: Notes,
    tally: Tally,
}

/// The operation kind: a statement that adds rows.
pub(super) fn kinds() -> Vec<KindSpec> {
    vec![KindSpec {
        name: "insert".to_owned(),
        scheduled: false,
    }]
}

/// Makes the tables, which must not exist, fills them, makes the procedures where the plan wants them, and
/// writes down what was loaded.
pub(super) fn run(
    spec: &TpccSpec,
    rows_seed: u64,
    target: &Target,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepResult, StepError> {
    let clock = StepClock::start();
    Scale::of(spec).check()?;
    let notes = Notes::default();
    let mut worker = Worker::connect(&*target.patient, "create tables".to_owned())?;
    refuse_existing(&mut worker, target.dialect)?;
    create_tables(&mut worker, spec, target)?;
    let load = Load::new(spec, rows_seed, target, &mut worker, &notes)?;
    // Its session ends here: a step holds no more sessions than it has clients.
    drop(worker);
    let errand = Errand {
        kinds: kinds(),
        clients: clients(&load, spec)?,
        clock,
        notes: ("load", &notes),
    };
    let mut result = errand.run(stop, observer)?;
    finish(spec, rows_seed, target)?;
    let tables = Table::ALL.into_iter();
    result.requested_rows = tables.map(|table| load.population.total(table)).sum();
    Ok(result)
}

/// A trial begins with an empty database; what is in it is somebody else's, or of a load that did not end.
fn refuse_existing(worker: &mut Worker, dialect: Dialect) -> Result<(), StepError> {
    let mut existing = Vec::new();
    for name in Table::ALL.map(Table::name).into_iter().chain([meta::NAME]) {
        if worker.number(&schema::count_tables(dialect, name))? > 0 {
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
    let drops = existing
        .iter()
        .rev()
        .map(|name| format!("DROP TABLE {name}"));
    Err(StepError::Load(format!(
        "the database {what}: drop them ({}) or give another database",
        drops.collect::<Vec<_>>().join("; ")
    )))
}

/// Makes all tables, with their secondary indexes where these come first.
fn create_tables(worker: &mut Worker, spec: &TpccSpec, target: &Target) -> Result<(), StepError> {
    for table in Table::ALL {
        for sql in tables::create(table, spec, target)? {
            worker.run(&sql)?;
        }
        if spec.load.indexes_first {
            for sql in tables::indexes(table, spec.schema) {
                worker.run(&sql)?;
            }
        }
    }
    Ok(())
}

/// Connects the clients: as many as the plan says.
fn clients(load: &Arc<Load>, spec: &TpccSpec) -> Result<Clients, StepError> {
    let clients = (1..=spec.load.clients.max(1)).map(|number| {
        let name = format!("load {number}");
        let loader = Loader::connect(load, name.clone())?;
        Ok(bounded(name, loader))
    });
    clients.collect()
}

/// What comes when all rows are there.
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

impl Load {
    /// A load of all tables, which are empty. `worker` asks the server what it takes.
    fn new(
        spec: &TpccSpec,
        rows_seed: u64,
        target: &Target,
        worker: &mut Worker,
        notes: &Notes,
    ) -> Result<Arc<Self>, StepError> {
        let statement_size = statement_size(target.dialect, worker)?;
        let scale = Scale::of(spec);
        let cuts = Cuts::new(scale, spec.load.rows_per_commit);
        let (clients, wanted) = (spec.load.clients.max(1), spec.load.method);
        let session = &mut *worker.session;
        Ok(Arc::new(Self {
            population: Population::new(scale, rows_seed),
            shares: Shares::new(&cuts, target.dialect, clients),
            cuts,
            dialect: target.dialect,
            wanted,
            statement_size,
            rows_at_once: ROWS_AT_ONCE.min(statement_size / LONGEST_ROW).max(1),
            recovery: Recovery::new(&spec.errors, target.dialect, &target.connector),
            local_files: LocalFiles::allow(session, target, wanted, clients, notes),
            notes: Arc::clone(notes),
            tally: Tally::new(clients),
        }))
    }

    /// A client is done; the last one tells how long each table took.
    fn done(&self) {
        for told in self.tally.client_done() {
            note(&self.notes, told);
        }
    }
}

#[cfg(test)]
mod tests;

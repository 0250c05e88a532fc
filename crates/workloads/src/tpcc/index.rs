//! Builds the secondary indexes of tables that are loaded, and adds the foreign keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::{StepRecord, TpccSpec, TpccStage};

use super::scale::Scale;
use super::tables::{self, Table, tables};
use load::clients::{Clients, Notes, bounded};
use load::engine::{Observer, Stop};
use load::clients::FixedWork;
use load::worker::Worker;
use load::{Client, ClientContext, StepError, Target};

/// Builds what the load has not built: one client for each table that has something left, and one for the
/// foreign keys, which come when all indexes are there. The rows of a table count once, about.
pub(super) fn run(
    spec: &TpccSpec,
    target: &Target,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<StepRecord, StepError> {
    let clock = stop.clock();
    let notes = Notes::default();
    let work = FixedWork {
        kinds: TpccStage::Index.kinds(spec),
        clients: connect(spec, target)?,
        clock,
        notes: ("index".into(), &notes),
    };
    work.run(stop, observer)
}

fn connect(spec: &TpccSpec, target: &Target) -> Result<Clients, StepError> {
    let scale = Scale::of(spec);
    let left = Arc::new(AtomicUsize::new(0));
    let mut clients = Clients::new();
    for (table, described) in Table::ALL.into_iter().zip(tables(spec, target)?) {
        let statements = described.create_indexes();
        if statements.is_empty() || spec.load.indexes_first {
            continue;
        }
        let name = format!("create index {}", table.name());
        left.fetch_add(1, Ordering::Relaxed);
        let builder = Builder {
            worker: Worker::connect(&*target.patient, name.clone())?,
            statements,
            rows: scale.rows(table),
            left: Arc::clone(&left),
        };
        clients.push(bounded(name, builder));
    }
    let statements = tables::foreign_keys(spec.schema);
    if !statements.is_empty() || clients.is_empty() {
        let name = "add foreign keys".to_owned();
        let mut worker = Worker::connect(&*target.patient, name.clone())?;
        for sql in tables::before_foreign_keys(target.dialect) {
            worker.run(sql)?;
        }
        let keys = ForeignKeys { worker, statements, left };
        clients.push(bounded(name, keys));
    }
    Ok(clients)
}

/// Builds the indexes of one table, one after the other.
struct Builder {
    worker: Worker,
    statements: Vec<String>,
    rows: u64,
    left: Arc<AtomicUsize>,
}

impl Client for Builder {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        self.worker.build_indexes(context, 0, &self.statements, self.rows)?;
        self.left.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Adds the foreign keys: one after the other, because each locks two tables.
struct ForeignKeys {
    worker: Worker,
    statements: Vec<String>,
    left: Arc<AtomicUsize>,
}

impl Client for ForeignKeys {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        while self.left.load(Ordering::Relaxed) > 0 && !context.is_over() {
            context.nap();
        }
        self.worker.build_indexes(context, 0, &self.statements, 0)
    }
}

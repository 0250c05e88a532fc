//! Makes all tables anew, so that what follows begins with the data of the first test.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::SqlSpec;

use super::ledger::Ledger;
use super::load::{Load, Loader, copies, create_tables};
use super::schema;
use crate::engine::NAP;
use crate::workload::settle::{self, Clients, Notes, bounded};
use crate::workload::worker::Worker;
use crate::{Client, ClientContext, StepError, Target};

/// Kinds of the operations.
const INSERT: usize = 0;
const CREATE_INDEX: usize = 1;

/// What is done when everything is loaded. Shared by all clients.
struct Rest {
    /// Clients that still load.
    loading: AtomicUsize,
    /// The next copy that nobody works on.
    next: AtomicUsize,
    copies: Vec<CopyRest>,
}

/// What is done to one copy.
struct CopyRest {
    rows: u64,
    indexes: Vec<String>,
    /// Statements that the settle phase begins with: statistics, dead rows, the map of visible ones.
    settle: Vec<String>,
}

/// A client that loads and then helps with the rest.
struct Resetter {
    loader: Loader,
    rest: Arc<Rest>,
}

/// Drops all tables, makes them again and connects the clients that load them, build their indexes and
/// analyse them: as many as the spec says. Their operation kinds are `insert`, the first of the step, and
/// `create_index`. The ledger says from now on that everything is loaded.
pub(super) fn clients_of_reset(
    spec: &SqlSpec,
    seed: u64,
    target: &Target,
    ledger: &Arc<Ledger>,
    notes: &Notes,
) -> Result<Clients, StepError> {
    let mut worker = Worker::connect(&*target.patient, "make tables anew".to_owned())?;
    for copy in copies(&spec.tables) {
        worker.run(&schema::drop_table(&copy.name))?;
    }
    create_tables(&mut worker, spec, target)?;
    // Index builds may take longer than other statements may.
    let load = Load::new(spec, seed, target, &target.patient, &mut worker, notes)?;
    ledger.set_loaded();
    drop(worker);
    let count = spec.load.clients.max(1);
    let rest = Arc::new(Rest::new(spec, target, count));
    let clients = (0..count).map(|number| {
        let resetter = Resetter {
            loader: Loader::connect(&load, number, INSERT)?,
            rest: Arc::clone(&rest),
        };
        Ok(bounded(format!("load {}", number + 1), resetter))
    });
    clients.collect()
}

impl Rest {
    fn new(spec: &SqlSpec, target: &Target, clients: u32) -> Self {
        let work = settle::work(target.dialect, target.engine, &target.version);
        let copies = copies(&spec.tables).into_iter().map(|copy| CopyRest {
            rows: copy.rows,
            indexes: if spec.load.indexes_first {
                Vec::new()
            } else {
                schema::create_indexes(&spec.tables[copy.table], copy.number)
            },
            settle: work.of_table(&copy.name),
        });
        Self {
            loading: AtomicUsize::new(clients as usize),
            next: AtomicUsize::new(0),
            copies: copies.collect(),
        }
    }
}

impl Client for Resetter {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        self.loader.run(context)?;
        let rest = &*self.rest;
        rest.loading.fetch_sub(1, Ordering::Relaxed);
        while rest.loading.load(Ordering::Relaxed) > 0 && !context.is_over() {
            std::thread::sleep(NAP);
        }
        let worker = self.loader.worker();
        while !context.is_over()
            && let Some(copy) = rest.copies.get(rest.next.fetch_add(1, Ordering::Relaxed))
        {
            worker.build_indexes(context, CREATE_INDEX, &copy.indexes, copy.rows)?;
            for sql in &copy.settle {
                worker.repeat(context, sql)?;
            }
        }
        Ok(())
    }
}

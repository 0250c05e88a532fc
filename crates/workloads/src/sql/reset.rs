//! Makes all tables anew, so that what follows begins with the data of the first test.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::SqlSpec;

use data::loading::{LoadWork, Loader, name};
use data::row_counts::RowCounts;
use data::rows::SqlRows;
use data::settle;
use data::source::Source;
use data::table::Table;
use load::clients::{Clients, Notes, bounded};
use load::worker::Worker;
use load::{Client, ClientContext, StepError, Target};

/// The kind of index builds; that of INSERTs is the first.
const CREATE_INDEX: usize = 1;

/// What is done when everything is loaded. Shared by all clients.
struct Rest {
    loading: AtomicUsize,
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
    loader: Loader<SqlRows>,
    rest: Arc<Rest>,
}

/// Drops all tables, makes them again and connects the clients that load them, build their indexes and
/// analyse them: as many as the spec says. Their operation kinds are `insert`, the first of the step, and
/// `create_index`. From now on the counts say that everything is loaded.
pub(super) fn clients_of_reset(
    spec: &SqlSpec,
    seed: u64,
    target: &Target,
    counts: &Arc<RowCounts>,
    notes: &Notes,
) -> Result<Clients, StepError> {
    let mut worker = Worker::connect(&*target.patient, "make tables anew".to_owned())?;
    let work = LoadWork::of_sql(spec, seed, target)?;
    for Table { name, .. } in &work.tables {
        worker.run(&format!("DROP TABLE IF EXISTS {name}"))?;
    }
    let count = spec.load.clients.max(1);
    let rest = Arc::new(Rest::new(&work, target, count));
    // Index builds may take longer than other statements may.
    let load = work.begin(target, &target.patient, &mut worker, notes)?;
    counts.set_loaded();
    drop(worker);
    let clients = (0..count).map(|number| {
        let loader = Loader::connect(&load, number)?;
        Ok(bounded(name(number), Resetter { loader, rest: Arc::clone(&rest) }))
    });
    clients.collect()
}

impl Rest {
    fn new(work: &LoadWork<'_, SqlRows>, target: &Target, clients: u32) -> Self {
        let settle = settle::work(target.dialect, target.engine, &target.version);
        let copies = work.tables.iter().enumerate().map(|(index, table)| CopyRest {
            rows: work.source.total(index),
            indexes: if work.spec.indexes_first { Vec::new() } else { table.create_indexes() },
            settle: settle.of_table(&table.name),
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
            context.nap();
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

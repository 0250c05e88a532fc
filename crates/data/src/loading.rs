//! Loading: all tables, by several clients, by the fastest statements that the server takes.
//!
//! A batch of rows is one transaction: by COPY or LOAD DATA it is one statement, by INSERT as many as it takes.

mod batches;
mod handout;
mod sender;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use drivers::{Connector, Session};
use model::{Dialect, ErrorRules, LoadSpec, Nanos, SqlSpec};

use self::batches::{Batches, Loaded};
use self::handout::Handout;
use self::sender::{Sender, Shared, allow_local_files, rows_at_once, statement_size};
use crate::rows::SqlRows;
use crate::schema;
use crate::source::Source;
use crate::table::Table;
use load::{
    Client, ClientContext, Clients, Notes, Recovery, Result, Target, Worker, bounded, note,
};

pub struct LoadWork<S> {
    pub source: S,
    pub tables: Vec<Table>,
    pub spec: LoadSpec,
    pub errors: ErrorRules,
    /// The tables in the order in which they are begun.
    pub order: Vec<usize>,
    /// Parts of a table whose rows are ordered by their key.
    pub parts: u32,
    /// Is it noted how long each table took?
    pub with_times: bool,
}

pub struct Load<S> {
    shared: Arc<Shared<S>>,
    spec: LoadSpec,
    with_times: bool,
    handout: Handout,
    recovery: Recovery,
    notes: Notes,
    /// Rows of each table, and the time that the statements took which added them, all clients together.
    loaded: Vec<[AtomicU64; 2]>,
    left: AtomicUsize,
}

impl LoadWork<SqlRows> {
    pub fn of_sql(spec: &SqlSpec, seed: u64, target: &Target) -> Result<Self> {
        let tables = schema::tables(&spec.tables, target.dialect, target.engine)?;
        Ok(Self {
            source: SqlRows::new(&spec.tables, seed),
            spec: spec.load.clone(),
            errors: spec.errors.clone(),
            order: (0..tables.len()).collect(),
            parts: spec.load.clients.div_ceil(tables.len().max(1) as u32),
            with_times: false,
            tables,
        })
    }
}

impl<S: Source> LoadWork<S> {
    /// Makes the tables. They are loaded by sessions of `connector`; `worker` asks the server what it takes. Its session
    /// ends here: a step holds no more sessions than it has clients.
    pub fn begin(
        self,
        target: &Target,
        connector: &Arc<dyn Connector>,
        mut worker: Worker,
        notes: &Notes,
    ) -> Result<Arc<Load<S>>> {
        let Self { source, tables, spec, errors, order, parts, with_times } = self;
        for table in &tables {
            let indexes = if spec.indexes_first { table.create_indexes() } else { Vec::new() };
            for sql in table.create(target.dialect).iter().chain(&indexes) {
                worker.run(sql)?;
            }
        }
        let batches = |table: &usize| (*table, source.batches(*table, spec.rows_per_commit));
        let lengths: Vec<(usize, u64)> = order.iter().map(batches).collect();
        let parts = match target.dialect {
            // Its engines order rows by their key.
            Dialect::Mysql => parts,
            Dialect::Postgres | Dialect::Sqlite => 1,
        };
        let loaded = tables.iter().map(|_| Default::default()).collect();
        let size = statement_size(target, &mut worker)?;
        let session = &mut *worker.session;
        let shared = Shared {
            dialect: target.dialect,
            statement_size: size,
            rows_at_once: tables.iter().map(|table| rows_at_once(table, size)).collect(),
            local_files_switched: allow_local_files(session, target, spec.method, notes),
            source,
            tables,
        };
        Ok(Arc::new(Load {
            shared: Arc::new(shared),
            handout: Handout::new(&lengths, parts.into()),
            recovery: Recovery::new(&errors, target.dialect, connector),
            notes: Arc::clone(notes),
            loaded,
            left: AtomicUsize::new(spec.clients.max(1) as usize),
            spec,
            with_times,
        }))
    }
}

impl<S> Load<S> {
    /// A client is done; the last one switches local files back and tells how long each table took.
    fn client_done(&self, session: &mut dyn Session) {
        if self.left.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        if self.shared.local_files_switched
            && let Err(error) = session.execute("SET GLOBAL local_infile = 0")
        {
            note(&self.notes, format!("local_infile not switched off again: {error}"));
        }
        let tables = self.shared.tables.iter().filter(|_| self.with_times);
        for (table, loaded) in tables.zip(&self.loaded) {
            let [rows, time] = loaded.each_ref().map(|number| number.load(Ordering::Relaxed));
            let (name, time) = (&table.name, Nanos(time));
            note(&self.notes, format!("{name}: {rows} rows in {time} of all clients"));
        }
    }
}

pub struct Loader<S: Source> {
    load: Arc<Load<S>>,
    batches: Batches<Sender<S>>,
}

impl<S: Source> Loader<S> {
    /// Client `number`, from 0, connected; its operations are of kind 0.
    pub fn connect(load: &Arc<Load<S>>, number: u32) -> Result<Self> {
        let worker = Worker::connect(&*load.recovery.connector, name(number))?;
        let sender = Sender::new(&load.shared, load.spec.method, &*worker.session)?;
        let batches = Batches { worker, sender, sent: Vec::new() };
        Ok(Self { load: Arc::clone(load), batches })
    }

    /// The client's session, for work that comes after the load.
    pub fn worker(&mut self) -> &mut Worker {
        &mut self.batches.worker
    }
}

/// Name of client `number`, from 0.
pub fn name(number: u32) -> String {
    format!("load {}", number + 1)
}

/// Connects the clients that load, as many as the spec says.
pub fn loaders<S: Source>(load: &Arc<Load<S>>) -> Result<Clients> {
    let connect = |number| Ok(bounded(name(number), Loader::connect(load, number)?));
    (0..load.spec.clients.max(1)).map(connect).collect()
}

pub struct IndexBuilder {
    pub worker: Worker,
    pub statements: Vec<String>,
    /// Of the table; they count once, with the last of its indexes.
    pub rows: u64,
    /// Tables whose indexes are not all there.
    pub left: Arc<AtomicUsize>,
}

impl IndexBuilder {
    /// Connects one for each table that has indexes left to build, with the number of its rows.
    pub fn of_tables(
        tables: impl Iterator<Item = (Table, u64)>,
        left: &Arc<AtomicUsize>,
        target: &Target,
    ) -> Result<Clients> {
        let mut clients = Clients::new();
        for (table, rows) in tables {
            let statements = table.create_indexes();
            if !statements.is_empty() {
                let name = format!("create index {}", table.name);
                let worker = Worker::connect(&*target.patient, name.clone())?;
                left.fetch_add(1, Ordering::Relaxed);
                let left = Arc::clone(left);
                clients.push(bounded(name, Self { worker, statements, rows, left }));
            }
        }
        Ok(clients)
    }
}

impl Client for IndexBuilder {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        self.worker.build_indexes(context, 0, &self.statements, self.rows)?;
        self.left.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }
}

impl<S: Source> Client for Loader<S> {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        let load = &*self.load;
        let mut at = None;
        while !context.is_over()
            && let Some((table, number)) = load.handout.take(&mut at)
        {
            let batch = load.shared.source.batch(table, load.spec.rows_per_commit, number);
            let loaded = self.batches.load(&load.recovery, &batch, context)?;
            if let Some(Loaded { rows, took }) = loaded {
                let [all, time] = &load.loaded[table];
                all.fetch_add(rows, Ordering::Relaxed);
                time.fetch_add(took.0, Ordering::Relaxed);
            }
        }
        load.client_done(&mut *self.batches.worker.session);
        Ok(())
    }
}
